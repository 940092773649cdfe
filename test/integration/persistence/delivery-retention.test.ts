/** What of deliveries goes after its time. A database of its own: the purge goes over all accounts. */
import test from 'ava';
import { createDeliveryStore } from '../../../persistence/postgres/delivery-store.ts';
import { createReadStore } from '../../../persistence/postgres/read-store.ts';
import { createStores, type Stores } from '../../../persistence/postgres/stores.ts';
import { initialAccount } from '../../../model/account/state.ts';
import { SHARD_COUNT } from '../../../protocol/node/ids.ts';
import type { DueDelivery } from '../../../model/ports/delivery-store.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { openWatched } from '../../support/plans.ts';
import { newOrganization, NOW_MS, openStores, publicationRow, webhookRow, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  await stores.maintain(NOW_MS);
});
test.after.always(() => database.close());

const claim = (accountId: AccountId) => stores.deliveries.claimDue([accountId], 100, NOW_MS, 60_000, []);

async function setUp(...hooks: Partial<WebhookRow>[]): Promise<{ live: AccountId; hooks: WebhookRow[] }> {
  const { live } = await newOrganization(stores);
  const rows = hooks.map((more) => webhookRow(live, more));
  await write(
    stores,
    live,
    rows.map((row) => ({ table: 'webhook', row })),
  );
  return { live, hooks: rows };
}

const failed = (due: DueDelivery, nextAttemptAtMs: number) => ({
  accountId: due.accountId,
  deliveryId: due.delivery.id,
  attempt: 1,
  statusCode: 500,
  durationMs: 12,
  error: null,
  atMs: NOW_MS,
  next: { status: 'failed' as const, nextAttemptAtMs, disableEndpoint: false },
});
const delivered = (due: DueDelivery) => ({
  ...failed(due, 0),
  statusCode: 200,
  next: { status: 'delivered' as const, nextAttemptAtMs: null, disableEndpoint: false },
});

test.serial(
  '§6 after 7 days what is done or held is removed with its attempts; what is still to be tried and every publication stay',
  async (t) => {
    const {
      live,
      hooks: [hook, off],
    } = await setUp({}, { status: 'disabled' });
    const old = Array.from({ length: 4 }, (_, n) => publicationRow(live, { orderKey: `k${n}` }));
    await write(
      stores,
      live,
      old.map((row): RowWrite => ({ table: 'publication', row })),
    );
    const [first, second, third] = await claim(live);
    await stores.deliveries.recordAttempts([
      delivered(first!),
      failed(second!, NOW_MS + 1e9),
      { ...failed(third!, 0), next: { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: false } },
    ]);
    const left = () =>
      database.owner<
        { webhookId: string; status: string }[]
      >`select webhook_id, status from delivery where account_id = ${live} order by status`;
    t.is((await left()).length, 8);
    t.is(await stores.deliveries.purge(NOW_MS), 0, 'younger ones stay');
    t.is(await stores.deliveries.purge(Date.UTC(2026, 5, 9)), 6);
    t.deepEqual(
      (await left()).map(({ webhookId, status }) => [webhookId === hook!.id, status]),
      [
        [true, 'failed'],
        [true, 'pending'],
      ],
    );
    t.is((await stores.read.deliveries(live, { webhookId: off!.id }, { page: 0, size: 9 })).totalElements, 0);
    const [attempts] = await database.owner<
      { count: number }[]
    >`select count(*) as count from attempt where account_id = ${live}`;
    t.is(attempts!.count, 1, 'of the one that is still to be tried');
    const [publications] = await database.owner<
      { count: number }[]
    >`select count(*) as count from publication where account_id = ${live}`;
    t.is(publications!.count, 4);
  },
);

test.serial('§6 an empty partition of a month that is over is dropped; one with attempts is not', async (t) => {
  const { live } = await setUp({});
  await write(stores, live, [{ table: 'publication', row: publicationRow(live) }]);
  const [due] = await claim(live);
  await stores.deliveries.recordAttempts([failed(due!, NOW_MS + 1e9)]);
  await database.owner`select ensure_attempt_partitions('2020-01-01Z', 1)`;
  const partitions = async () =>
    (
      await database.owner<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'attempt'::regclass`
    ).map(({ name }) => name);
  t.true((await partitions()).includes('attempt_202001'));
  await stores.deliveries.purge(Date.UTC(2026, 6, 9));
  const kept = await partitions();
  t.false(kept.includes('attempt_202001'));
  t.false(kept.includes('attempt_202002'));
  t.true(kept.includes('attempt_202606'), 'an attempt is in it');
  t.true(kept.includes('attempt_202607') && kept.includes('attempt_other'), 'this month and the rest');
});

test.serial(
  'found F53: a purge reads what it removes: what is kept is read by no page of deliveries or answers, and by one page of bodies',
  async (t) => {
    const KEPT = 7_000,
      GONE = 40; // more than one page is kept, and lies before what goes
    const {
      live,
      hooks: [hook],
    } = await setUp({});
    const { owner } = database;
    const old = (days: number) => owner`clock_timestamp() - ${days}::int * interval '1 day'`;
    for (const [status, count, days] of [
      ['pending', KEPT, 50],
      ['delivered', GONE, 40],
    ] as const) {
      await owner`
      with told as (
        insert into publication (account_id, event_id, event, body, order_key, to_all, created_at, completed_at)
          select ${live}, 'evt_' || ${status}::text || i, 'deposit_detected', '{}', 'k', false, ${old(days)} + i * interval '1 second', now() from generate_series(1, ${count}::int) i
        returning event_id, seq, created_at
      )
      insert into delivery (id, account_id, event_id, webhook_id, event, replay, seq, order_key, status, attempts, next_attempt_at, created_at)
        select 'dlv_' || id_prefix_of(created_at) || lpad(seq::text, 16, '2'), ${live}, event_id, ${hook!.id}, 'deposit_detected', 0, seq, 'k', ${status}::text, 0,
               case ${status}::text when 'pending' then created_at end, created_at from told`;
    }
    await owner`
    insert into idempotency (account_id, method, path, key, body_hash, status, body, created_at)
      select ${live}, 'POST', '/v1/addresses', 'k' || i, 'h', 201, '{}', clock_timestamp() - case when i % 100 = 0 then interval '25 hours' else interval '1 hour' end
        from generate_series(1, ${KEPT}::int) i`;
    await owner`analyze`;
    const watched = await openWatched(database.url);
    try {
      const deliveries = createDeliveryStore(watched.sql, { epochOf: () => 1 }),
        read = createReadStore(watched.sql);
      const readBy = async (work: () => Promise<number>) => {
        const { answer, statements } = await watched.ran(work);
        return {
          answer,
          rows: statements.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
          scans: statements.flatMap(({ sequentialScans }) => sequentialScans.filter((one) => !one.includes('attempt'))),
        };
      };
      const done = await readBy(() => deliveries.purge(Date.now()));
      t.true(done.answer >= GONE);
      t.true(done.rows < 20 * done.answer, `${done.rows} rows for ${done.answer}`);
      const answers = await readBy(() => read.purgeIdempotent(Date.now()));
      t.is(answers.answer, KEPT / 100);
      t.true(answers.rows < 10 * answers.answer, `${answers.rows} rows for ${answers.answer}`);
      const bodies = await readBy(() => deliveries.purgeBodies(Date.now()));
      t.true(bodies.answer >= GONE);
      t.true(bodies.rows < 5 * (KEPT + bodies.answer), `${bodies.rows} rows for ${KEPT} kept and ${bodies.answer}`);
      t.deepEqual([done.scans, answers.scans], [[], []]);
      t.is(
        (
          await owner<
            { count: number }[]
          >`select count(*)::int as count from publication where account_id = ${live} and body is not null`
        )[0]!.count,
        KEPT,
      );
    } finally {
      await watched.close();
    }
  },
);

/** What one statement may read whatever waits: a page of 5,000 or 10,000, once by its index and once by its place. */
const STEP_ROWS = 21_000;

test.serial(
  'found F55, F63: claims of a node that is gone, counts of gauges and purges of edges take steps, whatever the tables hold',
  async (t) => {
    const WAITING = 12_001,
      PASSED = 12_001;
    const { live, hooks } = await setUp({}, {});
    const { owner } = database;
    await stores.edge.saveSessions([
      {
        id: 'ses_steps',
        accountId: live,
        role: 'leader',
        edgeVersion: '1',
        liveness: 'live',
        leaseEpoch: 1,
        outboxMode: 'durable',
        outboxDepth: 0,
        outboxPoisoned: false,
        podHint: null,
        lastHeartbeatAtMs: NOW_MS,
        startedAtMs: NOW_MS,
        endedAtMs: null,
      },
    ]);
    await owner`
      with recorded as (
        insert into publication (account_id, event_id, event, body, order_key, to_all, created_at, completed_at)
          select ${live}, 'evt_step' || i, 'deposit_detected', '{}', 'k', false, now(), now() from generate_series(1, ${WAITING}::int) i
        returning event_id, seq, created_at
      )
      insert into delivery (id, account_id, event_id, webhook_id, event, replay, seq, order_key, status, attempts, next_attempt_at, created_at)
        select 'dlv_' || id_prefix_of(created_at) || lpad((seq * 2 + n)::text, 16, '3'), ${live}, event_id, hook, 'deposit_detected', 0, seq, 'k', 'pending', 0, created_at, created_at
          from recorded cross join unnest(${hooks.map(({ id }) => id)}::text[]) with ordinality h(hook, n)`;
    await owner`insert into edge_nonce (key_id, nonce, expires_at) select 'step', i::text, to_timestamp(${NOW_MS / 1_000}) from generate_series(1, ${PASSED}::int) i`;
    await owner`analyze`;
    const watched = await openWatched(database.url);
    try {
      const { deliveries, edge } = createStores({
        sql: watched.sql,
        nowMs: Date.now,
        initialAccount,
        epochOf: () => undefined,
      });
      const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
      await owner`select claim_shards('node-a', ${shards}::int[])`;
      const inSteps = async (work: () => Promise<number>) => {
        const { answer, statements } = await watched.ran(work);
        t.deepEqual(
          statements
            .filter(({ rowsRead, sequentialScans }) => rowsRead > STEP_ROWS || sequentialScans.length > 0)
            .map(({ text, rowsRead }) => `${rowsRead}: ${text}`),
          [],
        );
        return answer;
      };
      t.is(await inSteps(() => deliveries.incompletePublications()), 10_000, 'a gauge counts to 10,000');
      await owner`update delivery set claimed_until = clock_timestamp() + interval '1 hour' where account_id = ${live} and seq % 3 = 0`;
      const [claimed] = await owner<
        { count: number }[]
      >`select count(*)::int as count from delivery where claimed_until is not null`;
      t.is(await inSteps(() => deliveries.releaseAbandoned('node-a', shards)), claimed!.count, 'each claim ends once');
      t.is(await inSteps(() => deliveries.releaseAbandoned('node-a', shards)), 0);
      t.is(await inSteps(() => edge.purgeNonces(NOW_MS + 1)), PASSED);
    } finally {
      await watched.close();
    }
  },
);
