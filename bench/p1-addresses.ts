/**
 * P1: `POST /v1/addresses` (auth, idempotency, derivation, durable, log level `info`) at 64 in flight, by CPU of the node and of
 * the database, against a bare Fastify server with one single-row INSERT that gets the same requests; and by rate against
 * bare INSERT commits. Limit and figure are measured in turns, because the machine's speed drifts.
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
import { backendsCpuMs, median, percentile, rate, serverPidOf, type Figure } from './figure.ts';

const IN_FLIGHT = 64;
const INSERTS_AT_ONCE = 32;
const RUN_MS = 4_000;
const WARM_MS = 2_000;
const ROUNDS = 4;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

async function bareServer(databaseUrl: string, logFile: string): Promise<{ port: number; child: ChildProcess }> {
  const entry = fileURLToPath(new URL('./bare-server.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, databaseUrl], { stdio: ['pipe', openSync(logFile, 'w'), 'pipe'] });
  for await (const line of createInterface({ input: child.stderr! })) if (/^[0-9]+$/.test(line)) return { port: Number(line), child };
  throw new Error('the bare server did not start');
}

/** CPU for a request, microseconds: of the server and of the database. */
interface Cost { readonly server: number; readonly database: number; readonly perSecond: number; readonly latenciesMs: number[] }

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir, cloudPort: 0, edgePort: 0, environment: 'sandbox', log: () => undefined,
    cloudEnv: { LOG_LEVEL: 'info', SANDBOX_REQUESTS_PER_MINUTE: '100000000' },
  });
  const sql = openDatabase({ url: deployment.databaseUrl, connections: INSERTS_AT_ONCE, name: 'flock-bench', role: null, settings: { search_path: 'public' } });
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  let bare: { port: number; child: ChildProcess } | null = null;
  try {
    await sql`create table bench_row (
      id bigint primary key, account text not null, address text not null unique, path text not null, user_ref text,
      tag text, at timestamptz not null, status text not null)`;
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const databasePid = serverPidOf(backend!.pid);
    bare = await bareServer(deployment.databaseUrl, join(dataDir, 'bare.log'));
    const headers = { 'x-api-key': deployment.record.sandbox.cloudApiKey, 'content-type': 'application/json' };
    let asked = 0;
    const postTo = (origin: string) => async (): Promise<void> => {
      const n = asked += 1;
      const reply = await agent.request({
        origin, path: '/v1/addresses', method: 'POST', headers: { ...headers, 'idempotency-key': `bench-${n}` },
        body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
      });
      await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`answered ${reply.statusCode}`);
    };
    const cost = async (origin: string, pid: number, durationMs: number): Promise<Cost> => {
      const [server, database] = [backendsCpuMs(pid), backendsCpuMs(databasePid)];
      const { perSecond, latenciesMs } = await rate(postTo(origin), IN_FLIGHT, durationMs);
      const each = (ms: number): number => (ms * 1_000) / latenciesMs.length;
      return { server: each(backendsCpuMs(pid) - server), database: each(backendsCpuMs(databasePid) - database), perSecond, latenciesMs };
    };
    let row = 1e9;
    const insert = (): Promise<unknown> => {
      const n = row += 1;
      return sql`
        insert into bench_row
          values (${String(n)}::text::bigint, 'account', ${`0x${n.toString(16).padStart(40, '0')}`}, 'm/44''/60''/0''/0/0', 'customer', 'deposits', now(), 'active')`;
    };
    const flock = (durationMs: number): Promise<Cost> => cost(new URL(deployment.cloudUrl).origin, deployment.cloud.pid, durationMs);
    const plain = (durationMs: number): Promise<Cost> => cost(`http://127.0.0.1:${bare!.port}`, bare!.child.pid!, durationMs);
    await flock(WARM_MS);
    await plain(WARM_MS);
    const ours: Cost[] = [], limit: Cost[] = [], commits: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      limit.push(await plain(RUN_MS));
      ours.push(await flock(RUN_MS));
      commits.push((await rate(insert, INSERTS_AT_ONCE, RUN_MS / 2)).perSecond);
    }
    const of = (costs: Cost[], value: (one: Cost) => number): number => median(costs.map(value));
    const us = (costs: Cost[]): string => `node ${Math.round(of(costs, ({ server }) => server))} µs, database ${Math.round(of(costs, ({ database }) => database))} µs`;
    const latencies = ours.flatMap(({ latenciesMs }) => latenciesMs);
    const perCpuSecond = (costs: Cost[]): number => 1e6 / of(costs, ({ server, database }) => server + database);
    emit({
      id: 'P1', what: '`POST /v1/addresses`, 64 in flight, for a second of CPU', ours: perCpuSecond(ours), limit: perCpuSecond(limit), unit: '/CPU s', better: 'higher', goal: 0.8,
      note: `durable, log level info; ${us(ours)}; limit: bare Fastify with one INSERT, ${us(limit)}; by rate ${Math.round(of(ours, ({ perSecond }) => perSecond))} against ${Math.round(of(limit, ({ perSecond }) => perSecond))} /s; p50 ${Math.round(percentile(latencies, 0.5))} ms, p99 ${Math.round(percentile(latencies, 0.99))} ms`,
    });
    emit({
      id: 'P1-commits', what: 'the same by rate against commits', ours: of(ours, ({ perSecond }) => perSecond), limit: median(commits), unit: '/s', better: 'higher', goal: 0,
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
