import test from 'ava';
import { createStatementTimes, STATEMENT_NAMES, statementName } from '../../../persistence/postgres/statement-times.ts';
import { createStores } from '../../../persistence/postgres/stores.ts';
import { initialAccount } from '../../../model/account/state.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { until } from '../../support/until.ts';

test('ecosystem X49 a statement is named by the SQL function that it calls, one of none is other', (t) => {
  t.is(statementName('select * from append_accounts( )'), 'append_accounts');
  t.is(statementName('select coalesce(max(height), 0), counter_gaps( )'), 'counter_gaps');
  t.is(statementName('select now()'), 'other');
  t.true(STATEMENT_NAMES.length < 400, 'series of each node');
});

test('ecosystem X49 statements are counted by name and by pool, whether they succeed or fail, and a part of one is none', async (t) => {
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const times = createStatementTimes();
  const sql = openDatabase({
    url: database.url,
    connections: 2,
    name: 'times',
    watch: (client) => times.watch(client, 'main', 2),
  });
  t.teardown(() => sql.end({ timeout: 1 }));
  const count = (name: string) => times.statements().get(name)!.count;
  const { operators } = createStores({ sql, nowMs: Date.now, initialAccount, epochOf: () => undefined });
  const state = await operators.databaseState();
  t.true(Math.abs(state.clockMs - Date.now()) < 60_000);
  t.like(state, { archiveFailing: null, replicaLagSeconds: null, backupAgeSeconds: null });
  t.true(state.numbersUsed >= 0 && state.numbersUsed < 0.5);
  t.is(count('database_figures'), 1);
  t.true(times.statements().get('database_figures')!.seconds > 0);
  const part = sql`where ${1} = 1`;
  t.deepEqual([...(await sql`select 1 as one ${part}`)], [{ one: 1 }]);
  t.is(count('other'), 1);
  await t.throwsAsync(Promise.resolve(sql`select 1 / ${0}::int`), { message: /division by zero/ });
  t.is(count('other'), 2);
  const waiting = Promise.all(Array.from({ length: 3 }, () => sql`select pg_sleep(0.05)`));
  await until('all were asked', () => times.pools().get('main')!.underWay === 3);
  await waiting;
  t.deepEqual(times.pools().get('main'), { connections: 2, underWay: 0 });
  await database.owner`select flock.record_backup(now() - interval '2 hours')`;
  await database.owner`select flock.record_backup(now() - interval '9 hours')`;
  const { backupAgeSeconds } = await operators.databaseState();
  t.true(Math.abs(backupAgeSeconds! - 7_200) < 60, String(backupAgeSeconds));
  await t.throwsAsync(Promise.resolve(sql`select record_backup(now())`), { message: /permission denied/ });
});
