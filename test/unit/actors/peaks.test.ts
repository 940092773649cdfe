/** The billed peak of active addresses. Spec §2.9, §8.1; I26; console B2, B3. */
import test from 'ava';
import fc from 'fast-check';
import { billedPeak } from '../../../actors/address/peak.ts';
import type { AddressRow } from '../../../model/rows/address.ts';
import { commands, enrolled, rowsOf, type TestAccount } from '../../support/account.ts';

const DAY_MS = 86_400_000;
const monthOf = (atMs: number) => new Date(atMs).toISOString().slice(0, 7);

/** What usage answers for a month: from rows, and from what is running. */
function billed(account: TestAccount, month: string): number {
  const ofRows = rowsOf(account.rows, 'address_peak')
    .filter(({ day }) => day.startsWith(month))
    .map(({ active }) => active);
  return billedPeak(account.state, month, ofRows.length === 0 ? null : Math.max(...ofRows));
}
const create = (account: TestAccount) => account.accept(commands.createAddress()).reply;
const setStatus = (account: TestAccount, known: AddressRow, status: 'active' | 'archived') =>
  account.accept({ type: 'set_address_status', known, status, alone: true }).reply;

test('console B3: what is archived before midnight and brought back after it was billed on both days', (t) => {
  const account = enrolled();
  account.nowMs = Date.UTC(2026, 6, 31, 23, 50);
  const row = create(account);
  const archived = setStatus(account, create(account), 'archived');
  account.nowMs = Date.UTC(2026, 7, 1, 0, 5);
  account.accept({ type: 'note_peak' });
  t.is(billed(account, '2026-07'), 2, 'the last day of July, whose peak no daily round has seen');
  t.is(billed(account, '2026-08'), 1);
  setStatus(account, archived, 'active');
  t.is(billed(account, '2026-08'), 2);
  setStatus(account, row, 'archived');
  t.is(billed(account, '2026-08'), 2, 'it never falls within a period');
});

test('console B3: a day is begun once, by its first change or by the round; a clock that is set back begins none', (t) => {
  const account = enrolled();
  create(account);
  t.is(account.accept({ type: 'note_peak' }).events.length, 0);
  account.nowMs += DAY_MS;
  t.is(account.accept({ type: 'note_peak' }).events.length, 1);
  t.is(account.accept({ type: 'note_peak' }).events.length, 0);
  t.deepEqual(
    account.accept(commands.createAddress()).events.map(({ type }) => type),
    ['address_issued'],
  );
  account.nowMs -= 3 * DAY_MS;
  t.is(account.accept({ type: 'note_peak' }).events.length, 0);
  create(account);
  t.is(account.state.peak.active, 3);
});

test('console B3, B22: over any story each month bills the highest count that it saw, and no round is needed for it', (t) => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant('create' as const) },
    { weight: 3, arbitrary: fc.constant('archive' as const) },
    { weight: 2, arbitrary: fc.constant('unarchive' as const) },
    { weight: 1, arbitrary: fc.constant('round' as const) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 70 * 24 }).map((hours) => ({ hours })) },
  );
  const start = fc.integer({ min: 0, max: 366 * 24 }).map((hours) => Date.UTC(2027, 9, 1) + hours * 3_600_000);
  fc.assert(
    fc.property(start, fc.array(step, { maxLength: 60 }), (startMs, steps) => {
      const account = enrolled();
      account.nowMs = startMs;
      const active: AddressRow[] = [],
        archived: AddressRow[] = [];
      const peaks = new Map([[monthOf(startMs), 0]]);
      const seen = () => {
        const month = monthOf(account.nowMs);
        peaks.set(month, Math.max(peaks.get(month) ?? 0, active.length));
      };
      /** Each month on the way begins with what there is. */
      const pass = (hours: number) => {
        for (let left = hours; left > 0; left -= 24) {
          account.nowMs += Math.min(left, 24) * 3_600_000;
          seen();
        }
      };
      for (const one of steps) {
        if (typeof one === 'object') pass(one.hours);
        else if (one === 'create') active.push(create(account));
        else if (one === 'archive' && active.length > 0) archived.push(setStatus(account, active.shift()!, 'archived'));
        else if (one === 'unarchive' && archived.length > 0)
          active.push(setStatus(account, archived.shift()!, 'active'));
        else if (one === 'round') account.accept({ type: 'note_peak' });
        seen();
        // What the running month bills is right at any moment.
        if (billed(account, monthOf(account.nowMs)) !== peaks.get(monthOf(account.nowMs))) return false;
      }
      // A month that ended is read after the next one began.
      account.accept({ type: 'note_peak' });
      return [...peaks].every(([month, peak]) => peak === 0 || billed(account, month) === peak);
    }),
    { numRuns: 300 },
  );
  t.pass();
});
