/**
 * What is signed lands soon or never: one rule for all families. A payload that cannot land yet is a cheque in the
 * cloud's hands, long after its caller gave up. found F8, chains.md 1.6-8.
 *
 *   height    (lock time, last ledger, last valid height) at most what the chain can have by the edge's clock
 *   counter   (nonce, sequence) at most a little above the highest one that this edge signed, or the next one by the
 *             company's own node; while both know none, at most what an address can have: EDGE_FIRST_NONCE_MAX on EVM
 *             chains; on xrp and xlm, where counters begin at the ledger that created the account, what the ledger's
 *             height allows
 *   time      (expiration, time bounds) the rule `ends` in rules.ts: it is in the bytes, and ends within an hour
 */
import { type Chain, FAMILY_OF } from '../../../protocol/slugs.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { overBound } from './fee-bounds.ts';
import { highestHeight } from './known-heights.ts';
import { refuseToSign, type SigningPolicy } from './signer.ts';

/** Highest first nonce of an address that this edge never signed for, where no setting says otherwise. */
export const FIRST_NONCE_MAX = 100_000n;
/** Transactions by which an account may exceed one per ledger. */
const SEQUENCE_SLACK = 1_000_000n;
/**
 * The upper half of a Stellar account's first sequence is the number of the ledger that created it. Source: CAP-0001.
 */
const STELLAR_LEDGER_BITS = 32n;

/** Refuses: SIGNED_BATCH_REJECTED `reason` for a height that the chain cannot have by `ahead` blocks from now. */
export function checkHeight(
  chain: Chain,
  height: number,
  { nowMs }: SigningPolicy,
  reason: string,
  ahead = 0,
): Refusal | null {
  const highest = highestHeight(chain, nowMs);
  if (highest === null || height <= highest + ahead) return null;
  return refuseToSign(reason, { expected: `at most ${highest + ahead} by this clock`, found: height });
}

/** Refuses: SIGNED_BATCH_REJECTED `reason` for a counter outside of the window, or one that no address can have. */
export function checkCounter(
  chain: Chain,
  counter: bigint,
  policy: SigningPolicy,
  reason: string,
  { mayBeBehind = false } = {},
): Refusal | null {
  const { replayWindow, nowMs, firstNonceMax = FIRST_NONCE_MAX } = policy;
  if (replayWindow !== null) {
    const { from, to } = replayWindow;
    if ((mayBeBehind || counter >= from) && counter <= to) return null;
    return refuseToSign(reason, { expected: `${from}–${to}`, found: counter });
  }
  if (FAMILY_OF[chain] === 'evm') {
    return counter <= firstNonceMax ? null : overBound(reason, 'EDGE_FIRST_NONCE_MAX', firstNonceMax, counter);
  }
  const ledger = highestHeight(chain, nowMs);
  if (ledger === null) return null;
  const highest =
    (FAMILY_OF[chain] === 'xlm' ? BigInt(ledger) << STELLAR_LEDGER_BITS : BigInt(ledger)) + SEQUENCE_SLACK;
  return counter <= highest
    ? null
    : refuseToSign(reason, { expected: `at most ${highest} by this clock`, found: counter });
}
