/**
 * Three cloud nodes as real processes on a PostgreSQL and a Redis of their own, each node behind proxies of ours to the
 * database and to the other nodes, with edge replicas of two accounts that reach different nodes.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type Child } from '../../../developer/children.ts';
import { prepareDatabase } from '../../../developer/database.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../../../developer/embedded-postgres.ts';
import { seedDeveloperOrganizations } from '../../../developer/seed.ts';
import { openDatabase, type Sql } from '../../../persistence/postgres/sql.ts';
import { partEntries } from '../built-parts.ts';
import { steppedClock, type SteppedClock } from '../chaos/sabotage.ts';
import { patiently } from '../patience.ts';
import { freePort } from '../../../developer/ports.ts';
import { startRedis, type TestRedis } from '../redis.ts';
import { FaultProxy } from '../replicas/fault-proxy.ts';
import { openFleet, PHRASES, type Fleet } from '../replicas/fleet.ts';

export const LEASE_SECONDS = 3;
/** Replicas of each account. */
const SIZES = [2, 1];
const NAMES = ['a', 'b', 'c'];

/** One node's place: its ports, its ways and its clock stay, its processes come and go. */
export class NodePlace {
  readonly name: string;
  /** Between this node and the database. */
  readonly database: FaultProxy;
  /** Between the other nodes and this one. */
  readonly internal: FaultProxy;
  readonly clock: SteppedClock;
  readonly #start: (port: number) => Promise<Child>;
  #child: Child | null = null;
  port = 0;
  frozen = false;

  constructor(
    name: string,
    ways: { database: FaultProxy; internal: FaultProxy; clock: SteppedClock },
    start: (port: number) => Promise<Child>,
  ) {
    this.name = name;
    this.database = ways.database;
    this.internal = ways.internal;
    this.clock = ways.clock;
    this.#start = start;
  }

  get up(): boolean {
    return this.#child !== null;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    // Kept, so that it comes back where it was.
    const child = await this.#start(this.port === 0 ? await freePort() : this.port);
    this.#child = child;
    ({ port: this.port } = await child.ready);
  }

  /** At once, or as an operator does. */
  async end(how: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.thaw();
    this.#child = null;
    if (how === 'SIGTERM') return child.stop();
    child.kill('SIGKILL');
    await child.exited;
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
    this.frozen = true;
  }

  thaw(): void {
    if (this.frozen) this.#child?.kill('SIGCONT');
    this.frozen = false;
  }
}

export interface TestCluster {
  readonly nodes: readonly NodePlace[];
  readonly redis: TestRedis;
  readonly fleets: readonly Fleet[];
  /** API keys of the fleets' accounts, for any node. */
  readonly apiKeys: readonly string[];
  /** As the superuser, straight to the server. */
  readonly sql: Sql;
  readonly folder: string;
  /** Everything runs, is reachable and has a right clock; every shard has an owner that lives. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

type Close = () => Promise<unknown> | unknown;

export async function openCluster(random: () => number): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'flock-cluster-'));
  const closing: Close[] = [
    () => {
      removeEmbeddedPostgres(join(folder, 'postgres'));
      rmSync(folder, { recursive: true, force: true });
    },
  ];
  const close = async () => {
    for (const step of closing.splice(0).reverse()) await step();
  };
  try {
    return await open(folder, random, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  folder: string,
  random: () => number,
  closing: Close[],
  close: () => Promise<void>,
): Promise<TestCluster> {
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: false });
  closing.push(() => server.stop());
  const redis = await startRedis({ teardown: (stop) => void closing.push(stop) });
  const secretKey = randomBytes(32).toString('hex');
  const { appUrl, superuserUrl } = await prepareDatabase(server.url, 'cluster');
  const record = await seedDeveloperOrganizations({
    databaseUrl: appUrl,
    secretKey,
    recordFile: join(folder, 'seed.json'),
  });
  const env = {
    SECRET_KEY: secretKey,
    REDIS_URL: redis.url,
    CLUSTER_SECRET: randomBytes(32).toString('hex'),
    NODE_LEASE_SECONDS: String(LEASE_SECONDS),
    EDGE_LEASE_TTL: '6',
    DATABASE_CONNECTIONS: '6',
    DEVELOPER_MODE: 'on',
    WEBHOOK_LADDER_SECONDS: '0,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1',
    // Followed by one of them at a time, and never reached.
    ETH_RPC_URLS: 'http://127.0.0.1:9',
    ETH_START_HEIGHT: '0',
  };
  const nodes: NodePlace[] = [];
  for (const name of NAMES) nodes.push(await openNode(name, folder, appUrl, env, closing));
  await Promise.all(nodes.map((node) => node.start()));
  const sql = openDatabase({ url: superuserUrl, connections: 3, name: 'flock-books', role: null });
  closing.push(() => sql.end({ timeout: 5 }));
  const accounts = [
    { organizationId: record.organizationId, apiKey: record.sandbox.cloudApiKey },
    { organizationId: record.other.organizationId, apiKey: record.other.sandbox.cloudApiKey },
  ];
  const urls = nodes.map(({ url }) => url);
  const fleets = await Promise.all(
    SIZES.map((size, index) =>
      openFleet({
        folder: join(folder, `fleet-${index}`),
        phrase: PHRASES[index]!,
        ...accounts[index]!,
        size,
        // The second account's replica reaches the node that none of the first reaches.
        cloudUrls: [...urls.slice(index * SIZES[0]!), ...urls.slice(0, index * SIZES[0]!)],
        sql,
        edgeEnv: {},
        random,
        closing,
      }),
    ),
  );
  return {
    nodes,
    redis,
    fleets,
    sql,
    folder,
    close,
    apiKeys: accounts.map(({ apiKey }) => apiKey),
    async heal() {
      await healed({ nodes, redis, fleets, sql });
    },
  };
}

async function openNode(
  name: string,
  folder: string,
  appUrl: string,
  env: Readonly<Record<string, string>>,
  closing: Close[],
): Promise<NodePlace> {
  const { cloud: entry } = await partEntries();
  const port = await freePort();
  const database = await FaultProxy.start(appUrl),
    internal = await FaultProxy.start(`http://127.0.0.1:${port}`);
  const clock = steppedClock(folder, `clock-${name}`);
  const databaseUrl = new URL(appUrl);
  databaseUrl.port = new URL(database.url).port;
  const start = async (publicPort: number): Promise<Child> =>
    startChild(
      name,
      entry,
      {
        ...env,
        ...clock.env,
        NODE_NAME: name,
        DATABASE_URL: databaseUrl.href,
        CLOUD_PORT: String(publicPort),
        INTERNAL_PORT: String(port),
        INTERNAL_URL: internal.url,
      },
      join(folder, `${name}.log`),
    );
  const node = new NodePlace(name, { database, internal, clock }, start);
  closing.push(
    () => Promise.all([database.close(), internal.close()]),
    () => node.end('SIGKILL'),
  );
  return node;
}

async function healed({ nodes, redis, fleets, sql }: Omit<TestCluster, 'heal' | 'close' | 'folder' | 'apiKeys'>) {
  for (const { database, internal, clock } of nodes) {
    for (const proxy of [database, internal]) Object.assign(proxy, { mode: 'open', delayMs: 0 });
    clock.step(0);
  }
  for (const node of nodes) node.thaw();
  await redis.ensure();
  await Promise.all(nodes.filter(({ up }) => !up).map((node) => node.start()));
  const replicas = fleets.flatMap((fleet) => fleet.replicas);
  for (const { proxy } of replicas) Object.assign(proxy, { mode: 'open', delayMs: 0 });
  for (const replica of replicas) if (replica.frozen) replica.thaw();
  await Promise.all(replicas.filter(({ up }) => !up).map((replica) => replica.start()));
  await patiently(
    'every node to have its share',
    async () =>
      (
        await sql<{ owners: number; none: number }[]>`
      select count(distinct s.owner) filter (where n.left_at is null and n.seen_at > clock_timestamp() - interval '2 s')::int as owners,
             count(*) filter (where n.id is null or n.left_at is not null or n.seen_at <= clock_timestamp() - interval '2 s')::int as none
        from flock.shard s left join flock.cloud_node n on n.id = s.owner`
      )[0]!,
    ({ owners, none }) => owners === nodes.length && none === 0,
  );
}
