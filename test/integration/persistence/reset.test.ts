import test from 'ava';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import {
  addressRow,
  depositWrites,
  linksAfter,
  newOrganization,
  NOW_MS,
  openStores,
  recordOf,
  transferTo,
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

/** Tables with an account, and how many rows each account has in them. */
async function rowsOf(accountId: string): Promise<Record<string, number>> {
  const tables = [
    'event',
    'address',
    'address_registry',
    'pool_address',
    'account_key',
    'deposit',
    'ledger_entry',
    'withdrawal',
    'billable',
    'billable_change',
    'webhook',
    'publication',
    'delivery',
    'attempt',
    'fact',
    'inbox',
  ];
  const counts = await Promise.all(
    tables.map(
      async (table) =>
        [
          table,
          (
            await database.owner.unsafe<{ rows: number }[]>(
              `select count(*) as rows from ${table} where account_id = '${accountId}'`,
            )
          )[0]!.rows,
        ] as const,
    ),
  );
  return Object.fromEntries(counts);
}

test('spec §4.7: a reset deletes what one sandbox issued, saw, sent and delivered, and nothing else', async (t) => {
  const { sandbox, live } = await newOrganization(stores);
  const { sandbox: neighbour } = await newOrganization(stores);
  for (const accountId of [sandbox, live, neighbour]) {
    const address = addressRow(accountId, { index: 0 });
    const tank = addressRow(accountId, { purpose: 'gas_tank', index: null, derivationPath: "m/44'/60'/0'/1/0" });
    const sent = withdrawalRow(address);
    await write(
      stores,
      accountId,
      [
        { table: 'address', row: address },
        { table: 'address', row: tank },
        { table: 'webhook', row: webhookRow(accountId) },
        {
          table: 'pool_address',
          row: { chain: 'sol', index: 0, address: 'p', path: 'm', addressKey: address.addressKey },
        },
      ],
      [{ type: 'sandbox_reset' }],
    );
    await write(stores, accountId, [
      ...depositWrites(address, 'reversed').rows,
      ...depositWrites(address, 'confirmed').rows,
      { table: 'withdrawal', row: sent },
      { table: 'billable', withdrawalId: sent.id, kind: 'withdrawal', period: '2026-06' },
    ]);
    await write(stores, accountId, [
      { table: 'billable_change', withdrawalId: sent.id, period: '2026-06', change: -1 },
    ]);
    const [due] = await stores.deliveries.claimDue([accountId], 1, NOW_MS, 1_000, []);
    await stores.deliveries.recordAttempts([
      {
        accountId,
        deliveryId: due!.delivery.id,
        attempt: 1,
        statusCode: 200,
        durationMs: 1,
        error: null,
        atMs: NOW_MS,
        next: { status: 'delivered', nextAttemptAtMs: null, disableEndpoint: false },
      },
    ]);
    const ledger = accountId === live ? ('eth' as const) : (`eth@${accountId}` as const);
    const [link] = linksAfter({ height: 0, hash: 'a0' }, 1, 'a');
    await stores.watch.recordBlock(ledger, recordOf(link!, [transferTo(address, link!)], { previous: null }));
  }
  const before = await Promise.all([sandbox, live, neighbour].map(rowsOf));
  t.true(Object.values(before[0]!).every((rows) => rows > 0));

  const { index, derivationPath } = addressRow(sandbox, { index: 0 });
  const again: RowWrite = { table: 'address', row: addressRow(sandbox, { index, derivationPath }) };
  await write(
    stores,
    sandbox,
    [{ table: 'sandbox_resets_begun', row: {}, key: '' }],
    [{ type: 'sandbox_reset_begun' }],
  );
  await t.throwsAsync(write(stores, sandbox, [{ table: 'sandbox_reset' }], [{ type: 'sandbox_reset' }]), {
    message: /sandbox_reset/,
  });
  // Of whoever asked nothing is heard any more: the next one goes on where it was.
  let calls = 1;
  for (; await stores.sandbox.resetStep(sandbox, 2); calls += 1)
    t.true(calls < 40, 'two rows or so a call, and each of the tables once');
  t.true(calls > 5);
  t.is(await stores.sandbox.resetStep(sandbox, 2), false, 'nothing is left');
  await write(stores, sandbox, [{ table: 'sandbox_reset' }, again], [{ type: 'sandbox_reset' }]);
  t.is(await stores.sandbox.resetStep(sandbox, 2), false, 'without a mark there is nothing to do');
  t.deepEqual(
    await rowsOf(sandbox),
    {
      ...Object.fromEntries(Object.keys(before[0]!).map((table) => [table, 0])),
      event: 3,
      address: 2,
      address_registry: 2,
      pool_address: 1,
      account_key: 4,
      webhook: 1,
    },
    'its own gas tank, keys, pool and endpoint stay; index 0 is free again',
  );
  t.deepEqual(await Promise.all([live, neighbour].map(rowsOf)), before.slice(1));
  t.is(await stores.watch.cursor(`eth@${sandbox}`), null);
  t.deepEqual(await stores.watch.cursor('eth'), { height: 1, hash: 'a1' });
});

test('spec §4.7, reliability 4: a reset is taken up by whoever comes next; two at once delete each row once; what is open is told', async (t) => {
  const { sandbox } = await newOrganization(stores);
  await write(stores, sandbox, [{ table: 'webhook', row: webhookRow(sandbox) }]);
  for (let n = 0; n < 12; n += 1) {
    const address = addressRow(sandbox);
    await write(stores, sandbox, [{ table: 'address', row: address }]);
    await write(stores, sandbox, depositWrites(address, 'reversed').rows);
  }
  await write(stores, sandbox, [{ table: 'sandbox_resets_begun', row: {}, key: '' }]);
  t.deepEqual(await stores.sandbox.dueResets('', 9), [], 'whoever asked is still at it');
  await database.owner`update sandbox_reset set began_at = began_at - interval '1 minute' where account_id = ${sandbox}`;
  t.deepEqual(await stores.sandbox.dueResets('', 9), [sandbox]);
  // Two nodes that both take it up.
  const turn = async (): Promise<void> => {
    for (let more: boolean | null = true; more !== false;) more = await stores.sandbox.resetStep(sandbox, 3);
  };
  await Promise.all([turn(), turn()]);
  await write(stores, sandbox, [{ table: 'sandbox_reset' }]);
  const left = await rowsOf(sandbox);
  t.deepEqual([left.address, left.deposit, left.ledger_entry, left.publication, left.delivery], [0, 0, 0, 0, 0]);
  t.deepEqual(await stores.sandbox.dueResets('', 9), []);
});
