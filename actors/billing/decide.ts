/** Statements of the months that are over, and what was paid of them. */
import { createHash } from 'node:crypto';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { notFound, refuse } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { turnOfMonth } from './period.ts';

/** Asked again it changes nothing. */
export function closePeriods({ state, nowMs }: Deciding<'close_periods'>): AccountDecision<'close_periods'> {
  const { events, rows } = turnOfMonth(state, nowMs);
  const closed = events.flatMap((event) => (event.type === 'period_closed' ? [event.month] : []));
  return accept({ closed }, events, rows);
}

/** Parts of one statement, all of which are read with it. The last of it is always taken. */
const PARTS_MAX = 100;

/** US dollars with two decimals. */
const centsText = (cents: string): string =>
  `${cents.padStart(3, '0').slice(0, -2)}.${cents.padStart(3, '0').slice(-2)}`;

/**
 * What was paid, whole or in part; with the last of what is overdue the subscription is active again.
 * Refuses: NOT_FOUND (a statement that has nothing left to pay), CONFLICT (more than is left, one part too many).
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
  if (left > 0n && (owed.parts ?? 0) >= PARTS_MAX)
    return refuse('CONFLICT', {
      reason: 'too_many_parts',
      limit: PARTS_MAX,
      left: centsText(owed.cents),
      next: 'record all that is left at once',
    });
  const row = { id, statementId, amountCents: cents, byUser, reason, collectedAtMs: nowMs };
  return accept(
    { left: String(left) },
    [{ type: 'collection_recorded', statementId, cents, byUser }],
    [{ table: 'collections', key: id, row }],
  );
}

/**
 * What a provider says that it took in all. A word that is repeated, late, or older than one that was taken changes
 * nothing: what counts is the sum, which only grows. More than is left is taken up to what is left.
 */
export function takePayment({
  state,
  command: { statementId, provider, reference, paidCents },
  nowMs,
}: Deciding<'take_payment'>): AccountDecision<'take_payment'> {
  const owed = state.owed[statementId];
  if (owed === undefined) return accept({ left: '0' });
  const left = BigInt(owed.cents);
  const more = BigInt(paidCents) - BigInt(owed.taken?.[reference] ?? 0);
  if (more <= 0n) return accept({ left: String(left) });
  const taken = more < left ? more : left;
  const cents = String(taken);
  const id = takingIdOf(statementId, reference, paidCents, nowMs);
  const row = { id, statementId, amountCents: cents, byUser: provider, reason: reference, collectedAtMs: nowMs };
  return accept(
    { left: String(left - taken) },
    [{ type: 'collection_recorded', statementId, cents, byUser: provider, reference }],
    [{ table: 'collections', key: id, row }],
  );
}

/** Each sum of a reference is recorded once. */
function takingIdOf(statementId: string, reference: string, paidCents: string, atMs: number): string {
  const digest = createHash('sha256').update(`taking|${statementId}|${reference}|${paidCents}`).digest();
  return newId('col', atMs, digest.subarray(0, 10));
}
