/** What whoever opens a payment reads, where the statistics know nothing of what others have open. */
import test from 'ava';
import { CHECKOUT_TAG } from '../../../model/rows/payment.ts';
import { lentRow, linkRow, paymentRow } from '../../support/payment-rows.ts';
import { openWatched } from '../../support/plans.ts';
import { createTestDatabase } from '../../support/postgres.ts';
import { addressRow, newOrganization, openStores, write } from '../../support/store-rows.ts';

const OPEN = 3_000;
/** Rows that a statement may read for one payer. */
const ROWS = 60;

test('payments S20, found F53: who opens a payment reads nothing of the thousands that other payers of the account have open, whatever the statistics say', async (t) => {
  t.timeout(600_000);
  const database = await createTestDatabase();
  t.teardown(() => database.close());
  const { live } = await newOrganization(await openStores(database)),
    stores = await openStores(database),
    expiresAtMs = Date.now() + 3_600_000;
  const [crowded, own] = [linkRow(live), linkRow(live)],
    shared = addressRow(live, { tag: CHECKOUT_TAG });
  await write(stores, live, [
    { table: 'address', row: shared },
    { table: 'payment_link', row: crowded },
    { table: 'payment_link', row: own },
    ...Array.from({ length: OPEN }, (_, at) => {
      const more = {
        payerKey: `payer ${at}`,
        clientKey: `client ${at}`,
        customerEmail: `${at}@example.com`,
        expiresAtMs,
      };
      return { table: 'payment', row: paymentRow(crowded, shared, more) } as const;
    }),
  ]);
  // The statistics are of a time in which nothing was open, as of a table of millions before a rush.
  await database.admin`alter table payment set (autovacuum_enabled = false)`;
  await database.admin`update payment set status = 'expired'`;
  await database.admin`vacuum analyze payment`;
  await database.admin`update payment set status = 'awaiting_payment'`;
  for (const plan_cache_mode of ['force_custom_plan', 'force_generic_plan']) {
    const pools = await openWatched(database.url, database.url, { plan_cache_mode });
    const watched = await openStores({ ...database, sql: pools.sql }, 'node-b');
    const address = addressRow(live, { tag: CHECKOUT_TAG }),
      payment = paymentRow(own, address, {
        payerKey: 'me',
        clientKey: 'mine',
        customerEmail: 'ada@example.com',
        expiresAtMs,
      });
    const { answer, statements } = await pools.ran(async () => {
      const asked = await watched.read.openings(
        own,
        { payerKey: 'me', email: 'ada@example.com', clientKey: 'mine' },
        1_000,
        Date.now(),
      );
      await write(watched, live, [
        { table: 'address', row: address },
        { table: 'payment', row: payment },
        { table: 'checkout_address', row: { ...lentRow(own, payment, address), id: `${payment.id}/${address.id}` } },
      ]);
      return asked;
    });
    await pools.close();
    t.like(answer, { waiting: 0, ofEmail: 0, ofClient: 0 });
    t.deepEqual(
      statements
        .filter(({ rowsRead }) => rowsRead > ROWS)
        .map(({ rowsRead, indexes, text }) => [rowsRead, indexes.join(), text.replace(/\s+/g, ' ').slice(0, 200)]),
      [],
    );
    await database.admin`delete from checkout_address where payment_id = ${payment.id}`;
    await database.admin`delete from payment where id = ${payment.id}`;
  }
});
