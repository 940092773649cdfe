/**
 * The highest count of active addresses of each UTC day, which is what is billed. Spec §2.9, §8.1; I26.
 *
 *   peak.day   the day whose peak is running: `active` rises with every address and falls never
 *   next day   with the first change of the count, or with the daily round: what ended becomes rows, and the new day
 *              begins with the count as it is then
 *
 * Between two changes the count stays what it is, so a day that nobody looked at needs a row only where it is the last
 * one that its month has.
 */
import type { AccountEvent, RowWrite } from '../../model/account/capabilities.ts';
import type { AddressState } from '../../model/account/address.ts';

type Peak = AddressState['peak'];

export interface DayTurn {
  readonly events: readonly AccountEvent[];
  readonly rows: readonly RowWrite[];
}

const SAME_DAY: DayTurn = { events: [], rows: [] };

/** What comes before the first change of a day; nothing where the day is running already, or the clock went back. */
export function turnOfDay(
  { peak, activeAddresses: active }: Pick<AddressState, 'peak' | 'activeAddresses'>,
  nowMs: number,
): DayTurn {
  const day = dayOf(nowMs);
  if (day <= peak.day) return SAME_DAY;
  const ended = peak.day === '' ? [] : [{ day: peak.day, active: peak.active }];
  const passedBy = peak.day === '' ? [] : monthsBetween(peak.day, day).map((first) => ({ day: first, active }));
  const rows = [...ended, ...passedBy, { day, active }].map((row): RowWrite => ({ table: 'address_peak', ...row }));
  return { events: [{ type: 'peak_noted', day, active }], rows };
}

/** The running peak once the count is `active`. */
export const risen = (peak: Peak, active: number): Peak => (active > peak.active ? { day: peak.day, active } : peak);

/**
 * The highest count of a month (`2026-08`), also of one that has ended: of its rows, null where it has none, and of
 * what is running.
 */
export function billedPeak(
  { peak, activeAddresses }: Pick<AddressState, 'peak' | 'activeAddresses'>,
  month: string,
  ofRows: number | null,
): number {
  const running = peak.day.slice(0, 7);
  if (running > month) return ofRows ?? 0;
  return Math.max(ofRows ?? 0, running === month ? peak.active : activeAddresses);
}

/** Calendar day of an instant, UTC: `2026-08-31`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** First days of the months that lie wholly between two days. */
function monthsBetween(from: string, to: string): string[] {
  const firsts: string[] = [];
  for (let first = nextMonth(from); first.slice(0, 7) < to.slice(0, 7); first = nextMonth(first)) firsts.push(first);
  return firsts;
}

function nextMonth(day: string): string {
  const [year, month] = day.split('-').map(Number) as [number, number];
  return dayOf(Date.UTC(year, month, 1));
}
