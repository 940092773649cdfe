/**
 * P7: addresses of a pooled chain through edge, stream and cloud, against what one core derives; and who waits for it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { createPhraseKeystore } from '../edge/keystore/phrase-keystore.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { createClient } from '../protocol/client.ts';
import { isRefusal } from '../protocol/errors.ts';
import { startDeployment } from '../developer/deployment.ts';
import { backendsCpuMs, median, percentile, rate, serverPidOf, type Figure } from './figure.ts';

const ADDRESSES = 20_000;
const IN_FLIGHT = 15;
const DERIVED = 1_500;
const OTHERS_MS = 8_000;
const PATIENCE_MS = 60_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

/** Addresses that one core derives in a second, with nothing else to do; in a second of its CPU. */
function derivedPerSecond(from: number): { rate: number; perCpuSecond: number } {
  const keystore = createPhraseKeystore(randomBytes(64)),
    startedMs = performance.now(),
    startedCpu = process.cpuUsage();
  for (let index = from; index < from + DERIVED; index += 1) keystore.addressAt('sol', `m/44'/501'/${index}'/0'`);
  keystore.stop();
  const { user, system } = process.cpuUsage(startedCpu);
  return { rate: (DERIVED * 1_000) / (performance.now() - startedMs), perCpuSecond: (DERIVED * 1e6) / (user + system) };
}

/** Throws: Error after a minute in vain. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(50);
  }
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir,
    cloudPort: 0,
    edgePort: 0,
    environment: 'sandbox',
    log: () => undefined,
    cloudEnv: { LOG_LEVEL: 'warn', SANDBOX_REQUESTS_PER_MINUTE: '100000000' },
  });
  const agent = new Agent({ connections: IN_FLIGHT + 1, pipelining: 1 });
  const headers = { 'x-api-key': deployment.localApiKey, 'content-type': 'application/json' };
  const ask = async (path: string, body?: string): Promise<void> => {
    const reply = await agent.request({
      origin: deployment.edgeUrl,
      path,
      method: body === undefined ? 'GET' : 'POST',
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 300) throw new Error(`${path} answered ${reply.statusCode} ${text}`);
  };
  let asked = 0;
  const create = (chain: string) => (): Promise<void> =>
    ask('/v1/addresses', `{"chain":"${chain}","userRef":"customer-${(asked += 1)}"}`);
  /** p99 of another request while addresses of a chain are taken for a time. */
  const othersP99 = async (chain: string): Promise<number> => {
    const others: number[] = [];
    const taken = rate(create(chain), IN_FLIGHT, OTHERS_MS);
    const watched = rate(() => ask('/v1/transactions'), 1, OTHERS_MS).then(({ latenciesMs }) =>
      others.push(...latenciesMs),
    );
    await Promise.all([taken, watched]);
    return percentile(others, 0.99);
  };
  try {
    const client = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    await until('the edge is ready', async () => {
      const view = await client.call('getEdgeReadiness');
      return !isRefusal(view) && view.content.some((row) => row.chain === 'sol' && row.state === 'ready');
    });
    await rate(create('eth'), IN_FLIGHT, 2_000);
    const limit = [derivedPerSecond(0)];
    const sql = openDatabase({ url: deployment.databaseUrl, connections: 1, name: 'flock-bench', role: null });
    const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const parts = { edge: deployment.edge.pid, cloud: deployment.cloud.pid, database: serverPidOf(backend!.pid) };
    await sql.end({ timeout: 5 });
    const cpu = (): number[] => Object.values(parts).map(backendsCpuMs);
    const startedMs = performance.now(),
      before = cpu();
    let next = 0;
    const sol = create('sol');
    await Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (next++ < ADDRESSES) await sol();
      }),
    );
    const ours = (ADDRESSES * 1_000) / (performance.now() - startedMs);
    const us = cpu().map((ms, at) => Math.round(((ms - before[at]!) * 1_000) / ADDRESSES));
    limit.push(derivedPerSecond(ADDRESSES));
    emit({
      id: 'P7-cpu',
      what: 'the same for a second of CPU of edge, cloud and database',
      ours: 1e6 / us.reduce((sum, one) => sum + one, 0),
      limit: median(limit.map(({ perCpuSecond }) => perCpuSecond)),
      unit: '/CPU s',
      better: 'higher',
      goal: 0.25,
      note: `${Object.keys(parts)
        .map((name, at) => `${name} ${us[at]} µs`)
        .join(', ')}; half of what one core derives, on two cores`,
    });
    emit({
      id: 'P7a',
      what: `${ADDRESSES.toLocaleString('en-US')} sol addresses through the edge, ${IN_FLIGHT} in flight`,
      ours,
      limit: median(limit.map(({ rate: perSecond }) => perSecond)),
      unit: '/s',
      better: 'higher',
      goal: 0.5,
      note: 'durable, pool refilled meanwhile; limit: derivation alone on one core; load generator, edge, cloud and database share two cores',
    });
    const eth = await othersP99('eth'),
      pooled = await othersP99('sol');
    emit({
      id: 'P7b',
      what: 'p99 of `GET /v1/transactions` at the edge while sol addresses are taken',
      ours: pooled,
      limit: eth,
      unit: 'ms',
      better: 'lower',
      goal: 1.5,
      note: `limit: the same while ${IN_FLIGHT} callers take eth addresses, of which the edge derives none in advance`,
    });
  } finally {
    await agent.close();
    await deployment.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
