import test from 'ava';
import fc from 'fast-check';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import { minimumBalance } from '../../../../chains/xlm/balance.ts';
import { decodePayload, type Payload } from '../../../../chains/xlm/envelope.ts';
import type { XlmInputs } from '../../../../chains/xlm/inputs.ts';
import { stellar } from '../../../../chains/xlm/network.ts';
import {
  buildUnsigned,
  LIFETIME_SECONDS,
  nextReplayValue,
  reprice,
  withCounter,
} from '../../../../chains/xlm/unsigned.ts';
import { checkBound } from '../../../../edge/signing/binding.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { person } from '../../../../developer/stand-ins/xlm/people.ts';
import { accountOf, CLOSED_AT, inputsOf, lineOf } from '../../../support/xlm-inputs.ts';
import { intentOf, must, ours, tank, XLM } from '../../../support/xlm-node.ts';

const US = ours(0),
  SHOP = person(21).publicKey(),
  ISSUER = person(12).publicKey();
const USDC = { chain: 'xlm', contract: `USDC:${ISSUER}`, symbol: 'USDC', decimals: 7 } as const;
const NEXT = { kind: 'sequence', value: '7' } as const;
const INT64_MAX = 2n ** 63n - 1n;

const build = (
  more: Partial<Intent> = {},
  inputs: Partial<XlmInputs> = {},
  replay: Parameters<typeof buildUnsigned>[3] = NEXT,
) => buildUnsigned(stellar, inputsOf(US.address, inputs), intentOf(US, more), replay);
function payloadOf({ payload }: Unsigned): Payload {
  const decoded = decodePayload(payload);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.payload;
}
const holding = (balance: bigint, more: Parameters<typeof lineOf>[0] = {}) => ({
  [USDC.contract]: lineOf({ balance: balance.toString(), ...more }),
});
const codeOf = (value: object): string => (isRefusal(value) ? value.code : 'built');

test('M19 sequence, time bounds and fee of a payment are those of the ledger that was read', (t) => {
  const unsigned = must(build({ amount: 3n * XLM }));
  t.deepEqual(payloadOf(unsigned), {
    transaction: {
      source: US.address,
      feeStroops: 100,
      sequence: 7n,
      maxTime: BigInt(CLOSED_AT + LIFETIME_SECONDS),
      memoId: null,
      operation: { kind: 'payment', to: { address: SHOP, id: null }, asset: null, amount: 3n * XLM },
    },
    bump: null,
  });
  t.like(unsigned, {
    chain: 'xlm',
    from: US.address,
    fromPath: US.path,
    to: SHOP,
    amount: 3n * XLM,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: false,
    feeMax: 100n,
    replayKey: NEXT,
    readAtHeight: 50_000_000,
  });
  t.deepEqual(unsigned.fee, { operations: 1, feeStroops: '100', feeSource: US.address, maxTime: CLOSED_AT + 180 });
});

test('M19 G25 another sequence than the next one is a CONFLICT; an account that is not there begins at none', (t) => {
  t.is(nextReplayValue(inputsOf(US.address)), 7n);
  t.is(nextReplayValue(inputsOf(US.address, { sender: null })), 0n);
  for (const value of ['6', '8'])
    t.like(build({}, {}, { kind: 'sequence', value }), { code: 'CONFLICT', details: { expected: '7', found: value } });
  t.like(build({}, {}, { kind: 'nonce', value: 7 }), { code: 'INVALID_INPUT' });
  t.is(must(build({}, {}, null)).replayKey.value, '7', 'without an allocator the ledger decides');
});

test('M13 M25 C8-65 a tag is a memo; the id of a muxed account stays in the operation, and becomes a memo where an account is created', (t) => {
  const memo = payloadOf(must(build({ tag: '42' }))).transaction;
  t.is(memo.memoId, '42');
  t.like(memo.operation, { to: { address: SHOP, id: null } });
  const muxed = payloadOf(must(build({ tag: '42', tagOfAddress: true }))).transaction;
  t.is(muxed.memoId, null);
  t.like(muxed.operation, { to: { address: SHOP, id: '42' } });
  const created = payloadOf(must(build({ tag: '42', tagOfAddress: true }, { destination: null }))).transaction;
  t.deepEqual([created.memoId, created.operation], ['42', { kind: 'create_account', to: SHOP, startingBalance: XLM }]);
  t.is(payloadOf(must(build({ tag: '0' }))).transaction.memoId, '0', 'id 0 is an id');
});

test('M20 M26 an opt-in trusts one asset without a limit and moves nothing; what its issuer asks for is said', (t) => {
  const wish = { kind: 'trustline', to: US.address, token: USDC, amount: 0n } as const;
  const open = must(build(wish, { issuer: accountOf() }));
  t.like(open, {
    kind: 'trustline',
    to: US.address,
    amount: 0n,
    tokenContract: USDC.contract,
    tag: null,
    sendAll: false,
  });
  t.deepEqual(payloadOf(open).transaction.operation, { kind: 'change_trust', asset: USDC.contract, limit: INT64_MAX });
  t.is(open.fee['issuerAuthorization'], 'none');
  t.is(must(build(wish, { issuer: accountOf({ authRequired: true }) })).fee['issuerAuthorization'], 'required');
});

test('M27 V36 a send-all leaves exactly the reserve and the fee that is signed', (t) => {
  const sender = accountOf({ balance: (10n * XLM).toString(), subentries: 2 }),
    reserve = minimumBalance(sender, 5_000_000n);
  t.is(reserve, 2n * XLM);
  const unsigned = must(build({ amount: 'all' }, { sender, marketFee: '700' }));
  t.is(unsigned.amount, 10n * XLM - reserve - 700n);
  t.true(unsigned.sendAll);
  t.is(must(build({ amount: 'all', leave: 5n * XLM }, { sender })).amount, 5n * XLM - 100n, 'what the caller keeps');
  t.is(
    must(build({ amount: 'all', feePayer: tank.address }, { sender, feePayer: tank.address, payer: accountOf() }))
      .amount,
    10n * XLM - reserve,
    'M28: somebody else pays the fee',
  );
  t.is(
    must(
      build(
        { amount: 'all', token: USDC },
        {
          sender: accountOf({ lines: holding(55n) }),
          destination: accountOf({ lines: holding(0n) }),
          issuer: accountOf(),
        },
      ),
    ).amount,
    55n,
  );
  for (const [balance, code] of [
    [2n * XLM, 'INSUFFICIENT_RESERVE'],
    [2n * XLM + 100n, 'INSUFFICIENT_GAS'],
    [0n, 'INSUFFICIENT_FUNDS'],
  ] as const) {
    t.is(
      codeOf(build({ amount: 'all' }, { sender: accountOf({ balance: balance.toString(), subentries: 2 }) })),
      code,
      `${balance}`,
    );
  }
});

test('M23 property: a payment that is built leaves the reserve, whatever is held, promised and owned', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.bigInt({ min: 0n, max: 10n ** 10n }),
      fc.nat(20),
      fc.nat(5),
      fc.nat(5),
      fc.bigInt({ min: 1n, max: 10n ** 12n }),
      (balance, promised, subentries, sponsoring, sponsored, amount) => {
        const sender = accountOf({
          balance: balance.toString(),
          sellingLiabilities: promised.toString(),
          subentries,
          sponsoring,
          sponsored,
        });
        const built = build({ amount }, { sender });
        const left = balance - promised - amount - 100n,
          reserve = minimumBalance(sender, 5_000_000n);
        t.is(
          codeOf(built) === 'built',
          left >= reserve,
          `${balance} ${promised} ${subentries} ${sponsoring} ${sponsored} ${amount}: ${codeOf(built)}`,
        );
        const all = build({ amount: 'all' }, { sender });
        if (!isRefusal(all)) t.is(balance - promised - all.amount - all.feeMax, reserve);
        else t.true(balance - promised <= reserve + 100n);
      },
    ),
    { numRuns: 300 },
  );
});

test('M21 repricing: ten times the offer for one operation more, around the very transaction', (t) => {
  const old = must(build({ amount: 3n * XLM, tag: '9' }));
  const bumped = must(reprice(stellar, old, inputsOf(US.address)));
  t.deepEqual(payloadOf(bumped), { ...payloadOf(old), bump: { feeSource: US.address, feeStroops: 2_000n } });
  t.like(bumped, { feeMax: 2_000n, amount: old.amount, replayKey: old.replayKey });
  const twice = must(reprice(stellar, bumped, inputsOf(US.address)));
  t.deepEqual(payloadOf(twice).transaction, payloadOf(old).transaction);
  t.is(twice.feeMax, 20_000n);
  const rebuilt = must(reprice(stellar, old, inputsOf(US.address), false));
  t.is(payloadOf(rebuilt).bump, null, 'found: what was never signed is built again, not put into a bump');
  t.is(codeOf(reprice(stellar, twice, inputsOf(US.address))), 'AMOUNT_CAP_EXCEEDED', 'never beyond the cap');
  t.is(
    codeOf(reprice(stellar, old, inputsOf(US.address, { sender: accountOf({ sequence: '7' }) }))),
    'CONFLICT',
    'its sequence is used',
  );
  t.is(
    codeOf(
      reprice(stellar, old, inputsOf(US.address, { sender: accountOf({ balance: (4n * XLM + 1_999n).toString() }) })),
    ),
    'INSUFFICIENT_GAS',
  );
  t.is(
    codeOf(
      reprice(stellar, old, inputsOf(US.address, { sender: accountOf({ balance: (4n * XLM + 2_000n).toString() }) })),
    ),
    'built',
    'to the stroop',
  );
  const tankPays = must(reprice(stellar, old, inputsOf(US.address, { feePayer: tank.address, payer: accountOf() })));
  t.is(payloadOf(tankPays).bump?.feeSource, tank.address);
});

test('M19 M21 G27 an expired transaction is built again under its own sequence, for no more than before', (t) => {
  const late = { closeTime: CLOSED_AT + LIFETIME_SECONDS + 1, readAtHeight: 50_000_100 };
  const atEnd = must(
    reprice(stellar, must(build()), inputsOf(US.address, { closeTime: CLOSED_AT + LIFETIME_SECONDS })),
  );
  t.not(payloadOf(atEnd).bump, null, 'in its last second it may still land');
  const old = must(build({ amount: 3n * XLM, tag: '9', tagOfAddress: true }));
  const again = must(reprice(stellar, old, inputsOf(US.address, late)));
  t.deepEqual(payloadOf(again).transaction, {
    ...payloadOf(old).transaction,
    maxTime: BigInt(late.closeTime + LIFETIME_SECONDS),
  });
  t.is(again.readAtHeight, old.readAtHeight, 'both are looked for from there');
  const all = must(build({ amount: 'all' }));
  t.is(
    must(reprice(stellar, all, inputsOf(US.address, { ...late, marketFee: '500' }))).amount,
    all.amount - 400n,
    'a dearer fee is taken from the amount',
  );
  t.is(
    must(reprice(stellar, all, inputsOf(US.address, { ...late, sender: accountOf({ balance: '900000000' }) }))).amount,
    all.amount,
    'never more than was asked for',
  );
  const line = must(build({ kind: 'trustline', to: US.address, token: USDC, amount: 0n }, { issuer: accountOf() }));
  const opened = must(reprice(stellar, line, inputsOf(US.address, { ...late, issuer: accountOf() })));
  t.like(opened, { kind: 'trustline', tokenContract: USDC.contract, readAtHeight: line.readAtHeight });
  const nobody = must(build({}, { destination: null }));
  t.is(
    payloadOf(must(reprice(stellar, nobody, inputsOf(US.address, late)))).transaction.operation.kind,
    'payment',
    'the account was created meanwhile',
  );
});

test('found F43: under the sequence that is next a payment differs in that and in its expiry only', (t) => {
  const later = (sequence: string) =>
    inputsOf(US.address, { sender: accountOf({ sequence }), closeTime: CLOSED_AT + 900 });
  for (const unsigned of [must(build({ amount: 3n * XLM, tag: '9' })), must(build({ amount: 'all' }))]) {
    const bound = must(withCounter(stellar, unsigned, later('11'), { kind: 'sequence', value: '12' })),
      before = payloadOf(unsigned);
    t.deepEqual(payloadOf(bound), {
      ...before,
      transaction: { ...before.transaction, sequence: 12n, maxTime: BigInt(CLOSED_AT + 900 + LIFETIME_SECONDS) },
    });
    t.deepEqual(
      { ...bound, fee: { ...bound.fee, maxTime: 0 } },
      {
        ...unsigned,
        payload: bound.payload,
        replayKey: { kind: 'sequence', value: '12' },
        fee: { ...unsigned.fee, maxTime: 0 },
      },
    );
  }
  t.is(
    codeOf(withCounter(stellar, must(build()), later('11'), { kind: 'sequence', value: '13' })),
    'CONFLICT',
    'M19: no gaps',
  );
});

test('found: of several payments that were built to create one account the first creates it, the others pay what is there', (t) => {
  const cases: readonly Partial<Intent>[] = [{}, { tag: '42' }, { tag: '42', tagOfAddress: true }, { amount: 'all' }];
  for (const more of cases) {
    const unsigned = must(build(more, { destination: null }));
    t.is(payloadOf(unsigned).transaction.operation.kind, 'create_account');
    const at = (inputs: Partial<XlmInputs>) =>
      withCounter(stellar, unsigned, inputsOf(US.address, { sender: accountOf({ sequence: '11' }), ...inputs }), {
        kind: 'sequence',
        value: '12',
      });
    t.is(
      payloadOf(must(at({ destination: null }))).transaction.operation.kind,
      'create_account',
      'nobody is there yet',
    );
    const bound = must(at({})),
      direct = payloadOf(must(build(more))).transaction,
      { operation, memoId } = payloadOf(bound).transaction;
    t.deepEqual({ operation, memoId }, {
      operation: { ...direct.operation, amount: unsigned.amount },
      memoId: direct.memoId,
    } as typeof direct);
    t.is(checkBound(unsigned, bound), null, 'for the edge only the counter differs');
    const again = must(
      withCounter(stellar, bound, inputsOf(US.address, { sender: accountOf({ sequence: '12' }) }), {
        kind: 'sequence',
        value: '13',
      }),
    );
    t.deepEqual(payloadOf(again).transaction.operation, operation);
    const asksForMemo = at({ destination: accountOf({ memoRequired: true }) });
    t.is(isRefusal(asksForMemo) ? asksForMemo.code : null, more.tag === undefined ? 'INVALID_INPUT' : null);
    // A version that expired unsigned keeps the id of the address too.
    const rebuilt = must(reprice(stellar, unsigned, inputsOf(US.address, {}), false));
    t.is(payloadOf(rebuilt).transaction.memoId, direct.memoId);
  }
});
