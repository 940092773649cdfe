/** Inputs of two endpoints as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs, feeMaxBy, fundsOf } from '../agreed-inputs.ts';
import { estimateFee, type Destination, type SolInputs } from './fee.ts';

/** Blocks that honest endpoints may be apart: an expiry is held against the other endpoint's. */
const BLOCKS_APART_MAX = 64;

/** The block hash is not compared, since heads differ: the other endpoint must have it (`upholds`). */
export function agreeInputs(network: Network, a: SolInputs, b: SolInputs, intent: Intent): Agreement<SolInputs> {
  const feeMax = feeMaxBy((inputs: SolInputs) => estimateFee(network, inputs, intent));
  const { about, dearer } = compareInputs(a, b, {
    feeMax,
    facts: (one) => ({
      sender: [one.senderLamports !== null, one.senderIsWallet],
      feePayer: [one.feePayer, one.payerLamports !== null, one.payerIsWallet],
      destination: kindOf(one.destination, one),
      rent: one.rentExempt,
      signaturePrice: one.lamportsPerSignature,
      token: tokenOf(one),
      trial: one.compute.kind,
      ...fundsOf(intent, {
        asset: BigInt((intent.token === null ? one.senderLamports : one.token?.balance) ?? '0'),
        native: BigInt((intent.token === null ? one.senderLamports : one.payerLamports) ?? '0'),
        feeMax: feeMax(one),
      }),
    }),
    near: ({ lastValidBlockHeight }) => ({ expiry: [lastValidBlockHeight, BLOCKS_APART_MAX] }),
  });
  return about.length > 0 ? { ok: false, about } : { ok: true, inputs: dearer };
}

/** What the destination is; of a wallet whether it has its rent, for its balance is moved by others. */
function kindOf(destination: Destination, { rentExempt }: SolInputs): unknown {
  return destination.kind === 'wallet'
    ? [destination.kind, BigInt(destination.lamports) >= BigInt(rentExempt)]
    : destination;
}

function tokenOf({ token }: SolInputs): unknown {
  if (token === null) return null;
  const { balance, ...rest } = token;
  return { ...rest, holds: balance !== null };
}
