/** Numbers of invoices: payments I2. */
import test from 'ava';
import fc from 'fast-check';
import { invoiceNumberOf, nextNumber, yearIn } from '../../../actors/payment/invoices.ts';

const ZONES = ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue', 'Asia/Tehran', 'America/St_Johns', 'Asia/Bangkok'];
const NEW_YEAR = Date.UTC(2027, 0, 1);
const HOUR = 3_600_000;

test('payments I2, F44: New Year comes with the zone: 14 hours early in Kiritimati, 11 late in Niue; numbers begin again at 000001 once', (t) => {
  t.is(yearIn('Pacific/Kiritimati', NEW_YEAR - 14 * HOUR), 2027);
  t.is(yearIn('Pacific/Kiritimati', NEW_YEAR - 14 * HOUR - 1), 2026);
  t.is(yearIn('Pacific/Niue', NEW_YEAR + 11 * HOUR), 2027);
  t.is(yearIn('Pacific/Niue', NEW_YEAR + 11 * HOUR - 1), 2026);
  for (const zone of ZONES) t.is(yearIn(zone, Date.UTC(2027, 5, 1)), 2027, `${zone}: the civil calendar`);
});

test('payments I2: whatever clock and zone do, numbers of a year are 1, 2, 3 …, each once, and no year comes back', (t) => {
  const step = fc.record({
    byHours: fc.integer({ min: -9_000, max: 9_000 }),
    zone: fc.constantFrom(...ZONES),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      let newest = { year: 0, last: 0 },
        atMs = NEW_YEAR;
      const given = new Map<number, number[]>();
      for (const { byHours, zone } of steps) {
        atMs += byHours * HOUR;
        const before = newest.year;
        newest = nextNumber(newest, yearIn(zone, atMs));
        if (newest.year < before) return false;
        given.set(newest.year, [...(given.get(newest.year) ?? []), newest.last]);
      }
      return [...given.values()].every((numbers) => numbers.every((number, at) => number === at + 1));
    }),
    { seed: 20_261_130, numRuns: 500 },
  );
  t.pass();
});

test('payments I2: six digits, and seven after 999,999', (t) => {
  t.is(invoiceNumberOf({ year: 2026, number: 1 }), 'INV-2026-000001');
  t.is(invoiceNumberOf({ year: 2026, number: 999_999 }), 'INV-2026-999999');
  t.is(invoiceNumberOf({ year: 2026, number: 1_000_000 }), 'INV-2026-1000000');
});
