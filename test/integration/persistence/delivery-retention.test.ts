/** What of deliveries goes after its time. A database of its own: the purge goes over all accounts. */
import test from 'ava';
import type { DueDelivery } from '../../../model/ports/delivery-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { RowWrite } from '../../../model/rows/write.ts';
import type { WebhookRow } from '../../../model/rows/webhook.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
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
  await write(stores, live, rows.map((row) => ({ table: 'webhook', row })));
  return { live, hooks: rows };
}

const failed = (due: DueDelivery, nextAttemptAtMs: number) => ({
  accountId: due.accountId, deliveryId: due.delivery.id, attempt: 1, statusCode: 500, durationMs: 12, error: null, atMs: NOW_MS,
  next: { status: 'failed' as const, nextAttemptAtMs, disableEndpoint: false },
});
const delivered = (due: DueDelivery) => ({ ...failed(due, 0), statusCode: 200, next: { status: 'delivered' as const, nextAttemptAtMs: null, disableEndpoint: false } });

test.serial('§6 after 7 days what is done or held is removed with its attempts; what is still to be tried and every publication stay', async (t) => {
  const { live, hooks: [hook, off] } = await setUp({}, { status: 'disabled' });
  const old = Array.from({ length: 4 }, (_, n) => publicationRow(live, { orderKey: `k${n}` }));
  await write(stores, live, old.map((row): RowWrite => ({ table: 'publication', row })));
  const [first, second, third] = await claim(live);
  await stores.deliveries.recordAttempts([
    delivered(first!), failed(second!, NOW_MS + 1e9), { ...failed(third!, 0), next: { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: false } },
  ]);
  const left = () => database.owner<{ webhookId: string; status: string }[]>`select webhook_id, status from delivery where account_id = ${live} order by status`;
  t.is((await left()).length, 8);
  t.is(await stores.deliveries.purge(NOW_MS), 0, 'younger ones stay');
  t.is(await stores.deliveries.purge(Date.UTC(2026, 5, 9)), 6);
  t.deepEqual((await left()).map(({ webhookId, status }) => [webhookId === hook!.id, status]), [[true, 'failed'], [true, 'pending']]);
  t.is((await stores.read.deliveries(live, { webhookId: off!.id }, { page: 0, size: 9 })).totalElements, 0);
  const [attempts] = await database.owner<{ count: number }[]>`select count(*) as count from attempt where account_id = ${live}`;
  t.is(attempts!.count, 1, 'of the one that is still to be tried');
  const [publications] = await database.owner<{ count: number }[]>`select count(*) as count from publication where account_id = ${live}`;
  t.is(publications!.count, 4);
});

test.serial('§6 an empty partition of a month that is over is dropped; one with attempts is not', async (t) => {
  const { live } = await setUp({});
  await write(stores, live, [{ table: 'publication', row: publicationRow(live) }]);
  const [due] = await claim(live);
  await stores.deliveries.recordAttempts([failed(due!, NOW_MS + 1e9)]);
  await database.owner`select ensure_attempt_partitions('2020-01-01Z', 1)`;
  const partitions = async () => (await database.owner<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'attempt'::regclass`).map(({ name }) => name);
  t.true((await partitions()).includes('attempt_202001'));
  await stores.deliveries.purge(Date.UTC(2026, 6, 9));
  const kept = await partitions();
  t.false(kept.includes('attempt_202001'));
  t.false(kept.includes('attempt_202002'));
  t.true(kept.includes('attempt_202606'), 'an attempt is in it');
  t.true(kept.includes('attempt_202607') && kept.includes('attempt_other'), 'this month and the rest');
});
