/**
 * P1: `POST /v1/addresses` (auth, idempotency, derivation, durable, log level `info`) at 64 in flight, of one account
 * and of 64, by CPU of the node and of the database, against a bare Fastify server with one single-row INSERT that gets
 * the same requests; and by rate against bare INSERT commits. Limit and figures are measured in turns, because the
 * machine's speed drifts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { startDeployment } from '../developer/deployment.ts';
import { openAccounts } from './accounts.ts';
import { backendsCpuMs, calls, median, percentile, rate, serverPidOf, type Figure } from './figure.ts';

const IN_FLIGHT = 64;
const ACCOUNTS = 64;
const INSERTS_AT_ONCE = 32;
/** Requests of a round: a number and not a time, so that a machine that others load measures the same work. */
const RUN = 4_000;
const WARM = 4_000;
const ROUNDS = 3;
const COMMITS_MS = 2_000;
/** What node and database do with no request is measured for so long, and is no cost of one. */
const IDLE_MS = 4_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

async function bareServer(databaseUrl: string, logFile: string): Promise<{ port: number; child: ChildProcess }> {
  const entry = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, databaseUrl], { stdio: ['pipe', openSync(logFile, 'w'), 'pipe'] });
  for await (const line of createInterface({ input: child.stderr! }))
    if (/^[0-9]+$/.test(line)) return { port: Number(line), child };
  throw new Error('the bare server did not start');
}

/** CPU for a request, microseconds: of the server and of the database. */
interface Cost {
  readonly server: number;
  readonly database: number;
  readonly perSecond: number;
  readonly latenciesMs: number[];
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir,
    cloudPort: 0,
    edgePort: 0,
    environment: 'sandbox',
    log: () => undefined,
    cloudEnv: { LOG_LEVEL: 'info', SANDBOX_REQUESTS_PER_MINUTE: '100000000' },
  });
  const sql = openDatabase({
    url: deployment.databaseUrl,
    connections: INSERTS_AT_ONCE,
    name: 'flock-bench',
    role: null,
    settings: { search_path: 'public' },
  });
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  let bare: { port: number; child: ChildProcess } | null = null;
  try {
    await sql`create table bench_row (
      id bigint primary key, account text not null, address text not null unique, path text not null, user_ref text,
      tag text, at timestamptz not null, status text not null)`;
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const databasePid = serverPidOf(backend!.pid);
    bare = await bareServer(deployment.databaseUrl, join(dataDir, 'bare.log'));
    const one = [deployment.record.sandbox.cloudApiKey],
      many = await openAccounts(deployment, ACCOUNTS);
    let asked = 0,
      idle = { server: 0, database: 0 };
    const postTo = (origin: string, keys: readonly string[]) => async (): Promise<void> => {
      const n = (asked += 1);
      const reply = await agent.request({
        origin,
        path: '/v1/addresses',
        method: 'POST',
        headers: {
          'x-api-key': keys[n % keys.length]!,
          'content-type': 'application/json',
          'idempotency-key': `bench-${n}`,
        },
        body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
      });
      await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`answered ${reply.statusCode}`);
    };
    const cpuOver = async <T>(
      pid: number,
      work: () => Promise<T>,
    ): Promise<{ server: number; database: number; tookMs: number; done: T }> => {
      const before = [performance.now(), backendsCpuMs(pid), backendsCpuMs(databasePid)] as const;
      const done = await work();
      return {
        done,
        tookMs: performance.now() - before[0],
        server: backendsCpuMs(pid) - before[1],
        database: backendsCpuMs(databasePid) - before[2],
      };
    };
    const cost = async (origin: string, pid: number, count: number, keys = one): Promise<Cost> => {
      const {
        server,
        database,
        tookMs,
        done: { perSecond, latenciesMs },
      } = await cpuOver(pid, () => calls(postTo(origin, keys), IN_FLIGHT, count));
      // The cloud's own work goes on beside the bare server too: the database's part of it is nobody's.
      const each = (ms: number, idleShare: number): number => ((ms - idleShare * tookMs) * 1_000) / latenciesMs.length;
      return {
        server: each(server, pid === deployment.cloud.pid ? idle.server : 0),
        database: each(database, idle.database),
        perSecond,
        latenciesMs,
      };
    };
    let row = 1e9;
    const insert = (): Promise<unknown> => {
      const n = (row += 1);
      return sql`
        insert into bench_row
          values (${String(n)}::text::bigint, 'account', ${`0x${n.toString(16).padStart(40, '0')}`}, 'm/44''/60''/0''/0/0', 'customer', 'deposits', now(), 'active')`;
    };
    const flock = (count: number, keys: string[]): Promise<Cost> =>
      cost(new URL(deployment.cloudUrl).origin, deployment.cloud.pid, count, keys);
    const plain = (count: number): Promise<Cost> => cost(`http://127.0.0.1:${bare!.port}`, bare!.child.pid!, count);
    await flock(WARM, many);
    await plain(WARM);
    const resting = await cpuOver(deployment.cloud.pid, () => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    idle = { server: resting.server / resting.tookMs, database: resting.database / resting.tookMs };
    const ours: Cost[] = [],
      across: Cost[] = [],
      limit: Cost[] = [],
      commits: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      limit.push(await plain(RUN));
      ours.push(await flock(RUN, one));
      across.push(await flock(RUN, many));
      commits.push((await rate(insert, INSERTS_AT_ONCE, COMMITS_MS)).perSecond);
    }
    const of = (costs: Cost[], value: (one: Cost) => number): number => median(costs.map(value));
    const us = (costs: Cost[]): string =>
      `node ${Math.round(of(costs, ({ server }) => server))} µs, database ${Math.round(of(costs, ({ database }) => database))} µs`;
    const perCpuSecond = (costs: Cost[]): number => 1e6 / of(costs, ({ server, database }) => server + database);
    const report = (id: string, what: string, costs: Cost[]): void => {
      const latencies = costs.flatMap(({ latenciesMs }) => latenciesMs);
      emit({
        id,
        what: `\`POST /v1/addresses\`, 64 in flight${what}, for a second of CPU`,
        ours: perCpuSecond(costs),
        limit: perCpuSecond(limit),
        unit: '/CPU s',
        better: 'higher',
        goal: 0.8,
        note: `durable, log level info; ${us(costs)}; limit: bare Fastify with one INSERT, ${us(limit)}; by rate ${Math.round(of(costs, ({ perSecond }) => perSecond))} against ${Math.round(of(limit, ({ perSecond }) => perSecond))} /s; at rest ${Math.round(idle.server * 1_000)} and ${Math.round(idle.database * 1_000)} ms/s, left out; p50 ${Math.round(percentile(latencies, 0.5))} ms, p99 ${Math.round(percentile(latencies, 0.99))} ms`,
      });
    };
    report('P1', ' of one account', ours);
    report('P1-64', ` of ${ACCOUNTS} accounts`, across);
    emit({
      id: 'P1-commits',
      what: 'the same by rate against commits',
      ours: of(ours, ({ perSecond }) => perSecond),
      limit: median(commits),
      unit: '/s',
      better: 'higher',
      goal: 0,
      note: `no goal: one derivation and a grouped append cost more than the limit; limit: bare single-row INSERT commits at ${INSERTS_AT_ONCE} connections`,
    });
  } finally {
    bare?.child.stdin?.end();
    await agent.close();
    await sql.end({ timeout: 5 });
    await deployment.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
