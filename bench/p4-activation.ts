/** P4d: activation of a passivated account from PostgreSQL: load and fence in one statement, then the first message. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { createAccountEntity } from '../actors/account/account.ts';
import { createChainBook } from '../actors/account/chain-book.ts';
import { initialAccount } from '../model/account/state.ts';
import { ask, createSystem, systemClock } from '../actors/kernel/index.ts';
import { createStores, type Stores } from '../persistence/postgres/stores.ts';
import { openDatabase, type Sql } from '../persistence/postgres/sql.ts';
import { accountIdOf, type AccountId } from '../protocol/ids.ts';
import { newId, SHARD_COUNT, shardOf } from '../protocol/node/ids.ts';
import { prepareDatabase } from '../developer/database.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../developer/embedded-postgres.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../actors/kernel/restart-policy.ts';
import { median, percentile, type Figure } from './figure.ts';

const ACCOUNTS = 500;
/** Fewer than there are accounts: each message goes to one that had to leave. */
const RESIDENTS = 100;
const ACTIVATIONS = 2_000;
const CREATED_AT_ONCE = 50;
/** The goal, milliseconds. */
const GOAL_MS = 20;
const PLAN = { tier: 'ultimate', band: 'launch', subscription: 'active', paymentsActive: true } as const;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const rounded = (ms: number): number => Math.round(ms * 100) / 100;

/** An organization with a live account, made as the operator's command makes it. */
async function newAccount({ identity }: Stores, userId: string): Promise<AccountId> {
  const id = newId('org', Date.now());
  await identity.createOrganization({ id, name: 'bench', createdAtMs: Date.now() }, userId, PLAN);
  return accountIdOf(id, 'live');
}

async function storesOf(sql: Sql): Promise<Stores> {
  const epochs = new Map<number, number>();
  const stores = createStores({ sql, nowMs: Date.now, initialAccount, epochOf: (shard) => epochs.get(shard) });
  const shards = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
  for (const [shard, epoch] of await stores.ownership.claimShards('bench', shards)) epochs.set(shard, epoch);
  return stores;
}

/** Time of each call, one after another, milliseconds. */
async function timesOf(count: number, call: (n: number) => Promise<unknown>): Promise<number[]> {
  const tookMs: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const at = performance.now();
    await call(n);
    tookMs.push(performance.now() - at);
  }
  return tookMs;
}

async function measure(sql: Sql): Promise<void> {
  const stores = await storesOf(sql);
  const userId = newId('usr', Date.now());
  await stores.identity.insertUser({
    id: userId,
    email: 'bench@example.com',
    passwordHash: 'x',
    sealedTotpSecret: null,
    totpConfirmed: false,
    platformRole: null,
  });
  const system = createSystem({
    log: { warn: () => undefined, error: () => undefined },
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
  });
  const accounts = system.entities({
    entity: createAccountEntity({ book: createChainBook([]) }),
    store: stores.accounts,
    shardOf,
    residentsMax: RESIDENTS,
  });
  const ids: AccountId[] = [];
  while (ids.length < ACCOUNTS) {
    ids.push(...(await Promise.all(Array.from({ length: CREATED_AT_ONCE }, () => newAccount(stores, userId)))));
  }
  // Enrolled, so that what is read back is the state of an account that is in use.
  const { publicExtendedKey: xpub } = HDKey.fromMasterSeed(new Uint8Array(64).fill(7)).derive("m/44'/60'/0'");
  for (const [n, id] of ids.entries()) {
    await ask(accounts.address(id), {
      type: 'enrol',
      publicKey: n.toString(16).padStart(64, '0'),
      pools: [],
      rotationId: newId('rot', Date.now()),
      keys: [{ family: 'evm', xpub, accountPath: "m/44'/60'/0'" }],
      addressIds: Array.from({ length: 10 }, () => newId('adr', Date.now())),
    });
  }
  const nonces = await timesOf(ACTIVATIONS, (n) => stores.edge.claimNonce('bench', String(n), Date.now()));
  const took = await timesOf(ACTIVATIONS, async (n) => {
    const outcome = await ask(accounts.address(ids[n % ACCOUNTS]!), { type: 'inspect' });
    if (outcome.ok !== true) throw new Error(JSON.stringify(outcome));
  });
  emit({
    id: 'P4d',
    what: 'activation of a passivated account from PostgreSQL, p99',
    ours: percentile(took, 0.99),
    limit: GOAL_MS,
    unit: 'ms',
    better: 'lower',
    goal: 1,
    note:
      `fence and snapshot in one durable statement, one at a time, n = ${ACTIVATIONS}; ` +
      `p50 ${rounded(median(took))} ms; a single-row INSERT: p50 ${rounded(median(nonces))} ms, ` +
      `p99 ${rounded(percentile(nonces, 0.99))} ms; the limit is the goal`,
  });
  await system.stop(5_000);
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const postgres = await startEmbeddedPostgres({ dataDir });
  try {
    const { appUrl } = await prepareDatabase(postgres.url);
    const sql = openDatabase({ url: appUrl, connections: 8, name: 'flock-bench' });
    try {
      await measure(sql);
    } finally {
      await sql.end({ timeout: 5 });
    }
  } finally {
    await postgres.stop();
    removeEmbeddedPostgres(dataDir);
  }
}

await main();
