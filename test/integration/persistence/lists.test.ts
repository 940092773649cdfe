import test from 'ava';
import fc from 'fast-check';
import { cursorOf } from '../../../protocol/cursor.ts';
import type { Page, PageAsk } from '../../../protocol/page.ts';
import { Refused } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createLists } from '../../../persistence/postgres/list-pool.ts';
import { openLists } from '../../../persistence/postgres/sql.ts';
import { createReadStore } from '../../../persistence/postgres/read-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import type { ReadStore } from '../../../model/ports/read-store.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  appendOf,
  depositWrites,
  newOrganization,
  NOW_MS,
  openStores,
  publicationRow,
  webhookRow,
  withdrawalRow,
  write,
} from '../../support/store-rows.ts';

interface Opened {
  readonly database: TestDatabase;
  readonly stores: Stores;
  readonly reads: ReadStore;
  close(): Promise<void>;
}

async function openAll(): Promise<Opened> {
  const database = await createTestDatabase();
  const lists = openLists({ url: database.url, connections: 2, name: 'flock-test-lists' });
  return {
    database,
    stores: await openStores(database),
    reads: createReadStore(database.sql, createLists(lists, { slots: 2 })),
    async close() {
      await lists.end({ timeout: 5 });
      await database.close();
    },
  };
}

let opened: Opened;
let database: TestDatabase;
let stores: Stores;
let reads: ReadStore;
test.before(async () => {
  opened = await openAll();
  ({ database, stores, reads } = opened);
});
test.after.always(() => opened.close());

type List = (ask: PageAsk) => Promise<Page<{ readonly id: string }>>;
const LIST_OF = { addresses: 'addresses', transactions: 'transactions', deliveries: 'deliveries' } as const;

/** Walks a list to its end by its cursors; between two pages `meanwhile` runs. */
async function walk(
  name: keyof typeof LIST_OF,
  list: List,
  size: number,
  meanwhile: () => Promise<unknown>,
): Promise<string[]> {
  const seen: string[] = [];
  let page = await list({ page: 0, size });
  for (;;) {
    seen.push(...page.content.map(({ id }) => id));
    if (page.next === null) return seen;
    await meanwhile();
    page = await list({ after: cursorOf(LIST_OF[name], page.next)!, size });
  }
}

/** One change of an account: rows to write. What it leaves alone matches throughout. */
interface World {
  readonly list: List;
  readonly name: keyof typeof LIST_OF;
  readonly ids: readonly string[];
  change(n: number): Promise<readonly string[]>;
}

/** Addresses: some are archived, new ones are issued. */
async function addressesWorld(accountId: AccountId): Promise<World> {
  const rows = Array.from({ length: 12 }, (_, n) =>
    addressRow(accountId, {
      userRef: n % 3 === 0 ? 'other' : 'ours',
      ...(n % 2 === 0 ? {} : ({ chain: 'tron', family: 'tron' } as const)),
    }),
  );
  await write(
    stores,
    accountId,
    rows.map((row): RowWrite => ({ table: 'address', row })),
  );
  const ours = rows.filter(({ userRef }) => userRef === 'ours');
  return {
    name: 'addresses',
    list: (ask) => reads.addresses(accountId, { userRef: 'ours', status: 'active' }, ask),
    ids: ours.map(({ id }) => id).reverse(),
    async change(n) {
      const gone = ours.splice(n % ours.length, 1);
      await write(stores, accountId, [
        ...gone.map(({ id }): RowWrite => ({ table: 'address_status', id, status: 'archived' })),
        { table: 'address', row: addressRow(accountId, { userRef: 'ours' }) },
      ]);
      return gone.map(({ id }) => id);
    },
  };
}

/** Deposits of one instant and of several, and withdrawals: some are reversed, new ones come in. */
async function transactionsWorld(accountId: AccountId): Promise<World> {
  const address = addressRow(accountId);
  await write(stores, accountId, [{ table: 'address', row: address }]);
  const made = Array.from({ length: 10 }, (_, n) =>
    depositWrites(address, 'confirmed', { tag: 'x', createdAtMs: NOW_MS + Math.floor(n / 4) }),
  );
  const sent = Array.from({ length: 4 }, (_, n) =>
    withdrawalRow(address, {
      status: 'confirmed',
      tag: 'x',
      createdAtMs: NOW_MS + n,
      txid: `0x${n}`,
      height: 5,
      blockHash: 'b5',
      versions: [{ txid: `0x${n}`, signedPayload: '0x', payload: '0x' }],
    }),
  );
  await write(stores, accountId, [
    ...made.flatMap(({ rows }) => rows),
    ...sent.map((row): RowWrite => ({ table: 'withdrawal', row })),
  ]);
  const deposits = made.map(({ deposit }) => deposit);
  const all = [...deposits, ...sent]
    .map(({ id, createdAtMs }) => ({ id, createdAtMs }))
    .sort((left, right) => right.createdAtMs - left.createdAtMs || (left.id < right.id ? 1 : -1));
  return {
    name: 'transactions',
    list: (ask) => reads.transactions(accountId, { tag: 'x', status: 'confirmed' }, ask),
    ids: all.map(({ id }) => id),
    async change(n) {
      const [gone] = deposits.splice(n % Math.max(1, deposits.length), 1);
      if (gone === undefined) return [];
      const told = publicationRow(accountId);
      await write(stores, accountId, [
        { table: 'deposit', row: { ...gone, status: 'reversed' } },
        { table: 'publication', row: told },
        {
          table: 'ledger_entry',
          row: {
            depositId: gone.id,
            accountId,
            incarnation: 1,
            kind: 'reversal',
            amount: -gone.amount,
            eventId: told.eventId,
          },
        },
        ...depositWrites(address, 'confirmed', { tag: 'x', createdAtMs: NOW_MS + (n % 3) }).rows,
      ]);
      return [gone.id];
    },
  };
}

/** Deliveries: some are delivered, new events come. */
async function deliveriesWorld(accountId: AccountId): Promise<World> {
  const hook = webhookRow(accountId);
  await write(stores, accountId, [{ table: 'webhook', row: hook }]);
  await write(
    stores,
    accountId,
    Array.from({ length: 12 }, (): RowWrite => ({ table: 'publication', row: publicationRow(accountId) })),
  );
  const { content } = await reads.deliveries(accountId, {}, { page: 0, size: 200 });
  const open = content.map(({ id }) => id);
  return {
    name: 'deliveries',
    list: (ask) => reads.deliveries(accountId, { status: 'pending', webhookId: hook.id }, ask),
    ids: [...open],
    async change(n) {
      const gone = open.splice(n % open.length, 1);
      await stores.deliveries.recordAttempts(
        gone.map((deliveryId) => ({
          accountId,
          deliveryId,
          attempt: 1,
          statusCode: 200,
          durationMs: 5,
          error: null,
          atMs: NOW_MS,
          next: { status: 'delivered', nextAttemptAtMs: null, disableEndpoint: false },
        })),
      );
      await write(stores, accountId, [{ table: 'publication', row: publicationRow(accountId) }]);
      return gone;
    },
  };
}

for (const [name, make] of Object.entries({
  addresses: addressesWorld,
  transactions: transactionsWorld,
  deliveries: deliveriesWorld,
})) {
  test(`found F46: a walk of ${name} by its cursor, while rows come and change status, shows each row that matched throughout once`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.nat(40), { minLength: 3, maxLength: 12 }),
        async (size, changes) => {
          const { live } = await newOrganization(stores);
          const world = await make(live);
          const gone = new Set<string>();
          const seen = await walk(world.name, world.list, size, async () => {
            const next = changes.shift();
            if (next !== undefined) for (const id of await world.change(next)) gone.add(id);
          });
          t.is(new Set(seen).size, seen.length, 'no row twice');
          const steady = world.ids.filter((id) => !gone.has(id));
          t.deepEqual(
            seen.filter((id) => steady.includes(id)),
            steady,
            'each of them, in order',
          );
        },
      ),
      { numRuns: 8 },
    );
  });
}

test('found F46: pages by number skip what a cursor does not', async (t) => {
  const { live } = await newOrganization(stores);
  const world = await addressesWorld(live);
  const first = await world.list({ page: 0, size: 3 });
  await write(
    stores,
    live,
    first.content.map(({ id }): RowWrite => ({ table: 'address_status', id, status: 'archived' })),
  );
  const byNumber = await world.list({ page: 1, size: 3 });
  const byCursor = await world.list({ after: cursorOf('addresses', first.next!)!, size: 3 });
  t.deepEqual(
    byCursor.content.map(({ id }) => id),
    world.ids.slice(3, 6),
  );
  t.deepEqual(
    byNumber.content.map(({ id }) => id),
    world.ids.slice(6, 9),
  );
  t.like(byCursor, { page: 1, size: 3 });
  t.is((await world.list({ page: 0, size: 5 })).next, null, 'the last page, exactly full, has nothing behind it');
});

async function countsOf(accountId: AccountId, { reads }: Pick<Opened, 'reads'> = opened): Promise<number[]> {
  const ask = { page: 0, size: 1 };
  const pages = await Promise.all([
    reads.addresses(accountId, {}, ask),
    reads.transactions(accountId, {}, ask),
    reads.transactions(accountId, { direction: 'in' }, ask),
    reads.transactions(accountId, { direction: 'out' }, ask),
    reads.deliveries(accountId, {}, ask),
  ]);
  return pages.map(({ totalElements }) => totalElements);
}

test('decisions 3: the length of an unfiltered list is exact under concurrent appends, updates, purges and a reset', async (t) => {
  const own = await openAll(); // a purge goes over all accounts
  t.teardown(() => own.close());
  const { stores, reads, database } = own;
  const { sandbox, live } = await newOrganization(stores);
  const [hook, address] = [webhookRow(sandbox), addressRow(sandbox)];
  await write(stores, sandbox, [
    { table: 'webhook', row: hook },
    { table: 'address', row: address },
  ]);
  const others = await Promise.all(Array.from({ length: 4 }, () => newOrganization(stores)));
  // Several accounts at once, each one append after another, as their actors do.
  await Promise.all(
    [...others.map((one) => one.live), sandbox, live].map(async (accountId) => {
      for (let n = 0; n < 6; n += 1)
        await write(stores, accountId, [
          { table: 'address', row: addressRow(accountId) },
          { table: 'publication', row: publicationRow(accountId) },
        ]);
    }),
  );
  const paid = depositWrites(address, 'detected');
  await write(stores, sandbox, [...paid.rows, { table: 'withdrawal', row: withdrawalRow(address) }]);
  t.deepEqual(await countsOf(sandbox, own), [7, 2, 1, 1, 7]);
  t.deepEqual(await countsOf(live, own), [6, 0, 0, 0, 0], 'no endpoint, no delivery');
  await write(stores, sandbox, [{ table: 'deposit', row: { ...paid.deposit, height: 101 } }]);
  t.deepEqual(await countsOf(sandbox, own), [7, 2, 1, 1, 7], 'an update adds none');
  const { content } = await reads.deliveries(sandbox, {}, { page: 0, size: 3 });
  await stores.deliveries.recordAttempts(
    content.map(({ id }) => ({
      accountId: sandbox,
      deliveryId: id,
      attempt: 1,
      statusCode: 200,
      durationMs: 5,
      error: null,
      atMs: NOW_MS,
      next: { status: 'delivered', nextAttemptAtMs: null, disableEndpoint: false },
    })),
  );
  const [gone] = await Promise.all([
    stores.deliveries.purge(NOW_MS + 86_400_000 * 400),
    write(stores, sandbox, [{ table: 'publication', row: publicationRow(sandbox) }]),
  ]);
  t.is(gone, 3);
  t.deepEqual(await countsOf(sandbox, own), [7, 2, 1, 1, 5]);
  await write(stores, sandbox, [{ table: 'sandbox_reset' }]);
  t.deepEqual(await countsOf(sandbox, own), [0, 0, 0, 0, 0]);
  await write(stores, sandbox, [{ table: 'address', row: addressRow(sandbox) }]);
  t.deepEqual(await countsOf(sandbox, own), [1, 0, 0, 0, 0]);
  const kept = await database.owner<{ wrong: number }[]>`
    select count(*) as wrong from (
      select account_id, 'address' as list, count(*) as n from address where purpose = 'deposit' group by 1
      union all select account_id, 'deposit', count(*) from deposit group by 1
      union all select account_id, 'withdrawal', count(*) from withdrawal group by 1
      union all select account_id, 'delivery', count(*) from delivery group by 1) real
      full join (select account_id, list, sum(rows) as n from list_count group by 1, 2) kept using (account_id, list)
     where coalesce(real.n, 0) <> coalesce(kept.n, 0)`;
  t.is(kept[0]!.wrong, 0);
});

test('decisions 3: an append that is refused counts nothing', async (t) => {
  const { live } = await newOrganization(stores);
  const row = addressRow(live);
  await write(stores, live, [{ table: 'address', row }]);
  const outcome = await stores.accounts.append(
    await appendOf(stores, live, [{ table: 'address', row: addressRow(live, { addressKey: row.addressKey }) }]),
  );
  t.is(outcome.kind, 'refused');
  t.deepEqual((await countsOf(live))[0], 1);
});

test('decisions 3: a filtered list is counted to 10,000; pages beyond are refused and name the cursor', async (t) => {
  const { live } = await newOrganization(stores);
  await write(stores, live, [{ table: 'address', row: addressRow(live, { userRef: 'few' }) }]);
  await database.admin`
    insert into flock.address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, user_ref, status, created_at)
      select ${live}, 'adr_3' || translate(lpad(to_hex(i), 25, '0'), '0123456789abcdef', '234567abcdefghij'), 'live', 'eth', 'evm', 'many-' || i,
             md5('many' || i)::uuid, 'm/0/' || i, 'deposit', 1000000 + i, 'many', 'active', now()
        from generate_series(1, 10001) i`;
  const list = (userRef: string | null, page: number) =>
    reads.addresses(live, userRef === null ? {} : { userRef }, { page, size: 200 });
  const last = await list('many', 49);
  t.like(last, { totalElements: 10_000, totalCapped: true, totalPages: 50 });
  t.is(last.content.length, 200);
  const refused = (await t.throwsAsync(list('many', 50), { instanceOf: Refused })) as Refused;
  t.is(refused.refusal.code, 'INVALID_INPUT');
  t.like(refused.refusal.details, { field: 'query.page', max: 49 });
  t.regex(JSON.stringify(refused.refusal.details), /after/);
  t.is(
    (await reads.addresses(live, { userRef: 'many' }, { after: cursorOf('addresses', last.next!)!, size: 200 })).content
      .length,
    1,
    'a cursor goes on',
  );
  t.like(await list('few', 50), { content: [], totalElements: 1, next: null });
  t.like(await list(null, 50), { totalElements: 10_002, totalPages: 51 });
  t.is((await list(null, 50)).content.length, 2);
  t.false('totalCapped' in (await list(null, 50)));
});
