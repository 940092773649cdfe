import test from 'ava';
import { createAccountStore, createOwnership, StaleOwner } from '../../../persistence/postgres/account-store.ts';
import { AppendRefused } from '../../../persistence/postgres/grouped-append.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
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

const batches: number[] = [];
let database: TestDatabase;
let stores: Stores;
let accounts: Stores['accounts'];
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database, 'node-a', { onBatch: (entries) => batches.push(entries) });
  accounts = stores.accounts;
});
test.after.always(() => database.close());

const ISSUED = { type: 'address_issued', id: 'adr_x', family: 'evm', chain: 'eth', index: 0 } as const;
const answer = (key: string, status = 200): RowWrite => ({
  table: 'idempotency',
  row: { key, method: 'POST', path: '/v1/addresses', bodyHash: 'h', status, body: { z: 1, a: [2n] } },
});

test.serial('design 4: activation loads and fences in one statement; the version counts events', async (t) => {
  const { live } = await newOrganization(stores);
  const before = (await accounts.load(live))!;
  t.is(before.version, 0);
  t.is(before.state.accountId, live);
  await write(stores, live, [], [ISSUED, ISSUED]);
  const after = (await accounts.load(live))!;
  t.is(after.version, 2);
  const events =
    await database.owner`select version, type, body from event where account_id = ${live} order by version`;
  t.deepEqual(
    events.map(({ version, type, body }) => [version, type, body]),
    [
      [1, 'address_issued', ISSUED],
      [2, 'address_issued', ISSUED],
    ],
  );
  t.is(await accounts.load(newId('org', NOW_MS) + '_live'), null);
});

test.serial('an append on a version that is no longer the newest is stale and writes nothing', async (t) => {
  const { live } = await newOrganization(stores);
  const [first, second] = [
    await appendOf(stores, live, [], [ISSUED]),
    await appendOf(stores, live, [{ table: 'address', row: addressRow(live) }], [ISSUED]),
  ];
  t.deepEqual(await accounts.append(first), { kind: 'appended' });
  t.deepEqual(await accounts.append(second), { kind: 'stale' });
  t.is((await database.owner`select 1 from address where account_id = ${live}`).length, 0);
});

test.serial('I23 a taken idempotency key makes the entry a duplicate; the first answer keeps its bytes', async (t) => {
  const { live } = await newOrganization(stores);
  await write(stores, live, [answer('k')], [ISSUED]);
  t.deepEqual(await accounts.append(await appendOf(stores, live, [answer('k', 500)], [ISSUED])), { kind: 'duplicate' });
  t.is((await accounts.load(live))!.version, 1);
  const kept = await stores.read.idempotent(live, 'POST', '/v1/addresses', 'k');
  t.deepEqual([kept?.status, JSON.stringify(kept?.body)], [200, '{"z":1,"a":["2"]}']);
  t.deepEqual(
    await accounts.append(await appendOf(stores, live, [answer('twice'), answer('twice')])),
    { kind: 'duplicate' },
    'one key twice in one entry',
  );
});

test.serial('I23 a key is free again after 24 hours', async (t) => {
  const { live } = await newOrganization(stores);
  await write(stores, live, [answer('old')]);
  await database.owner`update idempotency set created_at = now() - interval '24 hours 1 second' where account_id = ${live}`;
  t.is(await stores.read.idempotent(live, 'POST', '/v1/addresses', 'old'), null);
  await write(stores, live, [answer('old', 201)]);
  t.is((await stores.read.idempotent(live, 'POST', '/v1/addresses', 'old'))?.status, 201);
});

test.serial(
  'I9 an address that another account has is refused as ADDRESS_CONFLICT; I20 so is a pinned identity',
  async (t) => {
    const [one, other] = [await newOrganization(stores), await newOrganization(stores)];
    const address = addressRow(one.live);
    await write(stores, one.live, [{ table: 'address', row: address }]);
    const claim = addressRow(other.live, { addressKey: address.addressKey, address: address.address });
    const refused = await accounts.append(
      await appendOf(stores, other.live, [{ table: 'address', row: claim }], [ISSUED]),
    );
    t.is(refused.kind === 'refused' && refused.refusal.code, 'ADDRESS_CONFLICT');
    t.is((await accounts.load(other.live))!.version, 0);

    await write(stores, one.live, [{ table: 'identities', row: { publicKey: 'aa' }, key: '' }]);
    const cross = await accounts.append(
      await appendOf(stores, one.sandbox, [{ table: 'identities', row: { publicKey: 'aa' }, key: '' }]),
    );
    t.is(cross.kind === 'refused' && cross.refusal.code, 'CROSS_ENVIRONMENT_IDENTITY');
    await write(stores, one.live, [{ table: 'identities', row: { publicKey: 'bb' }, key: '' }]);
    // Rotated away, so it is free.
    await write(stores, one.sandbox, [{ table: 'identities', row: { publicKey: 'aa' }, key: '' }]);
    // Another organization's is its own matter.
    await write(stores, other.live, [{ table: 'identities', row: { publicKey: 'bb' }, key: '' }]);
  },
);

test.serial(
  'G20 a gas tank that the account has already stays; of several rows with one id the last one stands',
  async (t) => {
    const { live } = await newOrganization(stores);
    const tank = addressRow(live, { purpose: 'gas_tank', index: null, derivationPath: "m/44'/60'/0'/1/0" });
    await write(stores, live, [{ table: 'address', row: tank }]);
    await write(stores, live, [{ table: 'address', row: { ...tank, id: newId('adr', NOW_MS + 9) } }]);
    t.deepEqual(
      (await stores.read.ownAddresses(live, 'gas_tank')).map(({ id }) => id),
      [tank.id],
    );

    const hook = webhookRow(live);
    await write(stores, live, [
      { table: 'webhook', row: hook },
      { table: 'webhook', row: { ...hook, url: 'https://example.com/second' } },
    ]);
    t.is((await stores.read.webhook(live, hook.id))?.url, 'https://example.com/second');
    const built = withdrawalRow(tank);
    await write(stores, live, [
      { table: 'withdrawal', row: built },
      { table: 'withdrawal_status', id: built.id, status: 'expired', updatedAtMs: NOW_MS + 1 },
    ]);
    t.is((await stores.read.withdrawal(live, built.id))?.status, 'expired');
    await write(stores, live, [
      { table: 'withdrawal_status', id: built.id, status: 'expired', updatedAtMs: NOW_MS + 2 },
      { table: 'withdrawal', row: { ...built, status: 'failed', fee: 7n } },
    ]);
    t.deepEqual(await stores.read.withdrawal(live, built.id), { ...built, status: 'failed', fee: 7n });
  },
);

test.serial('an address status that is so already is refused as CONFLICT', async (t) => {
  const { live } = await newOrganization(stores);
  const row = addressRow(live);
  await write(stores, live, [{ table: 'address', row }]);
  const again = await accounts.append(
    await appendOf(stores, live, [{ table: 'address_status', id: row.id, status: 'active' }]),
  );
  t.is(again.kind === 'refused' && again.refusal.code, 'CONFLICT');
  await write(stores, live, [
    { table: 'address_status', id: row.id, status: 'archived' },
    { table: 'address_status', id: row.id, status: 'active' },
  ]);
  t.is((await stores.read.address(live, row.id))?.status, 'active');
});

test.serial('design 2: appends of one instant share a statement, and each is told its own outcome', async (t) => {
  const organizations = await Promise.all(Array.from({ length: 12 }, () => newOrganization(stores)));
  const taken = addressRow(organizations[0]!.live);
  await write(stores, organizations[0]!.live, [{ table: 'address', row: taken }]);
  const entries = await Promise.all(
    organizations.map(({ live }, index) =>
      appendOf(stores, live, index === 3 ? [answer('x'), answer('x')] : [{ table: 'address', row: addressRow(live) }], [
        ISSUED,
      ]),
    ),
  );
  entries[5] = { ...entries[5]!, expectedVersion: 99 };
  batches.length = 0;
  const outcomes = await Promise.all(entries.map((entry) => accounts.append(entry)));
  t.deepEqual(batches, [11], 'the one with a key twice never left');
  t.deepEqual(
    outcomes.map(({ kind }) => kind),
    organizations.map((_, index) => (index === 3 ? 'duplicate' : index === 5 ? 'stale' : 'appended')),
  );
});

test.serial('design 2: a bad entry is alone; those that were with it are committed', async (t) => {
  const organizations = await Promise.all(Array.from({ length: 6 }, () => newOrganization(stores)));
  const taken = addressRow(organizations[0]!.live);
  await write(stores, organizations[0]!.live, [{ table: 'address', row: taken }]);
  const rowsOf = (index: number, live: typeof taken.accountId): RowWrite[] => {
    if (index === 1) return [{ table: 'address', row: addressRow(live, { addressKey: taken.addressKey }) }];
    if (index === 2) return [{ table: 'address', row: addressRow(live, { userRef: 'nul \u0000 inside' }) }];
    if (index === 4)
      return [
        {
          table: 'address',
          row: addressRow(live, { chain: 'eth', family: 'evm', derivationPath: 'm/9', purpose: 'gas_tank' }),
        },
      ];
    return [{ table: 'address', row: addressRow(live) }];
  };
  const entries = await Promise.all(
    organizations.map(({ live }, index) => appendOf(stores, live, rowsOf(index, live), [ISSUED])),
  );
  const outcomes = await Promise.allSettled(entries.map((entry) => accounts.append(entry)));
  t.deepEqual(
    outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value.kind : (outcome.reason as AppendRefused).constraint,
    ),
    ['appended', 'refused', null, 'appended', 'address_index_range', 'appended'],
  );
  const [, , nul] = outcomes;
  t.true(nul?.status === 'rejected' && nul.reason instanceof AppendRefused && nul.reason.sqlstate.startsWith('22'));
});

test.serial('a value that cannot be written rejects its entry before anything is sent', async (t) => {
  const { live } = await newOrganization(stores);
  const entry = await appendOf(stores, live, [], [{ ...ISSUED, index: 1n as unknown as number }]);
  const error = await t.throwsAsync(accounts.append(entry), { instanceOf: AppendRefused });
  t.true(error.cause instanceof TypeError);
  t.is((await accounts.load(live))!.version, 0);
});

test.serial('no fact is decided twice: an inbox row that is gone makes the entry stale', async (t) => {
  const { live } = await newOrganization(stores);
  const from = addressRow(live),
    [x, y] = [withdrawalRow(from), withdrawalRow(from)];
  await write(stores, live, [
    { table: 'address', row: from },
    { table: 'withdrawal', row: x },
    { table: 'withdrawal', row: y },
  ]);
  await stores.watch.noteWithdrawalFact(live, {
    kind: 'withdrawal_dead',
    withdrawalId: x.id,
    txid: '0x1',
    height: 1,
    blockHash: '0xb',
    success: false,
    reason: 'dead',
    fee: null,
  });
  const { inbox } = await stores.inbox.inboxOf(live, 10);
  t.is(inbox.length, 1);
  const ids = inbox.map(({ id }) => id);
  const [first, second] = [
    await appendOf(stores, live, [{ table: 'inbox_taken', ids }]),
    await appendOf(stores, live, [
      { table: 'inbox_taken', ids },
      { table: 'publication', row: publicationRow(live) },
    ]),
  ];
  t.deepEqual(await accounts.append(first), { kind: 'appended' });
  t.deepEqual(await accounts.append(second), { kind: 'stale' }, 'no event moved the version, and still it is stale');
  t.is((await database.owner`select 1 from publication where account_id = ${live}`).length, 0);
  const other = await newOrganization(stores);
  await stores.watch.noteWithdrawalFact(live, {
    kind: 'withdrawal_dead',
    withdrawalId: y.id,
    txid: '0x2',
    height: 1,
    blockHash: '0xb',
    success: false,
    reason: 'dead',
    fee: null,
  });
  const [{ id } = { id: '' }] = (await stores.inbox.inboxOf(live, 10)).inbox;
  t.deepEqual(
    await accounts.append(await appendOf(stores, other.live, [{ table: 'inbox_taken', ids: [id] }])),
    { kind: 'stale' },
    "it is another account's",
  );
  t.is((await stores.inbox.inboxOf(live, 10)).inbox.length, 1);
});

test.serial(
  'pool addresses: the last push of an index wins until it is issued; unissued ones begin at `next`',
  async (t) => {
    const { live } = await newOrganization(stores);
    const pooled = (index: number, address: string): RowWrite => ({
      table: 'pool_address',
      row: { chain: 'sol', index, address, path: `m/44'/501'/${index}'/0'`, addressKey: addressRow(live).addressKey },
    });
    await write(stores, live, [pooled(0, 'a0'), pooled(1, 'a1'), pooled(2, 'a2')]);
    await write(stores, live, [pooled(1, 'b1')]);
    t.deepEqual(
      (await stores.read.unissuedPool(live, 'sol', 2)).map(({ address }) => address),
      ['a0', 'b1'],
    );
    await write(stores, live, [
      { table: 'address', row: addressRow(live, { chain: 'sol', family: 'sol', index: 0, address: 'a0' }) },
    ]);
    await write(stores, live, [pooled(0, 'c0')]);
    const loaded = (await accounts.load(live))!;
    const pools = {
      sol: { base: 0, size: 3, next: 1, capacity: 3, gasTank: 'g', gasTankPath: 'm', lowAnnounced: false },
    };
    await accounts.append({
      entityId: live,
      ownerEpoch: loaded.ownerEpoch,
      expectedVersion: loaded.version,
      events: [ISSUED],
      rows: [],
      state: { ...loaded.state, pools },
    });
    t.deepEqual(
      (await stores.read.unissuedPool(live, 'sol', 9)).map(({ index, address }) => [index, address]),
      [
        [1, 'b1'],
        [2, 'a2'],
      ],
    );
    t.is(
      (await database.owner`select address from pool_address where account_id = ${live} and index = 0`)[0]?.address,
      'a0',
      'an issued one stays what it is',
    );
  },
);

// The last one: the shard that it takes away may be another test's.
test.serial('I17 an owner that was superseded can neither load nor append', async (t) => {
  const { live } = await newOrganization(stores);
  const append = await appendOf(stores, live, [], [ISSUED]);
  const epochs = await createOwnership(database.sql).claimShards('node-b', [shardOf(live)]);
  const newer = createAccountStore({ sql: database.sql, nowMs: () => NOW_MS, epochOf: (shard) => epochs.get(shard) });
  await t.throwsAsync(accounts.load(live), { instanceOf: StaleOwner }, 'the shard is not ours any more');
  t.deepEqual(
    await accounts.append(append),
    { kind: 'appended' },
    'until the new owner loads it, the old one is the only writer',
  );
  t.is((await newer.load(live))!.version, 1);
  t.deepEqual(await accounts.append({ ...append, expectedVersion: 1 }), { kind: 'stale' });
  const nobody = createAccountStore({ sql: database.sql, nowMs: () => NOW_MS, epochOf: () => undefined });
  await t.throwsAsync(nobody.load(live), { instanceOf: StaleOwner });
});
