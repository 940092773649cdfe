/**
 * P9: several cloud nodes. What a request costs that another node forwards to the account's owner, beside the same
 * request at the owner and beside a bare call between two processes; and CPU for a request over four nodes and on one.
 */
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { backendsCpuMs, calls, median, percentile, serverPidOf, type Figure } from './figure.ts';
import { ACCOUNTS, IN_FLIGHT, withNodes, type Nodes } from './nodes.ts';

const LEASE_SECONDS = 10;
const NODES = 4;
const PAIRS = 500;
const WARM = 100;
/**
 * Requests of a round: a number and not a time, so that a machine that others load measures the same work. Each node
 * has as many before it is measured, on four as on one: code that is not compiled yet costs several times as much.
 */
const RUN = 2_000;
const WARM_EACH = 1_500;
const ROUNDS = 2;
const IDLE_MS = 4_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

interface Bare {
  /** One call to another process, without any of our code: milliseconds. */
  call(n: number): Promise<number>;
  close(): Promise<void>;
}

async function openBare(dataDir: string): Promise<Bare> {
  const entry = fileURLToPath(new URL('./bare-hop.ts', import.meta.url));
  const child = spawn(process.execPath, [entry], { stdio: ['pipe', openSync(join(dataDir, 'hop.log'), 'w'), 'pipe'] });
  const agent = new Agent({ connections: 1, pipelining: 1 });
  for await (const line of createInterface({ input: child.stderr! })) {
    if (!/^[0-9]+$/.test(line)) continue;
    return {
      async call(n) {
        const at = performance.now();
        const reply = await agent.request({
          origin: `http://127.0.0.1:${line}`,
          path: '/',
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
        });
        await reply.body.text();
        return performance.now() - at;
      },
      async close() {
        child.stdin!.end();
        await agent.close();
      },
    };
  }
  throw new Error('the bare server did not start');
}

/** The same request at the owner and at another node, and a bare call, in turns. */
async function forwarded(nodes: Nodes, keys: readonly string[], dataDir: string): Promise<void> {
  const owners = await Promise.all(keys.map((key) => nodes.ownerOf(key)));
  const at = owners.findIndex((owner) => owner !== 'cloud-1');
  const key = keys[at]!,
    own = nodes.places.get(owners[at]!)!.origin,
    other = nodes.places.get('cloud-1')!.origin;
  const bare = await openBare(dataDir);
  const [local, passed, hops]: [number[], number[], number[]] = [[], [], []];
  for (let n = 0; n < PAIRS + WARM; n += 1) {
    const [here, there, hop] = [await nodes.post(own, key), await nodes.post(other, key), await bare.call(n)];
    if (n < WARM) continue;
    local.push(here);
    passed.push(there);
    hops.push(hop);
  }
  await bare.close();
  const added = median(passed) - median(local);
  const at50 = `p50 at the owner ${tenths(median(local))} ms, at another node ${tenths(median(passed))} ms`,
    at99 = `p99 ${tenths(percentile(local, 0.99))} and ${tenths(percentile(passed, 0.99))} ms`;
  const note = `\`POST /v1/addresses\`, one at a time, in turns, n = ${PAIRS}; ${at50}, ${at99}`;
  const of = (id: string, what: string, limit: number, goal: number, how: string): Figure => ({
    id,
    what,
    ours: added,
    limit,
    unit: 'ms',
    better: 'lower',
    goal,
    note: how,
  });
  emit(of('P9a', 'what forwarding adds to a request, p50', 1, 1, `${note}; the limit is the goal`));
  const limit =
    'limit: undici to a bare Fastify in another process, in the same turns, p50; ours has a signature each way and the mailbox';
  emit(of('P9a-hop', 'the same against a bare call', median(hops), 2, limit));
}

interface Cost {
  readonly nodes: number;
  readonly database: number;
}

/** CPU for a request, microseconds, with requests to each node in turn; what they do without any is left out. */
async function costOf(nodes: Nodes, keys: readonly string[], databasePid: number, inFlight: number): Promise<Cost> {
  const places = [...nodes.places.values()];
  const cpuMs = () => ({
    nodes: places.reduce((sum, { child }) => sum + backendsCpuMs(child.pid), 0),
    database: backendsCpuMs(databasePid),
  });
  const over = async (work: () => Promise<unknown>) => {
    const before = cpuMs(),
      at = performance.now();
    await work();
    const after = cpuMs();
    return {
      nodes: after.nodes - before.nodes,
      database: after.database - before.database,
      tookMs: performance.now() - at,
    };
  };
  const ask = (n: number) =>
    nodes.post(places[n % places.length]!.origin, keys[Math.floor(n / places.length) % keys.length]!);
  const idle = await over(() => pause(IDLE_MS));
  const work = await over(() => calls(ask, inFlight, RUN));
  const each = (part: 'nodes' | 'database') => ((work[part] - (idle[part] / idle.tookMs) * work.tookMs) * 1_000) / RUN;
  return { nodes: each('nodes'), database: each('database') };
}

/** Accounts are loaded, code is compiled. */
async function warm(nodes: Nodes, keys: readonly string[]): Promise<void> {
  const places = [...nodes.places.values()];
  await calls(
    (n) => nodes.post(places[n % places.length]!.origin, keys[n % keys.length]!),
    IN_FLIGHT,
    WARM_EACH * places.length,
  );
}

/** Costs of one node, of several with as much in flight altogether, and of several with as much in flight each. */
async function cpu(nodes: Nodes, keys: readonly string[], databasePid: number): Promise<void> {
  const [one, same, each]: [Cost[], Cost[], Cost[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await nodes.toBe(1);
    await warm(nodes, keys);
    one.push(await costOf(nodes, keys, databasePid, IN_FLIGHT));
    await nodes.toBe(NODES);
    await warm(nodes, keys);
    same.push(await costOf(nodes, keys, databasePid, IN_FLIGHT));
    each.push(await costOf(nodes, keys, databasePid, IN_FLIGHT * NODES));
  }
  const of = (costs: readonly Cost[], part: 'nodes' | 'database') => median(costs.map((cost) => cost[part]));
  const sum = (costs: readonly Cost[]) => of(costs, 'nodes') + of(costs, 'database');
  const words = (costs: readonly Cost[]) =>
    `nodes ${Math.round(of(costs, 'nodes'))} µs, database ${Math.round(of(costs, 'database'))} µs`;
  const figure = (id: string, costs: readonly Cost[], load: string): Figure => ({
    id,
    what: `CPU of a request over ${NODES} nodes, ${load}`,
    ours: sum(costs),
    limit: sum(one),
    unit: 'µs',
    better: 'lower',
    goal: 1.3,
    note: `\`POST /v1/addresses\`, ${ACCOUNTS} accounts, each request to the next node: three of four are forwarded; ${words(costs)}; limit: one node with ${IN_FLIGHT} in flight, in turns: ${words(one)}; at rest left out`,
  });
  emit(figure('P9b', same, `${IN_FLIGHT} in flight altogether`));
  emit(figure('P9c', each, `${IN_FLIGHT} in flight for each node`));
}

await withNodes(LEASE_SECONDS, async ({ nodes, keys, sql, dataDir }) => {
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  await nodes.toBe(NODES);
  await forwarded(nodes, keys, dataDir);
  await cpu(nodes, keys, serverPidOf(backend!.pid));
});
