/** Inputs of two endpoints as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs, feeMaxBy, fundsOf, lowerCounter } from '../agreed-inputs.ts';
import { estimateFee, type EvmInputs } from './fee.ts';

/** Heights are compared by nobody: nothing of them is in the bytes. Throws nothing. */
export function agreeInputs(network: Network, a: EvmInputs, b: EvmInputs, intent: Intent): Agreement<EvmInputs> {
  const feeMax = feeMaxBy((inputs: EvmInputs) => estimateFee(network, inputs, intent));
  const { about, dearer } = compareInputs(a, b, {
    feeMax,
    facts: (one) => ({
      destination: one.gas.kind,
      ...fundsOf(intent, {
        asset: BigInt(intent.token === null ? one.nativeBalance : (one.tokenBalance ?? '0')),
        native: BigInt(one.nativeBalance),
        feeMax: feeMax(one),
      }),
    }),
  });
  if (about.length > 0) return { ok: false, about };
  const { value: nonceLatest, mark } = lowerCounter(a.nonceLatest, b.nonceLatest);
  return {
    ok: true,
    inputs: { ...dearer, nonceLatest, noncePending: Math.min(a.noncePending, b.noncePending), ...mark },
  };
}
