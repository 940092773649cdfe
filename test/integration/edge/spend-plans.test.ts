/** What one count in the shared spend ledger reads, however much was counted before. A database of its own. */
import test from 'ava';
import { openPostgresSpend } from '../../../edge/spend/postgres-spend.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { newSpendDatabase } from '../../support/edge/spend-database.ts';
import { openWatched } from '../../support/plans.ts';

const ROWS = 20_000;
/** Keys of one subject, of one version, of one sender's neighbours, and the few that are open. */
const COUNT_ROWS = 60;

const settings = (url: string) => ({
  url,
  scope: 'live a',
  caps: { spendCaps: new Map(), withdrawalCaps: new Map(), spendWindowMs: 3_600_000 },
  clock: { nowMs: () => Math.ceil(performance.now()) },
  replica: { name: 'one', heirOf: null, noteCounted: () => undefined },
});

test('found F3, F54: a count in PostgreSQL reads what it is about, by an index, after any number of signatures of one sender', async (t) => {
  const url = await newSpendDatabase(t);
  const ledger = openPostgresSpend(settings(url));
  t.teardown(() => ledger.close());
  const spend = (n: number) => ({
    subject: `new ${n}`,
    transactionId: `txn_new_${n}`,
    chain: 'eth' as const,
    purpose: 'withdrawal' as const,
    amount: 1n,
    exclusive: [`eth|0xa|nonce:${1_000_000 + n}`],
    version: `version new ${n}`,
    sender: '0xa',
    payment: `payment new ${n}`,
    counter: BigInt(1_000_000 + n),
    deadAtMs: null,
    wallMs: 1,
  });
  t.is(await ledger.count(spend(0)), null);
  const owner = openDatabase({ url, connections: 1, name: 'flock-fill', role: null });
  t.teardown(() => owner.end({ timeout: 5 }));
  // Signed before this window by one hot wallet, each confirmed; a few of an edge of before, which kept no versions.
  await owner`
    insert into public.flock_spend (scope, subject, chain, purpose, amount, exclusive, counted_at_ms, transaction_id, sender, payment, counter, told, versions)
      select 'live a', 's' || i, 'eth', 'withdrawal', 1, jsonb_build_array('eth|0xa|nonce:' || i), 0, 'txn_' || i, '0xa', 'p' || i, i, 'confirmed',
             case when i % 100 > 0 then jsonb_build_array('v' || i) end from generate_series(1, ${ROWS}::bigint) i`;
  await owner`update public.flock_spend set later_versions = jsonb_build_array('late-' || subject) where versions is null`;
  await owner`analyze public.flock_spend`;
  for (const mode of ['auto', 'force_generic_plan', 'force_custom_plan']) {
    const watched = await openWatched(url, url, { plan_cache_mode: mode, search_path: 'public' }, true);
    try {
      const count = (n: number) => {
        const { deadAtMs, amount, counter, ...rest } = spend(n);
        const asked = {
          ...rest,
          deadAtMs,
          amount: String(amount),
          counter: String(counter),
          cap: null,
          windowMs: 3_600_000,
        };
        return watched.sql<{ outcome: string }[]>`
          select outcome from public.flock_count_spend('live a', 'two', null, 1, ${JSON.stringify(asked)}::text::jsonb)`;
      };
      const first = mode.length * 100;
      for (let n = first; n < first + 8; n += 1) await count(n); // a session's plans are those of its first questions
      const { answer, statements } = await watched.ran(() => count(first + 8));
      t.is(answer[0]!.outcome, 'counted');
      t.true(statements.length > 10);
      t.deepEqual(
        statements
          .filter(({ rowsRead }) => rowsRead > COUNT_ROWS)
          .map(({ text, rowsRead, indexes }) => `${mode}: ${rowsRead} by ${indexes.join()}: ${text.slice(0, 200)}`),
        [],
      );
      // The bytes of one payment pay no other, whichever index says so.
      for (const version of ['v777', 'late-s700']) {
        const [other] = await watched.sql<{ outcome: string }[]>`
        select outcome from public.flock_count_spend('live a', 'two', null, 1, ${JSON.stringify({
          ...spend(first + 9),
          version,
          amount: '1',
          counter: null,
          cap: null,
          windowMs: 1,
        })}::text::jsonb)`;
        t.is(other!.outcome, 'other_payment');
      }
    } finally {
      await watched.close();
    }
  }
});
