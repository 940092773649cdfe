/**
 * Two nodes that both believe that an account's leader is theirs, as one that was frozen does: of one database each
 * claim is taken, and sent, by one of their publishers.
 */
import test from 'ava';
import { systemClock } from '../../../actors/kernel/index.ts';
import { createPublisher } from '../../../actors/webhook/publisher.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { patiently } from '../../support/patience.ts';
import { answered, Edges, SECRET } from '../../support/publishing.ts';
import { newOrganization, openStores, publicationRow, webhookRow, write } from '../../support/store-rows.ts';

const EVENTS = 40,
  LANES = 3,
  ACCOUNTS = 3;

let database: TestDatabase;
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(() => database.close());

test('issue 10.5: of two publishers that both lead the same accounts each delivery is sent once, by one of them, and none is left', async (t) => {
  const stores = await openStores(database);
  const accounts = await Promise.all(
    Array.from({ length: ACCOUNTS }, async () => (await newOrganization(stores)).live),
  );
  for (const accountId of accounts)
    await write(stores, accountId, [
      { table: 'webhook', row: webhookRow(accountId) },
      { table: 'webhook', row: webhookRow(accountId) },
    ]);
  const nodes = ['a', 'b'].map((name) => {
    const edges = new Edges();
    const publisher = createPublisher({
      node: 'node-a',
      store: stores.deliveries,
      streams: {
        leaders: () => edges.leaders(),
        async deliver(accountId, deliveries) {
          const taken = await edges.deliver(accountId, deliveries);
          // The edge posts, and reports what came of it, while the next claims are at work.
          void Promise.resolve().then(() =>
            publisher.report(
              accountId,
              deliveries.map((delivery) => answered(delivery)),
            ),
          );
          return taken;
        },
      },
      secrets: { open: () => SECRET },
      clock: systemClock,
      random: Math.random,
      log: { warn: (_fields, message) => t.log(`${name}: ${message}`) },
    });
    for (const accountId of accounts) edges.leads(accountId);
    return { edges, publisher };
  });
  for (const { publisher } of nodes) publisher.start();
  for (let n = 0; n < EVENTS; n += 1) {
    for (const accountId of accounts)
      await write(stores, accountId, [
        { table: 'publication', row: publicationRow(accountId, { orderKey: `address-${n % LANES}` }) },
      ]);
    // Each is the first of every other round.
    for (const { publisher } of n % 2 === 0 ? nodes : nodes.toReversed()) publisher.ring();
  }
  const wanted = EVENTS * ACCOUNTS * 2;
  await patiently(
    'all deliveries',
    () => database.owner<{ count: number }[]>`select count(*)::int as count from delivery where status = 'delivered'`,
    ([row]) => row!.count === wanted,
  );
  await Promise.all(nodes.map(({ publisher }) => publisher.stop()));
  const sent = nodes.map(({ edges }) => edges.sent.map(({ deliveryId }) => deliveryId));
  t.is(sent.flat().length, wanted);
  t.is(new Set(sent.flat()).size, wanted);
  t.true(
    sent.every((ids) => ids.length > 0),
    'both took part',
  );
});
