/** When a schedule is due next, at every change of three zones. Treasury S11. */
import test from 'ava';
import fc from 'fast-check';
import { nextRunAtMs, parseSchedule, type Schedule } from '../../../actors/sweep/cron.ts';
import { isRefusal } from '../../../protocol/errors.ts';

const ZONES = ['America/New_York', 'Australia/Melbourne', 'Europe/Rome'];
const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);
const read = (cron: string, zone: string, fromMs: number): Schedule => {
  const schedule = parseSchedule(cron, zone, fromMs);
  if (isRefusal(schedule)) throw new Error(schedule.message);
  return schedule;
};
const runs = (cron: string, zone: string, from: string, count: number): string[] => {
  const schedule = read(cron, zone, at(from)),
    found: string[] = [];
  for (let after = at(from); found.length < count;) {
    after = nextRunAtMs(schedule, after)!;
    found.push(new Date(after).toISOString().replace('.000', ''));
  }
  return found;
};
/** Another way to the clock of a zone than the code's own. */
const shown = (zone: string, atMs: number) =>
  new Date(atMs).toLocaleString('sv-SE', { timeZone: zone, hourCycle: 'h23' }).replace(' ', 'T');
/** Every instant of 2026 at which a zone changes. */
const changesOf = (zone: string): number[] => {
  const offset = (atMs: number) => at(`${shown(zone, atMs)}Z`) - atMs;
  const hours = Array.from({ length: 365 * 24 }, (_, hour) => at('2026-01-01T00:00:00Z') + hour * HOUR_MS);
  return hours.filter((atMs) => offset(atMs) !== offset(atMs - 1_000));
};

test('treasury S11, node-cron/node-cron#509: a local time that a zone skips runs at the end of the gap, a doubled one once, the first time', (t) => {
  t.deepEqual(runs('0 30 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2), [
    '2026-03-08T07:00:00Z',
    '2026-03-09T06:30:00Z',
  ]);
  t.deepEqual(runs('0 30 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2), [
    '2026-11-01T05:30:00Z',
    '2026-11-02T06:30:00Z',
  ]);
  t.deepEqual(runs('0 30 2 * * *', 'Europe/Rome', '2026-03-28T12:00:00Z', 2), [
    '2026-03-29T01:00:00Z',
    '2026-03-30T00:30:00Z',
  ]);
  t.deepEqual(runs('0 30 2 * * *', 'Australia/Melbourne', '2026-04-04T00:00:00Z', 2), [
    '2026-04-04T15:30:00Z',
    '2026-04-05T16:30:00Z',
  ]);
});

test('treasury S11: with `*` as hour the schedule follows real hours through every change', (t) => {
  for (const zone of ZONES) {
    const changes = changesOf(zone);
    t.is(changes.length, 2, zone);
    for (const change of changes) {
      const schedule = read('0 15 * * * *', zone, change);
      let after = change - 6 * HOUR_MS;
      after = nextRunAtMs(schedule, after)!;
      for (let hour = 0; hour < 12; hour += 1) {
        const next = nextRunAtMs(schedule, after)!;
        t.is(next - after, HOUR_MS, `${zone} ${new Date(after).toISOString()}`);
        after = next;
      }
    }
  }
});

test('treasury S11: around every change a daily time is due once a day, at that time wherever the clock shows it', (t) => {
  const times = fc.tuple(
    fc.constantFrom(...ZONES),
    fc.nat({ max: 23 }),
    fc.nat({ max: 59 }),
    fc.nat({ max: 59 }),
    fc.nat({ max: 1 }),
  );
  fc.assert(
    fc.property(times, ([zone, hour, minute, second, which]) => {
      const change = changesOfZone.get(zone)![which]!;
      const two = (value: number) => String(value).padStart(2, '0');
      const schedule = read(`${second} ${minute} ${hour} * * *`, zone, change);
      const days = new Set<string>();
      let after = change - 60 * HOUR_MS;
      for (let run = 0; run < 5; run += 1) {
        const next = nextRunAtMs(schedule, after)!;
        if (next <= after) return false;
        const [day, time] = shown(zone, next).split('T');
        if (days.has(day!)) return false;
        days.add(day!);
        // Skipped: at the very end of the gap, which is the change itself.
        if (time !== `${two(hour)}:${two(minute)}:${two(second)}` && next !== change) return false;
        // Doubled: not an hour earlier as well.
        if (shown(zone, next - HOUR_MS) === shown(zone, next)) return false;
        after = next;
      }
      return days.size === 5;
    }),
    { numRuns: 200 },
  );
  t.pass();
});
const changesOfZone = new Map(ZONES.map((zone) => [zone, changesOf(zone)]));

test('treasury S11: what is due is due, and nothing before it was', (t) => {
  const fields = fc.record({
    second: fc.nat({ max: 59 }),
    minutes: fc.constantFrom('*', '*/7', '3', '10-20/5', '0,30'),
    hours: fc.constantFrom('*', '2', '*/6', '1-3'),
    days: fc.constantFrom('*', '1', '28-31', '*/10'),
    months: fc.constantFrom('*', 'MAR,OCT', '4', '11'),
    weekdays: fc.constantFrom('*', 'SUN', '1-5', '7'),
  });
  const start = at('2026-01-01T00:00:00Z');
  fc.assert(
    fc.property(fields, fc.constantFrom(...ZONES), fc.nat({ max: 364 * 24 * 60 }), (cron, zone, minute) => {
      const text = `${cron.second} ${cron.minutes} ${cron.hours} ${cron.days} ${cron.months} ${cron.weekdays}`;
      const schedule = read(text, zone, start);
      const after = start + minute * 60_000;
      const next = nextRunAtMs(schedule, after)!;
      // From any moment in between the same run is next.
      return (
        next > after &&
        nextRunAtMs(schedule, next - 1) === next &&
        nextRunAtMs(schedule, after + Math.floor((next - after) / 2)) === next
      );
    }),
    { numRuns: 200 },
  );
  t.pass();
});

test('treasury S11: schedules that cannot be read, are never due or due too often are refused', (t) => {
  const refused: readonly [string, string, string][] = [
    ['* * * * *', 'UTC', 'six fields'],
    ['0 0 0 30 2 *', 'UTC', 'never due'],
    ['* * * * * *', 'UTC', 'more often'],
    ['0,30 * * * * *', 'UTC', 'more often'],
    ['60 * * * * *', 'UTC', 'field 1'],
    ['0 5-3 * * * *', 'UTC', 'field 2'],
    ['0 */0 * * * *', 'UTC', 'field 2'],
    ['0 0 24 * * *', 'UTC', 'field 3'],
    ['0 0 0 0 * *', 'UTC', 'field 4'],
    ['0 0 0 * FOO *', 'UTC', 'field 5'],
    ['0 0 0 * * 8', 'UTC', 'field 6'],
    ['0 0 0 * * MON-', 'UTC', 'field 6'],
    ['0 0 0 * * *', 'Mars/Olympus', 'IANA'],
    ['0 0 0 * * *', '', 'IANA'],
    [`0 ${'1,'.repeat(200)}1 * * * *`, 'UTC', 'six fields'],
  ];
  for (const [cron, zone, words] of refused) {
    const no = parseSchedule(cron, zone, at('2026-01-01T00:00:00Z'));
    t.true(isRefusal(no) && no.code === 'INVALID_INPUT' && no.message.includes(words), `${cron} ${zone}`);
  }
  t.deepEqual(runs('0 0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 1), ['2104-02-29T00:00:00Z'], 'across a century');
  t.deepEqual(runs('0 0 9 13 * FRI', 'UTC', '2026-03-01T00:00:00Z', 3), [
    '2026-03-06T09:00:00Z',
    '2026-03-13T09:00:00Z',
    '2026-03-20T09:00:00Z',
  ]);
});
