/**
 * What a story of several nodes does to them. The number is the row of docs/faults-of-several-nodes.md. Each begins,
 * lasts and ends; `heal` of the cluster ends them all.
 */
import { isAway } from '../../../persistence/postgres/away.ts';
import type { RedisCopy } from '../redis.ts';
import type { ProxyMode } from '../replicas/fault-proxy.ts';
import { LEASE_SECONDS, type NodePlace, type TestCluster } from './cluster.ts';

/** A fault has begun: what ends it, and how long it lasts at the least, milliseconds. */
interface Begun {
  readonly leastMs?: number;
  end?(): Promise<unknown> | unknown;
}
type Fault = (cluster: TestCluster, node: NodePlace, random: () => number) => Promise<Begun | void>;

const PAST_LEASE_MS = LEASE_SECONDS * 1_000 + 500;
const HOUR_SECONDS = 3_600;
const oneOf = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

const cut =
  (way: 'database' | 'internal'): Fault =>
  async (_, node, random) => {
    node[way].mode = oneOf<ProxyMode>(random, ['cut', 'hole']);
    return {
      end: () => {
        node[way].mode = 'open';
      },
    };
  };

/** What the story's Redis held when it began. */
const kept = new WeakMap<TestCluster, RedisCopy>();
export async function keepRedis(cluster: TestCluster): Promise<void> {
  kept.set(cluster, await cluster.redis.copy());
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  '1 node killed': async (_, node) => {
    await node.end('SIGKILL');
    return { end: () => node.up || node.start() };
  },
  '2 node frozen past its lease': async (_, node) => {
    node.freeze();
    return { leastMs: PAST_LEASE_MS, end: () => node.thaw() };
  },
  '2 node frozen, and back within its lease': async (_, node) => {
    node.freeze();
    return { end: () => node.thaw() };
  },
  '4 database crashes': async ({ sql }) => {
    const [row] = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity where application_name like 'a%' and backend_type = 'client backend' limit 1`;
    // The server ends every backend and recovers from its log.
    if (row !== undefined) killBackend(row.pid);
  },
  '5 backends of a node end in the middle of statements': async ({ sql }, { name }) => {
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
               where application_name like ${`${name}%`} and backend_type = 'client backend'`;
  },
  '7 database slow for one node': async (_, node, random) => {
    node.database.delayMs = 50 + Math.floor(random() * 400);
    return {
      end: () => {
        node.database.delayMs = 0;
      },
    };
  },
  '7 table locked': async ({ sql }) => {
    await sql`do $$ begin lock table flock.account in exclusive mode; perform pg_sleep(0.8); end $$`;
  },
  'node cut off from the database': cut('database'),
  'node cut off from the other nodes': cut('internal'),
  '9 Redis flushed': async ({ redis }) => redis.flush(),
  '10 Redis away': async ({ redis }) => {
    await redis.kill();
    return { end: () => redis.ensure() };
  },
  '10 Redis frozen': async ({ redis }) => {
    redis.freeze();
    return { end: () => redis.ensure() };
  },
  '11 Redis comes back from an older file': async (cluster) => cluster.redis.restore(kept.get(cluster) ?? []),
  '18 clock of a node an hour wrong': async (_, node, random) => {
    node.clock.step(random() < 0.5 ? HOUR_SECONDS : -HOUR_SECONDS);
    return { end: () => node.clock.step(0) };
  },
  '19 edge cut off from its node': async ({ fleets }, _, random) => {
    const replica = oneOf(random, oneOf(random, fleets).replicas);
    replica.proxy.mode = oneOf<ProxyMode>(random, ['cut', 'hole']);
    return {
      end: () => {
        replica.proxy.mode = 'open';
      },
    };
  },
  '22 edge killed': async ({ fleets }, _, random) => {
    const replica = oneOf(random, oneOf(random, fleets).replicas);
    if (!replica.up) return;
    await replica.kill('SIGKILL');
    return { end: () => replica.up || replica.start() };
  },
  '31 node stopped and started, as in an upgrade': async (_, node) => {
    await node.end('SIGTERM');
    return { end: () => node.up || node.start() };
  },
};

function killBackend(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** The other line has the database crash at this moment, and what was done to it is over with that. */
const exceptAway = (error: unknown): void => {
  if (!isAway(error)) throw error;
};

const PAUSE_MS = { least: 100, most: 900 };
const LASTS_MS = { least: 300, most: 2_200 };
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const between = (random: () => number, { least, most }: typeof PAUSE_MS) => least + random() * (most - least);

/** Faults, one after the other and some at one time, until it is over; `done` takes their names as they begin. */
export async function sabotage(
  cluster: TestCluster,
  random: () => number,
  isOver: () => boolean,
  done: string[],
): Promise<void> {
  const under = new Set<NodePlace | 'Redis' | 'edges'>();
  const line = async (): Promise<void> => {
    while (!isOver()) {
      await delay(between(random, PAUSE_MS));
      const name = oneOf(random, Object.keys(FAULTS)),
        node = oneOf(random, cluster.nodes),
        lastsMs = between(random, LASTS_MS);
      // One thing at a time is done to a node, to Redis, to the edges.
      const what = name.includes('Redis') ? 'Redis' : name.includes('edge') ? 'edges' : node;
      if (under.has(what)) continue;
      under.add(what);
      try {
        done.push(`${name} (${node.name})`);
        const begun = await FAULTS[name]!(cluster, node, random).catch(exceptAway);
        if (begun?.end === undefined) continue;
        await delay(Math.max(lastsMs, begun.leastMs ?? 0));
        await Promise.resolve(begun.end()).catch(exceptAway);
      } finally {
        under.delete(what);
      }
    }
  };
  await Promise.all([line(), line()]);
}
