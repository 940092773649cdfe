/**
 * `npm run bench -- scale`: every list by several filters, every reading route over HTTP, and one fact, at 1,000,
 * 10,000, 1 and 10 million rows of one account. Each size is filled into a database of its own, which is dropped before
 * the next; lists are asked for through the stores of a node, routes at a node of its own. With `--keep FOLDER` the
 * databases stay there, and what a run before filled is measured again by this tree's statements.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes, randomInt } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initialAccount } from '../model/account/state.ts';
import { createLists } from '../persistence/postgres/list-pool.ts';
import { openDatabase, openLists, type Sql } from '../persistence/postgres/sql.ts';
import { createStores, type Stores } from '../persistence/postgres/stores.ts';
import type { Page, PageAsk } from '../protocol/page.ts';
import { cursorOf } from '../protocol/cursor.ts';
import { accountIdOf, type AccountId } from '../protocol/ids.ts';
import { SHARD_COUNT } from '../protocol/node/ids.ts';
import { ROUTES } from '../protocol/routes.ts';
import { pathOf } from '../protocol/place.ts';
import { prepareDatabase } from '../developer/database.ts';
import { startChild } from '../developer/children.ts';
import { CLOUD_ENTRY } from '../developer/deployment.ts';
import { seedDeveloperOrganizations, type DeveloperRecord } from '../developer/seed.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../developer/embedded-postgres.ts';
import { oneFact } from '../test/support/one-fact.ts';
import { fillScale, SCALE_TAGS, SCALE_USERS, SCALE_WEBHOOKS } from '../test/support/scale.ts';
import { addressRow, write } from '../test/support/store-rows.ts';
import { backendsCpuMs, median, percentile, serverPidOf, type Figure } from './figure.ts';

const SIZES = (process.argv[2] || '1000,10000,1000000,10000000').split(',').map(Number);
/** The folder that keeps the server's data; null: it is deleted at the end. */
const KEPT = process.argv[3] ?? null;
/** Goals of issue 8. */
const LIST_GOAL_MS = 50;
const FACT_GROWTH_MAX = 1.2;
const ASKED = 100;
const FACTS = 100;
const WARM_UP = 20;
const OTHER_ACCOUNTS_MAX = 100_000;
/** The deepest page that a filtered list has. */
const LAST_PAGE = { page: 49, size: 200 };

const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

async function timesOf(count: number, call: () => Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = [];
  for (let n = 0; n < WARM_UP + count; n += 1) {
    const at = performance.now();
    await call();
    if (n >= WARM_UP) tookMs.push(performance.now() - at);
  }
  return tookMs;
}

const FILTERS = {
  addresses: [
    {},
    { userRef: SCALE_USERS.most },
    { userRef: SCALE_USERS.rare, tag: SCALE_TAGS.rare },
    { tag: SCALE_TAGS.most },
    { chain: 'xlm' },
    { status: 'archived' },
    { userRef: SCALE_USERS.most, tag: SCALE_TAGS.most, chain: 'eth', status: 'active' },
  ],
  transactions: [
    {},
    { direction: 'in' },
    { userRef: SCALE_USERS.most },
    { userRef: SCALE_USERS.rare, status: 'reversed' },
    { tag: SCALE_TAGS.most },
    { status: 'confirmed' },
    { status: 'reversed' },
    { chain: 'eth' },
  ],
  deliveries: [
    {},
    { status: 'dead_lettered' },
    { event: 'pool_low' },
    { webhookId: SCALE_WEBHOOKS.busy },
    { webhookId: SCALE_WEBHOOKS.rare, status: 'held' },
    { status: 'delivered', event: 'deposit_confirmed' },
  ],
} as const;

async function measureLists(stores: Stores, accountId: AccountId, size: number, serverPid: number): Promise<void> {
  for (const [list, filters] of Object.entries(FILTERS)) {
    const name = list as keyof typeof FILTERS;
    const read = stores.read[name] as (id: AccountId, filter: object, ask: PageAsk) => Promise<Page<unknown>>;
    for (const filter of filters) {
      const first = await read(accountId, filter, { page: 0, size: 20 });
      const asks: [string, PageAsk][] = [
        ['first page', { page: 0, size: 20 }],
        ['last numbered page', LAST_PAGE],
      ];
      if (first.next !== null) asks.push(['behind a cursor', { after: cursorOf(name, first.next)!, size: 20 }]);
      for (const [what, ask] of asks) {
        if (what === 'last numbered page' && first.totalElements < LAST_PAGE.page * LAST_PAGE.size) continue;
        const beforeMs = backendsCpuMs(serverPid),
          took = await timesOf(ASKED, () => read(accountId, filter, ask));
        const cpuMs = (backendsCpuMs(serverPid) - beforeMs) / (WARM_UP + ASKED);
        emit({
          id: `PS-${size}`,
          what: `${name} ${JSON.stringify(filter)}, ${what}, p99`,
          ours: percentile(took, 0.99),
          limit: LIST_GOAL_MS,
          unit: 'ms',
          better: 'lower',
          goal: 1,
          note: `page and count, n = ${ASKED}; p50 ${rounded(median(took))} ms, CPU of the database ${rounded(cpuMs)} ms; the limit is the goal`,
        });
      }
    }
  }
}

/**
 * Routes that read rows of an account, or over all accounts. Those of a chain, of an edge and of people do not grow
 * with rows.
 */
const ROUTE_TAGS = new Set(['Addresses', 'Transactions', 'Webhooks', 'Billing']);
/** What a route that answers only a question is asked. */
const QUESTIONS: Readonly<Record<string, string>> = { '/v1/search': '?q=address-7' };

/** p50 and p99 of every reading route of the table, at a node that has nothing else to do. */
async function measureRoutes(
  cloudUrl: string,
  apiKey: string,
  ids: Readonly<Record<string, string>>,
  size: number,
): Promise<void> {
  const paths = Object.values(ROUTES).flatMap((route) => {
    if (
      route.method !== 'GET' ||
      route.where === 'edge' ||
      !(ROUTE_TAGS.has(route.tag) && route.credential === 'application')
    )
      return [];
    const known = {
      ...(ids[route.path] === undefined ? {} : { id: ids[route.path]! }),
      webhookId: SCALE_WEBHOOKS.busy,
    };
    const missing = [...route.path.matchAll(/\{(\w+)\}/g)].filter(([, name]) => !(name! in known));
    if (missing.length === 0) return [pathOf(route.path, known) + (QUESTIONS[route.path] ?? '')];
    console.log(`left out, nothing to put for ${missing.map(([name]) => name).join()}: GET ${route.path}`);
    return [];
  });
  for (const path of [...paths, '/metrics']) {
    const took = await timesOf(ASKED, async () => {
      const reply = await fetch(cloudUrl + path, { headers: { 'x-api-key': apiKey } });
      const text = await reply.text();
      if (!reply.ok) throw new Error(`${path} answered ${reply.status} ${text}`);
    });
    emit({
      id: `PS-${size}`,
      what: `GET ${path.replace(/(?:adr|dep|evt)_\w+/, '{id}').replace(SCALE_WEBHOOKS.busy, '{id}')}, p99`,
      ours: percentile(took, 0.99),
      limit: LIST_GOAL_MS,
      unit: 'ms',
      better: 'lower',
      goal: 1,
      note: `over HTTP, one at a time, n = ${ASKED}; p50 ${rounded(median(took))} ms; the limit is the goal`,
    });
  }
}

interface Fact {
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: number;
}

/** One fact: median and p99, and the CPU of the database's backends, milliseconds. */
async function measureFact(stores: Stores, accountId: AccountId, serverPid: number): Promise<Fact> {
  await write(stores, accountId, [
    {
      table: 'address',
      row: addressRow(accountId, { userRef: SCALE_USERS.one, tag: 'bench', index: randomInt(2 ** 30, 2 ** 31) }),
    },
  ]);
  for (let n = 0; n < WARM_UP; n += 1) await oneFact(stores, accountId);
  const before = backendsCpuMs(serverPid);
  const took: number[] = [];
  for (let n = 0; n < FACTS; n += 1) {
    const at = performance.now();
    await oneFact(stores, accountId);
    took.push(performance.now() - at);
  }
  const cpuMs = (backendsCpuMs(serverPid) - before) / FACTS;
  console.log(`one fact: CPU of the database ${rounded(cpuMs)} ms, p50 ${rounded(median(took))} ms`);
  return { p50: median(took), p99: percentile(took, 0.99), cpuMs };
}

/**
 * While it is filled the server waits for no disk, makes no second copy of its pages, writes built indexes to no log,
 * and writes what log there is again and again to the same few files: after a kill it is filled anew.
 */
const FILLING = {
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
} as const;

/** What a run before left beside a database that it filled to the end. */
interface Filled {
  readonly secretKey: string;
  readonly record: DeveloperRecord;
}

const databaseOf = (size: number): string => `scale_${size}`;
const filledFile = (size: number): string | null => (KEPT === null ? null : join(KEPT, `${databaseOf(size)}.json`));

function filledBefore(size: number): Filled | null {
  const file = filledFile(size);
  return file === null || !existsSync(file) ? null : (JSON.parse(readFileSync(file, 'utf8')) as Filled);
}

/** Stores over a database, with every shard's epoch. */
async function storesOver(sql: Sql, lists: Sql): Promise<Stores> {
  let epochs = new Map<number, number>();
  const stores = createStores({
    sql,
    lists: createLists(lists, { slots: 2 }),
    nowMs: Date.now,
    initialAccount,
    epochOf: (shard) => epochs.get(shard),
  });
  epochs = await stores.ownership.claimShards(
    'bench',
    Array.from({ length: SHARD_COUNT }, (_, shard) => shard),
  );
  return stores;
}

/** A live account of `size` rows of each list, filled in SQL, in a database that has no row yet. */
async function fill(dataDir: string, size: number): Promise<Filled> {
  const postgres = await startEmbeddedPostgres({ dataDir, durable: false, settings: FILLING });
  const server = openDatabase({ url: postgres.url, connections: 1, name: 'flock-bench', role: null });
  try {
    // One that was not filled to its end.
    await server`drop database if exists ${server(databaseOf(size))} with (force)`;
    const { appUrl, superuserUrl } = await prepareDatabase(postgres.url, databaseOf(size));
    const secretKey = randomBytes(32).toString('hex');
    const record = await seedDeveloperOrganizations({
      databaseUrl: appUrl,
      secretKey,
      recordFile: join(dataDir, 'seed.json'),
    });
    const live = accountIdOf(record.organizationId, 'live');
    const sql = openDatabase({ url: appUrl, connections: 1, name: 'flock-bench' });
    try {
      await write(await storesOver(sql, sql), live, [
        {
          table: 'account_keys',
          row: { family: 'evm', xpub: 'xpub', accountPath: "m/44'/60'/0'", fingerprint: 'evm00', status: 'active' },
          key: 'evm/evm00',
        },
      ]);
    } finally {
      await sql.end({ timeout: 5 });
    }
    const startedMs = performance.now(),
      [backend] = await server<{ pid: number }[]>`select pg_backend_pid() as pid`,
      pid = serverPidOf(backend!.pid),
      beforeMs = backendsCpuMs(pid);
    await fillScale(superuserUrl, live, {
      addresses: size,
      deposits: size,
      withdrawals: Math.ceil(size / 4),
      deliveries: size,
      events: size,
      auditEntries: size,
      otherAccounts: Math.min(size, OTHER_ACCOUNTS_MAX),
    });
    const seconds = (ms: number): number => Math.round(ms / 1_000);
    console.log(
      `${size} rows filled in ${seconds(performance.now() - startedMs)} s, by ${seconds(backendsCpuMs(pid) - beforeMs)} s of CPU`,
    );
    const filled = { secretKey, record };
    const file = filledFile(size);
    if (file !== null) writeFileSync(file, JSON.stringify(filled), { mode: 0o600 });
    return filled;
  } finally {
    await server.end({ timeout: 5 });
    await postgres.stop();
  }
}

async function measure(
  server: { url: string; pid: number },
  size: number,
  { secretKey, record }: Filled,
): Promise<Fact> {
  const { appUrl, superuserUrl } = await prepareDatabase(server.url, databaseOf(size));
  const folder = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const sql = openDatabase({ url: appUrl, connections: 4, name: 'flock-bench' });
  const lists = openLists({ url: appUrl, connections: 2, name: 'flock-bench-lists' });
  try {
    const stores = await storesOver(sql, lists);
    const live = accountIdOf(record.organizationId, 'live');
    const fact = await measureFact(stores, live, server.pid);
    await measureLists(stores, live, size, server.pid);
    const one = { page: 0, size: 1 },
      [[address], [transaction], [delivery]] = [
        (await stores.read.addresses(live, {}, one)).content,
        (await stores.read.transactions(live, {}, one)).content,
        (await stores.read.deliveries(live, {}, one)).content,
      ];
    await stores.ownership.leaveNode('bench');
    const admin = openDatabase({ url: superuserUrl, connections: 1, name: 'flock-bench', role: null });
    await admin`update flock.account set state = jsonb_set(state, '{plan,band}', '"custom"') where account_id = ${live}`;
    await admin.end({ timeout: 5 });
    const cloud = startChild(
      'cloud',
      CLOUD_ENTRY,
      {
        DATABASE_URL: appUrl,
        SECRET_KEY: secretKey,
        CLOUD_PORT: '0',
        DEVELOPER_MODE: 'on',
        NODE_NAME: 'scale',
        MAIL_DIR: join(folder, 'mail'),
        LOG_LEVEL: 'warn',
      },
      join(folder, 'cloud.log'),
    );
    try {
      const { port } = await cloud.ready;
      await measureRoutes(
        `http://127.0.0.1:${port}`,
        record.live.cloudApiKey,
        {
          ...(address === undefined ? {} : { '/v1/addresses/{id}': address.id }),
          ...(transaction === undefined ? {} : { '/v1/transactions/{id}': transaction.id }),
          ...(delivery === undefined ? {} : { '/v1/events/{id}': delivery.eventId }),
        },
        size,
      );
    } finally {
      await cloud.stop();
    }
    return fact;
  } finally {
    await Promise.all([sql.end({ timeout: 5 }), lists.end({ timeout: 5 })]);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One size: filled where no run before did it, then measured as a server that waits for its disk. */
async function run(dataDir: string, size: number, smallest: Fact | null): Promise<Fact> {
  const filled = filledBefore(size) ?? (await fill(dataDir, size));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const server = openDatabase({ url: postgres.url, connections: 1, name: 'flock-bench', role: null });
  try {
    const [backend] = await server<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const fact = await measure({ url: postgres.url, pid: serverPidOf(backend!.pid) }, size, filled);
    emit({
      id: `PS-${size}`,
      what: 'one fact, CPU of the database',
      ours: fact.cpuMs,
      limit: (smallest ?? fact).cpuMs,
      unit: 'ms',
      better: 'lower',
      goal: FACT_GROWTH_MAX,
      note: `from the block to the recorded attempt, one at a time, n = ${FACTS}; p50 ${rounded(fact.p50)} ms, p99 ${rounded(fact.p99)} ms; limit: the smallest size of this run`,
    });
    if (KEPT === null) await server`drop database ${server(databaseOf(size))} with (force)`;
    return fact;
  } finally {
    await server.end({ timeout: 5 });
    await postgres.stop();
  }
}

async function main(): Promise<void> {
  if (KEPT !== null) mkdirSync(KEPT, { recursive: true });
  const dataDir = KEPT ?? mkdtempSync(join(tmpdir(), 'flock-bench-'));
  try {
    let smallest: Fact | null = null;
    for (const size of SIZES) {
      const fact = await run(dataDir, size, smallest);
      smallest ??= fact;
    }
  } finally {
    if (KEPT === null) removeEmbeddedPostgres(dataDir);
  }
}

await main();
