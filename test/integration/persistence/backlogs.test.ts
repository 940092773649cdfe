/** An endpoint with very many deliveries, a stuck account, a clock that is ahead: nobody else waits for them. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { claimOf } from '../../../actors/webhook/flights.ts';
import { createDeliveryStore } from '../../../persistence/postgres/delivery-store.ts';
import { createInboxStore } from '../../../persistence/postgres/inbox-store.ts';
import { encodeEntry, joinEntries } from '../../../persistence/postgres/batch.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { patiently } from '../../support/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { ROOT } from '../../support/tree.ts';
import {
  addressRow,
  appendOf,
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  webhookRow,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const EVENT = { type: 'sandbox_reset' } as const;
const WAITING = 30_000;
/** Far above a page, far below all of them. */
const PAGES = 2_000;

/** An endpoint of a fresh account with `count` deliveries that wait. */
async function endpointWith(count: number): Promise<{ live: AccountId; hook: WebhookRow }> {
  const { live } = await newOrganization(stores);
  const hook = webhookRow(live),
    told = publicationRow(live);
  await write(stores, live, [{ table: 'webhook', row: hook }]);
  await write(stores, live, [{ table: 'publication', row: told }]);
  await database.owner`
    insert into delivery (id, account_id, event_id, webhook_id, event, replay, seq, order_key, status, next_attempt_at, created_at)
      select 'dlv_' || lpad(n::text, 14, '0') || ${live.slice(14, 26)}, ${live}, ${told.eventId}, ${hook.id}, ${told.event}, n, 1000000 + n, '', 'pending', ${NOW_MS}::timestamptz, ${NOW_MS}::timestamptz
        from generate_series(1, ${count}::int) n`;
  return { live, hook };
}

const countOf = async (hook: WebhookRow, ...statuses: string[]): Promise<number> => {
  const [row] = await database.owner<
    { count: number }[]
  >`select count(*)::int as count from delivery where webhook_id = ${hook.id} and status = any (${statuses})`;
  return row!.count;
};

async function workAll(): Promise<void> {
  while ((await stores.deliveries.workBacklog()) !== null);
}

test.serial(
  'found F55: an endpoint with very many deliveries is deleted by one change of status; the rest is held in pages',
  async (t) => {
    const [{ live, hook }, other] = [await endpointWith(WAITING), await newOrganization(stores)];
    const appends = [
      await appendOf(stores, live, [{ table: 'webhook', row: { ...hook, status: 'deleted' } }], [EVENT]),
      await appendOf(stores, other.live, [], [EVENT]),
    ];
    t.deepEqual(await Promise.all(appends.map((append) => stores.accounts.append(append))), [
      { kind: 'appended' },
      { kind: 'appended' },
    ]);
    t.true((await countOf(hook, 'pending')) > WAITING - PAGES, 'most of them wait for their page');
    t.deepEqual(
      await stores.deliveries.claimDue([live], 10, NOW_MS + 1, 1_000, []),
      [],
      'I16: none of them leaves meanwhile',
    );
    await workAll();
    t.deepEqual([await countOf(hook, 'pending', 'failed'), await countOf(hook, 'held')], [0, WAITING + 1]);
  },
);

test.serial('found F55: a 410 of such an endpoint is recorded at once', async (t) => {
  const { live, hook } = await endpointWith(WAITING);
  const [due] = await stores.deliveries.claimDue([live], 1, NOW_MS + 1, 60_000, []);
  await stores.deliveries.recordAttempts([
    {
      accountId: live,
      deliveryId: due!.delivery.id,
      attempt: 1,
      statusCode: 410,
      durationMs: 3,
      error: null,
      atMs: NOW_MS + 2,
      next: { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: true },
    },
  ]);
  t.true((await countOf(hook, 'pending', 'failed')) > WAITING - PAGES, 'most of them wait for their page');
  t.is((await stores.read.webhook(live, hook.id))?.status, 'disabled');
  await workAll();
  t.is(await countOf(hook, 'pending', 'failed'), 0);
});

test.serial(
  'C5-48 an event that is appended at the instant of a 410, and a replay to an endpoint that is disabled, are held like the rest',
  async (t) => {
    const { live, hook } = await endpointWith(1);
    const due = await stores.deliveries.claimDue([live], 10, NOW_MS + 1, 60_000, []);
    const racing = publicationRow(live),
      [holder, racer] = [await database.admin.reserve(), await database.admin.reserve()];
    const pidOf = async (sql: typeof holder) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid;
    const [holderPid, racerPid] = [await pidOf(holder), await pidOf(racer)];
    // One statement that waits as long as it takes. A store would give it up after 250 ms and begin another, which sees
    // the endpoint as it is then.
    await racer`set lock_timeout = 0`;
    const batch = joinEntries([
      encodeEntry(await appendOf(stores, live, [{ table: 'publication', row: racing }]), NOW_MS)!,
    ]);
    // The append has seen an enabled endpoint, and waits for whoever has its event half written.
    await holder.unsafe('begin');
    await holder.unsafe(`insert into flock.publication (account_id, event_id, seq, event, body, order_key, to_all, created_at) overriding system value
    select account_id, '${racing.eventId}', seq + 1000000, event, body, order_key, to_all, created_at from flock.publication where account_id = '${live}'`);
    const appended = racer<
      { outcomes: string[] }[]
    >`select append_accounts(${batch}::text::jsonb) as outcomes`.execute();
    await patiently(
      'the append that waits for the holder',
      () => database.admin<{ holders: number[] }[]>`select pg_blocking_pids(${racerPid}) as holders`,
      ([row]) => row!.holders.includes(holderPid),
    );
    await stores.deliveries.recordAttempts([
      {
        accountId: live,
        deliveryId: due[0]!.delivery.id,
        attempt: 1,
        statusCode: 410,
        durationMs: 3,
        error: null,
        atMs: NOW_MS + 2,
        next: { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: true },
      },
    ]);
    await workAll();
    await holder.unsafe('rollback');
    t.deepEqual((await appended)[0]!.outcomes, ['appended']);
    holder.release();
    racer.release();
    t.is(await countOf(hook, 'pending'), 1, 'it was written as pending, after the endpoint was stopped');
    await workAll();
    t.deepEqual([await countOf(hook, 'pending', 'failed'), await countOf(hook, 'held')], [0, 2]);
    const newDeliveryId = `dlv_${'3'.repeat(26)}`;
    await write(stores, live, [{ table: 'replay', deliveryId: due[0]!.delivery.id, newDeliveryId, nowMs: NOW_MS }]);
    t.deepEqual([await countOf(hook, 'pending', 'failed'), await countOf(hook, 'held')], [0, 3]);
    await database.owner`update webhook set updated_at = clock_timestamp() - interval '2 minutes' where id = ${hook.id}`;
    await workAll();
    t.deepEqual(
      [...(await database.owner`select status, backlog from webhook where id = ${hook.id}`)],
      [{ status: 'disabled', backlog: false }],
      'nobody looks for ever',
    );
  },
);

test.serial(
  'found F55: an endpoint that is enabled again before all that waited is held: all of it is held, a replay and what comes later leave',
  async (t) => {
    const { live, hook } = await endpointWith(0);
    await database.owner`
      with published as (
        insert into publication (account_id, event_id, event, body, order_key, to_all, created_at)
          select ${live}, 'evt_' || n, 'deposit_detected', '{}', '', false, ${NOW_MS}::timestamptz from generate_series(1, ${PAGES}::int) n
        returning *)
      insert into delivery (id, account_id, event_id, webhook_id, event, seq, order_key, status, next_attempt_at, created_at)
        select 'dlv_' || lpad(seq::text, 14, '0') || ${live.slice(14, 26)}, account_id, event_id, ${hook.id}, event, seq, order_key, 'pending', created_at, created_at
          from published`;
    const [first] = await stores.deliveries.claimDue([live], 1, NOW_MS + 1, 0, []);
    await write(stores, live, [{ table: 'webhook', row: { ...hook, status: 'disabled' } }]);
    t.true((await countOf(hook, 'pending')) > 0, 'more than one page waited');
    await write(stores, live, [{ table: 'webhook', row: { ...hook, status: 'enabled' } }]);
    const later = publicationRow(live),
      replay = `dlv_${'4'.repeat(26)}`;
    await write(stores, live, [
      { table: 'publication', row: later },
      { table: 'replay', deliveryId: first!.delivery.id, newDeliveryId: replay, nowMs: NOW_MS },
    ]);
    const claim = () => stores.deliveries.claimDue([live], 10, Date.now(), 60_000, []);
    t.deepEqual(await claim(), [], 'no part of what waited is sent, and nothing overtakes it');
    await workAll();
    t.deepEqual([await countOf(hook, 'held'), await countOf(hook, 'pending')], [PAGES + 1, 2]);
    t.deepEqual(
      (await claim()).map(({ delivery }) => delivery.eventId).toSorted(),
      [later.eventId, first!.delivery.eventId].toSorted(),
    );
  },
);

test.serial('found F55: claims beside a busy endpoint do not read its backlog', async (t) => {
  const { live, hook } = await endpointWith(WAITING);
  const quiet = webhookRow(live),
    told = publicationRow(live);
  await write(stores, live, [
    { table: 'webhook', row: quiet },
    { table: 'publication', row: told },
  ]);
  await database.owner`analyze delivery`;
  const read = async (): Promise<number> => {
    await database.sql`select pg_stat_force_next_flush()`;
    const [row] = await database.owner<
      { read: number }[]
    >`select pg_stat_get_tuples_fetched('flock.delivery'::regclass) + 0 as read`;
    return row!.read;
  };
  const before = await read();
  const claimed = await stores.deliveries.claimDue([live], 10, NOW_MS + 1, 60_000, [hook.id]);
  t.deepEqual(
    claimed.map(({ delivery }) => delivery.webhookId),
    [quiet.id],
  );
  t.true((await read()) - before < 1_000, 'rows read for one that is due');
});

test.serial('found F63: an endpoint that is deleted while it answers 410 deadlocks nobody', async (t) => {
  for (let round = 0; round < 40; round += 1) {
    const { live, hook } = await endpointWith(60);
    const due = await stores.deliveries.claimDue([live], 50, NOW_MS + 1, 60_000, []);
    const append = await appendOf(stores, live, [{ table: 'webhook', row: { ...hook, status: 'deleted' } }], [EVENT]);
    const [appended, ...reported] = await Promise.allSettled([
      stores.accounts.append(append),
      ...[due.slice(0, 25), due.slice(25).reverse()].map((some) =>
        stores.deliveries.recordAttempts(
          some.map(({ delivery }) => ({
            accountId: live,
            deliveryId: delivery.id,
            attempt: 1,
            statusCode: 410,
            durationMs: 3,
            error: null,
            atMs: NOW_MS + 2,
            next: { status: 'dead_lettered' as const, nextAttemptAtMs: null, disableEndpoint: true },
          })),
        ),
      ),
      stores.deliveries.releaseAbandoned(
        'node-a',
        Array.from({ length: 1_024 }, (_, shard) => shard),
      ),
    ]);
    t.deepEqual(appended, { status: 'fulfilled', value: { kind: 'appended' } });
    for (const one of reported) t.is(one.status, 'fulfilled', String((one as PromiseRejectedResult).reason));
  }
});

test.serial(
  'found F63: ten thousand due facts of one stuck account hide no other account, and a sweep goes on behind the last',
  async (t) => {
    const [stuck, other] = [await newOrganization(stores), await newOrganization(stores)].sort((a, b) =>
      a.live < b.live ? -1 : 1,
    ) as [Awaited<ReturnType<typeof newOrganization>>, Awaited<ReturnType<typeof newOrganization>>];
    await database.owner`
    insert into inbox (account_id, subject, fact_key, fact, created_at)
      select ${stuck.live}, 's' || n, 'k', '{}', clock_timestamp() - interval '1 hour' from generate_series(1, 10001) n`;
    await database.owner`insert into inbox (account_id, subject, fact_key, fact, created_at) values (${other.live}, 's', 'k', '{}', clock_timestamp() - interval '1 minute')`;
    const inbox = createInboxStore(database.sql);
    const both = await inbox.accountsWithInbox(Date.now(), 100);
    t.deepEqual(
      both.filter((id) => id === stuck.live || id === other.live),
      [stuck.live, other.live],
    );
    const turns = [
      await inbox.accountsWithInbox(Date.now(), 1),
      await inbox.accountsWithInbox(Date.now(), 1),
      await inbox.accountsWithInbox(Date.now(), 1),
    ];
    t.true(turns.flat().includes(other.live), JSON.stringify(turns));
    t.true(
      (await createInboxStore(database.sql).accountsWithInbox(Date.now() - 240_000, 100)).includes(other.live),
      "found F56: by the database's clock, however far behind the caller's is",
    );
  },
);

test.serial(
  'found F56: a cloud whose clock was 240 s ahead: nothing of its events waits when it is right again',
  async (t) => {
    const AHEAD_MS = 240_000;
    const { live } = await newOrganization(stores);
    const deliveries = createDeliveryStore(database.sql, { epochOf: () => 1 });
    await write(stores, live, [{ table: 'webhook', row: webhookRow(live) }]);
    await write(stores, live, [
      { table: 'publication', row: publicationRow(live, { createdAtMs: Date.now() + AHEAD_MS }) },
    ]);
    const [first] = await deliveries.claimDue([live], 10, Date.now() + AHEAD_MS, 1, []);
    t.not(first, undefined);
    await deliveries.releaseClaims([claimOf(first!)]);
    const [again] = await deliveries.claimDue([live], 10, Date.now(), 30_000, []);
    t.is(again?.delivery.id, first!.delivery.id, "due by the database's clock, whatever the caller's says");
    const failedAt = Date.now() + AHEAD_MS;
    await deliveries.recordAttempts([
      {
        accountId: live,
        deliveryId: first!.delivery.id,
        attempt: 1,
        statusCode: 500,
        durationMs: 3,
        error: null,
        atMs: failedAt,
        next: { status: 'failed', nextAttemptAtMs: failedAt + 2_000, disableEndpoint: false },
      },
    ]);
    const [row] = await database.owner<
      { wait: number }[]
    >`select extract(epoch from next_attempt_at - clock_timestamp())::float8 as wait from delivery where id = ${first!.delivery.id}`;
    t.true(row!.wait > 0 && row!.wait < 2.5, `${row!.wait} s, its own rung`);
    const replay = `dlv_${'2'.repeat(26)}`;
    await write(stores, live, [
      { table: 'replay', deliveryId: first!.delivery.id, newDeliveryId: replay, nowMs: Date.now() + AHEAD_MS },
    ]);
    t.true(
      (await deliveries.claimDue([live], 10, Date.now(), 1_000, [])).some(({ delivery }) => delivery.id === replay),
    );
  },
);

test.serial(
  'found F63: bodies of publications go when nothing is delivered of them any more, and not before',
  async (t) => {
    const { live } = await newOrganization(stores);
    const from = addressRow(live),
      old = publicationRow(live),
      young = publicationRow(live, { createdAtMs: Date.now() });
    await write(stores, live, [
      { table: 'address', row: from },
      { table: 'withdrawal', row: withdrawalRow(from) },
      { table: 'publication', row: old },
      { table: 'publication', row: young },
    ]);
    t.true((await stores.deliveries.purgeBodies(Date.now())) >= 1);
    const rows = await database.owner<
      { eventId: string; body: string | null }[]
    >`select event_id, body from publication where account_id = ${live} order by created_at`;
    t.deepEqual(
      new Map(rows.map(({ eventId, body }) => [eventId, body === null])),
      new Map([
        [old.eventId, true],
        [young.eventId, false],
      ]),
    );
  },
);

test.serial(
  'found F63: every table of the schema has its place in the table of docs/data-model.md that says what keeps it small',
  async (t) => {
    const rows = await database.owner<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'flock' and c.relkind in ('r', 'p') and c.relname !~ '^(attempt_[0-9]{6}|address_registry_[0-9a-f])$' order by 1`;
    const [, section = ''] = readFileSync(`${ROOT}docs/data-model.md`, 'utf8').split('## How tables grow');
    const lines = section
      .split('\n## ')[0]!
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    const told = lines.flatMap((line) => [...line.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
    t.deepEqual(told.toSorted(), rows.map(({ name }) => name).toSorted());
    for (const line of lines) t.true(line.split('|')[3]!.trim().length > 0, line);
  },
);
