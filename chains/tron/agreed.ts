/** Inputs of two endpoints as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs, feeMaxBy, fundsOf } from '../agreed-inputs.ts';
import type { TronInputs } from './build-inputs.ts';
import { estimateFee } from './fee.ts';

/** Milliseconds that the heads of honest endpoints may be apart: the expiration is counted from the earlier one. */
const HEADS_APART_MS = 60_000;

/** The reference block is not compared, since heads differ: the other endpoint must have it (`upholds`). */
export function agreeInputs(network: Network, a: TronInputs, b: TronInputs, intent: Intent): Agreement<TronInputs> {
  const feeMax = feeMaxBy((inputs: TronInputs) => estimateFee(network, inputs, intent));
  const { about, dearer } = compareInputs(a, b, {
    feeMax,
    facts: (one) => ({
      sender: one.senderExists,
      destination: one.destination,
      trial: one.tried.kind,
      prices: one.prices,
      ...fundsOf(intent, {
        asset: BigInt((intent.token === null ? one.nativeBalance : one.tokenBalance) ?? '0'),
        native: BigInt(one.nativeBalance),
        feeMax: feeMax(one),
      }),
    }),
    near: ({ headTimeMs }) => ({ head: [headTimeMs, HEADS_APART_MS] }),
  });
  if (about.length > 0) return { ok: false, about };
  return { ok: true, inputs: { ...dearer, headTimeMs: Math.min(a.headTimeMs, b.headTimeMs) } };
}
