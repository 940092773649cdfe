/** Which coins a sweep of an address takes, and what it pays. Treasury 5.4, S12; B6, B12, B14. */
import test from 'ava';
import fc from 'fast-check';
import { outpointOf, type Coin } from '../../../../chains/btc/coin.ts';
import { bitcoin } from '../../../../chains/btc/network.ts';
import { estimateFee } from '../../../../chains/btc/fee.ts';
import { SWEEP_INPUTS_MAX, SWEEP_PROOF_BYTES_MAX } from '../../../../chains/btc/sweep.ts';
import { buildUnsigned, reprice } from '../../../../chains/btc/unsigned.ts';
import { isRefusal } from '../../../../protocol/errors.ts';
import { accepted, coinOf, inputsOf, intentOf, psbtIn } from '../../../support/btc-inputs.ts';

const HEAD = 800_100;
/** At 10 satoshi a vbyte an input of 68 costs 680. */
const WORTH = 3n * 680n;
const final = { height: HEAD - bitcoin.threshold + 1 } as const;
const sweepOf = (coins: readonly Coin[], sweepUpTo: bigint, taken: readonly string[] = []) =>
  buildUnsigned(
    bitcoin,
    inputsOf({ coins, readAtHeight: HEAD }),
    intentOf({ amount: 'all', sweepUpTo }),
    taken.length === 0 ? null : { kind: 'outpoints', value: taken },
  );

test('treasury S12, 5.4: a sweep takes final coins that are worth their fee, no more than what is credited, into one output', (t) => {
  const large = coinOf(1_000_000n, final),
    small = coinOf(WORTH + 1n, final);
  const others = [
    coinOf(WORTH, final), // worth its fee, and not three times
    coinOf(900_000n, { height: HEAD - bitcoin.threshold + 2 }), // one block too young
    coinOf(900_000n, { height: null }),
    coinOf(900_000n, { ...final, spender: 'hidden' }),
    coinOf(900_000n, { ...final, previous: null }),
    coinOf(900_000n, { ...final, coinbase: true }),
  ];
  const unsigned = accepted(sweepOf([...others, small, large], 10n ** 9n));
  t.deepEqual(unsigned.replayKey, { kind: 'outpoints', value: [large, small].map(outpointOf) });
  const { outputs } = psbtIn(unsigned);
  t.is(outputs.length, 1);
  t.is(outputs[0]!.value, 1_000_000n + WORTH + 1n - unsigned.feeMax);
  t.true(unsigned.sendAll);
  // What is not credited stays, and what another payment holds.
  t.deepEqual(accepted(sweepOf([large, small], 1_000_000n)).replayKey, {
    kind: 'outpoints',
    value: [outpointOf(large)],
  });
  t.deepEqual(accepted(sweepOf([large, small], 10n ** 9n, [outpointOf(large)])).amount, WORTH + 1n - 1_100n);
  const nothing = sweepOf([small, ...others], WORTH);
  t.like(nothing, { code: 'INSUFFICIENT_FUNDS', details: { balance: '0', required: String(WORTH + 1n) } });
});

test('treasury 5.4: 200 inputs at most, and 600 kB of proofs; what is left is the next one’s', (t) => {
  const many = Array.from({ length: SWEEP_INPUTS_MAX + 5 }, (_, index) => coinOf(10_000n + BigInt(index), final));
  const { inputs } = psbtIn(accepted(sweepOf(many, 10n ** 9n)));
  t.is(inputs.length, SWEEP_INPUTS_MAX);
  const [first] = many as [Coin, ...Coin[]];
  const heavy = many
    .slice(0, 3)
    .map((coin) => ({ ...coin, previous: first.previous!.padEnd(SWEEP_PROOF_BYTES_MAX, '0') }));
  const intent = intentOf({ amount: 'all', sweepUpTo: 10n ** 9n });
  const fee = estimateFee(bitcoin, inputsOf({ coins: heavy, readAtHeight: HEAD }), intent);
  t.is(isRefusal(fee) ? null : fee.parts['inputCount'], 2, 'two halves of the bound');
});

test('treasury S30, Y7: what is estimated is what is built, to the satoshi; the bound of what is credited holds for any coins', (t) => {
  t.plan(1);
  const amounts = fc.array(fc.bigInt({ min: 1n, max: 5_000_000n }), { minLength: 1, maxLength: 30 });
  const check = fc.check(
    fc.property(amounts, fc.bigInt({ min: 0n, max: 60_000_000n }), (values, upTo) => {
      const coins = values.map((value) => coinOf(value, final)),
        inputs = inputsOf({ coins, readAtHeight: HEAD });
      const intent = intentOf({ amount: 'all', sweepUpTo: upTo });
      const fee = estimateFee(bitcoin, inputs, intent),
        built = buildUnsigned(bitcoin, inputs, intent, null);
      if (isRefusal(fee) || isRefusal(built)) return isRefusal(fee) && (isRefusal(built) || false);
      return (
        built.feeMax === fee.feeMax &&
        built.amount === fee.moved &&
        built.amount + built.feeMax <= upTo &&
        fee.feeMax > 0n
      );
    }),
    { numRuns: 100 },
  );
  t.false(check.failed, String(check.counterexample));
});

test('B16, treasury 5.4: a sweep that waits is displaced from the same coins, and moves less', (t) => {
  const coins = [coinOf(1_000_000n, final), coinOf(50_000n, final)],
    first = accepted(sweepOf(coins, 10n ** 9n));
  const spender = { txid: '1'.repeat(64), feeSats: String(first.feeMax), vsize: 178, descendantCount: 1 };
  const waiting = coins.map((coin) => ({ ...coin, spender: { ...spender, descendantFeeSats: String(first.feeMax) } }));
  const dear = inputsOf({ coins: waiting, readAtHeight: HEAD + 6, estimateSatPerKvb: '40000' });
  const next = accepted(reprice(bitcoin, first, dear));
  t.deepEqual(next.replayKey, first.replayKey);
  t.is(next.amount + next.feeMax, first.amount + first.feeMax);
  t.true(next.feeMax > first.feeMax);
});
