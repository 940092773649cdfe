import test from 'ava';
import { sqlstateOf } from '../../../persistence/postgres/sql.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createTestDatabase, eventually, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  newOrganization,
  nextSerial,
  NOW_MS,
  openStores,
  publicationRow,
  webhookRow,
  write,
} from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

/** Appends between two kills: each kill meets a few of the eight that run at once. */
const ROUNDS_PER_KILL = 12;
const EVENT = { type: 'sandbox_reset' } as const;

test.serial('design 4: an append that waited behind a takeover is stale', async (t) => {
  const { live } = await newOrganization(stores);
  const append = await appendOf(stores, live, [{ table: 'address', row: addressRow(live) }], [EVENT]);
  const taker = await database.admin.reserve();
  try {
    await taker.unsafe('begin');
    await taker`update flock.account set owner_epoch = owner_epoch + 1 where account_id = ${live}`;
    const outcome = stores.accounts.append(append);
    await eventually(
      'the append waits',
      async () =>
        (
          await database.admin`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%append_accounts%' and datname = current_database()`
        ).length > 0,
    );
    await taker.unsafe('commit');
    t.deepEqual(await outcome, { kind: 'stale' });
  } finally {
    taker.release();
  }
  t.is((await database.owner`select 1 from address where account_id = ${live}`).length, 0);
});

test.serial(
  'I23 a key that is taken between the look and the write: nothing is written under it, and the entry is a duplicate',
  async (t) => {
    const { live } = await newOrganization(stores);
    const answer = {
      method: 'POST',
      path: '/v1/addresses',
      key: 'k',
      bodyHash: 'h',
      status: 201,
      body: { mine: true },
    };
    const append = await appendOf(stores, live, [
      { table: 'idempotency', row: answer },
      { table: 'publication', row: publicationRow(live) },
    ]);
    const taker = await database.admin.reserve();
    try {
      await taker.unsafe('begin');
      await taker`insert into flock.idempotency (account_id, method, path, key, body_hash, status, body) values (${live}, 'POST', '/v1/addresses', 'k', 'h', 409, '{}')`;
      const outcome = stores.accounts.append(append);
      await eventually(
        'the append waits for the key',
        async () =>
          (
            await database.admin`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%append_accounts%' and datname = current_database()`
          ).length > 0,
      );
      await taker.unsafe('commit');
      t.deepEqual(await outcome, { kind: 'duplicate' });
    } finally {
      taker.release();
    }
    t.is((await stores.read.idempotent(live, 'POST', '/v1/addresses', 'k'))?.status, 409);
    t.is((await database.owner`select 1 from publication where account_id = ${live}`).length, 0);
  },
);

test.serial(
  '§6 secrets that are replaced while a delivery is judged by the old ones: it is given back, not held',
  async (t) => {
    const { live } = await newOrganization(stores);
    const hook = webhookRow(live);
    await write(stores, live, [{ table: 'webhook', row: hook }]);
    await write(stores, live, [{ table: 'publication', row: publicationRow(live) }]);
    const [due] = await stores.deliveries.claimDue([live], 1, NOW_MS, 60_000, []);
    const changer = await database.admin.reserve();
    try {
      await changer.unsafe('begin');
      await changer`update flock.webhook set sealed_secrets = '{new}' where id = ${hook.id}`;
      const held = stores.deliveries.holdUnreadable([
        { deliveryId: due!.delivery.id, sealedSecrets: due!.sealedSecrets },
      ]);
      await eventually(
        'it waits for the secrets',
        async () =>
          (
            await database.admin`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%hold_unreadable%' and datname = current_database()`
          ).length > 0,
      );
      await changer.unsafe('commit');
      t.deepEqual(await held, []);
    } finally {
      changer.release();
    }
    const [row] =
      await database.owner`select status, held_reason, claimed_until from delivery where id = ${due!.delivery.id}`;
    t.deepEqual({ ...row }, { status: 'pending', heldReason: null, claimedUntil: null });
  },
);

test.serial(
  'two nodes append to the same accounts in opposite orders: each version is written once, nobody deadlocks',
  async (t) => {
    const organizations = await Promise.all(Array.from({ length: 8 }, () => newOrganization(stores)));
    const appends = await Promise.all(organizations.map(({ live }) => appendOf(stores, live, [], [EVENT])));
    const raced = await Promise.all(
      Array.from({ length: 6 }, async (_, node) => {
        const own = await openStoresOfSameEpoch(appends[0]!.ownerEpoch);
        const order = node % 2 === 0 ? appends : appends.toReversed();
        return Promise.all(order.map((append) => own.accounts.append(append)));
      }),
    );
    const appended = raced.flat().filter(({ kind }) => kind === 'appended').length;
    t.is(appended, organizations.length);
    t.is(raced.flat().filter(({ kind }) => kind === 'stale').length, 5 * organizations.length);
  },
);

/** Another node's stores that believes in the same epoch: the split brain that fences are for. */
async function openStoresOfSameEpoch(epoch: number): Promise<Stores> {
  const { createStores } = await import('../../../persistence/postgres/stores.ts');
  const { initialAccount } = await import('../../../model/account/state.ts');
  return createStores({ sql: database.sql, nowMs: () => 0, epochOf: () => epoch, initialAccount });
}

/**
 * Appends one address, its event and its publication to an account, again and again, reading the state after a fault.
 */
async function workload(
  accountId: AccountId,
  rounds: number,
  acknowledged: Set<string>,
  onRound: () => void,
): Promise<number> {
  let unknown = 0;
  for (let round = 0; round < rounds; round += 1) {
    onRound();
    const address = addressRow(accountId, { userRef: `user-${nextSerial()}` });
    try {
      const append = await appendOf(
        stores,
        accountId,
        [
          { table: 'address', row: address },
          { table: 'publication', row: publicationRow(accountId, { eventId: `evt_${address.id}` }) },
        ],
        [EVENT],
      );
      if ((await stores.accounts.append(append)).kind === 'appended') acknowledged.add(address.id);
    } catch (error) {
      const sqlstate = sqlstateOf(error);
      if (sqlstate !== null && !sqlstate.startsWith('57')) throw error;
      unknown += 1; // the connection broke: the outcome is unknown, the next round reads the state again
    }
  }
  return unknown;
}

test.serial(
  'reliability 4.1 #5: backends are terminated all the while: nothing torn, nothing lost, the pool recovers',
  async (t) => {
    const organizations = await Promise.all(Array.from({ length: 8 }, () => newOrganization(stores)));
    for (const { live } of organizations) await write(stores, live, [{ table: 'webhook', row: webhookRow(live) }]);
    const acknowledged = new Set<string>();
    let running = true,
      kills = 0,
      rounds = 0;
    const nemesis = (async () => {
      while (running) {
        if (rounds < kills * ROUNDS_PER_KILL) {
          await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        const rows = await database.admin`
        select pg_terminate_backend(pid) as killed from pg_stat_activity
         where datname = current_database() and application_name = 'flock-test-app' and state = 'active' limit 1`;
        kills += rows.filter(({ killed }) => killed === true).length;
      }
    })();
    const unknown = await Promise.all(
      organizations.map(({ live }) =>
        workload(live, 60, acknowledged, () => {
          rounds += 1;
        }),
      ),
    );
    running = false;
    await nemesis;
    t.log(
      `${kills} backends killed, ${unknown.reduce((sum, n) => sum + n, 0)} outcomes unknown, ${acknowledged.size} acknowledged`,
    );
    t.true(kills >= 20 && unknown.some((n) => n > 0), 'the fault was really felt');
    t.true(acknowledged.size > 100);

    const present = await database.owner<{ id: string }[]>`select id from address where user_ref like 'user-%'`;
    t.deepEqual(
      [...acknowledged].filter((id) => !present.some((row) => row.id === id)),
      [],
      'what was acknowledged is there',
    );
    const [torn] = await database.owner<{ torn: number }[]>`
    select count(*) as torn from address a
     where a.user_ref like 'user-%' and (
       not exists (select 1 from address_registry g where g.address_id = a.id)
       or not exists (select 1 from publication p where p.event_id = 'evt_' || a.id)
       or not exists (select 1 from delivery d where d.event_id = 'evt_' || a.id))`;
    t.is(torn!.torn, 0);
    const versions = await database.owner<{ version: number; events: number }[]>`
    select a.version, (select count(*) from event e where e.account_id = a.account_id) as events from account a`;
    t.true(versions.every(({ version, events }) => version === events));
    // The pool is whole again: as many statements at once as it has connections.
    await eventually('every slot of the pool answers', async () => {
      const answers = await Promise.allSettled(Array.from({ length: 32 }, () => database.sql`select 1 as one`));
      return answers.every(({ status }) => status === 'fulfilled');
    });
    await write(stores, organizations[0]!.live, [], [EVENT]);
  },
);
