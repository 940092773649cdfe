/** What a watcher reads of a ledger that settled 100,000 withdrawals: at a start, at a tick, and when a branch goes. */
import test from 'ava';
import { createStores, type Stores } from '../../../persistence/postgres/stores.ts';
import { createLists } from '../../../persistence/postgres/list-pool.ts';
import { initialAccount } from '../../../model/account/state.ts';
import type { OpenPlace } from '../../../model/ports/watch-store.ts';
import { openWatched, type RanStatement, type WatchedPools } from '../../support/plans.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  newOrganization,
  openStores,
  recordOf,
  linksAfter,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';

const SETTLED = 100_000;
const WINDOW = 256;
/** Each withdrawal in sight is found in its index, then read whole, then joined. */
const READ_OF_EACH = 4;

const database = await createTestDatabase();
const stores = await openStores(database),
  { live } = await newOrganization(stores),
  from = addressRow(live);
await write(stores, live, [{ table: 'address', row: from }]);
for (const status of ['confirmed', 'broadcast'] as const)
  await write(stores, live, [
    {
      table: 'withdrawal',
      row: withdrawalRow(from, {
        unsigned: {
          ...withdrawalRow(from).unsigned,
          replayKey: { kind: 'nonce', value: status === 'confirmed' ? 1 : 2 },
        },
        status,
        versions: [{ txid: `0x${status}`, signedPayload: 's', payload: 'p' }],
        txid: `0x${status}`,
        height: status === 'confirmed' ? 1 : null,
        blockHash: status === 'confirmed' ? 'a1' : null,
      }),
    },
  ]);
const [columns] = await database.admin<{ names: string; values: string }[]>`
  select string_agg(quote_ident(attname), ',' order by attnum) as names,
         string_agg(case attname when 'id' then '''txn_'' || n' when 'height' then 'n' when 'txid' then '''0x'' || n'
                      when 'block_hash' then '''a'' || n' when 'created_at' then 'created_at + n * interval ''1 s'''
                      when 'unsigned' then 'jsonb_set(unsigned, ''{replayKey,value}'', to_jsonb(n + 5))'
                      else quote_ident(attname) end, ',' order by attnum) as values
    from pg_attribute
   where attrelid = 'flock.withdrawal'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
await database.admin.unsafe(`
  set local session_replication_role = replica;
  insert into flock.withdrawal (${columns!.names})
    select ${columns!.values} from flock.withdrawal cross join generate_series(2, ${SETTLED}) n where status = 'confirmed';
  analyze flock.withdrawal`);
const watched: WatchedPools = await openWatched(database.url);
const { watch }: Stores = createStores({
  sql: watched.sql,
  lists: createLists(watched.lists, { slots: 2 }),
  nowMs: Date.now,
  initialAccount,
  epochOf: () => undefined,
});
test.after.always(async () => {
  await watched.close();
  await database.close();
});

const describe = ({ text, rowsRead, indexes, sequentialScans }: RanStatement): string =>
  `${rowsRead} rows by ${[...new Set(indexes)].join()} scanned ${sequentialScans.join()}: ${text.slice(0, 300)}`;
const tooMuch = (statements: readonly RanStatement[], most: number): string[] =>
  statements.filter(({ rowsRead, sequentialScans }) => rowsRead > most || sequentialScans.length > 0).map(describe);

test.serial(
  'found: a tick reads the settled withdrawals of the reorg window, however many the ledger ever had',
  async (t) => {
    const { answer, statements } = await watched.ran(() => watch.openWithdrawals('eth', SETTLED - WINDOW, 1_000));
    t.is(answer.rows.length, WINDOW + 2);
    t.deepEqual(tooMuch(statements, READ_OF_EACH * (WINDOW + 2)), []);
    const none = await watched.ran(() => watch.openWithdrawals('eth', Number.MAX_SAFE_INTEGER, 1_000));
    t.deepEqual([none.answer.rows.length, tooMuch(none.statements, READ_OF_EACH)], [1, []]);
    const all = await watched.ran(() => watch.openWithdrawals('eth', 0, 1_000));
    t.deepEqual([all.answer.rows.length, tooMuch(all.statements, 1_010)], [1_000, []], 'and all of them page by page');
  },
);

test.serial(
  'found: where a hundred thousand withdrawals of one account are under way a page costs what it shows, each comes once, and the first of others do not wait',
  async (t) => {
    t.timeout(300_000);
    const others = 60;
    const first = await newOrganization(stores),
      theirs = addressRow(first.live);
    await write(stores, first.live, [{ table: 'address', row: theirs }]);
    const names = columns!.names;
    const copy = (id: string, account: string, created: string) =>
      names
        .split(',')
        .map((name) =>
          name === 'id'
            ? id
            : name === 'account_id'
              ? account
              : name === 'created_at'
                ? created
                : name === 'unsigned'
                  ? `jsonb_set(unsigned, '{replayKey,value}', to_jsonb(n + 900000))`
                  : name === 'ledger'
                    ? `'base'`
                    : name,
        )
        .join(',');
    await database.admin.unsafe(`
      set local session_replication_role = replica;
      insert into flock.withdrawal (${names})
        select ${copy(`'txn_own_' || n`, 'account_id', `created_at + n * interval '1 s'`)}
          from flock.withdrawal cross join generate_series(1, ${SETTLED}) n where status = 'broadcast';
      insert into flock.withdrawal (${names})
        select ${copy(`'txn_theirs_' || n`, `'org_z' || lpad((n / 3)::text, 4, '0') || '_live'`, `created_at + n * interval '1 day'`)}
          from flock.withdrawal cross join generate_series(0, ${others * 3 - 1}) n
         where status = 'broadcast' and ledger = 'eth';
      analyze flock.withdrawal`);
    const seen = new Map<string, number>();
    let after: OpenPlace | null = null,
      pages = 0;
    do {
      const {
        answer,
        statements,
      }: { answer: Awaited<ReturnType<typeof watch.openWithdrawals>>; statements: readonly RanStatement[] } =
        await watched.ran(() => watch.openWithdrawals('base', SETTLED, 1_000, after));
      t.deepEqual(tooMuch(statements, 3 * 1_000 + 20), []);
      for (const { id } of answer.rows) {
        t.false(seen.has(id), id);
        seen.set(id, pages);
      }
      after = answer.next;
      pages += 1;
    } while (after !== null);
    t.is(seen.size, SETTLED + others * 3);
    t.true(
      [...seen].every(([id, page]) => !id.startsWith('txn_theirs_') || page === 0),
      'all of theirs are in the first page',
    );
  },
);

test.serial('C3-33 a branch that is replaced reads the withdrawals above its fork', async (t) => {
  const depth = 100;
  const links = linksAfter({ height: SETTLED - depth - 2, hash: 'start' }, depth + 2, 'a');
  let previous: { height: number; hash: string } | null = null;
  for (const link of links) {
    await watch.recordBlock('eth', recordOf(link, [], { previous }));
    previous = { height: link.height, hash: link.hash };
  }
  const { answer, statements } = await watched.ran(() =>
    watch.recordReorg('eth', { height: links[1]!.height, hash: links[1]!.hash }, previous!, []),
  );
  t.true(answer.recorded);
  const inbox = await stores.inbox.inboxOf(live, 1_000);
  t.is(inbox.inbox.filter(({ fact }) => fact.kind === 'withdrawal_orphaned').length, depth);
  t.deepEqual(
    tooMuch(
      statements.filter(({ text }) => text.includes('withdrawal')),
      READ_OF_EACH * depth + 20,
    ),
    [],
  );
});
