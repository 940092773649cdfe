/**
 * Plans at size: rows read by every statement, where one account holds nearly everything and what is rare is oldest.
 */
import test from 'ava';
import { createStores, type Stores } from '../../../persistence/postgres/stores.ts';
import type { Sql } from '../../../persistence/postgres/sql.ts';
import { createLists } from '../../../persistence/postgres/list-pool.ts';
import { initialAccount } from '../../../model/account/state.ts';
import type { PageAsk } from '../../../protocol/page.ts';
import type { UntracedPage } from '../../../model/ports/origin-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { SHARD_COUNT } from '../../../protocol/node/ids.ts';
import { ADDRESS_STATUSES, DELIVERY_STATUSES, DIRECTIONS, WITHDRAWAL_KINDS } from '../../../protocol/slugs.ts';
import { TRANSACTION_STATUSES } from '../../../protocol/schema/transactions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { askedAt, withoutPause } from '../../support/wipes.ts';
import { openWatched, type RanStatement, type WatchedPools } from '../../support/plans.ts';
import { fillScale, SCALE_TAGS, SCALE_USERS, SCALE_WEBHOOKS } from '../../support/scale.ts';
import { fillBeside } from '../../support/scale-beside.ts';
import { oneFact } from '../../support/one-fact.ts';
import { PLAN_WORK } from '../../support/plan-work.ts';
import { piecesNotRun } from '../../support/sql-pieces.ts';
import { addressRow, newOrganization, openStores, write, type TestOrganization } from '../../support/store-rows.ts';

const ROWS = 30_000;
const ROWS_BESIDE = 6_000;
/** Rows that a first page may read: itself, and a little of each range that it merges. */
const PAGE_ROWS = 1_500;
/** What counting to 10,000 reads. */
const COUNT_ROWS = 10_100;
/** Rows that one fact, from the block to the recorded attempt, may read in one statement. */
const FACT_ROWS = 120;

/** Before a list of addresses the few batches are looked up that are at work: migration M-I14. */
const isOfList = ({ text }: RanStatement): boolean => !/^\s*select id from import_batch/.test(text);

let database: TestDatabase;
let watched: WatchedPools;
let stores: Stores;
let live: AccountId;
let organization: TestOrganization;
test.before(async (t) => {
  t.timeout(600_000);
  database = await createTestDatabase();
  await withoutPause(database);
  await askedAt(database, Date.now() - 73 * 3_600_000);
  organization = await newOrganization(await openStores(database));
  ({ live } = organization);
  await fillScale(database.url, live, {
    addresses: ROWS,
    deposits: ROWS,
    withdrawals: ROWS / 3,
    deliveries: ROWS,
    otherAccounts: 2_000,
  });
  await fillBeside(database.url, live, ROWS_BESIDE);
  watched = await openWatched(database.url);
  stores = await storesOver(watched);
});
test.after.always(async () => {
  await watched?.close();
  await database?.close();
});

async function storesOver({ sql, lists }: { sql: Sql; lists: Sql }): Promise<Stores> {
  let epochs = new Map<number, number>();
  const made = createStores({
    sql,
    lists: createLists(lists, { slots: 2 }),
    nowMs: Date.now,
    initialAccount,
    epochOf: (shard) => epochs.get(shard),
  });
  epochs = await made.ownership.claimShards(
    'plans',
    Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
  );
  // What a node claims again is its own with another epoch.
  const { claimVacantShards } = made.ownership;
  const ownership: Stores['ownership'] = {
    ...made.ownership,
    async claimVacantShards(node, leaseSeconds) {
      const claimed = await claimVacantShards(node, leaseSeconds);
      epochs = new Map([...epochs, ...claimed]);
      return claimed;
    },
  };
  return { ...made, ownership };
}

const describe = ({ text, rowsRead, indexes }: RanStatement): string =>
  `${rowsRead} rows by ${[...new Set(indexes)].join()}: ${text.replace(/\s+/g, ' ').slice(0, 160)}`;

/** As it is before anything was analyzed. */
async function forgetStatistics({ admin }: TestDatabase): Promise<void> {
  await admin`delete from pg_statistic`;
  await admin`
    update pg_class set reltuples = -1, relpages = 0, relallvisible = 0 where relnamespace = 'flock'::regnamespace`;
}

/** All subsets of a set of filters, with each value of each. */
function combinations(filters: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown>[] {
  return Object.entries(filters).reduce<Record<string, unknown>[]>(
    (found, [name, values]) => found.flatMap((one) => [one, ...values.map((value) => ({ ...one, [name]: value }))]),
    [{}],
  );
}

const USERS = [SCALE_USERS.most, SCALE_USERS.rare, 'nobody'],
  TAGS = [SCALE_TAGS.most, SCALE_TAGS.rare],
  CHAINS = ['eth', 'xlm', 'polygon'];
const LISTS = {
  addresses: { userRef: USERS, tag: TAGS, chain: CHAINS, status: ADDRESS_STATUSES },
  transactions: {
    userRef: USERS,
    tag: TAGS,
    chain: ['eth', 'xlm'],
    status: [...TRANSACTION_STATUSES.filter((status) => ['confirmed', 'reversed', 'built'].includes(status))],
    direction: DIRECTIONS,
  },
  deliveries: {
    webhookId: Object.values(SCALE_WEBHOOKS),
    status: DELIVERY_STATUSES,
    event: ['deposit_detected', 'pool_low', 'edge_online'],
  },
} as const;

for (const [list, filters] of Object.entries(LISTS)) {
  test.serial(
    `found F53, F84: ${list} by every combination of filters reads what the page shows, and counts to 10,000`,
    async (t) => {
      t.timeout(600_000);
      const read = stores.read[list as keyof typeof LISTS] as (
        accountId: AccountId,
        filter: object,
        ask: PageAsk,
      ) => Promise<{ content: unknown[]; totalElements: number }>;
      const found: string[] = [];
      const all = combinations(filters);
      t.true(all.length > 50);
      for (const filter of all) {
        const { statements } = await watched.ran(() => read(live, filter, { page: 0, size: 20 }));
        const [page, count, ...more] = statements.filter(isOfList);
        if (page === undefined || count === undefined) {
          t.deepEqual(
            statements.filter(isOfList),
            [],
            `no statement for what no row can be: ${JSON.stringify(filter)}`,
          );
          continue;
        }
        t.deepEqual(more, []);
        for (const one of [page, count])
          if (one.sequentialScans.length > 0) found.push(`${JSON.stringify(filter)}: ${one.sequentialScans.join()}`);
        if (page.rowsRead > PAGE_ROWS) found.push(`${JSON.stringify(filter)}: page ${describe(page)}`);
        if (count.rowsRead > COUNT_ROWS) found.push(`${JSON.stringify(filter)}: count ${describe(count)}`);
      }
      t.deepEqual(found, []);
    },
  );

  test.serial(
    `found F84: the last page that ${list} may be asked for by its number, and the page behind a cursor there, read what they skip and no more`,
    async (t) => {
      const read = stores.read[list as keyof typeof LISTS] as (
        accountId: AccountId,
        filter: object,
        ask: PageAsk,
      ) => Promise<{ content: unknown[]; next: string | null }>;
      const busy = {
        addresses: { userRef: SCALE_USERS.most },
        transactions: { status: 'confirmed' },
        deliveries: { webhookId: SCALE_WEBHOOKS.busy },
      }[list]!;
      for (const filter of [{}, busy]) {
        const { answer, statements } = await watched.ran(() => read(live, filter, { page: 49, size: 200 }));
        t.is(answer.content.length, 200);
        t.true(statements[0]!.rowsRead < 12_000, describe(statements[0]!));
      }
    },
  );
}

test.serial(
  'treasury S23: transactions of a kind are read by its index, however few there are among the others',
  async (t) => {
    const found: string[] = [];
    for (const filter of combinations({ chain: ['eth', 'xlm'], status: ['confirmed', 'built'], direction: ['out'] }))
      for (const kind of WITHDRAWAL_KINDS) {
        const { statements } = await watched.ran(() =>
          stores.read.transactions(live, { ...filter, kind }, { page: 0, size: 20 }),
        );
        const bounds = [kind === 'sweep' ? 100 : PAGE_ROWS, kind === 'sweep' ? 100 : COUNT_ROWS];
        for (const [at, one] of statements.entries())
          if (one.rowsRead > bounds[at]! || one.sequentialScans.length > 0)
            found.push(`${kind} ${JSON.stringify(filter)}: ${describe(one)}`);
      }
    t.deepEqual(found, []);
  },
);

test.serial(
  'found F54: no statement that one fact causes reads more than a few rows, however many addresses its account has',
  async (t) => {
    t.timeout(600_000);
    await write(stores, live, [{ table: 'address', row: addressRow(live, { userRef: SCALE_USERS.one }) }]);
    for (let n = 0; n < 3; n += 1) await oneFact(stores, live); // a session's plans are those of its first questions
    const { statements } = await watched.ran(() => oneFact(stores, live));
    t.true(statements.length > 30);
    t.true(
      statements.some(({ indexes }) => indexes.includes('address_own')),
      "the account's own addresses have an index",
    );
    t.deepEqual(
      statements
        .filter(({ sequentialScans }) => sequentialScans.length > 0)
        .map((one) => `${one.sequentialScans.join()} ${describe(one)}`),
      [],
    );
    t.deepEqual(statements.filter(({ rowsRead }) => rowsRead > FACT_ROWS).map(describe), []);
  },
);

/** The database without one index, which is how an earlier release read; it has the index again afterwards. */
async function without<T>(index: string, work: () => Promise<T>): Promise<T> {
  const [made] = await database.admin<
    { text: string }[]
  >`select pg_get_indexdef(${`flock.${index}`}::regclass) as text`;
  await database.admin.unsafe(`drop index flock.${index}`);
  try {
    return await work();
  } finally {
    await database.admin.unsafe(made!.text);
  }
}

test.serial(
  'found F53: planted, a list without its index reads more than its page, and the plans say so',
  async (t) => {
    const filter = { userRef: SCALE_USERS.rare } as const;
    const page = async () =>
      (await watched.ran(() => stores.read.addresses(live, filter, { page: 0, size: 20 }))).statements.find(isOfList)!;
    const planted = await without('address_by_user_tag', () =>
      without('address_by_user', () => without('address_by_tag', () => without('address_by_kind', page))),
    ).catch((error: unknown) => {
      // A machine that is slow enough ends it before the plan is told.
      t.like(error, { refusal: { details: { reason: 'list_timeout' } } });
      return null;
    });
    if (planted !== null) t.true(planted.rowsRead > PAGE_ROWS || planted.sequentialScans.length > 0, describe(planted));
    const right = await page();
    t.true(right.rowsRead <= PAGE_ROWS && right.sequentialScans.length === 0, describe(right));
  },
);

test.serial(
  "found F54: planted, a fact that looks for the account's own addresses among all of them is seen",
  async (t) => {
    const fact = async () =>
      (await watched.ran(() => oneFact(stores, live))).statements.filter(
        ({ rowsRead, sequentialScans }) => rowsRead > FACT_ROWS || sequentialScans.length > 0,
      );
    t.true((await without('address_own', fact)).some(({ text }) => text.includes('address')));
    await oneFact(stores, live); // its plans are made again
    t.deepEqual((await fact()).map(describe), []);
  },
);

test.serial(
  'found F58, F83: a load reads what is in flight and no closed withdrawal; dead builds are read by their index, page by page',
  async (t) => {
    const { answer, statements } = await watched.ran(() => stores.accounts.load(live));
    const open = Object.keys(answer!.state.withdrawals).length;
    t.true(open >= 40 && open < 200, `${open} of ${ROWS / 3}`);
    t.deepEqual(statements.filter(({ sequentialScans }) => sequentialScans.length > 0).map(describe), []);
    t.deepEqual(statements.filter(({ rowsRead }) => rowsRead > 3 * open + 50).map(describe), []);
    const dead = await watched.ran(() => stores.operators.deadBuilds(Date.now(), null, 10));
    t.is(dead.answer.length, 10);
    const [read] = dead.statements;
    t.deepEqual([read!.indexes, read!.sequentialScans], [['withdrawal_unsigned'], []]);
    t.true(read!.rowsRead <= 11, describe(read!));
    const rest = await watched.ran(() => stores.operators.deadBuilds(Date.now(), dead.answer.at(-1)!, 10));
    t.true(rest.statements[0]!.rowsRead <= 22, describe(rest.statements[0]!));
  },
);

test.serial('found F82: a look at what waits here reads the endpoints, not each delivery', async (t) => {
  const claimed = Array.from({ length: 500 }, (_, n) => ({ id: `dlv_${n}`, webhookId: SCALE_WEBHOOKS.busy }));
  const {
    statements: [look, ...more],
  } = await watched.ran(() => stores.deliveries.standing(live, claimed));
  t.deepEqual([look!.indexes.toSorted(), more], [['migration_project_between', 'webhook_pkey'], []]);
  t.true(look!.rowsRead <= 3, describe(look!));
});

test.serial(
  'migration M-K3: untraced addresses are counted page by page, each once, without those that an active source leads to',
  async (t) => {
    for (const [active, expected] of [
      [['ks_1'], Math.floor(ROWS_BESIDE / 2)],
      [['ks_2'], ROWS_BESIDE],
    ] as const) {
      await stores.origins.beginPass(live, 'ks_3', 60_000);
      let checked = 0;
      for (let after: string | null = ''; after !== null;) {
        const at: { family: 'evm'; after: string } = { family: 'evm', after };
        const ran = await watched.ran(() => stores.origins.countUntraced(live, 'ks_3', active, at, 60_000));
        const { answer, statements }: { answer: UntracedPage; statements: readonly RanStatement[] } = ran;
        t.true(statements[0]!.rowsRead < 4_100, describe(statements[0]!));
        t.true(answer.checked >= checked);
        ({ checked, next: after } = answer);
      }
      t.is(checked, expected);
      t.like(await stores.origins.endPass(live, 'ks_3'), { state: 'done', checked: expected, traced: 0 });
    }
    await stores.origins.beginPass(live, 'ks_3', 60_000);
    const none = await stores.origins.countUntraced(live, 'ks_3', [], { family: 'btc', after: '' }, 60_000);
    t.deepEqual(none, { next: null, checked: 0, begin: [] });
    await stores.origins.endPass(live, 'ks_3');
  },
);

/** Work that may read more than WORK_ROWS in one statement, with how many, and why. */
const WORK_ROWS = 150;
const MORE: Readonly<Record<string, readonly [rows: number, why: string]>> = {
  'audit.ledgerBalances': [5_000, 'a step of a walk over all addresses looks at 2,000 keys of whichever family'],
  'several nodes: join beat owners claim release sharing leave': [2_300, 'there are 1,024 shards, with their owners'],
  'accounts.load holds append ownership.claimVacantShards renewNode': [
    2_100,
    'there are 1,024 shards: read, and given a new epoch',
  ],
  'deliveries.releaseAbandoned': [
    6_000,
    'a step of a walk looks at 5,000 endpoints and as many deliveries that are due',
  ],
  'read.attestedReach unattested attestation payments.keepAttestations': [
    6_100,
    'once an hour the newest 2,000 lent addresses are looked at, with their statements',
  ],
  'watch.coverage of such a ledger': [7_100, 'the lowest 1,000 of them, and how many there are, counted to 10,000'],
  'auditLog.record recordOfUser page chain head trim': [
    15_100,
    'a page of the audit log looks at 5,000 entries of one index for its further filters, each once in the table',
  ],
  'read.paymentLinks paymentLink paymentLinksAmong headOf': [10_100, 'a filtered list is counted to 10,000'],
  'read.payments': [10_100, 'a filtered list is counted to 10,000'],
  'changes.paymentMarks read.checkout openings payment paymentTransfers restingAddress restingCounts paidAddresses payments.expire due monitored release retired erase expireEnded forgetResting':
    [
      3_100,
      'all that a small account has open: an approved rotation ends 500 payments that are open in its own append (payments S17), and the next 500 behind it',
    ],
  'inbox.inboxOf': [1_300, 'a page of 50 facts, each with a look at those of its subject that are before it'],
  'inbox: a deposit on a lent address': [
    600,
    'a page of up to 1,000 facts: those that other works left waiting, each with a look for one set aside',
  ],
  'sweeps: candidates sums job jobs operations openOperation promised isPaying openJobs duePolicies, rows': [
    500,
    'the batches of an account, 2,000 at most, are read once for all addresses',
  ],
  'imports: a batch from its file to its cutover, and back': [
    31_000,
    'a rollback looks at the withdrawals since the commit, 72 hours at most; a page of rows has several looks each',
  ],
  'operators.counterGaps accountsWithAddresses accountsWithPendingBand databaseState': [
    10_100,
    'a gauge looks at 10,000 withdrawals that are on their way',
  ],
  'payments.expireEnded of a link that was closed': [3_100, 'a page of 500 payments expires with its link'],
  'read.unusedRuns payments.walkUnused': [
    10_100,
    'up to a thousand indexes on five networks, or a page of a walk by the clock, each with a look for a deposit',
  ],
  'mail.unsent purgeSent': [20_100, 'a gauge counts each outbox to 10,000'],
  'origins: beginPass countUntraced recordOrigins endPass passes': [
    4_100,
    'a page of 2,000 adopted addresses, each with a look for its origin',
  ],
  'edge.openSessions': [300, 'once, at start: the sessions that are open'],
  'deliveries.incompletePublications': [10_100, 'what waits for a leader that is there, counted to 10,000'],
  'secrets: unreadable': [5_000, 'a command: every endpoint is looked at'],
};

test('each work that may read more is one of the works', (t) => {
  t.deepEqual(
    Object.keys(MORE).filter((name) => !(name in PLAN_WORK)),
    [],
  );
});

/** What no day of the stores runs, with the reason. */
const METHODS_LEFT: Readonly<Record<string, string>> = {};
const PIECES_LEFT: Readonly<Record<string, string>> = {
  'record_backup: insert into backup_taken': 'the script of a backup calls it; one row',
  'append_accounts: busy := array(': 'the statement before it once more, for accounts that somebody has locked',
  'claim_vacant_shards: select': 'for nodes of an earlier release; what it calls is looked at',
  'release_deliveries: with mine': 'for nodes of an earlier release',
  'addresses_since: with young': 'for nodes of an earlier release',
  'audited_balances: with looked': 'for nodes of an earlier release',
  'audited_balances: 0 end': 'for nodes of an earlier release',
  'forget_staged: delete from import_row r': 'a page of one batch; none is 90 days old here',
  'forget_staged: delete from import_issue i': 'of one batch, by its key',
  'forget_staged: update import_batch b set is_staged': 'one row by its key',
  'audit_rows: (select': 'planned within what asks it',
  'audit_rows: left_by(': 'planned within what asks it',
  'open_withdrawals: select w.* from': 'for nodes of an earlier release',
  'sandbox_behind: with marked': 'for nodes of an earlier release',
  'limit_organizations: select 1 from console_user': 'one row by its key, of who creates an organization',
  'limit_organizations: select count(*) from': 'eleven entries of organization_of_creator at most',
  'resume_held: update migration_project p set resumes': 'one row by its key, once nothing waits for it',
  'release_unreadable: update webhook w set backlog = true': 'one row by its key, where more than a page is released',
};

const called = new Set<string>();
const texts = new Set<string>();

/** The same stores, which note the methods that are called. */
function noting(made: Stores): Stores {
  return new Proxy(made, {
    get(target, name: keyof Stores) {
      const store = target[name];
      if (typeof store === 'function') return called.add(name) && store;
      return new Proxy(store, {
        get: (of, method) => (called.add(`${name}.${String(method)}`), Reflect.get(of, method) as unknown),
      });
    },
  });
}

/**
 * What payers and their pages ask for: bounded too in a database without statistics, one in its first minute or that
 * was restored. The other works have indexes that only statistics tell apart, and go by the planner's luck until then.
 */
const BOUNDED_WITHOUT_STATISTICS = /^(changes\.paymentMarks|read\.(unusedRuns|address|attestedReach)) /;

/** Plans by name, with the settings that make them. */
const PLANS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'made for its values': {},
  'made for any values': { plan_cache_mode: 'force_generic_plan' },
  'of a database without statistics': { plan_cache_mode: 'force_generic_plan' },
};

for (const [plans, settings] of Object.entries(PLANS)) {
  const isUnknown = plans === 'of a database without statistics';
  test.serial(
    `found F40, F53, F54: no statement of the stores, by a plan ${plans}, reads more than what it is about`,
    async (t) => {
      t.timeout(600_000);
      if (isUnknown) await forgetStatistics(database);
      const pools = await openWatched(database.url, database.url, settings);
      try {
        const world = { stores: noting(await storesOver(pools)), sql: pools.sql, ...organization };
        const found: string[] = [];
        for (const [name, work] of Object.entries(PLAN_WORK)) {
          if (isUnknown && !BOUNDED_WITHOUT_STATISTICS.test(name)) continue;
          await work(world); // a plan that is made here is used below
          const { statements } = await pools.ran(() => work(world));
          const [known] = MORE[name] ?? [WORK_ROWS],
            most = isUnknown ? 2 * known : known; // there is more of each kind by then
          for (const one of statements) {
            texts.add(one.text);
            if (one.rowsRead > most || one.sequentialScans.length > 0)
              found.push(`${name}: ${one.sequentialScans.join()} ${describe(one)}`);
          }
        }
        t.deepEqual(found, []);
      } finally {
        await pools.close();
        if (isUnknown) await database.admin`analyze`;
      }
    },
  );
}

test.serial(
  'every method of the stores, and every statement of every SQL function, has its plan looked at above or a reason why not',
  async (t) => {
    const methods = Object.entries(stores).flatMap(([store, of]) =>
      typeof of === 'function' ? [store] : Object.keys(of).map((method) => `${store}.${method}`),
    );
    t.deepEqual(
      methods.filter((method) => !called.has(method) && METHODS_LEFT[method] === undefined),
      [],
    );
    t.deepEqual(
      Object.keys(METHODS_LEFT).filter((method) => called.has(method) || !methods.includes(method)),
      [],
      'a reason that holds no more',
    );
    const tables = await database.admin<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'flock'::regnamespace and relkind in ('r', 'p') and not relispartition`;
    const left = piecesNotRun(
      texts,
      tables.map(({ name }) => name),
    );
    t.deepEqual(
      left.filter((piece) => !Object.keys(PIECES_LEFT).some((known) => piece.startsWith(known))),
      [],
    );
    t.deepEqual(
      Object.keys(PIECES_LEFT).filter((known) => !left.some((piece) => piece.startsWith(known))),
      [],
      'a reason that holds no more',
    );
  },
);

// Last: what it fills would be read by the works above.
test.serial(
  'migration M-E1, found F53: a page of the addresses of a project reads itself, however many batches and silent deposits there are',
  async (t) => {
    await database.admin.begin(async (sql) => {
      await sql`set local session_replication_role = 'replica'`;
      await sql`
        insert into flock.import_batch (account_id, id, project_id, state, committed_at, created_at)
          select ${live}, 'imp_many' || lpad(i::text, 3, '0'), 'mig_many', 'committed', now(), now() from generate_series(1, 60) i`;
      await sql`
        insert into flock.address (account_id, id, environment, chain, family, address, address_key, derivation_path, purpose,
            status, created_at, batch_id)
          select ${live}, 'adr_many' || lpad(i::text, 5, '0'), 'live', 'btc', 'btc', 'many-' || i, md5('many' || i)::uuid, '[]', 'deposit',
                 'active', now(), 'imp_many' || lpad((1 + i % 60)::text, 3, '0')
            from generate_series(1, 3000) i`;
      await sql`analyze flock.import_batch, flock.address`;
    });
    const page = (after: { batchId: string; id: string } | null) =>
      watched.ran(() => stores.imports.adopted(live, 'mig_many', after, 40));
    const seen: string[] = [];
    for (let after: { batchId: string; id: string } | null = null; ;) {
      const { answer, statements } = await page(after);
      t.true(statements[0]!.rowsRead <= 400, describe(statements[0]!));
      t.deepEqual(statements[0]!.sequentialScans, []);
      seen.push(...answer.map(({ id }) => id));
      if (answer.length < 40 || seen.length > 400) break;
      after = answer.at(-1)!;
    }
    t.is(new Set(seen).size, seen.length);
    const last = await page({ batchId: 'imp_many060', id: 'adr_many02940' });
    t.deepEqual(
      last.answer.map(({ id }) => id),
      ['adr_many02999'],
      'the end of the last batch',
    );
  },
);
