/** Inputs of two nodes as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs } from '../agreed-inputs.ts';
import { outpointOf, type BtcInputs, type Coin } from './coin.ts';
import { estimateFee, rateOf } from './fee.ts';
import { btcOf } from './network.ts';

const PER_VBYTE = 1_000n;

/**
 * Confirmed coins must be the same ones. Pools differ, so a coin that one node calls spent, or has not, is spent by no
 * build. An estimate that only one node has is that one's.
 */
export function agreeInputs(network: Network, a: BtcInputs, b: BtcInputs, intent: Intent): Agreement<BtcInputs> {
  const [ours, theirs] = [estimated(a, b), estimated(b, a)];
  const { about, dearer } = compareInputs(ours, theirs, {
    feeMax: (inputs) => rateOf(btcOf(network), inputs) / PER_VBYTE,
    facts: (one) => ({
      coins: one.coins
        .filter(({ height }) => height !== null)
        .map(nameOf)
        .sort(),
    }),
    near: ({ readAtHeight }) => ({ head: [readAtHeight, 1] }),
  });
  if (about.length > 0) return { ok: false, about };
  const other = new Map((dearer === ours ? theirs : ours).coins.map((coin) => [nameOf(coin), coin]));
  const coins = dearer.coins
    .filter((coin) => other.has(nameOf(coin)))
    .map((coin): Coin => ({
      ...coin,
      spender: coin.spender ?? other.get(nameOf(coin))!.spender,
      previous: coin.previous ?? other.get(nameOf(coin))!.previous,
    }));
  const inputs = { ...dearer, readAtHeight: Math.min(a.readAtHeight, b.readAtHeight), coins };
  return 'ok' in estimateFee(network, inputs, intent) ? { ok: false, about: ['coins'] } : { ok: true, inputs };
}

const nameOf = (coin: Coin): string => `${outpointOf(coin)} ${coin.valueSats}`;

function estimated(one: BtcInputs, other: BtcInputs): BtcInputs {
  return { ...one, estimateSatPerKvb: one.estimateSatPerKvb ?? other.estimateSatPerKvb };
}
