/** Databases of earlier versions, filled by the functions of their time, and what becomes of their facts. */
import test from 'ava';
import { migrate } from '../../../persistence/postgres/migrate.ts';
import { createSandboxStore } from '../../../persistence/postgres/sandbox-store.ts';
import { createWatchStore } from '../../../persistence/postgres/watch-store.ts';
import { openDatabase } from '../../../persistence/postgres/sql.ts';
import type { BlockLink, BlockRecord } from '../../../model/ports/watch-store.ts';
import type { AccountId, LedgerId } from '../../../protocol/ids.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { migrateFormer } from '../../support/release-of-0048.ts';
import { seeded } from '../../support/seeded.ts';
import { linksAfter, recordOf } from '../../support/store-rows.ts';

const ACCOUNT = 'org_upgrade_live';
const KEY = '00000000-0000-4000-8000-000000000001';

/**
 * A database at one version with an account, its functions those of that version; the store speaks to it as its owner.
 */
async function databaseAt(
  version: number,
): Promise<{ database: TestDatabase; store: ReturnType<typeof createWatchStore>; close: () => Promise<void> }> {
  const database = await createTestDatabase({ migrated: false });
  await migrateFormer(database.url, version);
  await database.admin.unsafe(`set search_path = flock;
    insert into organization (id, name, created_at) values ('org_upgrade', 'Upgrade', now());
    insert into account (account_id, organization_id, environment, shard_id, state)
      values ('${ACCOUNT}', 'org_upgrade', 'live', 0, '{"counters": {}}');
    set session_replication_role = replica;
    insert into address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose, index, status, created_at)
      select '${ACCOUNT}', 'adr_' || payee, 'live', 'eth', 'evm', '0x' || payee, ('${KEY.slice(0, -1)}' || payee)::uuid, 'm/0/' || n, 'deposit', n, 'active', now()
        from unnest('{1,a,b,c}'::text[]) with ordinality p(payee, n);
    insert into address_registry (address_key, account_id, address_id) select address_key, account_id, id from address;
    set session_replication_role = origin;
    `);
  const sql = openDatabase({ url: database.url, connections: 1, name: 'upgrade', role: 'flock_owner' });
  return {
    database,
    store: createWatchStore(sql),
    close: async () => {
      await sql.end({ timeout: 5 });
      await database.close();
    },
  };
}

const paid = (link: BlockLink, txid: string, more: object = {}): BlockRecord['transfers'][number] =>
  ({
    ledger: 'eth',
    chain: 'eth',
    txid,
    outputIndex: -1,
    addressId: 'adr_1',
    address: '0xa',
    amount: '5',
    decimals: 18,
    tokenContract: null,
    tokenSymbol: 'ETH',
    chainTag: null,
    from: [],
    activates: false,
    threshold: 12,
    height: link.height,
    blockHash: link.hash,
    confirmations: 1,
    accountId: ACCOUNT,
    addressKey: KEY,
    ...more,
  }) as BlockRecord['transfers'][number];

const statuses = async ({ admin }: TestDatabase): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await admin<{ txid: string; status: string }[]>`select txid, status from flock.fact order by 1`).map(
      ({ txid, status }) => [txid, status],
    ),
  );

test.serial(
  'found F10: what a sandbox had signed before its ledgers had ids of their own is known to them by its txids, until a reset',
  async (t) => {
    const { database, close } = await databaseAt(39);
    t.teardown(close);
    const sandbox: AccountId = 'org_upgrade_sandbox',
      ledger: LedgerId = `eth@${sandbox}`;
    await database.admin.unsafe(`set session_replication_role = replica;
    insert into flock.account (account_id, organization_id, environment, shard_id, state) values ('${sandbox}', 'org_upgrade', 'sandbox', 0, '{"counters": {}}');
    insert into flock.sandbox_ledger (ledger, height, hash) values ('${ledger}', 0, '0xa');
    insert into flock.withdrawal (account_id, id, ledger, chain, from_address, to_address, amount, decimals, token_symbol, status, unsigned, versions, created_at, updated_at)
      select account_id, 'txn_' || ledger || versions, ledger, 'eth', 'a', 'b', 1, 18, 'ETH', status, '{}', versions::jsonb, now(), now()
        from (values ('${sandbox}', '${ledger}', 'broadcast', '[{"txid": "0x1"}, {"txid": "0x2"}]'), ('${sandbox}', '${ledger}', 'confirmed', '[{"txid": "0x3"}]'),
                     ('${sandbox}', '${ledger}', 'built', '[]'), ('${ACCOUNT}', 'eth', 'broadcast', '[{"txid": "0x4"}]')) w (account_id, ledger, status, versions);
    set session_replication_role = origin;`);
    await migrateFormer(database.url);
    await migrate({ url: database.url });
    const sql = openDatabase({ url: database.url, connections: 1, name: 'app', role: 'flock_app' });
    t.teardown(() => sql.end({ timeout: 5 }));
    const store = createSandboxStore(sql),
      known = () => Promise.all(['0x1', '0x2', '0x3', '0x4', '0x5'].map((txid) => store.isFormer(ledger, txid)));
    t.deepEqual(await known(), [true, true, true, false, false]);
    t.false(await store.isFormer('eth', '0x4'), 'a live ledger has none');
    await sql`select reset_sandbox_ledgers(${sandbox})`;
    t.deepEqual(await known(), [false, false, false, false, false]);
  },
);

test.serial(
  'found F50: a displaced fact of version 28 is decided by the heights of its own branch after the upgrade',
  async (t) => {
    const { database, store, close } = await databaseAt(28);
    t.teardown(close);
    const [first, ...rest] = linksAfter({ height: 100, hash: 'a100' }, 5, 'a');
    await store.recordBlock('eth', recordOf(first!, [], { previous: null, unresolved: 'pruned' }));
    for (const link of rest)
      await store.recordBlock('eth', recordOf(link, link.height === 104 ? [paid(link, 'gone')] : []));
    const branch = linksAfter({ height: 102, hash: 'a102' }, 3, 'b').map((link) =>
      recordOf(link, [], { unresolved: link.height === 103 ? 'missing' : null }),
    );
    await store.recordReorg('eth', { height: 102, hash: 'a102' }, { height: 105, hash: 'a105' }, branch);
    t.deepEqual(await statuses(database), { gone: 'displaced' });
    await migrateFormer(database.url);
    await migrate({ url: database.url });
    const [row] =
      await database.admin`select displaced_above::int as above, displaced_until::int as until from flock.fact`;
    t.deepEqual({ ...row }, { above: 102, until: 105 });
    t.true((await store.resolveHeight('eth', branch[0]!)).recorded);
    t.deepEqual(await statuses(database), { gone: 'orphaned' }, 'that 101 is unread for ever says nothing about it');
  },
);

interface Movement {
  readonly payee: 'a' | 'b' | 'c';
  readonly amount: number;
  /** Frames before it that moved nothing, which the former keys counted. */ readonly gap: number;
}

const payeeOf = (payee: string) => ({
  addressId: `adr_${payee}`,
  address: `0x${payee}`,
  addressKey: `00000000-0000-4000-8000-00000000000${payee}`,
});

/** The movements of one transaction as they are reported today, or as version 28 counted them. */
function movementsIn(
  link: BlockLink,
  txid: string,
  movements: readonly Movement[],
  counted: 'former' | 'now',
  only?: readonly string[],
): BlockRecord['transfers'] {
  let place = -1;
  return movements.flatMap(({ payee, amount, gap }, index) => {
    place += gap + 1;
    if (only !== undefined && !only.includes(payee)) return [];
    return [
      paid(link, txid, {
        outputIndex: counted === 'now' ? -2 - index : -2 - place,
        amount: String(amount),
        ...payeeOf(payee),
      }),
    ];
  });
}

test.serial(
  'found F21: a payment under a former key is neither credited twice nor lost, however often its transaction is read again',
  async (t) => {
    const { database, store, close } = await databaseAt(28);
    t.teardown(close);
    const random = seeded(21);
    const pick = (below: number) => Math.floor(random() * below);
    const cases = Array.from({ length: 60 }, (_, index) => ({
      txid: `0x${index}`,
      first: [['a'], ['a', 'b'], ['b'], []][pick(4)]!,
      movements: Array.from({ length: 1 + pick(5) }, (): Movement => ({
        payee: (['a', 'b', 'c'] as const)[pick(3)]!,
        amount: 1 + pick(2),
        gap: pick(3),
      })),
    }));
    const [start, block] = linksAfter({ height: 100, hash: 'a100' }, 2, 'a') as [BlockLink, BlockLink];
    await store.recordBlock('eth', recordOf(start, [], { previous: null }));
    await store.recordBlock(
      'eth',
      recordOf(
        block,
        cases.flatMap(({ txid, movements, first }) => movementsIn(block, txid, movements, 'former', first)),
      ),
    );
    const recorded = await database.admin<
      { txid: string; key: string }[]
    >`select txid, output_index::text as key from flock.fact order by 1, 2`;
    await migrateFormer(database.url);
    await migrate({ url: database.url });

    const standing = async () =>
      (
        await database.admin<{ txid: string; of: string }[]>`
    select txid, string_agg(transfer ->> 'address' || ' ' || (transfer ->> 'amount'), ',' order by transfer ->> 'address', transfer ->> 'amount') as of
      from flock.fact where status <> 'orphaned' group by txid order by txid collate "C"`
      ).map(({ txid, of }) => `${txid}: ${of}`);
    const truth = (payees: (first: readonly string[]) => readonly string[]) =>
      cases
        .flatMap(({ txid, movements, first }) => {
          const of = movements
            .filter(({ payee }) => payees(first).includes(payee))
            .map(({ payee, amount }) => `0x${payee} ${amount}`)
            .sort();
          return of.length === 0 ? [] : [`${txid}: ${of.join(',')}`];
        })
        .sort((a, b) => (a.split(':')[0]! < b.split(':')[0]! ? -1 : 1));
    const inboxes = async () =>
      Number((await database.admin<{ count: string }[]>`select count(*)::text as count from flock.inbox`)[0]!.count);

    // Read again in its block, for a second opinion: nothing is new.
    t.deepEqual(
      await standing(),
      truth((first) => first),
    );
    const before = await inboxes();
    await store.correctBlock(
      'eth',
      block,
      cases.flatMap(({ txid, movements, first }) => movementsIn(block, txid, movements, 'now', first)),
    );
    t.deepEqual(
      await standing(),
      truth((first) => first),
    );
    t.is(await inboxes(), before, 'and nobody hears of it');
    // Matched with addresses that were issued meanwhile.
    await store.recordLate(
      'eth',
      block,
      cases.flatMap(({ txid, movements }) => movementsIn(block, txid, movements, 'now', ['c'])),
    );
    t.deepEqual(
      await standing(),
      truth((first) => [...first, 'c']),
    );
    await store.recordLate(
      'eth',
      block,
      cases.flatMap(({ txid, movements }) => movementsIn(block, txid, movements, 'now')),
    );
    t.deepEqual(
      await standing(),
      truth(() => ['a', 'b', 'c']),
    );
    // Included again in another block, left out by a third, and back in a fourth.
    const all = (link: BlockLink) => cases.flatMap(({ txid, movements }) => movementsIn(link, txid, movements, 'now'));
    let head = block;
    for (const [name, holds] of [
      ['b', true],
      ['c', false],
      ['d', true],
      ['e', true],
    ] as const) {
      const [next] = linksAfter({ height: start.height, hash: start.hash }, 1, name) as [BlockLink];
      await store.recordReorg('eth', start, head, [recordOf(next, holds ? all(next) : [])]);
      t.deepEqual(await standing(), holds ? truth(() => ['a', 'b', 'c']) : []);
      head = next;
    }
    const kept = await database.admin<
      { txid: string; key: string }[]
    >`select txid, output_index::text as key from flock.fact where former_key order by 1, 2`;
    t.deepEqual(
      kept.map((row) => ({ ...row })),
      recorded.map((row) => ({ ...row })),
      'keys, and so ids of deposits and events, are what they were',
    );
    const orphaned = await database.admin<
      { count: number }[]
    >`select count(*)::int as count from flock.fact where status = 'orphaned'`;
    t.is(orphaned[0]!.count, 0, 'no movement has two facts');
  },
);
