/** What the checkers of a story of several nodes are told of a database at rest, and of one with a fault in it. */
import test from 'ava';
import type { Books } from '../../support/cluster/checks.ts';
import { openBooks } from '../../support/cluster/books.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  depositRow,
  entryRow,
  newOrganization,
  openStores,
  publicationRow,
  webhookRow,
  write,
} from '../../support/store-rows.ts';

const SEED = 7,
  OTHER_SEED = 71;

const database = await createTestDatabase();
const stores = await openStores(database);
test.after.always(() => database.close());

interface Receiver {
  arrivals: { eventId: string; raw: string }[];
}

/** An account where a story came to rest: one deposit, credited, told of twice, delivered. */
async function rested() {
  const { live } = await newOrganization(stores);
  const address = addressRow(live, { userRef: `s${SEED}-a` }),
    other = addressRow(live, { userRef: `s${OTHER_SEED}-a` });
  const deposit = depositRow(address, { status: 'confirmed', amount: 5n });
  const told = (['deposit_detected', 'deposit_confirmed'] as const).map((event) =>
    publicationRow(live, {
      event,
      orderKey: address.address,
      body: JSON.stringify({ event, data: { txid: deposit.txid } }),
    }),
  );
  await write(stores, live, [
    { table: 'webhook', row: webhookRow(live, { events: ['deposit_detected', 'deposit_confirmed'] }) },
    { table: 'address', row: address },
    { table: 'address', row: other },
    { table: 'deposit', row: deposit },
    ...told.map((row) => ({ table: 'publication', row }) as const),
    { table: 'ledger_entry', row: entryRow(deposit, 'detected', told[0]!.eventId) },
    { table: 'ledger_entry', row: entryRow(deposit, 'credit', told[1]!.eventId) },
  ]);
  const receiver: Receiver = { arrivals: told.map(({ eventId, body }) => ({ eventId, raw: body })) };
  const before = { eventId: 'evt_before', raw: '{}' };
  receiver.arrivals.unshift(before);
  await damage(`
    update delivery set status = 'delivered', next_attempt_at = null, attempts = 1 where account_id = '${live}';
    update publication set completed_at = now() where account_id = '${live}'`);
  return { live, address, deposit, told, receiver, leading: [0, 1] };
}
type Rested = Awaited<ReturnType<typeof rested>>;

/** Past every rule of the schema. */
async function damage(text: string): Promise<void> {
  const session = await database.admin.reserve();
  await session.unsafe(
    `begin; set local session_replication_role = replica; set local search_path = flock; ${text}; commit`,
  );
  session.release();
}

const booksOf = ({ live, receiver, leading }: Rested): Promise<Books> =>
  openBooks(
    {
      sql: database.owner,
      fleets: [{ accountId: live, receiver, replicas: leading.map((leads) => ({ metric: async () => leads })) }],
    } as unknown as Parameters<typeof openBooks>[0],
    { seed: SEED, marks: [1] },
  );

test.serial('issue 10: the books of a story at rest have what it made, and nothing of another story', async (t) => {
  const story = await rested(),
    { address, deposit, told } = story;
  const books = await booksOf(story);
  t.deepEqual(books.open, []);
  t.deepEqual(
    books.addresses.map((row) => ({ ...row })),
    [{ id: address.id, address: address.address, userRef: `s${SEED}-a`, status: 'active' }],
  );
  t.deepEqual(
    books.deposits.map((row) => ({ ...row })),
    [
      {
        txid: deposit.txid,
        amount: '5',
        status: 'confirmed',
        credits: ['5'],
        events: told.map(({ eventId, event }) => ({ eventId, event, attempts: 1 })),
      },
    ],
  );
  t.deepEqual([...books.published].toSorted(), told.map(({ eventId, body }) => [eventId, body] as const).toSorted());
  t.deepEqual(books.arrivals, story.receiver.arrivals.slice(1), 'what had come before the story is not its own');
});

interface Plant {
  readonly plant: (story: Rested) => Promise<unknown> | void;
  readonly shows: (books: Books, story: Rested) => unknown;
  readonly as: unknown;
}
const PLANTS: Readonly<Record<string, Plant>> = {
  'a fact that no account took': {
    plant: ({ live }) =>
      damage(`insert into inbox (account_id, subject, fact_key, fact) values ('${live}', 'planted', 'planted', '{}')`),
    shows: ({ open }) => open,
    as: ['1 facts wait'],
  },
  'a publication that nobody completed': {
    plant: ({ told }) => damage(`update publication set completed_at = null where event_id = '${told[1]!.eventId}'`),
    shows: ({ open }) => open,
    as: ['1 publications are incomplete'],
  },
  'a delivery that is held': {
    plant: ({ told }) => damage(`update delivery set status = 'held' where event_id = '${told[0]!.eventId}'`),
    shows: ({ open }) => open,
    as: ['1 deliveries are not delivered'],
  },
  'a delivery that is dead': {
    plant: ({ told }) => damage(`update delivery set status = 'dead_lettered' where event_id = '${told[0]!.eventId}'`),
    shows: ({ open }) => open,
    as: ['1 deliveries are not delivered'],
  },
  'a deposit that never matured': {
    plant: ({ deposit }) => damage(`update deposit set status = 'detected' where id = '${deposit.id}'`),
    shows: ({ open }, { deposit }) => open.map((one) => one.replace(deposit.txid, 'it')),
    as: ['it is detected'],
  },
  'an event that did not arrive': {
    plant: ({ receiver }) => void receiver.arrivals.pop(),
    shows: ({ open }) => open,
    as: ['deposit_confirmed has not arrived'],
  },
  'two leaders': {
    plant: (story) => void (story.leading = [1, 1]),
    shows: ({ open }) => open,
    as: ['account 0 has 2 leaders'],
  },
  'no leader': {
    plant: (story) => void (story.leading = [0, 0]),
    shows: ({ open }) => open,
    as: ['account 0 has 0 leaders'],
  },
  'a second credit': {
    plant: ({ live, deposit, told }) =>
      damage(`insert into ledger_entry (deposit_id, account_id, incarnation, kind, amount, event_id)
        values ('${deposit.id}', '${live}', 2, 'credit', 5, '${told[1]!.eventId}')`),
    shows: ({ deposits }) => deposits[0]!.credits,
    as: ['5', '5'],
  },
  'a credit of another amount': {
    plant: ({ deposit }) =>
      damage(`update ledger_entry set amount = 6 where deposit_id = '${deposit.id}' and kind = 'credit'`),
    shows: ({ deposits }) => deposits[0]!.credits,
    as: ['6'],
  },
  'a deposit that is there twice': {
    plant: ({ deposit }) =>
      damage(`insert into deposit select account_id, 'dep_copy', ledger, chain, txid, output_index + 100, address_id, address,
          amount, decimals, token_contract, token_symbol, user_ref, tag, chain_tag, status, incarnation, height, block_hash,
          threshold, created_at, updated_at from deposit where id = '${deposit.id}'`),
    shows: ({ deposits }) => deposits.length,
    as: 2,
  },
  'an event that is published twice': {
    plant: ({ told }) =>
      damage(`insert into publication (account_id, event_id, event, body, order_key, to_all, created_at, completed_at)
        select account_id, 'evt_copy', event, body, order_key, to_all, created_at, now() from publication
         where event_id = '${told[0]!.eventId}'`),
    shows: ({ deposits }) => deposits[0]!.events.map(({ event }) => event),
    as: ['deposit_detected', 'deposit_confirmed', 'deposit_detected'],
  },
  'bytes that are not those of the publication': {
    plant: ({ told }) => damage(`update publication set body = body || ' ' where event_id = '${told[0]!.eventId}'`),
    shows: ({ published, arrivals }) => arrivals.filter(({ eventId, raw }) => published.get(eventId) !== raw).length,
    as: 1,
  },
  'an address that is gone': {
    plant: ({ address }) => damage(`delete from address where id = '${address.id}'`),
    shows: ({ addresses }) => addresses.length,
    as: 0,
  },
  'an address that was archived': {
    plant: ({ address }) => damage(`update address set status = 'archived' where id = '${address.id}'`),
    shows: ({ addresses }) => addresses.map(({ status }) => status),
    as: ['archived'],
  },
};

for (const [name, { plant, shows, as }] of Object.entries(PLANTS)) {
  test.serial(`issue 10, found: planted, ${name} is in the books`, async (t) => {
    const story = await rested();
    t.notDeepEqual(shows(await booksOf(story), story), as, 'not without it');
    await plant(story);
    t.deepEqual(shows(await booksOf(story), story), as);
    await damage(`delete from inbox; update publication set completed_at = coalesce(completed_at, now());
      update delivery set status = 'delivered', next_attempt_at = null`);
  });
}
