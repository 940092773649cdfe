/** Databases of earlier versions, filled by the functions of their time, and what becomes of their facts. */
import test from 'ava';
import { migrate } from '../../../persistence/postgres/migrate.ts';
import { createWatchStore } from '../../../persistence/postgres/watch-store.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import type { BlockLink, BlockRecord } from '../../../persistence/ports.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { linksAfter, recordOf } from '../../support/store-rows.ts';

const ACCOUNT = 'org_upgrade_live';
const KEY = '00000000-0000-4000-8000-000000000001';

/** A database at one version with an account, its functions those of that version; the store speaks to it as its owner. */
async function databaseAt(version: number): Promise<{ database: TestDatabase; store: ReturnType<typeof createWatchStore>; close: () => Promise<void> }> {
  const database = await createTestDatabase({ migrated: false });
  await migrate({ url: database.url, upTo: version });
  await database.admin.unsafe(`set search_path = flock;
    insert into organization (id, name, created_at) values ('org_upgrade', 'Upgrade', now());
    insert into account (account_id, organization_id, environment, shard_id, state)
      values ('${ACCOUNT}', 'org_upgrade', 'live', 0, '{"counters": {}}');`);
  const sql = openDatabase({ url: database.url, connections: 1, name: 'upgrade', role: 'flock_owner' });
  return { database, store: createWatchStore(sql), close: async () => { await sql.end({ timeout: 5 }); await database.close(); } };
}

const paid = (link: BlockLink, txid: string, more: object = {}): BlockRecord['transfers'][number] => ({
  ledger: 'eth', chain: 'eth', txid, outputIndex: -1, addressId: 'adr_1', address: '0xa', amount: '5', decimals: 18, tokenContract: null,
  tokenSymbol: 'ETH', chainTag: null, from: [], activates: false, threshold: 12, height: link.height, blockHash: link.hash, confirmations: 1,
  accountId: ACCOUNT, addressKey: KEY, ...more,
} as BlockRecord['transfers'][number]);

const statuses = async ({ admin }: TestDatabase): Promise<Record<string, string>> => Object.fromEntries(
  (await admin<{ txid: string; status: string }[]>`select txid, status from flock.fact order by 1`).map(({ txid, status }) => [txid, status]));

test.serial('found F50: a displaced fact of version 28 is decided by the heights of its own branch after the upgrade', async (t) => {
  const { database, store, close } = await databaseAt(28);
  t.teardown(close);
  const [first, ...rest] = linksAfter({ height: 100, hash: 'a100' }, 5, 'a');
  await store.recordBlock('eth', recordOf(first!, [], { previous: null, unresolved: 'pruned' }));
  for (const link of rest) await store.recordBlock('eth', recordOf(link, link.height === 104 ? [paid(link, 'gone')] : []));
  const branch = linksAfter({ height: 102, hash: 'a102' }, 3, 'b').map((link) => recordOf(link, [], { unresolved: link.height === 103 ? 'missing' : null }));
  await store.recordReorg('eth', { height: 102, hash: 'a102' }, { height: 105, hash: 'a105' }, branch);
  t.deepEqual(await statuses(database), { gone: 'displaced' });
  await migrate({ url: database.url });
  const [row] = await database.admin`select displaced_above::int as above, displaced_until::int as until from flock.fact`;
  t.deepEqual({ ...row }, { above: 102, until: 105 });
  t.true((await store.resolveHeight('eth', branch[0]!)).recorded);
  t.deepEqual(await statuses(database), { gone: 'orphaned' }, 'that 101 is unread for ever says nothing about it');
});
