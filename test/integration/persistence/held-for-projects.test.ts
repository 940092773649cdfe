/** What was announced of adopted addresses waits while their project is in observe again. Migration M-O1, M-O6. */
import test from 'ava';
import type { DueDelivery } from '../../../model/ports/delivery-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  adopt,
  newOrganization,
  openStores,
  publicationRow,
  webhookRow,
  write,
} from '../../support/store-rows.ts';

const CLAIM_MS = 60_000;
let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
});
test.after.always(() => database.close());

const laterMs = () => Date.now() + 1_000;
const failed = (due: DueDelivery) => ({
  accountId: due.accountId,
  deliveryId: due.delivery.id,
  attempt: due.delivery.attempts + 1,
  statusCode: 500,
  durationMs: 1,
  error: null,
  atMs: Date.now(),
  next: { status: 'failed' as const, nextAttemptAtMs: Date.now() - 1, disableEndpoint: false },
});

async function setUp() {
  const { live } = await newOrganization(stores);
  const hook = webhookRow(live),
    own = addressRow(live);
  await write(stores, live, [
    { table: 'webhook', row: hook },
    { table: 'address', row: own },
  ]);
  const adopted = await adopt(database, live);
  await database.owner`update migration_project set state = 'active' where account_id = ${live}`;
  const cut = (state: 'active' | 'observe') =>
    database.owner`select append_imports(${JSON.stringify({
      projects_cut_over: [{ account_id: live, id: 'mig_test', state, heights: { eth: 1, base: 1 } }],
    })}::text::jsonb)`;
  const publish = async (orderKey: string) => {
    const row = publicationRow(live, { orderKey });
    await write(stores, live, [{ table: 'publication', row }]);
    return row.eventId;
  };
  return { live, hook, own, adopted, cut, publish };
}
const claim = (live: AccountId, limit = 100) => stores.deliveries.claimDue([live], limit, laterMs(), CLAIM_MS, []);
const eventsOf = (due: readonly DueDelivery[]) => due.map(({ delivery }) => delivery.eventId);
const listed = async (live: AccountId, status: 'held') =>
  (await stores.read.deliveries(live, { status }, { page: 0, size: 50 })).content;

test.serial(
  'migration M-O1, M-O6: what was announced and is not delivered is held when its project goes back to observe, and leaves in its order once it is active',
  async (t) => {
    const { live, own, adopted, cut, publish } = await setUp();
    const first = await publish(adopted.address);
    const [tried] = await claim(live);
    const second = await publish(adopted.address),
      others = await publish(own.address);
    await cut('observe');
    // The attempt that was under way ends, and its retry waits.
    await stores.deliveries.recordAttempts([failed(tried!)]);
    t.deepEqual(eventsOf(await claim(live)), [others]);
    t.deepEqual(eventsOf(await claim(live)), []);
    t.deepEqual(
      (await listed(live, 'held')).map(({ eventId, heldReason }) => [eventId, heldReason]).sort(),
      [
        [first, 'project_in_observe'],
        [second, 'project_in_observe'],
      ].sort(),
    );
    await stores.deliveries.purge(Date.now() + 400 * 86_400_000);
    t.is((await listed(live, 'held')).length, 2, 'however old it is');

    await cut('active');
    const third = await publish(adopted.address);
    t.deepEqual(eventsOf(await claim(live)), [], 'nothing goes before what waits');
    // A page of one, and whoever works pages may end after each of them.
    const resume = () => database.owner<{ n: string | null }[]>`select resume_held(1) as n`;
    t.is(Number((await resume())[0]!.n), 1);
    t.deepEqual(eventsOf(await claim(live)), [first], 'a retry, which nothing waits for');
    t.is(Number((await resume())[0]!.n), 1);
    t.deepEqual(eventsOf(await claim(live)), [second, third]);
    t.is(Number((await resume())[0]!.n), 0);
    await database.owner`update migration_project set resumes = resumes - interval '2 minutes' where account_id = ${live}`;
    t.is(Number((await resume())[0]!.n), 0);
    t.is((await resume())[0]!.n, null, 'it is done');
  },
);

test.serial(
  'migration M-O6: what waits in the publisher is looked at again before it leaves, and a project that goes back once more holds what it had not resumed',
  async (t) => {
    const { live, hook, adopted, cut, publish } = await setUp();
    await publish(adopted.address);
    await publish(adopted.address);
    const due = await claim(live);
    const ask = due.map(({ delivery: { id, webhookId } }) => ({ id, webhookId }));
    t.is((await stores.deliveries.standing(live, ask)).length, 2);
    await cut('observe');
    t.deepEqual(await stores.deliveries.standing(live, ask), []);
    await stores.deliveries.releaseClaims(
      due.map(({ delivery, claimedUntil }) => ({ deliveryId: delivery.id, claimedUntil })),
    );
    t.deepEqual(await claim(live), []);
    await cut('active');
    await database.owner`select resume_held(1)`;
    await cut('observe');
    t.deepEqual(await claim(live), []);
    t.is((await listed(live, 'held')).length, 2);
    await cut('active');
    // Of an endpoint that is stopped meanwhile nothing leaves any more.
    await database.owner`update webhook set status = 'disabled' where id = ${hook.id}`;
    while (((await stores.deliveries.workBacklog()) ?? 0) > 0);
    t.deepEqual(
      (await listed(live, 'held')).map(({ heldReason }) => heldReason),
      ['endpoint_disabled', 'endpoint_disabled'],
    );
  },
);
