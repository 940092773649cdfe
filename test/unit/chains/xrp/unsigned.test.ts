import test from 'ava';
import fc from 'fast-check';
import { decode } from 'ripple-binary-codec';
import type { Intent, Token, Unsigned } from '../../../../chains/chain.ts';
import { displacingFee, estimateFee, feeOf } from '../../../../chains/xrp/fee.ts';
import type { XrpInputs } from '../../../../chains/xrp/inputs.ts';
import { issuedText, withTransferFee } from '../../../../chains/xrp/issued-amount.ts';
import { xrp } from '../../../../chains/xrp/network.ts';
import { decodeUnsigned, encodeUnsigned, type XrpPayment } from '../../../../chains/xrp/transaction.ts';
import { TRUST_LIMIT } from '../../../../chains/xrp/trustline.ts';
import {
  buildUnsigned,
  LAST_LEDGER_AHEAD,
  nextReplayValue,
  reprice,
  withCounter,
} from '../../../../chains/xrp/unsigned.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { inputsOf, lineOf, tokenStateOf } from '../../../support/xrp-inputs.ts';
import { intentOf as ofUs, must, ours, tokenOf } from '../../../support/xrp-node.ts';

const US = ours(0, 0).address,
  SHOP = 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf',
  ISSUER = 'rMxCKbEDwqr76QuheSUMdEGf4B9xJ8m5De';
const SHOP_WITH_LAST_TAG = 'XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi';
const USD: Token = tokenOf(ISSUER, '524C555344000000000000000000000000000000');
const ONE = 10n ** 15n;

const intentOf = (more: Partial<Intent> = {}): Intent => ofUs({ to: SHOP, ...more });
const build = (more: Partial<Intent> = {}, inputs: Partial<XrpInputs> = {}) =>
  buildUnsigned(xrp, inputsOf(inputs), intentOf(more), { kind: 'sequence', value: '7' });
const inToken = (more: Partial<Intent> = {}, inputs: Partial<XrpInputs> = {}) =>
  build({ token: USD, amount: 5n * ONE, ...more }, { token: tokenStateOf(), ...inputs });
const json = (unsigned: Unsigned | Refusal) =>
  (JSON.parse(must(unsigned).payload) as { tx_json: Record<string, unknown> }).tx_json;
const code = (answer: Unsigned | Refusal) => (isRefusal(answer) ? answer.code : 'built');
const sender = (more: Partial<NonNullable<XrpInputs['sender']>>): Partial<XrpInputs> => ({
  sender: { balanceDrops: '25000000', sequence: 7, ownerCount: 0, tickets: [], ...more },
});

test('R17 R18 R19 a payment has these fields and no others, and its bytes are those of its JSON', (t) => {
  const unsigned = must(build({ tag: '0' }));
  t.deepEqual(json(unsigned), {
    TransactionType: 'Payment',
    Flags: 2_147_483_648,
    Sequence: 7,
    DestinationTag: 0,
    LastLedgerSequence: 90_000_020,
    Amount: '2000000',
    Fee: '12',
    SigningPubKey: '',
    Account: US,
    Destination: SHOP,
  });
  const { tx_blob } = JSON.parse(unsigned.payload) as { tx_blob: string };
  t.deepEqual(decode(tx_blob), json(unsigned));
  t.like(unsigned, {
    chain: 'xrp',
    from: US,
    to: SHOP,
    amount: 2_000_000n,
    tokenContract: null,
    tag: '0',
    kind: 'payment',
    sendAll: false,
    feeMax: 12n,
    replayKey: { kind: 'sequence', value: '7' },
    readAtHeight: 90_000_000,
  });
  t.deepEqual(unsigned.fee, { feeDrops: '12', lastLedgerSequence: 90_000_000 + LAST_LEDGER_AHEAD });
});

test('C8-62 8.1 tags are strict numbers of 32 bits; 0 is a tag; an X-address brings its own and suffers no other', (t) => {
  t.deepEqual(
    ['0', '1', '4294967295'].map((tag) => json(build({ tag }))['DestinationTag']),
    [0, 1, 4_294_967_295],
  );
  t.is(json(build())['DestinationTag'], undefined);
  for (const tag of [
    '',
    ' 1',
    '1 ',
    '01',
    '-1',
    '+1',
    '1.0',
    '1e3',
    '0x1',
    'tag:12345',
    '4294967296',
    '99999999999',
    '١',
  ]) {
    t.like(build({ tag }), { ok: false, code: 'INVALID_INPUT' }, JSON.stringify(tag));
  }
  t.is(json(build({ to: SHOP_WITH_LAST_TAG }))['DestinationTag'], 4_294_967_295);
  t.like(build({ to: SHOP_WITH_LAST_TAG, tag: '4294967295' }), { to: SHOP, tag: '4294967295' });
  t.like(build({ to: SHOP_WITH_LAST_TAG, tag: '5' }), { ok: false, code: 'INVALID_INPUT' });
});

test('R24 C8-64 spendable is balance less reserve less fee; the reserve is the one that was read', (t) => {
  const exactly = 25_000_000n - 1_000_000n - 12n;
  t.is(code(build({ amount: exactly })), 'built');
  t.like(build({ amount: exactly + 1n }), {
    ok: false,
    code: 'INSUFFICIENT_RESERVE',
    details: { reserved: '1000000', balance: '25000000' },
  });
  t.is(code(build({ amount: 24_999_988n })), 'INSUFFICIENT_RESERVE', 'balance covers amount and fee');
  t.is(code(build({ amount: 24_999_989n })), 'INSUFFICIENT_FUNDS');
  t.is(code(build({ amount: exactly }, sender({ ownerCount: 1 }))), 'INSUFFICIENT_RESERVE');
  t.is(must(build({ amount: exactly - 600_000n }, sender({ ownerCount: 3 }))).amount, exactly - 600_000n);
  t.is(code(build({ amount: exactly }, { reserveBaseDrops: '20000000' })), 'INSUFFICIENT_RESERVE');
  t.like(build({}, { sender: null }), { ok: false, code: 'INSUFFICIENT_FUNDS', details: { balance: '0' } });
  for (const amount of [0n, -5n]) t.is(code(build({ amount })), 'INVALID_AMOUNT');
});

test('R25 V43 a sweep sends all that is spendable and leaves the reserve, and what it is told to leave', (t) => {
  t.like(build({ amount: 'all' }), { amount: 23_999_988n, sendAll: true });
  t.like(build({ amount: 'all', leave: 500_000n }), { amount: 23_499_988n });
  t.is(code(build({ amount: 'all' }, sender({ balanceDrops: '1000012' }))), 'INSUFFICIENT_RESERVE');
  t.is(code(build({ amount: 'all' }, sender({ balanceDrops: '1000013' }))), 'built');
  t.is(code(build({ amount: 'all' }, sender({ balanceDrops: '5' }))), 'INSUFFICIENT_FUNDS');
  t.is(code(build({ amount: 'all', leave: 24_000_000n })), 'INSUFFICIENT_RESERVE');
});

test('R7 R8 8.1 a destination that is not there is made by the base reserve, and by nothing less', (t) => {
  t.is(code(build({ amount: 1_000_000n }, { destination: null })), 'built');
  t.like(build({ amount: 999_999n }, { destination: null }), {
    ok: false,
    code: 'INSUFFICIENT_RESERVE',
    details: { required: '1000000' },
  });
});

test('8.1 a destination that needs a tag, takes no XRP or only from whom it knows is not paid', (t) => {
  const destination = { balanceDrops: '5000000', requiresTag: false, refusesXrp: false, takesDeposits: true };
  for (const [more, reason] of [
    [{ requiresTag: true }, /needs a tag/],
    [{ refusesXrp: true }, /takes no XRP/],
    [{ takesDeposits: false }, /takes no payments from this sender/],
  ] as const) {
    const refused = build({}, { destination: { ...destination, ...more } });
    t.is(code(refused), 'CHAIN_REJECTED');
    t.regex(String((refused as Refusal).details['reason']), reason);
  }
  t.is(code(build({ tag: '0' }, { destination: { ...destination, requiresTag: true } })), 'built');
  t.is(
    code(
      build({ amount: 1_000_000n }, { destination: { ...destination, balanceDrops: '1000000', takesDeposits: false } }),
    ),
    'built',
    'a poor account takes small change',
  );
  t.is(
    code(
      build({ amount: 1_000_001n }, { destination: { ...destination, balanceDrops: '1000000', takesDeposits: false } }),
    ),
    'CHAIN_REJECTED',
  );
  t.is(code(inToken({}, { destination: { ...destination, refusesXrp: true } })), 'built', 'a token is no XRP');
});

test('R18 nobody is paid by himself, and a word that is no address is none', (t) => {
  t.like(build({ to: US }), { ok: false, code: 'INVALID_INPUT' });
  t.is(code(build({ to: 'rNotAnAddress' })), 'INVALID_ADDRESS');
  t.is(code(buildUnsigned(xrp, inputsOf(), intentOf(), { kind: 'nonce', value: 7 })), 'INVALID_INPUT');
});

test('R20 the fee is a fifth above what the open ledger asks, up to the cap and never above it', (t) => {
  const fee = (open: string, base = '10') => feeOf(xrp, inputsOf({ openLedgerFeeDrops: open, baseFeeDrops: base }));
  t.deepEqual(
    [fee('10'), fee('9'), fee('11'), fee('4166'), fee('4167'), fee('900000')],
    [12n, 12n, 14n, 5_000n, 5_000n, 5_000n],
  );
  t.like(fee('10', '5001'), { ok: false, code: 'AMOUNT_CAP_EXCEEDED' });
  t.deepEqual(estimateFee(xrp, inputsOf(), intentOf()), {
    fee: 12n,
    feeMax: 12n,
    parts: { baseFeeDrops: '10', openLedgerFeeDrops: '10' },
  });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 9n }), (open) => {
      const built = fee(open.toString());
      t.true(typeof built === 'bigint' && built <= xrp.feeCap && built >= 12n);
    }),
  );
});

test('G29 a fee that is too much of the amount is refused at the build', (t) => {
  t.is(code(build({ maxFeeRatioBps: 1, amount: 119_999n })), 'AMOUNT_CAP_EXCEEDED');
  t.is(code(build({ maxFeeRatioBps: 1, amount: 120_000n })), 'built');
});

test("R21 R23 the sequence is the ledger's or the allocator's; a number that was passed is used, unless it is a ticket", (t) => {
  t.is(nextReplayValue(inputsOf(sender({ sequence: 90_000_123 }))), 90_000_123);
  t.is(nextReplayValue(inputsOf({ sender: null })), null);
  const at = (value: string | null, inputs: Partial<XrpInputs> = {}) =>
    buildUnsigned(xrp, inputsOf(inputs), intentOf(), value === null ? null : { kind: 'sequence', value });
  t.is(json(at(null))['Sequence'], 7);
  t.is(json(at('9'))['Sequence'], 9);
  t.like(at('6'), { ok: false, code: 'CONFLICT' });
  const ticketed = at('4', sender({ tickets: [3, 4] }));
  t.like(json(ticketed), { Sequence: 0, TicketSequence: 4 });
  t.deepEqual(must(ticketed).replayKey, { kind: 'sequence', value: '4' });
});

test('R10 R11 a token payment names currency and issuer, and 15 digits of the amount', (t) => {
  t.deepEqual(json(inToken())['Amount'], {
    currency: '524C555344000000000000000000000000000000',
    issuer: ISSUER,
    value: '5',
  });
  const long = must(inToken({ amount: 12_345_678_901_234_567n }));
  t.is(long.amount, 12_345_678_901_234_500n);
  t.is((json(long)['Amount'] as { value: string }).value, '12.3456789012345');
  t.is(json(long)['SendMax'], undefined);
});

test('R26 a token needs its own balance first, then drops for the fee, which may come out of the reserve', (t) => {
  t.is(code(inToken({ amount: 101n * ONE })), 'INSUFFICIENT_FUNDS');
  t.is(code(inToken({}, { token: tokenStateOf({ senderLine: null }) })), 'INSUFFICIENT_FUNDS');
  t.is(code(inToken({}, { token: tokenStateOf({ senderLine: lineOf({ balance: '-5' }) }) })), 'INSUFFICIENT_FUNDS');
  t.is(code(inToken({}, sender({ balanceDrops: '11' }))), 'INSUFFICIENT_GAS');
  t.is(code(inToken({}, sender({ balanceDrops: '12' }))), 'built');
  t.like(inToken({ amount: 'all' }), { amount: 100n * ONE, sendAll: true });
  t.is(code(inToken({ amount: 0n })), 'INVALID_AMOUNT');
});

test('R12 R27 C8-67 a destination without a line must open one; the other obstacles of a line are named', (t) => {
  t.like(inToken({}, { token: tokenStateOf({ destinationLine: null }) }), {
    ok: false,
    code: 'DESTINATION_OPT_IN_REQUIRED',
    details: { chain: 'xrp', asset: USD.contract, destination: SHOP },
  });
  t.is(code(inToken({}, { destination: null })), 'DESTINATION_OPT_IN_REQUIRED');
  t.like(inToken({ to: ISSUER }), { ok: false, code: 'INVALID_ADDRESS' }, 'the issuer redeems');
  const issuer = tokenStateOf().issuer!;
  for (const [state, reason] of [
    [{ issuer: null }, /no such issuer/],
    [{ issuer: { ...issuer, globallyFrozen: true } }, /issuer froze the token/],
    [{ senderLine: lineOf({ balance: `${100n * ONE}`, frozen: true }) }, /froze the sender's line/],
    [{ destinationLine: lineOf({ deepFrozen: true }) }, /froze the destination's line/],
    [{ issuer: { ...issuer, requiresAuthorization: true } }, /not authorised the destination/],
    [
      {
        senderLine: lineOf({ balance: `${100n * ONE}`, noRippleAtIssuer: true }),
        destinationLine: lineOf({ noRippleAtIssuer: true }),
      },
      /ripple/,
    ],
    [{ destinationLine: lineOf({ balance: `${6n * ONE}`, limit: `${10n * ONE}` }) }, /above the limit/],
  ] as const) {
    const refused = inToken({}, { token: tokenStateOf(state) });
    t.is(code(refused), 'CHAIN_REJECTED', String(reason));
    t.regex(String((refused as Refusal).details['reason']), reason);
  }
  t.is(
    code(
      inToken(
        {},
        {
          token: tokenStateOf({
            destinationLine: lineOf({ frozen: true, limit: `${5n * ONE}`, noRippleAtIssuer: true }),
          }),
        },
      ),
    ),
    'built',
    'a frozen line can be paid',
  );
  t.is(
    code(
      inToken(
        {},
        {
          token: tokenStateOf({
            issuer: { ...issuer, requiresAuthorization: true },
            destinationLine: lineOf({ authorized: true }),
          }),
        },
      ),
    ),
    'built',
  );
});

test('R28 where the issuer keeps a share, SendMax is the amount with it and is shown; a send-all fits into what is held', (t) => {
  const issuer = { ...tokenStateOf().issuer!, transferRate: '1002000000' },
    taxed = { token: tokenStateOf({ issuer }) };
  const unsigned = must(inToken({}, taxed));
  t.deepEqual(json(unsigned)['SendMax'], {
    currency: '524C555344000000000000000000000000000000',
    issuer: ISSUER,
    value: '5.01',
  });
  t.is(unsigned.fee['sendMax'], '5.01');
  t.is(code(inToken({ amount: 100n * ONE }, taxed)), 'INSUFFICIENT_FUNDS');
  const all = must(inToken({ amount: 'all' }, taxed));
  t.true(all.amount < 100n * ONE && withTransferFee(all.amount, 1_002_000_000n) <= 100n * ONE);
});

test('R13 R27 §4.2 a trust line has the set limit and NoRipple; its preconditions are looked at in order', (t) => {
  const trust = (inputs: Partial<XrpInputs> = {}, more: Partial<Intent> = {}) =>
    build(
      { kind: 'trustline', token: USD, to: US, amount: 0n, ...more },
      { token: tokenStateOf({ senderLine: null, destinationLine: null }), ...inputs },
    );
  const unsigned = must(trust());
  t.deepEqual(json(unsigned), {
    TransactionType: 'TrustSet',
    Flags: 0x8002_0000,
    Sequence: 7,
    LastLedgerSequence: 90_000_020,
    Fee: '12',
    SigningPubKey: '',
    Account: US,
    LimitAmount: {
      currency: '524C555344000000000000000000000000000000',
      issuer: ISSUER,
      value: issuedText(TRUST_LIMIT),
    },
  });
  t.like(unsigned, { kind: 'trustline', to: US, amount: 0n, tokenContract: USD.contract, sendAll: false, tag: null });
  t.is(code(trust({ sender: null })), 'CHAIN_REJECTED');
  t.is(code(trust({ token: tokenStateOf({ issuer: null, senderLine: null }) })), 'CHAIN_REJECTED');
  t.is(code(trust({ token: tokenStateOf({ senderLine: lineOf() }) })), 'CONFLICT');
  t.is(
    code(trust({ token: tokenStateOf({ senderLine: lineOf({ limit: '0' }) }) })),
    'built',
    'a line that only the issuer asked for',
  );
  t.is(code(trust(sender({ balanceDrops: '11' }))), 'INSUFFICIENT_GAS');
  t.is(code(trust(sender({ balanceDrops: '12', ownerCount: 1 }))), 'built', 'R12: the first two lines are free');
  t.is(code(trust(sender({ balanceDrops: '1599999', ownerCount: 2 }))), 'INSUFFICIENT_RESERVE');
  t.is(code(trust(sender({ balanceDrops: '1600000', ownerCount: 2 }))), 'built');
  t.is(code(trust({}, { token: null })), 'INVALID_INPUT');
  t.is(code(trust({}, { token: tokenOf(US) })), 'INVALID_INPUT');
});

test('R20 G27 a repriced payment keeps its sequence, pays at least a quarter more and lives longer', (t) => {
  const old = must(build({ tag: '5' }));
  const next = must(reprice(xrp, old, inputsOf({ readAtHeight: 90_000_010 })));
  t.deepEqual(json(next), { ...json(old), Fee: '15', LastLedgerSequence: 90_000_030 });
  t.like(next, { feeMax: 15n, replayKey: old.replayKey, amount: old.amount, readAtHeight: 90_000_010 });
  t.is(json(reprice(xrp, old, inputsOf({ openLedgerFeeDrops: '1000' })))['Fee'], '1200');
  t.like(reprice(xrp, old, inputsOf(sender({ sequence: 8 }))), { ok: false, code: 'CONFLICT' });
  t.like(reprice(xrp, old, inputsOf({ sender: null })), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  const dear = must(build({}, { openLedgerFeeDrops: '4000' }));
  t.like(reprice(xrp, dear, inputsOf()), { ok: false, code: 'AMOUNT_CAP_EXCEEDED' });
  t.is(displacingFee(xrp, inputsOf(), 4_000n), 5_000n);
  t.throws(() => reprice(xrp, { ...old, payload: '{}' }, inputsOf()), { message: /does not decode/ });
});

test('R20 decisions 6 a repriced send-all sends less by what the fee grew, a named amount stays; funds are looked at again', (t) => {
  const all = must(build({ amount: 'all' }));
  t.is(must(reprice(xrp, all, inputsOf())).amount, all.amount - 3n);
  const most = must(build({ amount: 23_999_988n }));
  t.like(reprice(xrp, most, inputsOf()), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  const token = must(inToken());
  t.is(must(reprice(xrp, token, inputsOf({ token: tokenStateOf() }))).amount, 5n * ONE);
  t.like(reprice(xrp, token, inputsOf(sender({ balanceDrops: '14' }))), { ok: false, code: 'INSUFFICIENT_GAS' });
  const tiny = must(build({ amount: 'all' }, sender({ balanceDrops: '1000014' })));
  t.like(reprice(xrp, tiny, inputsOf(sender({ balanceDrops: '1000014' }))), { ok: false, code: 'INSUFFICIENT_GAS' });
});

test('R17 R21 a ticket stays a ticket when it is repriced, and is used when it is gone', (t) => {
  const old = must(
    buildUnsigned(xrp, inputsOf(sender({ tickets: [3] })), intentOf(), { kind: 'sequence', value: '3' }),
  );
  t.like(json(reprice(xrp, old, inputsOf(sender({ tickets: [3] })))), { Sequence: 0, TicketSequence: 3, Fee: '15' });
  t.like(reprice(xrp, old, inputsOf()), { ok: false, code: 'CONFLICT' });
});

const flawOf = (payload: string) => {
  const read = decodeUnsigned(payload);
  return read.ok ? null : read.reason;
};

test('R17 R18 a payload is read from its bytes: what is not in the table of fields, or not canonical, is named', (t) => {
  const base = must(decodeUnsigned(must(build()).payload) as { ok: true; transaction: XrpPayment }).transaction;
  const { tx_json, tx_blob } = JSON.parse(encodeUnsigned(base)) as {
    tx_json: Record<string, unknown>;
    tx_blob: string;
  };
  t.is(
    flawOf(JSON.stringify({ tx_json: { ...tx_json, Amount: '5' }, tx_blob })),
    'not_canonical',
    'a text that shows another amount',
  );
  t.is(flawOf(JSON.stringify({ tx_blob, tx_json })), 'not_canonical');
  t.is(flawOf(JSON.stringify({ tx_json, tx_blob: tx_blob.toLowerCase() })), 'not_canonical');
  for (const payload of ['', '{}', 'null', '[]', '{"tx_blob":5}', '{"tx_blob":"12"}', `{"tx_blob":"${tx_blob}00"}`])
    t.is(flawOf(payload), 'unreadable', payload);
});

test('found F43: under another sequence, or a ticket, a payment differs in that and in its expiry only', (t) => {
  const later = { readAtHeight: 90_000_500 };
  for (const unsigned of [must(build({ tag: '5' })), must(inToken()), must(build({ amount: 'all' }))]) {
    const bound = must(withCounter(xrp, unsigned, inputsOf(later), { kind: 'sequence', value: '11' }));
    t.deepEqual(json(bound), { ...json(unsigned), Sequence: 11, LastLedgerSequence: 90_000_500 + LAST_LEDGER_AHEAD });
    t.deepEqual(
      { ...bound, fee: { ...bound.fee, lastLedgerSequence: 0 } },
      {
        ...unsigned,
        payload: bound.payload,
        replayKey: { kind: 'sequence', value: '11' },
        readAtHeight: 90_000_500,
        fee: { ...unsigned.fee, lastLedgerSequence: 0 },
      },
    );
    t.deepEqual(must(withCounter(xrp, bound, inputsOf({}), { kind: 'sequence', value: '7' })), unsigned, 'and back');
  }
  const byTicket = must(
    withCounter(xrp, must(build()), inputsOf(sender({ tickets: [3] })), { kind: 'sequence', value: '3' }),
  );
  t.like(json(byTicket), { Sequence: 0, TicketSequence: 3 });
  t.is(byTicket.fee['ticketSequence'], 3);
  t.is(code(withCounter(xrp, must(build()), inputsOf(sender({})), { kind: 'sequence', value: '6' })), 'CONFLICT');
  t.is(
    code(withCounter(xrp, must(build()), inputsOf({ sender: null }), { kind: 'sequence', value: '7' })),
    'INSUFFICIENT_FUNDS',
  );
});
