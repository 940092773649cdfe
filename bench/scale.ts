/**
 * `npm run bench -- scale`: every list by several filters, and one fact, at 1,000, 10,000, 1 and 10 million rows of one account.
 * Each size is filled into a database of its own; nothing is asked for but through the stores of a node.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initialAccount } from '../actors/account/state.ts';
import { createLists } from '../persistence/postgres/list-pool.ts';
import { openDatabase, openLists } from '../persistence/postgres/sql.ts';
import { createStores, type Stores } from '../persistence/postgres/stores.ts';
import type { Page, PageAsk } from '../protocol/page.ts';
import { cursorOf } from '../protocol/cursor.ts';
import { SHARD_COUNT, type AccountId } from '../protocol/ids.ts';
import { prepareDatabase } from '../supervision/dev/database.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../supervision/dev/embedded-postgres.ts';
import { oneFact } from '../test/support/one-fact.ts';
import { fillScale, SCALE_TAGS, SCALE_USERS, SCALE_WEBHOOKS } from '../test/support/scale.ts';
import { addressRow, newOrganization, write } from '../test/support/store-rows.ts';
import { median, percentile, type Figure } from './figure.ts';

const SIZES = (process.argv[2] ?? '1000,10000,1000000,10000000').split(',').map(Number);
/** Goals of issue 8. */
const LIST_GOAL_MS = 50;
const FACT_GROWTH_MAX = 1.2;
const ASKED = 200;
const FACTS = 200;
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
  addresses: [{}, { userRef: SCALE_USERS.most }, { userRef: SCALE_USERS.rare, tag: SCALE_TAGS.rare }, { tag: SCALE_TAGS.most }, { chain: 'xlm' }, { status: 'archived' }, { userRef: SCALE_USERS.most, tag: SCALE_TAGS.most, chain: 'eth', status: 'active' }],
  transactions: [{}, { direction: 'in' }, { userRef: SCALE_USERS.most }, { userRef: SCALE_USERS.rare, status: 'reversed' }, { tag: SCALE_TAGS.most }, { status: 'confirmed' }, { status: 'reversed' }, { chain: 'eth' }],
  deliveries: [{}, { status: 'dead_lettered' }, { event: 'pool_low' }, { webhookId: SCALE_WEBHOOKS.busy }, { webhookId: SCALE_WEBHOOKS.rare, status: 'held' }, { status: 'delivered', event: 'deposit_confirmed' }],
} as const;

async function measureLists(stores: Stores, accountId: AccountId, size: number): Promise<void> {
  for (const [list, filters] of Object.entries(FILTERS)) {
    const name = list as keyof typeof FILTERS;
    const read = stores.read[name] as (id: AccountId, filter: object, ask: PageAsk) => Promise<Page<unknown>>;
    for (const filter of filters) {
      const first = await read(accountId, filter, { page: 0, size: 20 });
      const asks: [string, PageAsk][] = [['first page', { page: 0, size: 20 }], ['last numbered page', LAST_PAGE]];
      if (first.next !== null) asks.push(['behind a cursor', { after: cursorOf(name, first.next)!, size: 20 }]);
      for (const [what, ask] of asks) {
        if (what === 'last numbered page' && first.totalElements < LAST_PAGE.page * LAST_PAGE.size) continue;
        const took = await timesOf(ASKED, () => read(accountId, filter, ask));
        emit({
          id: `PS-${size}`, what: `${name} ${JSON.stringify(filter)}, ${what}, p99`, ours: percentile(took, 0.99), limit: LIST_GOAL_MS, unit: 'ms',
          better: 'lower', goal: 1, note: `page and count, n = ${ASKED}; p50 ${rounded(median(took))} ms; the limit is the goal`,
        });
      }
    }
  }
}

/** Median and p99 of one fact, milliseconds. */
async function measureFact(stores: Stores, accountId: AccountId): Promise<{ p50: number; p99: number }> {
  await write(stores, accountId, [{ table: 'address', row: addressRow(accountId, { userRef: SCALE_USERS.one }) }]);
  const took = await timesOf(FACTS, () => oneFact(stores, accountId));
  return { p50: median(took), p99: percentile(took, 0.99) };
}

async function measure(url: string, size: number): Promise<{ p50: number; p99: number }> {
  const { appUrl, superuserUrl } = await prepareDatabase(url, `scale_${size}`);
  const sql = openDatabase({ url: appUrl, connections: 4, name: 'flock-bench' });
  const lists = openLists({ url: appUrl, connections: 2, name: 'flock-bench-lists' });
  try {
    let epochs = new Map<number, number>();
    const stores = createStores({
      sql, lists: createLists(lists, { slots: 2 }), nowMs: Date.now, initialAccount, epochOf: (shard) => epochs.get(shard),
    });
    epochs = await stores.ownership.claimShards('bench', Array.from({ length: SHARD_COUNT }, (_, shard) => shard));
    const { live } = await newOrganization(stores);
    await fillScale(superuserUrl, live, {
      addresses: size, deposits: size, withdrawals: Math.ceil(size / 4), deliveries: size, otherAccounts: Math.min(size, OTHER_ACCOUNTS_MAX),
    });
    console.log(`${size} rows filled`);
    await measureLists(stores, live, size);
    return await measureFact(stores, live);
  } finally {
    await Promise.all([sql.end({ timeout: 5 }), lists.end({ timeout: 5 })]);
  }
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    let smallest: number | null = null;
    for (const size of SIZES) {
      const { p50, p99 } = await measure(postgres.url, size);
      smallest ??= p50;
      emit({
        id: `PS-${size}`, what: 'one fact in the database, p50', ours: p50, limit: smallest, unit: 'ms', better: 'lower', goal: FACT_GROWTH_MAX,
        note: `from the block to the recorded attempt, one at a time, n = ${FACTS}; p99 ${rounded(p99)} ms; limit: the smallest size of this run`,
      });
    }
  } finally {
    await postgres.stop();
    removeEmbeddedPostgres(dataDir);
  }
}

await main();
