/**
 * When a schedule is due next: a pure function of the six fields, the time zone and an instant. Treasury S11.
 *
 *   second minute hour day-of-month month day-of-week      `*`, `a`, `a-b`, either with `/n`, lists of these;
 *                                                          months and days of the week also as JAN, MON; 7 is Sunday
 *
 * Where both days are restricted either of them is enough, as in crontab(5). A local time that a change of the zone
 * skips is due at the end of the gap; one that it doubles is due once, the first time; with `*` as hour the schedule
 * follows real hours instead. Choice: node-cron's own runner spins or stops at such changes (node-cron/node-cron#509).
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';

export interface Schedule {
  /** Of the minute: one, so that no schedule is due more often than each minute. */
  readonly second: number;
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  readonly isEveryHour: boolean;
  readonly isAnyDay: boolean;
  readonly isAnyWeekday: boolean;
  readonly zone: string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** Of the six fields: bounds, and names that stand for numbers from the first bound on. */
const FIELDS = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: MONTHS },
  { min: 0, max: 7, names: WEEKDAYS },
] as const;
const MINUTE_MS = 60_000,
  DAY_MS = 86_400_000;
/** The longest pause of a schedule that is ever due: 29 February around a century without leap day. */
const DAYS_MAX = 366 * 9;
const CRON_CHARS_MAX = 200;

/** Refuses: INVALID_INPUT for fields that cannot be read, are never due or are due more often than each minute. */
export function parseSchedule(cron: string, zone: string, fromMs: number): Schedule | Refusal {
  const no = (field: string, reason: string) => refuse('INVALID_INPUT', { field, reason });
  if (zonedClock(zone) === null) return no('scheduleTimeZone', 'unknown time zone: send an IANA name, as Europe/Rome');
  const texts = cron.trim().split(/\s+/);
  if (cron.length > CRON_CHARS_MAX || texts.length !== FIELDS.length)
    return no('scheduleCron', 'expected six fields: second minute hour day-of-month month day-of-week');
  const sets = texts.map((text, at) => valuesOf(text, FIELDS[at]!));
  const unread = sets.indexOf(null);
  if (unread >= 0) return no('scheduleCron', `field ${unread + 1} cannot be read: ${texts[unread]!.slice(0, 40)}`);
  const [seconds, minutes, hours, days, months, weekdays] = sets as ReadonlySet<number>[];
  if (seconds!.size > 1) return no('scheduleCron', 'due more often than each minute: the first field is one second');
  const week = new Set([...weekdays!].map((day) => day % 7));
  const schedule: Schedule = {
    second: [...seconds!][0]!,
    minutes: ascending(minutes!),
    hours: ascending(hours!),
    days: days!,
    months: months!,
    weekdays: week,
    isEveryHour: hours!.size === 24,
    isAnyDay: days!.size === 31,
    isAnyWeekday: week.size === 7,
    zone,
  };
  return nextRunAtMs(schedule, fromMs) === null ? no('scheduleCron', 'never due') : schedule;
}

const ascending = (set: ReadonlySet<number>) => [...set].toSorted((left, right) => left - right);

type Field = { readonly min: number; readonly max: number; readonly names: readonly string[] };

/** Null for text that is no field. */
function valuesOf(text: string, field: Field): ReadonlySet<number> | null {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|([0-9]{1,2}|[A-Za-z]{3})(?:-([0-9]{1,2}|[A-Za-z]{3}))?)(?:\/([0-9]{1,2}))?$/.exec(part);
    if (match === null) return null;
    const [, any, first, last, every] = match;
    const from = any === undefined ? numberOf(first!, field) : field.min;
    // `a/n` runs to the end, as `a-max/n`.
    const open = every === undefined ? from : field.max;
    const to = any !== undefined ? field.max : last === undefined ? open : numberOf(last, field);
    const step = every === undefined ? 1 : Number(every);
    if (from === null || to === null || from > to || step < 1) return null;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

function numberOf(text: string, { min, max, names }: Field): number | null {
  const named = names.indexOf(text.toUpperCase());
  if (named >= 0) return named + min;
  const number = /^[0-9]+$/.test(text) ? Number(text) : -1;
  return number >= min && number <= max ? number : null;
}

/** The first instant after `afterMs` at which a schedule is due, milliseconds since 1970; null where it never is. */
export function nextRunAtMs(schedule: Schedule, afterMs: number): number | null {
  const clock = zonedClock(schedule.zone);
  if (clock === null) return null;
  const local = clock(afterMs);
  // Of local times only the date counts first; a day too early costs nothing.
  const today = Math.floor(local / DAY_MS) - 1;
  for (let day = today; day < today + DAYS_MAX; day += 1) {
    if (!isDueOn(schedule, day)) continue;
    const due = schedule.isEveryHour
      ? dueInRealHours(schedule, clock, day, afterMs)
      : dueOnce(schedule, clock, day, afterMs);
    if (due !== null) return due;
  }
  return null;
}

/** `day`: days since 1970 of the zone's own calendar. */
function isDueOn({ months, days, weekdays, isAnyDay, isAnyWeekday }: Schedule, day: number): boolean {
  const date = new Date(day * DAY_MS);
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
  return isAnyDay || isAnyWeekday ? isDay && isWeekday : isDay || isWeekday;
}

/** Each local time of a day once: the first time that it is shown, else the end of the gap that holds it. */
function dueOnce(schedule: Schedule, clock: Clock, day: number, afterMs: number): number | null {
  for (const hour of schedule.hours)
    for (const minute of schedule.minutes) {
      const local = day * DAY_MS + (hour * 60 + minute) * MINUTE_MS + schedule.second * 1_000;
      const due = instantOf(clock, local);
      if (due > afterMs) return due;
    }
  return null;
}

/** Each instant of a day at which the zone's clock shows a minute of the schedule, a doubled hour twice. */
function dueInRealHours(schedule: Schedule, clock: Clock, day: number, afterMs: number): number | null {
  const minutes = new Set(schedule.minutes);
  const begins = instantOf(clock, day * DAY_MS);
  const first = Math.max(begins, afterMs + 1);
  const start = Math.floor(first / MINUTE_MS) * MINUTE_MS;
  for (let at = start; ; at += MINUTE_MS) {
    const local = clock(at);
    const localDay = Math.floor(local / DAY_MS);
    if (localDay > day) return null;
    // Offsets are whole minutes in every zone of today: the second is the same everywhere.
    const due = at + schedule.second * 1_000;
    if (localDay === day && due > afterMs && due >= begins && minutes.has(Math.floor(local / MINUTE_MS) % 60))
      return due;
  }
}

/** The time that a zone's clock shows at an instant, as milliseconds of that clock since its own 1970. */
type Clock = (atMs: number) => number;

const clocks = new Map<string, Clock | null>();
/** Zones of all policies of a process; names that are none are remembered too. */
const CLOCKS_MAX = 1_000;

/** Null for a name that is no time zone. */
function zonedClock(zone: string): Clock | null {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  const clock = clockOf(zone);
  if (clocks.size >= CLOCKS_MAX) clocks.clear();
  clocks.set(zone, clock);
  return clock;
}

function clockOf(zone: string): Clock | null {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
  } catch {
    return null; // RangeError: no such zone
  }
  return (atMs) => {
    const [month, day, year, hour, minute, second] = format
      .format(atMs)
      .match(/[0-9]+/g)!
      .map(Number);
    return Date.UTC(year!, month! - 1, day, hour, minute, second);
  };
}

/** The earliest instant at which a clock shows `local`; where it never does, the first instant after that gap. */
function instantOf(clock: Clock, local: number): number {
  // Offsets are between −12 and +14 hours, and no zone changes twice in a day.
  const offsets = [clock(local - DAY_MS) - (local - DAY_MS), clock(local + DAY_MS) - (local + DAY_MS)];
  const shown = offsets.map((offset) => local - offset).filter((at) => clock(at) === local);
  if (shown.length > 0) return Math.min(...shown);
  let [before, after] = [local - DAY_MS, local + DAY_MS];
  while (after - before > 1_000) {
    const middle = Math.floor((before + after) / 2_000) * 1_000;
    if (clock(middle) < local) before = middle;
    else after = middle;
  }
  return after;
}
