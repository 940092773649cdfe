/** Fees and payloads, pure: T14 to T24. */
import test from 'ava';
import fc from 'fast-check';
import type { Intent, Token, Unsigned } from '../../../../chains/chain.ts';
import { createTimestamps, referenceTo, type TronInputs } from '../../../../chains/tron/build-inputs.ts';
import { bandwidthBytesOf, estimateFee } from '../../../../chains/tron/fee.ts';
import { tron } from '../../../../chains/tron/network.ts';
import { decodeRaw, txidOf, type RawData } from '../../../../chains/tron/raw-transaction.ts';
import { encodeTransfer } from '../../../../chains/tron/trc20.ts';
import { buildUnsigned, nextReplayValue, reprice } from '../../../../chains/tron/unsigned.ts';
import { isRefusal, type Refusal } from '../../../../protocol/errors.ts';
import { HEAD_MS, inputsOf } from '../../../support/tron-inputs.ts';
import { intentOf, must, SENDER, SHOP, TRX } from '../../../support/tron-ledger.ts';

const USDT: Token = { chain: 'tron', contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', symbol: 'USDT', decimals: 6 };
const build = (more: Partial<TronInputs> = {}, intent: Partial<Intent> = {}): Unsigned | Refusal =>
  buildUnsigned(tron, inputsOf(more), intentOf(intent), null);
const built = (more: Partial<TronInputs> = {}, intent: Partial<Intent> = {}): Unsigned => must(build(more, intent));
const rawOf = ({ payload }: Unsigned): RawData => {
  const read = decodeRaw(payload);
  if (!read.ok) throw new Error(read.reason);
  return read.raw;
};
const token = (more: Partial<TronInputs> = {}): Partial<TronInputs> => ({
  tokenBalance: '5000',
  tried: { kind: 'succeeded', energy: '65000' },
  nativeBalance: '30000000',
  ...more,
});
const BYTES = bandwidthBytesOf(built().payload),
  FEE = BYTES * 1_000n;

test("T13 T14 T15 a payload: the reference of the solidified head, ten minutes from the head's own time, one contract", (t) => {
  const unsigned = built(),
    raw = rawOf(unsigned);
  t.deepEqual(raw, {
    refBlockBytes: '1d98',
    refBlockHash: 'cd'.repeat(8),
    expirationMs: HEAD_MS + 600_000,
    timestampMs: HEAD_MS + 17,
    feeLimit: 0n,
    contract: { type: 'TransferContract', owner: SENDER.address, to: SHOP, amount: TRX },
  });
  t.like(unsigned, {
    chain: 'tron',
    from: SENDER.address,
    fromPath: SENDER.path,
    to: SHOP,
    amount: TRX,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: false,
    readAtHeight: 70_000_042,
    replayKey: { kind: 'expiry', value: String(HEAD_MS + 600_000) },
  });
  const call = rawOf(built(token(), { token: USDT, amount: 5_000n }));
  t.deepEqual(call.contract, {
    type: 'TriggerSmartContract',
    owner: SENDER.address,
    contract: USDT.contract,
    callValue: 0n,
    data: encodeTransfer(SHOP, 5_000n),
    callTokenValue: 0n,
    tokenId: 0n,
  });
  t.is(nextReplayValue(inputsOf()), null);
});

test('T14 a reference is bytes 6..8 of the number and 8..16 of the id', (t) => {
  t.deepEqual(referenceTo({ hash: '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e' }), {
    refBlockBytes: '262d',
    refBlockHash: '52bfa4b2814f816f',
  });
});

test('T18 equal payments under one head differ: their timestamps do, so their txids do', (t) => {
  const timestampOf = createTimestamps(59_999);
  const stamps = Array.from({ length: 500 }, () => timestampOf(HEAD_MS));
  t.is(new Set(stamps).size, 500);
  t.true(
    stamps.every((stamp) => stamp >= HEAD_MS && stamp < HEAD_MS + 60_000),
    'around the head, and before the expiry',
  );
  t.not(txidOf(built({ timestampMs: stamps[0]! }).payload), txidOf(built({ timestampMs: stamps[1]! }).payload));
});

test('T19 bandwidth: paid per byte unless staked or free bandwidth covers all of it; there is no partial use', (t) => {
  const feeOf = (more: Partial<TronInputs>) => must(estimateFee(tron, inputsOf(more), intentOf())).fee;
  t.is(feeOf({}), FEE);
  t.is(feeOf({ freeBandwidth: String(BYTES) }), 0n);
  t.is(feeOf({ stakedBandwidth: String(BYTES) }), 0n);
  t.is(
    feeOf({ freeBandwidth: String(BYTES - 1n), stakedBandwidth: String(BYTES - 1n) }),
    FEE,
    'two halves are no whole',
  );
  t.is(
    must(estimateFee(tron, inputsOf({ freeBandwidth: '600' }), intentOf())).feeMax,
    FEE,
    'others may use up the free bandwidth meanwhile',
  );
});

test("T19 the highest fee counts a byte at the network's floor at least, however cheap the node says it is", (t) => {
  const cheap = { prices: { ...inputsOf().prices, bandwidthSun: '1' } };
  t.is(built(cheap).feeMax, BYTES * tron.bandwidthSunFloor);
  t.is(must(estimateFee(tron, inputsOf(cheap), intentOf())).fee, BYTES);
});

test('T20 C7-60 a destination that does not exist costs two fees, both read from the chain; staked bandwidth saves one', (t) => {
  const estimate = (more: Partial<TronInputs> = {}) =>
    must(estimateFee(tron, inputsOf({ destination: 'missing', ...more }), intentOf()));
  t.like(estimate(), { fee: 1_100_000n, parts: { activationFee: '1000000' } });
  t.is(estimate({ freeBandwidth: '600' }).fee, 1_100_000n, 'free bandwidth does not count');
  t.is(estimate({ stakedBandwidth: String(BYTES) }).fee, 1_000_000n);
  t.is(
    estimate({ stakedBandwidth: String(BYTES), prices: { ...inputsOf().prices, createAccountRate: '2' } }).fee,
    1_100_000n,
  );
  t.is(estimate({ prices: { ...inputsOf().prices, createAccountSun: '7', newAccountSun: '9' } }).fee, 16n);
  t.is(
    must(estimateFee(tron, inputsOf({ destination: 'missing', ...token() }), intentOf({ token: USDT }))).parts[
      'activationFee'
    ],
    '0',
    'T7: tokens activate nobody',
  );
});

test("T21 C7-58 the fee limit is the energy that was tried out, a fifth more, at the chain's price; never a ladder", (t) => {
  for (const [energy, energySun, limit] of [
    ['65000', '420', 32_760_000n],
    ['130000', '420', 65_520_000n],
    ['1', '1', 2n],
    ['13045', '100', 1_565_400n],
  ] as const) {
    const unsigned = built(
      token({
        tried: { kind: 'succeeded', energy },
        nativeBalance: '99000000',
        prices: { ...inputsOf().prices, energySun },
      }),
      { token: USDT, amount: 1n },
    );
    t.is(rawOf(unsigned).feeLimit, limit);
    t.is(unsigned.feeMax, limit + bandwidthBytesOf(unsigned.payload) * 1_000n);
  }
});

test('T21 rented or staked energy lowers what is paid and held, not the limit (cake-tech/cake_wallet#2073)', (t) => {
  const rented = token({ energy: '65000', nativeBalance: '2000000' }),
    intent = { token: USDT, amount: 1n };
  const unsigned = built(rented, intent),
    raw = rawOf(unsigned);
  t.is(raw.feeLimit, 7_800_000n);
  t.is(
    must(estimateFee(tron, inputsOf(rented), intentOf(intent))).fee,
    bandwidthBytesOf(unsigned.payload) * 1_000n,
    'the energy is there',
  );
  const bandwidth = bandwidthBytesOf(unsigned.payload) * 1_000n,
    headroom = 1_300_000n;
  t.like(build({ ...rented, nativeBalance: String(bandwidth + headroom) }, intent), { payload: unsigned.payload });
  t.like(build({ ...rented, nativeBalance: String(bandwidth + headroom - 1n) }, intent), {
    code: 'INSUFFICIENT_GAS',
    details: { required: String(bandwidth + headroom) },
  });
});

test('T21 over what the chain takes as a fee limit nothing is built', (t) => {
  t.like(build(token({ prices: { ...inputsOf().prices, feeLimitMaxSun: '7799999' } }), { token: USDT, amount: 1n }), {
    code: 'CHAIN_REJECTED',
    details: { feeLimitMax: '7799999' },
  });
  t.true(
    'payload' in
      build(token({ prices: { ...inputsOf().prices, feeLimitMaxSun: '7800000' } }), { token: USDT, amount: 1n }),
  );
});

test('C7-59 energy, bandwidth and activation are told apart', (t) => {
  const { fee, parts } = must(
    estimateFee(tron, inputsOf(token({ energy: '60000' })), intentOf({ token: USDT, amount: 5n })),
  );
  const bytes = BigInt(parts['bandwidthBytes']!);
  t.is(fee, 5_000n * 100n + bytes * 1_000n, 'only the energy that is not there is paid');
  t.deepEqual(parts, {
    bandwidthBytes: String(bytes),
    bandwidthFeeMax: String(bytes * 1_000n),
    activationFee: '0',
    energy: '65000',
    feeLimit: '7800000',
  });
});

test('T23 V36 V43 a send-all leaves nothing but the fee, or exactly what it is told; with free bandwidth it is all of it', (t) => {
  const all = built({}, { amount: 'all' });
  t.is(all.amount + bandwidthBytesOf(all.payload) * 1_000n, 10_000_000n);
  t.is(built({ freeBandwidth: '600' }, { amount: 'all' }).amount, 10_000_000n);
  const kept = built({}, { amount: 'all', leave: 777n });
  t.is(kept.amount + bandwidthBytesOf(kept.payload) * 1_000n + 777n, 10_000_000n);
  t.is(built({ destination: 'missing' }, { amount: 'all' }).amount, 8_900_000n);
  t.is(built(token(), { token: USDT, amount: 'all' }).amount, 5_000n);
});

test("T23 property: a send-all never moves more than the balance leaves after its own fee, and strands no more than two bytes' price", (t) => {
  // Where the amount needs a byte more, the price of that byte may not be there any more.
  const atLength = [3n, 4n, 5n, 6n].map((sevens): [bigint, bigint] => [
    (1n << (7n * sevens)) + FEE + (sevens - 2n) * 1_000n - 500n,
    0n,
  ]);
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 50n), fc.bigInt(0n, 10_000n), (balance, leave) => {
        const unsigned = build({ nativeBalance: String(balance) }, { amount: 'all', leave });
        if (isRefusal(unsigned)) {
          t.true(['INSUFFICIENT_GAS'].includes(unsigned.code) && balance < FEE + leave + 3_000n);
          return;
        }
        const rest = balance - leave - unsigned.amount - bandwidthBytesOf(unsigned.payload) * 1_000n;
        t.true(rest >= 0n && rest <= 2_000n, String(rest));
      }),
      { examples: atLength },
    ),
  );
});

test('X1 T22 T23 the asset first, then TRX for amount and fee together; an account that is not there pays nothing', (t) => {
  const cases: [Partial<TronInputs>, Partial<Intent>, string, object][] = [
    [{ nativeBalance: '999999' }, {}, 'INSUFFICIENT_FUNDS', { balance: '999999', required: '1000000' }],
    [{ nativeBalance: '1000000' }, {}, 'INSUFFICIENT_GAS', { balance: '1000000', required: String(TRX + FEE) }],
    [{ nativeBalance: String(TRX + FEE - 1n) }, {}, 'INSUFFICIENT_GAS', {}],
    [{ nativeBalance: '1050000', destination: 'missing' }, {}, 'INSUFFICIENT_GAS', { required: '2100000' }],
    [{ nativeBalance: '0', senderExists: false }, {}, 'INSUFFICIENT_FUNDS', {}],
    [{ nativeBalance: '0' }, { amount: 'all' }, 'INSUFFICIENT_FUNDS', {}],
    [{ nativeBalance: String(FEE) }, { amount: 'all' }, 'INSUFFICIENT_GAS', {}],
    [token({ tokenBalance: '4999' }), { token: USDT, amount: 5_000n }, 'INSUFFICIENT_FUNDS', { balance: '4999' }],
    [
      token({ tokenBalance: '0', tried: { kind: 'reverted', reason: 'the token balance is 0' } }),
      { token: USDT, amount: 'all' },
      'INSUFFICIENT_FUNDS',
      {},
    ],
    [
      token({ senderExists: false, nativeBalance: '0' }),
      { token: USDT, amount: 1n },
      'INSUFFICIENT_GAS',
      { reason: 'the account is not activated' },
    ],
    [token({ nativeBalance: '7000000' }), { token: USDT, amount: 1n }, 'INSUFFICIENT_GAS', {}],
    [{ nativeBalance: '0' }, { amount: 2n ** 200n }, 'INSUFFICIENT_FUNDS', {}],
  ];
  for (const [more, intent, code, details] of cases) {
    t.like(
      build(more, intent),
      { ok: false, code, ...(Object.keys(details).length === 0 ? {} : { details }) },
      JSON.stringify(more),
    );
  }
  t.true('payload' in build({ nativeBalance: String(TRX + FEE) }));
  t.true(
    'payload' in build({ nativeBalance: '1000000', freeBandwidth: '600' }),
    'nothing is stranded by a fee that is not taken',
  );
});

test('T24 a token that would revert is not built, and says why; TRX is not sent to a contract', (t) => {
  t.like(build(token({ tried: { kind: 'reverted', reason: 'Pausable: paused' } }), { token: USDT, amount: 1n }), {
    code: 'CHAIN_REJECTED',
    details: { reason: 'Pausable: paused' },
  });
  t.like(build({ destination: 'contract' }), { code: 'CHAIN_REJECTED' });
  t.true(
    'payload' in build(token({ destination: 'contract' }), { token: USDT, amount: 1n }),
    'tokens may be sent to one',
  );
});

test('6.2 what the intent itself says wrongly is refused before anything else', (t) => {
  t.like(build({}, { to: SENDER.address }), { code: 'INVALID_INPUT' });
  t.like(build({}, { tag: '7' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { kind: 'trustline' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { to: '0x000000000000000000000000000000000000dEaD' }), { code: 'INVALID_ADDRESS' });
  for (const amount of [0n, -1n]) t.like(build({}, { amount }), { code: 'INVALID_AMOUNT' });
  t.like(buildUnsigned(tron, inputsOf(), intentOf(), { kind: 'nonce', value: 1 }), { code: 'INVALID_INPUT' });
});

test('G29 the absolute cap, and the share of the amount that the caller allows', (t) => {
  t.like(
    build(token({ tried: { kind: 'succeeded', energy: '900000' }, nativeBalance: '900000000' }), {
      token: USDT,
      amount: 1n,
    }),
    { code: 'AMOUNT_CAP_EXCEEDED', details: { reason: 'fee cap' } },
  );
  const ratio = Number((FEE * 10_000n + TRX - 1n) / TRX);
  t.true('payload' in build({}, { maxFeeRatioBps: ratio }));
  t.like(build({}, { maxFeeRatioBps: ratio - 1 }), { code: 'AMOUNT_CAP_EXCEEDED', details: { reason: 'fee ratio' } });
});

test('T17 nothing is repriced: the answer says when the old one is over', (t) => {
  t.like(reprice(tron, built(), inputsOf()), {
    ok: false,
    code: 'CONFLICT',
    details: { expiresAtMs: String(HEAD_MS + 600_000) },
  });
});

test("C7-58 an estimate of a transfer that cannot be tried out shows a figure of the network's; it is never signed", (t) => {
  const untried = token({ tokenBalance: '0', tried: { kind: 'reverted', reason: 'the token balance is 0' } });
  t.is(must(estimateFee(tron, inputsOf(untried), intentOf({ token: USDT, amount: 1n }))).parts['energy'], '130000');
  t.like(build(untried, { token: USDT, amount: 1n }), { ok: false });
});
