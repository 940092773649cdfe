import test from 'ava';
import fc from 'fast-check';
import { Transaction } from 'bitcoinjs-lib';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { outpointOf, type BtcInputs, type Coin, type Spender } from '../../../../chains/btc/coin.ts';
import { SCRIPT_TYPES } from '../../../../chains/btc/derive.ts';
import { estimateFee } from '../../../../chains/btc/fee.ts';
import { transactionOf } from '../../../../chains/btc/psbt.ts';
import { INPUTS_MAX } from '../../../../chains/btc/selection.ts';
import { dustLimitOf, vsizeOf } from '../../../../chains/btc/size.ts';
import { buildUnsigned, nextReplayValue, reprice } from '../../../../chains/btc/unsigned.ts';
import type { FeeEstimate, Intent, Unsigned } from '../../../../chains/chain.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { btcSigner } from '../../../../edge/signing/signers/btc.ts';
import {
  accepted,
  coinOf,
  hexId,
  inputsOf,
  intentOf,
  own,
  psbtIn,
  RECIPIENT,
  scriptFor,
  SENDER,
} from '../../../support/btc-inputs.ts';

const build = (inputs: Partial<BtcInputs> = {}, intent: Partial<Intent> = {}, taken: string[] = []) =>
  buildUnsigned(
    bitcoin,
    inputsOf(inputs),
    intentOf(intent),
    taken.length === 0 ? null : { kind: 'outpoints', value: taken },
  );
const built = (...args: Parameters<typeof build>): Unsigned => accepted(build(...args));
const valuesOf = (unsigned: Unsigned) => psbtIn(unsigned).outputs.map(({ value }) => value);
const outpoints = (unsigned: Unsigned) => (unsigned.replayKey.kind === 'outpoints' ? unsigned.replayKey.value : []);
const spenderOf = (more: Partial<Spender> = {}): Spender => ({
  txid: hexId('spender'),
  feeSats: '1410',
  vsize: 141,
  descendantCount: 1,
  descendantFeeSats: '1410',
  ...more,
});

test('B11 B13 B15 a payment spends coins of the sender, pays first, takes change back, and can be replaced', (t) => {
  const coin = coinOf(1_000_000n),
    unsigned = built({ coins: [coin] }),
    psbt = psbtIn(unsigned);
  t.like(psbt, { txVersion: 2, locktime: 800_100 });
  t.deepEqual(
    psbt.inputs.map(({ txid, vout, sequence }) => [txid, vout, sequence]),
    [[coin.txid, 1, 0xffff_fffd]],
  );
  t.deepEqual(
    psbt.outputs.map(({ script }) => Buffer.from(script)),
    [scriptFor(RECIPIENT), SENDER.script].map((script) => Buffer.from(script)),
  );
  t.deepEqual(valuesOf(unsigned), [100_000n, 1_000_000n - 100_000n - unsigned.feeMax]);
  t.like(unsigned, {
    chain: 'btc',
    from: SENDER.address,
    fromPath: SENDER.path,
    to: RECIPIENT,
    amount: 100_000n,
    tokenContract: null,
    tag: null,
    kind: 'payment',
    sendAll: false,
    feeMax: 1_410n,
    readAtHeight: 800_100,
    replayKey: { kind: 'outpoints', value: [outpointOf(coin)] },
    fee: { feeRateSatPerKvb: '10000', vsize: 141, inputCount: 1, outputCount: 2 },
  });
  t.is(nextReplayValue(inputsOf()), null);
});

test('B14 dust by the policy formula: 546, 540, 294, 330, 330 satoshi', (t) => {
  const wsh = new Uint8Array(34).fill(7);
  wsh.set([0x00, 0x20]);
  t.deepEqual(
    SCRIPT_TYPES.map((type) => dustLimitOf(own(0, type).script)),
    [546n, 540n, 294n, 330n],
  );
  t.is(dustLimitOf(wsh), 330n);
});

test('B14 change below dust goes to the fee; a payment below dust is refused before any node sees it', (t) => {
  const plain = vsizeOf('p2wpkh', 1, [scriptFor(RECIPIENT)]),
    withChange = plain + 31;
  const exactly = (change: bigint) => built({ coins: [coinOf(100_000n + BigInt(withChange) * 10n + change)] });
  t.deepEqual(valuesOf(exactly(294n)), [100_000n, 294n]);
  t.deepEqual(valuesOf(exactly(293n)), [100_000n]);
  t.is(exactly(293n).feeMax, BigInt(withChange) * 10n + 293n);
  t.like(build({}, { amount: 293n }), {
    code: 'CHAIN_REJECTED',
    details: { reason: 'dust', amount: '293', minimum: '294' },
  });
  t.is(built({}, { amount: 294n }).amount, 294n);
  t.like(build({}, { amount: 0n }), { code: 'INVALID_AMOUNT' });
});

test('B18 the rate is the estimate, never below what the node relays nor below the floor; without an estimate the larger of those', (t) => {
  const rate = (more: Partial<BtcInputs>) => Number(built(more).fee['feeRateSatPerKvb']);
  t.is(rate({ estimateSatPerKvb: '25000' }), 25_000);
  t.is(rate({ estimateSatPerKvb: null }), 1_000);
  t.is(rate({ estimateSatPerKvb: null, mempoolMinSatPerKvb: '7000' }), 7_000);
  t.is(rate({ estimateSatPerKvb: '2000', mempoolMinSatPerKvb: '100', relayMinSatPerKvb: '3000' }), 3_000);
  t.is(
    rate({ estimateSatPerKvb: null, mempoolMinSatPerKvb: '100', relayMinSatPerKvb: '100' }),
    1_000,
    'the network floor: many nodes still use 1 sat/vB',
  );
});

test('B13 G29 the fee is held against the absolute cap, the cap of the rate and the share of the amount', (t) => {
  const coins = [coinOf(100_000_000n)];
  t.like(build({ coins, estimateSatPerKvb: '1418440' }), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { reason: 'fee cap', feeCap: '200000' },
  });
  t.like(build({ coins, estimateSatPerKvb: '1100000' }), {
    code: 'AMOUNT_CAP_EXCEEDED',
    details: { reason: 'fee rate cap' },
  });
  t.like(build({ coins }, { maxFeeRatioBps: 140 }), { code: 'AMOUNT_CAP_EXCEEDED', details: { reason: 'fee ratio' } });
  t.is(built({ coins }, { maxFeeRatioBps: 141 }).feeMax, 1_410n);
});

test('B19 4.6 immature rewards, coins that the pool spends and coins of other payments are not taken', (t) => {
  const good = coinOf(200_000n),
    big = (more: Partial<Coin>) => coinOf(9_000_000n, more);
  const immature = big({ coinbase: true, height: 800_001 }),
    mature = coinOf(8_000_000n, { coinbase: true, height: 800_000 });
  t.deepEqual(outpoints(built({ coins: [immature, good] })), [outpointOf(good)], 'depth 99 of 100');
  t.deepEqual(outpoints(built({ coins: [mature, good] })), [outpointOf(mature)], '101 confirmations');
  t.deepEqual(outpoints(built({ coins: [big({ spender: spenderOf() }), big({ spender: 'hidden' }), good] })), [
    outpointOf(good),
  ]);
  const held = big({});
  t.deepEqual(outpoints(built({ coins: [held, good] }, {}, [outpointOf(held)])), [outpointOf(good)]);
  t.like(build({ coins: [held] }, {}, [outpointOf(held)]), {
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: '0', confirmed: '9000000', required: '100000' },
  });
});

test('B19 own change in the pool is spent, after every confirmed coin', (t) => {
  const confirmed = coinOf(50_000n),
    change = coinOf(500_000n, { height: null });
  t.deepEqual(outpoints(built({ coins: [change, confirmed] }, { amount: 40_000n })), [outpointOf(confirmed)]);
  t.deepEqual(outpoints(built({ coins: [change, confirmed] }, { amount: 90_000n })), [
    outpointOf(confirmed),
    outpointOf(change),
  ]);
});

test('X1 too little for the amount is INSUFFICIENT_FUNDS, too little for the fee on top is INSUFFICIENT_GAS', (t) => {
  const coins = [coinOf(60_000n), coinOf(40_000n)];
  t.like(build({ coins }, { amount: 100_001n }), {
    code: 'INSUFFICIENT_FUNDS',
    details: { balance: '100000', required: '100001' },
  });
  t.like(build({ coins }, { amount: 100_000n }), { code: 'INSUFFICIENT_GAS', details: { balance: '100000' } });
  t.like(build({ coins: [] }), { code: 'INSUFFICIENT_FUNDS', details: { balance: '0' } });
  t.is(built({ coins }, { amount: 98_000n }).feeMax, 2_000n, 'what is left over is dust');
});

test('B20 V36 B6 a send-all of one address takes its many coins: everything that is worth its own input, less the fee that is signed, without change', (t) => {
  const coins = [coinOf(50_000n), coinOf(700n), coinOf(680n), coinOf(30_000n)],
    unsigned = built({ coins }, { amount: 'all' });
  t.deepEqual(outpoints(unsigned), [coins[0]!, coins[3]!, coins[1]!].map(outpointOf), 'a coin of 680 costs 680');
  t.deepEqual(valuesOf(unsigned), [80_700n - unsigned.feeMax]);
  t.is(unsigned.amount, 80_700n - unsigned.feeMax);
  t.true(unsigned.sendAll);
  t.like(build({ coins: [] }, { amount: 'all' }), { code: 'INSUFFICIENT_FUNDS' });
  t.like(build({ coins: [coinOf(300n)] }, { amount: 'all' }), { code: 'INSUFFICIENT_GAS' });
  t.like(build({ coins: [coinOf(1_300n)] }, { amount: 'all' }), { code: 'INSUFFICIENT_GAS' });
});

test('10.2-5 one transaction takes a bounded number of coins', (t) => {
  const coins = Array.from({ length: INPUTS_MAX + 10 }, () => coinOf(10_000n));
  const tooMany = {
    code: 'CHAIN_REJECTED',
    details: { reason: 'too many coins for one transaction', limit: INPUTS_MAX },
  };
  t.like(build({ coins }, { amount: 'all' }), tooMany);
  t.like(build({ coins, estimateSatPerKvb: '1000' }, { amount: 10_000n * BigInt(INPUTS_MAX) - 1_000n }), tooMany);
  const most = built({ coins: coins.slice(10), estimateSatPerKvb: '1000' }, { amount: 'all' });
  t.true(transactionOf(psbtIn(most)).weight() < 400_000);
});

test('B12 coins whose transaction no node shows are left alone; taproot needs no such proof', (t) => {
  const bare = coinOf(900_000n, { previous: null }),
    good = coinOf(200_000n);
  t.deepEqual(outpoints(built({ coins: [bare, good] })), [outpointOf(good)]);
  t.like(build({ coins: [bare] }), { code: 'CHAIN_UNAVAILABLE' });
  const taproot = own(3, 'p2tr');
  const coin = coinOf(900_000n, { previous: null, script: taproot.script });
  const unsigned = built({ coins: [coin] }, { from: taproot.address, fromPath: taproot.path });
  t.deepEqual(psbtIn(unsigned).inputs[0]!.witnessUtxo, { script: Uint8Array.from(taproot.script), value: 900_000n });
});

test('an intent that this chain has no form for is refused', (t) => {
  t.like(build({}, { kind: 'trustline' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { tag: '7' }), { code: 'INVALID_INPUT' });
  t.like(build({}, { leave: 1n }), { code: 'INVALID_INPUT' });
  t.like(build({}, { token: { chain: 'btc', contract: 'x', symbol: 'X', decimals: 8 } }), {
    code: 'TOKEN_NOT_SUPPORTED',
  });
  t.like(build({}, { to: 'bc1qnone' }), { code: 'INVALID_ADDRESS' });
  t.like(build({}, { from: 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3' }), {
    code: 'INVALID_INPUT',
  });
  t.like(buildUnsigned(bitcoin, inputsOf(), intentOf(), { kind: 'nonce', value: 1 }), { code: 'INVALID_INPUT' });
});

for (const type of SCRIPT_TYPES) {
  test(`B13 the estimated size bounds the signed one, input by input: ${type}`, (t) => {
    const from = own(5, type);
    for (const count of [1, 2, 7, 260]) {
      const coins = Array.from({ length: count }, () => coinOf(20_000n, { script: from.script }));
      const unsigned = built(
        { coins, estimateSatPerKvb: '2000' },
        { from: from.address, fromPath: from.path, amount: 'all' },
      );
      const signed = Transaction.fromHex(btcSigner.sign(bitcoin, unsigned, { privateKey: from.privateKey }).payload);
      const estimated = Number(unsigned.fee['vsize']);
      t.true(
        signed.virtualSize() <= estimated && signed.virtualSize() >= estimated - count - 1,
        `${count}: ${signed.virtualSize()} of ${estimated}`,
      );
    }
  });
}

test('V36 what is estimated is what is built; without coins it is the usual payment', (t) => {
  const inputs = inputsOf(),
    estimate = estimateFee(bitcoin, inputs, intentOf()) as FeeEstimate;
  const unsigned = accepted(buildUnsigned(bitcoin, inputs, intentOf(), null));
  t.deepEqual(estimate, { fee: unsigned.feeMax, feeMax: unsigned.feeMax, parts: unsigned.fee });
  t.like(estimateFee(bitcoin, inputsOf({ coins: [] }), intentOf()), {
    fee: 1_410n,
    parts: { vsize: 141, inputCount: 1, outputCount: 2 },
  });
  t.like(estimateFee(bitcoin, inputs, intentOf({ to: 'x' })), { code: 'INVALID_ADDRESS' });
});

test('property: whatever the coins, a built payment balances, pays its rate, and takes each coin once', (t) => {
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 5_000_000n }), { maxLength: 12 });
  t.notThrows(() =>
    fc.assert(
      fc.property(
        amounts,
        fc.bigInt({ min: 294n, max: 20_000_000n }),
        fc.boolean(),
        fc.integer({ min: 1_000, max: 90_000 }),
        (values, amount, all, rate) => {
          const coins = values.map((value) => coinOf(value)),
            total = values.reduce((sum, value) => sum + value, 0n);
          const result = build({ coins, estimateSatPerKvb: String(rate) }, { amount: all ? 'all' : amount });
          if (isRefusal(result)) {
            t.true(
              ['INSUFFICIENT_FUNDS', 'INSUFFICIENT_GAS', 'AMOUNT_CAP_EXCEEDED'].includes(result.code),
              result.code,
            );
            if (result.code === 'INSUFFICIENT_FUNDS' && !all) t.true(total < amount);
            return;
          }
          const psbt = psbtIn(result),
            spent = outpoints(result).map((outpoint) => coins.find((coin) => outpointOf(coin) === outpoint)!);
          const into = spent.reduce((sum, { valueSats }) => sum + BigInt(valueSats), 0n),
            out = psbt.outputs.reduce((sum, { value }) => sum + value, 0n);
          t.is(into - out, result.feeMax);
          t.is(new Set(outpoints(result)).size, spent.length);
          t.true(result.feeMax * 1_000n >= BigInt(rate) * BigInt(Number(result.fee['vsize'])));
          t.true(psbt.outputs.every(({ value, script }) => value >= dustLimitOf(script)));
          if (!all) t.is(psbt.outputs[0]!.value, amount);
        },
      ),
      { numRuns: 150 },
    ),
  );
});

// ── Repricing ────────────────────────────────────────────────────────────────────────────────────────────────────

/** What the node says once the old version is in its pool. */
const pooled = (unsigned: Unsigned, coins: readonly Coin[], more: Partial<Spender> = {}): Coin[] =>
  coins.map((coin) =>
    outpoints(unsigned).includes(outpointOf(coin))
      ? {
          ...coin,
          spender: spenderOf({
            feeSats: unsigned.feeMax.toString(),
            descendantFeeSats: unsigned.feeMax.toString(),
            vsize: 140,
            ...more,
          }),
        }
      : coin,
  );

test('B16 B17 a replacement keeps every coin, pays the same, and takes the rise from the change', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  const next = accepted(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins), readAtHeight: 800_101 })));
  t.deepEqual(outpoints(next), outpoints(old));
  t.like(next, {
    amount: old.amount,
    to: old.to,
    from: old.from,
    fromPath: old.fromPath,
    sendAll: false,
    readAtHeight: 800_101,
  });
  t.true(next.feeMax >= old.feeMax + 141n, 'rule 3: more by the incremental rate of its own size');
  t.deepEqual(valuesOf(next), [100_000n, valuesOf(old)[1]! - (next.feeMax - old.feeMax)]);
});

test('B16 (2) the fees of everything that leaves the pool are paid; (5) the rate is above each one displaced', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  const heavy = accepted(
    reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins, { descendantCount: 3, descendantFeeSats: '30000' }) })),
  );
  t.true(heavy.feeMax >= 30_000n + 141n);
  const dense = accepted(
    reprice(
      bitcoin,
      old,
      inputsOf({ coins: pooled(old, coins, { feeSats: '9000', vsize: 90, descendantFeeSats: '9000' }) }),
    ),
  );
  t.true(dense.feeMax * 90n > 9_000n * 141n);
});

test('B16 (4) what would evict more than 100 transactions is refused', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  t.like(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins, { descendantCount: 101 }) })), {
    code: 'CONFLICT',
    details: { evicted: 101, limit: 100 },
  });
  t.false(isRefusal(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins, { descendantCount: 100 }) }))));
});

test('B16 the market decides where it is higher, and the caps of the network still hold', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  const next = accepted(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins), estimateSatPerKvb: '80000' })));
  t.is(next.feeMax, 141n * 80n);
  t.like(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins), estimateSatPerKvb: '1200000' })), {
    code: 'AMOUNT_CAP_EXCEEDED',
  });
});

test('B17 B19 where the change does not suffice, further confirmed coins join, unconfirmed ones never', (t) => {
  const coins = [coinOf(101_500n)],
    old = built({ coins }),
    more = coinOf(300_000n),
    unconfirmed = coinOf(900_000n, { height: null });
  t.is(valuesOf(old).length, 1, 'no change to take from');
  const inputs = (further: Coin[]) =>
    inputsOf({ coins: [...pooled(old, coins), ...further], estimateSatPerKvb: '40000' });
  const next = accepted(reprice(bitcoin, old, inputs([unconfirmed, more])));
  t.deepEqual(outpoints(next), [...outpoints(old), outpointOf(more)]);
  t.is(next.amount, old.amount);
  t.like(reprice(bitcoin, old, inputs([unconfirmed])), { code: 'INSUFFICIENT_GAS' });
});

test('decisions 6: of a send-all the amount goes down by what the fee goes up, and never up', (t) => {
  const coins = [coinOf(500_000n), coinOf(300_000n)],
    old = built({ coins }, { amount: 'all' });
  const next = accepted(reprice(bitcoin, old, inputsOf({ coins: pooled(old, coins), estimateSatPerKvb: '50000' })));
  t.is(next.amount + next.feeMax, old.amount + old.feeMax);
  t.true(next.amount < old.amount);
  t.true(next.sendAll);
  const cheap = { ...old, amount: old.amount - 20_000n, feeMax: old.feeMax + 20_000n };
  const kept = accepted(reprice(bitcoin, cheap, inputsOf({ coins, estimateSatPerKvb: '1000' })));
  t.true(kept.amount <= cheap.amount);
});

test('B17 a payment whose coin a block has spent cannot be repriced', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  t.like(reprice(bitcoin, old, inputsOf({ coins: [coinOf(5_000_000n)] })), {
    code: 'CONFLICT',
    details: { outpoint: outpoints(old)[0] },
  });
});

test('B17 a payment whose change a later one spends is left to that one: replacing the parent would drop the child', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  const change = coinOf(800_000n, {
    txid: hexId('spender'),
    height: null,
    spender: spenderOf({ txid: hexId('child') }),
  });
  t.like(reprice(bitcoin, old, inputsOf({ coins: [...pooled(old, coins), change] })), {
    code: 'CONFLICT',
    details: { txid: hexId('child') },
  });
});

test('B16 an evicted payment is repriced from its own coins by what it paid itself', (t) => {
  const coins = [coinOf(1_000_000n)],
    old = built({ coins });
  const next = accepted(reprice(bitcoin, old, inputsOf({ coins })));
  t.true(next.feeMax >= old.feeMax + 141n);
  t.deepEqual(outpoints(next), outpoints(old));
});

test('property: a replacement always conflicts, pays the five rules of B16, and pays the recipient what was asked', (t) => {
  const given = fc.record({
    coins: fc.array(fc.bigInt({ min: 1_000n, max: 3_000_000n }), { minLength: 1, maxLength: 6 }),
    further: fc.array(fc.bigInt({ min: 1_000n, max: 3_000_000n }), { maxLength: 4 }),
    amount: fc.bigInt({ min: 294n, max: 4_000_000n }),
    rate: fc.integer({ min: 1_000, max: 60_000 }),
    market: fc.integer({ min: 1_000, max: 90_000 }),
    incremental: fc.integer({ min: 100, max: 5_000 }),
    standing: fc.bigInt({ min: 0n, max: 20_000n }),
    all: fc.boolean(),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(given, ({ coins: values, further, amount, rate, market, incremental, standing, all }) => {
        const coins = values.map((value) => coinOf(value)),
          old = build({ coins, estimateSatPerKvb: String(rate) }, { amount: all ? 'all' : amount });
        if (isRefusal(old)) return;
        const vsize = Number(old.fee['vsize']),
          replaced = old.feeMax + standing;
        const inputs = inputsOf({
          coins: [
            ...pooled(old, coins, { vsize, descendantCount: 2, descendantFeeSats: replaced.toString() }),
            ...further.map((value) => coinOf(value)),
          ],
          estimateSatPerKvb: String(market),
          incrementalSatPerKvb: String(incremental),
        });
        const next = reprice(bitcoin, old, inputs);
        if (isRefusal(next)) {
          t.true(
            ['INSUFFICIENT_GAS', 'INSUFFICIENT_FUNDS', 'AMOUNT_CAP_EXCEEDED'].includes(next.code),
            JSON.stringify(next),
          );
          return;
        }
        t.true(
          outpoints(old).every((outpoint) => outpoints(next).includes(outpoint)),
          'B17',
        );
        const size = BigInt(Number(next.fee['vsize']));
        t.true(next.feeMax >= replaced + (BigInt(incremental) * size) / 1_000n, 'rules 2 and 3');
        t.true(next.feeMax * BigInt(vsize) > old.feeMax * size, 'rule 5');
        if (all) t.true(next.amount <= old.amount);
        else t.is(psbtIn(next).outputs[0]!.value, amount);
        const into = outpoints(next).reduce(
          (sum, outpoint) => sum + BigInt(inputs.coins.find((coin) => outpointOf(coin) === outpoint)!.valueSats),
          0n,
        );
        t.is(into - valuesOf(next).reduce((sum, value) => sum + value, 0n), next.feeMax);
      }),
      { numRuns: 150 },
    ),
  );
});
