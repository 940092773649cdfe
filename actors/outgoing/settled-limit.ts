/** The tier Free stops at a monthly count of settled transactions; a band goes on with overage. Spec §8; console B5. */
import type { OutgoingSees } from '../../model/account/capabilities.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { Refusal } from '../../protocol/errors.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { countingMonth, settledIn } from '../billing/charges.ts';
import { tierLimit } from '../plan/limits.ts';

/** Before a build. Refuses: TIER_FEATURE_LOCKED. */
export function settledLimit(state: OutgoingSees, nowMs: number, more = 0): Refusal | null {
  const limit = TIER_TERMS[state.plan.tier].settledTransactions;
  if (limit === null) return null;
  return tierLimit(state, 'settledTransactions', settledIn(state, countingMonth(state, nowMs)) + more, limit);
}

/**
 * Before a signature: what is signed may be settled. A further version of one that is signed adds nothing, nor does one
 * that was settled before a reorg. Refuses: TIER_FEATURE_LOCKED.
 */
export function inFlightLimit(state: OutgoingSees, known: WithdrawalRow, nowMs: number): Refusal | null {
  if (known.kind === 'sweep') return null;
  if (TIER_TERMS[state.plan.tier].settledTransactions === null || known.id in state.signed) return null;
  const settledBefore = new Set(state.reopened);
  return settledLimit(state, nowMs, Object.keys(state.signed).filter((id) => !settledBefore.has(id)).length);
}
