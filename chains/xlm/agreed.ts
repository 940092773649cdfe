/** Inputs of two servers as one. docs/chains/endpoints.md. */
import type { Agreement, Intent, Network } from '../chain.ts';
import { compareInputs, feeMaxBy, fundsOf } from '../agreed-inputs.ts';
import { minimumBalance } from './balance.ts';
import { estimateFee } from './fee.ts';
import type { XlmInputs } from './inputs.ts';
import type { LedgerAccount } from './ledger-account.ts';

/**
 * Seconds that the newest ledgers of honest servers may be apart: the end of a payment is counted from the earlier one.
 */
const CLOSES_APART_SECONDS = 30;

/**
 * A sequence has no gaps here and one payment at a time, so the lower one would be no build at all: it must be equal.
 */
export function agreeInputs(network: Network, a: XlmInputs, b: XlmInputs, intent: Intent): Agreement<XlmInputs> {
  const feeMax = feeMaxBy((inputs: XlmInputs) => estimateFee(network, inputs, intent));
  const { about, dearer } = compareInputs(a, b, {
    feeMax,
    facts: (one) => ({
      sequence: one.sender?.sequence ?? null,
      reserve: one.baseReserve,
      ...fundsOf(intent, fundsIn(one, intent, feeMax(one))),
      destination: one.destination !== null,
      destinationMemo: one.destination?.memoRequired ?? null,
      issuer: one.issuer?.authRequired ?? null,
      trustline: intent.token === null ? null : [lineIn(one.sender, intent), lineIn(one.destination, intent)],
      feePayer: [one.feePayer, one.payer !== null],
    }),
    near: ({ closeTime }) => ({ head: [closeTime, CLOSES_APART_SECONDS] }),
  });
  if (about.length > 0) return { ok: false, about };
  return {
    ok: true,
    inputs: {
      ...dearer,
      readAtHeight: Math.min(a.readAtHeight, b.readAtHeight),
      closeTime: Math.min(a.closeTime, b.closeTime),
    },
  };
}

function fundsIn({ sender, baseReserve }: XlmInputs, { token }: Intent, feeMax: bigint | null) {
  const native =
    sender === null
      ? 0n
      : BigInt(sender.balance) - minimumBalance(sender, BigInt(baseReserve)) - BigInt(sender.sellingLiabilities);
  return { asset: token === null ? native : BigInt(sender?.lines[token.contract]?.balance ?? '0'), native, feeMax };
}

/** Whether an account has a line, and may use it. */
function lineIn(account: LedgerAccount | null, { token }: Intent): unknown {
  const line = token === null ? undefined : account?.lines[token.contract];
  return line === undefined ? null : { authorized: line.authorized, limit: line.limit };
}
