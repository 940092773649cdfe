/** Statements of the months that are over. */
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { turnOfMonth } from './period.ts';

/** Asked again it changes nothing. */
export function closePeriods({ state, nowMs }: Deciding<'close_periods'>): AccountDecision<'close_periods'> {
  const { events, rows } = turnOfMonth(state, nowMs);
  const closed = events.flatMap((event) => (event.type === 'period_closed' ? [event.month] : []));
  return accept({ closed }, events, rows);
}
