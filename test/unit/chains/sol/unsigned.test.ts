import test from 'ava';
import fc from 'fast-check';
import type { Intent, Unsigned } from '../../../../chains/chain.ts';
import { computeOf, estimateFee, priceFor, priorityFeeOf, type SolInputs } from '../../../../chains/sol/fee.ts';
import { solana } from '../../../../chains/sol/network.ts';
import { encodeTransaction } from '../../../../chains/sol/message.ts';
import { buildUnsigned, nextReplayValue, reprice } from '../../../../chains/sol/unsigned.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import {
  ACCOUNT_RENT,
  accountOf,
  BLOCKHASH,
  inputsOf,
  intentOf,
  PYUSD,
  paymentOf,
  RECEIVER,
  RENT,
  SENDER,
  TANK,
  tokenInputsOf,
} from '../../../support/sol-inputs.ts';
import { SOL, USDC } from '../../../support/sol-node.ts';

const build = (inputs: Partial<SolInputs> = {}, intent: Partial<Intent> = {}) =>
  buildUnsigned(solana, inputsOf(inputs), intentOf(intent), null);
function must(value: ReturnType<typeof build>): Unsigned {
  if (isRefusal(value)) throw new Error(`${value.code} ${JSON.stringify(value.details)}`);
  return value;
}
const token = { token: USDC, amount: 1_000_000n };
const lamportsLeft = (unsigned: Unsigned) => SOL - unsigned.amount - unsigned.feeMax;

test('L24 the payload is a legacy message that pays exactly this, with a summary and its last valid block height', (t) => {
  const unsigned = must(build());
  t.like(unsigned, {
    chain: 'sol',
    from: SENDER,
    to: RECEIVER,
    amount: 10_000_000n,
    tokenContract: null,
    sendAll: false,
    replayKey: { kind: 'expiry', value: '1150' },
    readAtHeight: 5_000,
    feeMax: 5_001n,
  });
  t.deepEqual(paymentOf(unsigned), {
    feePayer: SENDER,
    from: SENDER,
    blockhash: BLOCKHASH,
    unitLimit: 600,
    microLamportsPerUnit: 1_000n,
    amount: 10_000_000n,
    asset: { kind: 'native', to: RECEIVER },
  });
  const largest = must(
    build({ ...tokenInputsOf(USDC, { createRent: ACCOUNT_RENT.toString() }), feePayer: TANK }, token),
  );
  t.true(
    encodeTransaction([new Uint8Array(64), new Uint8Array(64)], Buffer.from(largest.payload, 'base64')).length <= 1_232,
  );
  t.is(nextReplayValue(inputsOf()), null);
});

test('L27 the fee is exact: 5,000 a signature and the limit at its price, rounded up; the price is bounded', (t) => {
  const at = (unitPrice: bigint, units?: number) =>
    computeOf(
      solana,
      inputsOf({
        unitPrice: unitPrice.toString(),
        ...(units === undefined ? {} : { compute: { kind: 'simulated', units } }),
      }),
    );
  t.deepEqual(at(0n), { unitLimit: 600, microLamportsPerUnit: 1_000n }, 'the floors');
  t.deepEqual(at(7_777n, 6_200), { unitLimit: 7_440, microLamportsPerUnit: 7_777n }, 'a fifth more than was used');
  t.is(at(10n ** 12n).microLamportsPerUnit, solana.unitPrice.ceiling);
  t.is(at(0n, 1_300_000).unitLimit, 1_400_000);
  t.is(priorityFeeOf({ unitLimit: 600, microLamportsPerUnit: 1_000n }), 1n, '0.6 lamports are one');
  t.is(priorityFeeOf({ unitLimit: 1_000_000, microLamportsPerUnit: 2n }), 2n);
  const estimate = estimateFee(solana, inputsOf({ feePayer: TANK }), intentOf());
  if (isRefusal(estimate)) return t.fail();
  t.is(estimate.fee, 10_001n, 'the payer signs too');
  t.is(estimate.fee, estimate.feeMax, 'nothing of it depends on the execution');
  t.deepEqual(estimate.parts, {
    feePayer: TANK,
    signatures: 2,
    unitLimit: 600,
    microLamportsPerUnit: '1000',
    feeLamports: '10001',
    rentLamports: '0',
  });
});

test('L27 property: a price asked for an amount of lamports costs exactly that', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 10n }),
        fc.integer({ min: 1, max: 999_999 }),
        (lamports, unitLimit) => {
          t.is(priorityFeeOf({ unitLimit, microLamportsPerUnit: priceFor(lamports, unitLimit) }), lamports);
        },
      ),
    ),
  );
});

test('L28 V36 G4 a send-all empties the account to the last lamport: the fee that is signed is the fee that is paid', (t) => {
  const unsigned = must(build({ unitPrice: '123456', salt: 9_999 }, { amount: 'all' }));
  t.is(lamportsLeft(unsigned), 0n);
  t.true(unsigned.sendAll);
  t.is(lamportsLeft(must(build({}, { amount: 'all', leave: RENT }))), RENT);
  t.is(must(build({ feePayer: TANK }, { amount: 'all' })).amount, SOL, 'L30: the whole balance, the gas tank pays');
});

test('L28 C4-40 what stays behind is nothing or at least the rent-exempt minimum, on every account that is touched', (t) => {
  const left = (rest: bigint) => build({}, { amount: SOL - 5_001n - rest });
  t.like(left(1n), {
    ok: false,
    code: 'INSUFFICIENT_RESERVE',
    details: { account: 'sender', left: '1', minimum: '890880' },
  });
  t.like(left(RENT - 1n), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  t.false(isRefusal(left(RENT)));
  t.false(isRefusal(left(0n)));
  t.like(build({}, { amount: 'all', leave: 5n }), { ok: false, code: 'INSUFFICIENT_RESERVE' });
  const fresh = { destination: { kind: 'absent' } } as const;
  t.like(
    build(fresh, { amount: RENT - 1n }),
    { ok: false, code: 'INSUFFICIENT_RESERVE', details: { account: 'destination' } },
    'L17',
  );
  t.false(isRefusal(build(fresh, { amount: RENT })));
  t.false(isRefusal(build({ destination: { kind: 'wallet', lamports: RENT.toString() } }, { amount: 1n })));
  t.like(build({ feePayer: TANK, payerLamports: (10_001n + 7n).toString() }), {
    ok: false,
    code: 'INSUFFICIENT_RESERVE',
    details: { account: 'payer', left: '7' },
  });
  t.like(build({ ...tokenInputsOf(), senderLamports: '5500', payerLamports: '5500' }, token), {
    ok: false,
    code: 'INSUFFICIENT_RESERVE',
    details: { account: 'sender' },
  });
});

test('L28 property: whatever is built leaves every account empty or rent-exempt, and never overdraws', (t) => {
  const lamports = fc.bigInt({ min: 0n, max: 3_000_000n });
  t.notThrows(() =>
    fc.assert(
      fc.property(
        lamports,
        lamports,
        fc.oneof(lamports, fc.constant('all' as const)),
        fc.nat(2 ** 20 - 1),
        fc.boolean(),
        (balance, held, amount, salt, paidByTank) => {
          const unsigned = build(
            {
              senderLamports: balance.toString(),
              salt,
              destination: held === 0n ? { kind: 'absent' } : { kind: 'wallet', lamports: (held + RENT).toString() },
              ...(paidByTank
                ? { feePayer: TANK, payerLamports: SOL.toString() }
                : { payerLamports: balance.toString() }),
            },
            { amount },
          );
          if (isRefusal(unsigned)) return;
          const left = balance - unsigned.amount - (paidByTank ? 0n : unsigned.feeMax);
          t.true(left === 0n || left >= RENT, `${left}`);
          t.true(unsigned.amount > 0n && (held > 0n || unsigned.amount >= RENT));
        },
      ),
      { numRuns: 300 },
    ),
  );
});

test('X1 the asset is judged before the fee, the fee before the rent', (t) => {
  t.like(build({}, { amount: SOL + 1n }), {
    ok: false,
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: SOL.toString() },
  });
  t.like(build({}, { amount: SOL }), {
    ok: false,
    code: 'INSUFFICIENT_GAS',
    details: { required: (SOL + 5_001n).toString() },
  });
  t.like(build({ senderLamports: null, payerLamports: null }), { ok: false, code: 'INSUFFICIENT_FUNDS' });
  t.like(build({ senderLamports: null, payerLamports: null }, { amount: 'all' }), {
    ok: false,
    code: 'INSUFFICIENT_FUNDS',
  });
  t.like(build({ senderLamports: '5001', payerLamports: '5001' }, { amount: 'all' }), {
    ok: false,
    code: 'INSUFFICIENT_GAS',
  });
  t.like(build(tokenInputsOf(USDC, { balance: null }), token), {
    ok: false,
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: '0' },
  });
  t.like(build({ ...tokenInputsOf(), senderLamports: null, payerLamports: null }, token), {
    ok: false,
    code: 'INSUFFICIENT_GAS',
  });
  t.like(build({ ...tokenInputsOf(), feePayer: TANK, payerLamports: '10000' }, token), {
    ok: false,
    code: 'INSUFFICIENT_GAS',
  });
});

test('7.1 what the accounts are decides: token accounts, mints, programs, nonce accounts, the sender itself', (t) => {
  const to = { kind: 'token_account', mint: USDC.contract, owner: TANK } as const;
  t.like(build({ destination: to }), { ok: false, code: 'INVALID_ADDRESS', details: { reason: 'a token account' } });
  t.like(build({ ...tokenInputsOf(), destination: { ...to, mint: PYUSD.contract } }, token), {
    ok: false,
    code: 'INVALID_ADDRESS',
  });
  t.like(
    build({ ...tokenInputsOf(USDC, { destination: RECEIVER }), destination: to }, token),
    { ok: false, code: 'INVALID_ADDRESS', details: { field: 'to', reason: 'a token account', owner: TANK } },
    'found F27: its own mint',
  );
  for (const what of ['a mint', 'a program', 'a sysvar'])
    t.like(build({ destination: { kind: 'dead_end', what } }), {
      ok: false,
      code: 'INVALID_ADDRESS',
      details: { reason: what },
    });
  t.like(build({}, { to: SENDER }), { ok: false, code: 'INVALID_ADDRESS' });
  t.like(build({}, { to: 'nonsense' }), { ok: false, code: 'INVALID_ADDRESS' });
  t.like(build({ senderIsWallet: false }), { ok: false, code: 'CHAIN_REJECTED' });
  t.like(build({ payerIsWallet: false }), { ok: false, code: 'CHAIN_REJECTED' });
  t.like(build(tokenInputsOf(USDC, { refusal: 'the token account of the receiver is frozen' }), token), {
    ok: false,
    code: 'CHAIN_REJECTED',
  });
  t.like(
    build(tokenInputsOf(USDC, { decimals: 9 }), token),
    { ok: false, code: 'CHAIN_REJECTED', details: { decimals: 9 } },
    'K4',
  );
  t.like(
    build({ ...tokenInputsOf(), compute: { kind: 'failed', code: 'CHAIN_REJECTED', reason: 'a hook says no' } }, token),
    { ok: false, code: 'CHAIN_REJECTED', details: { reason: 'a hook says no' } },
  );
});

test('7.2 what this chain does not have is INVALID_INPUT', (t) => {
  t.like(build({}, { tag: '7' }), { ok: false, code: 'INVALID_INPUT' });
  t.like(build({}, { kind: 'trustline' }), { ok: false, code: 'INVALID_INPUT' });
  t.like(build({}, { amount: 0n }), { ok: false, code: 'INVALID_AMOUNT' });
  t.like(buildUnsigned(solana, inputsOf(), intentOf(), { kind: 'nonce', value: 1 }), {
    ok: false,
    code: 'INVALID_INPUT',
  });
});

test('G29 caps: absolute, and as a share of a native amount', (t) => {
  const dear = { ...tokenInputsOf(USDC, { createRent: '9999999' }), payerLamports: SOL.toString() };
  t.like(build(dear, token), { ok: false, code: 'AMOUNT_CAP_EXCEEDED', details: { reason: 'fee cap' } });
  t.like(build({}, { amount: 1_000_000n, maxFeeRatioBps: 50 }), {
    ok: false,
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { reason: 'fee ratio' },
  });
  t.false(isRefusal(build({}, { amount: 1_000_200n, maxFeeRatioBps: 51 })));
});

test('L29 C4-42 a receiver without a token account gets one, and its rent stands in the estimate and in the highest fee', (t) => {
  const inputs = tokenInputsOf(USDC, { createRent: ACCOUNT_RENT.toString() });
  const unsigned = must(build(inputs, token));
  t.is(unsigned.feeMax, 5_000n + priorityFeeOf(paymentOf(unsigned)) + ACCOUNT_RENT);
  t.is(unsigned.fee['rentLamports'], ACCOUNT_RENT.toString());
  t.like(paymentOf(unsigned).asset, {
    kind: 'token',
    creates: RECEIVER,
    destination: accountOf(RECEIVER),
    source: accountOf(SENDER),
  });
  const estimate = estimateFee(solana, inputsOf(inputs), intentOf(token));
  t.like(estimate, { fee: unsigned.feeMax });
  t.like(build({ ...inputs, payerLamports: ACCOUNT_RENT.toString(), senderLamports: ACCOUNT_RENT.toString() }, token), {
    ok: false,
    code: 'INSUFFICIENT_GAS',
  });
  t.like(paymentOf(must(build(tokenInputsOf(), token))).asset, { creates: null });
});

test('L29 L30 V8 tokens: the program of the mint, all of a balance, the gas tank as payer', (t) => {
  const unsigned = must(
    build({ ...tokenInputsOf(PYUSD), feePayer: TANK, senderLamports: null }, { token: PYUSD, amount: 'all' }),
  );
  t.like(unsigned, { amount: 5_000_000n, sendAll: true, tokenContract: PYUSD.contract });
  t.is(paymentOf(unsigned).feePayer, TANK, 'a deposit address needs no SOL of its own');
});

test('L33 equal payments under one block hash differ, by a few lamports at most', (t) => {
  const payloads = [0, 1, 1_023, 1_024, 2 ** 20 - 1].map((salt) => must(build({ salt })));
  t.is(new Set(payloads.map(({ payload }) => payload)).size, 5);
  t.true(payloads.every(({ feeMax }) => feeMax >= 5_001n && feeMax <= 5_004n));
});

test('L31 C6-56 no second version while the first may land: a fresh block hash only after the last one is dead', (t) => {
  const old = must(build());
  const at = (finalizedBlockHeight: number) =>
    reprice(
      solana,
      old,
      inputsOf({ finalizedBlockHeight, lastValidBlockHeight: 1_301, blockhash: TANK, unitPrice: '5000' }),
    );
  for (const height of [968, 1_149, 1_150]) t.like(at(height), { ok: false, code: 'CONFLICT' });
  const next = must(at(1_151));
  t.like(next, { amount: old.amount, to: old.to, replayKey: { kind: 'expiry', value: '1301' }, sendAll: false });
  t.like(paymentOf(next), { blockhash: TANK, microLamportsPerUnit: 5_000n });
});

test('decisions 6: a repriced send-all never pays more, and still empties the account', (t) => {
  const later = { finalizedBlockHeight: 2_000, lastValidBlockHeight: 2_200 };
  for (const [before, after] of [
    ['1000', '900000'],
    ['900000', '1000'],
    ['5000', '5000'],
  ] as const) {
    const old = must(build({ unitPrice: before }, { amount: 'all' }));
    const next = must(reprice(solana, old, inputsOf({ ...later, unitPrice: after })));
    t.true(next.sendAll && next.amount <= old.amount);
    t.is(next.amount + next.feeMax, SOL);
    t.is(priorityFeeOf(paymentOf(next)) + 5_000n, next.feeMax);
  }
  const old = must(build({}, { amount: 'all' }));
  const grown = must(
    reprice(
      solana,
      old,
      inputsOf({ ...later, senderLamports: (2n * SOL).toString(), payerLamports: (2n * SOL).toString() }),
    ),
  );
  t.is(grown.amount, old.amount, 'a deposit that came meanwhile stays');
  const tokens = must(build(tokenInputsOf(), { token: USDC, amount: 'all' }));
  t.is(must(reprice(solana, tokens, inputsOf({ ...later, ...tokenInputsOf() }))).amount, tokens.amount);
});
