/** Statements of the months that are over, and what was paid of them. */
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { notFound, refuse } from '../../protocol/errors.ts';
import { turnOfMonth } from './period.ts';

/** Asked again it changes nothing. */
export function closePeriods({ state, nowMs }: Deciding<'close_periods'>): AccountDecision<'close_periods'> {
  const { events, rows } = turnOfMonth(state, nowMs);
  const closed = events.flatMap((event) => (event.type === 'period_closed' ? [event.month] : []));
  return accept({ closed }, events, rows);
}

/** US dollars with two decimals. */
const centsText = (cents: string): string =>
  `${cents.padStart(3, '0').slice(0, -2)}.${cents.padStart(3, '0').slice(-2)}`;

/**
 * What was paid, whole or in part; with the last of what is overdue the subscription is active again.
 * Refuses: NOT_FOUND (a statement that has nothing left to pay), CONFLICT (more than is left).
 */
export function recordCollection({
  state,
  command: { id, statementId, cents, byUser, reason },
  nowMs,
}: Deciding<'record_collection'>): AccountDecision<'record_collection'> {
  const owed = state.owed[statementId];
  if (owed === undefined) return notFound('statement with something left to pay', statementId);
  const left = BigInt(owed.cents) - BigInt(cents);
  if (left < 0n) return refuse('CONFLICT', { reason: 'more_than_owed', left: centsText(owed.cents) });
  const row = { id, statementId, amountCents: cents, byUser, reason, collectedAtMs: nowMs };
  return accept(
    { left: String(left) },
    [{ type: 'collection_recorded', statementId, cents, byUser }],
    [{ table: 'collections', key: id, row }],
  );
}
