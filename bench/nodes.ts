/** Cloud nodes of one database for P9 and P10: started, stopped, and asked one by one. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import type { Child } from '../developer/children.ts';
import { startDeployment, type Deployment } from '../developer/deployment.ts';
import { hashOf } from '../gateway/http/auth/api-keys.ts';
import { openDatabase, type Sql } from '../persistence/postgres/sql.ts';
import { openAccounts } from './accounts.ts';

export const ACCOUNTS = 64;
export const IN_FLIGHT = 32;
const LOOK_MS = 100;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export interface Place {
  readonly child: Child;
  readonly origin: string;
}

/** Nodes of one database, and what the benchmark asks of them. */
export class Nodes {
  readonly places = new Map<string, Place>();
  readonly agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  readonly #deployment: Deployment;
  readonly #sql: Sql;
  #asked = 0;
  #named = 1;

  constructor(deployment: Deployment, sql: Sql) {
    this.#deployment = deployment;
    this.#sql = sql;
    this.places.set('cloud-1', { child: deployment.cloud, origin: new URL(deployment.cloudUrl).origin });
  }

  async add(): Promise<void> {
    const name = `cloud-${(this.#named += 1)}`;
    const { child, url } = await this.#deployment.addCloud({ NODE_NAME: name });
    this.places.set(name, { child, origin: new URL(url).origin });
  }

  async toBe(count: number): Promise<void> {
    while (this.places.size < count) await this.add();
    for (const [name, { child }] of [...this.places].slice(count)) {
      await child.stop();
      this.places.delete(name);
    }
    await this.shared();
  }

  async shared(): Promise<void> {
    for (;;) {
      const [row] = await this.#sql<{ owners: number; free: number }[]>`
        select count(distinct split_part(owner, '/', 1))::int as owners, count(*) filter (where owner is null)::int as free from flock.shard`;
      if (row!.owners === this.places.size && row!.free === 0) return;
      await pause(LOOK_MS);
    }
  }

  /** The name of the node that owns the account of an API key. */
  async ownerOf(key: string): Promise<string> {
    const [row] = await this.#sql<{ owner: string }[]>`
      select split_part(s.owner, '/', 1) as owner from flock.api_key k
        join flock.account a on a.account_id = k.account_id join flock.shard s on s.id = a.shard_id
       where k.hash = ${hashOf(key)}`;
    return row!.owner;
  }

  async post(origin: string, key: string): Promise<number> {
    const n = (this.#asked += 1);
    const at = performance.now();
    const reply = await this.agent.request({
      origin,
      path: '/v1/addresses',
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': `bench-${n}` },
      body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 201) throw new Error(`answered ${reply.statusCode} ${text}`);
    return performance.now() - at;
  }
}

export interface Measured {
  readonly nodes: Nodes;
  /** API keys of `ACCOUNTS` accounts. */
  readonly keys: readonly string[];
  readonly sql: Sql;
  readonly dataDir: string;
}

/** Runs `work` over a database of its own with one node; ends everything. */
export async function withNodes(leaseSeconds: number, work: (measured: Measured) => Promise<void>): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir,
    cloudPort: 0,
    edgePort: 0,
    environment: 'sandbox',
    durable: false,
    log: () => undefined,
    cloudEnv: {
      LOG_LEVEL: 'info',
      SANDBOX_REQUESTS_PER_MINUTE: '100000000',
      CLUSTER_SECRET: randomBytes(32).toString('hex'),
      INTERNAL_PORT: '0',
      NODE_LEASE_SECONDS: String(leaseSeconds),
    },
  });
  const sql = openDatabase({ url: deployment.databaseUrl, connections: 2, name: 'flock-bench', role: null });
  const nodes = new Nodes(deployment, sql);
  try {
    await work({ nodes, keys: await openAccounts(deployment, ACCOUNTS), sql, dataDir });
  } finally {
    await sql.end({ timeout: 5 });
    await nodes.agent.close();
    await deployment.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
