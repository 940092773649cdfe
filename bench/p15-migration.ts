/**
 * P15 to P20: a million addresses of another wallet, from a file to their cutover and back, in a node of its own: what
 * reading, deriving and staging cost against derivation alone, what filling costs against its statement alone, memory
 * meanwhile, others' requests meanwhile, the export against a bare cursor, and how soon each switch takes effect.
 * `P15_ROWS=200000` takes fewer.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HDKey } from '@scure/bip32';
import { Agent } from 'undici';
import { loadModule, networkOf } from '../chains/registry.ts';
import { startDeployment } from '../developer/deployment.ts';
import { signInAsOwner } from '../test/support/company.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { backendsCpuMs, median, percentile, type Figure } from './figure.ts';

const ROWS = Number(process.env['P15_ROWS'] ?? 1_000_000);
const DERIVED = 20_000;
const OTHERS_MS = 10_000;
const PATIENCE_MS = 480_000;
const MIB = 1_024;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const rounded = (value: number): number => Math.round(value * 10) / 10;

const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
const deployment = await startDeployment({
  dataDir,
  cloudPort: 0,
  edgePort: 0,
  environment: 'sandbox',
  log: () => undefined,
  cloudEnv: { LOG_LEVEL: 'warn', SANDBOX_REQUESTS_PER_MINUTE: '100000000' },
});
const agent = new Agent({ connections: 4, pipelining: 1, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS }),
  { origin } = new URL(deployment.cloudUrl),
  cloud = deployment.cloud.pid;
const sql = openDatabase({
  url: deployment.databaseUrl,
  connections: 1,
  name: 'flock-bench',
  role: null,
  settings: { search_path: 'flock', statement_timeout: String(PATIENCE_MS) },
});

type Json = Record<string, any>;
async function ask(method: 'GET' | 'POST' | 'PUT', path: string, body?: object | string): Promise<Json> {
  const reply = await agent.request({
    origin,
    path,
    method,
    headers: {
      ...(method === 'PUT' ? {} : { 'x-api-key': deployment.record.sandbox.cloudApiKey }),
      ...(typeof body === 'object' ? { 'content-type': 'application/json' } : {}),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await reply.body.text();
  if (reply.statusCode >= 300) throw new Error(`${method} ${path} was answered ${reply.statusCode} ${text}`);
  return (JSON.parse(text) as { data: Json }).data;
}

/** Resident memory of the node, MiB: now, and the most since the last reset of its mark. */
const memory = (name: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${name}:\\s+([0-9]+)`, 'm').exec(readFileSync(`/proc/${cloud}/status`, 'utf8'))![1]) / MIB;

/** Asks until it is in one of the states. Throws: Error in another that does not change, or after the patience. */
async function until(path: string, states: readonly string[], passing: readonly string[]): Promise<Json> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await ask('GET', path);
    if (states.includes(found['state'])) return found;
    if (!passing.includes(found['state']) || performance.now() > deadline)
      throw new Error(`${path} is ${found['state']}: ${JSON.stringify(found).slice(0, 400)}`);
    await pause(100);
  }
}

/** Milliseconds, and CPU of the node and the database meanwhile. */
async function measured<T>(work: () => Promise<T>): Promise<{ done: T; tookMs: number; cpuMs: number }> {
  const at = performance.now(),
    before = backendsCpuMs(cloud);
  const done = await work();
  return { done, tookMs: performance.now() - at, cpuMs: backendsCpuMs(cloud) - before };
}

/** p99 of another request of the account, milliseconds, one at a time until `over` says so. */
async function others(over: () => boolean): Promise<number> {
  const took: number[] = [];
  while (!over()) {
    const at = performance.now();
    await ask('GET', '/v1/transactions?size=20');
    took.push(performance.now() - at);
    await pause(20);
  }
  return percentile(took, 0.99);
}
async function beside<T>(work: () => Promise<T>): Promise<{ done: T; p99: number }> {
  let isOver = false;
  const watched = others(() => isOver);
  const done = await work().finally(() => {
    isOver = true;
  });
  return { done, p99: await watched };
}

/** Addresses that one core derives in a second of its CPU, with nothing else to do. */
async function derivedPerCpuSecond(xpub: string): Promise<number> {
  const { derivation } = await loadModule('eth');
  if (derivation.kind !== 'xpub') throw new Error('eth has a pool');
  const before = process.cpuUsage();
  for (let index = 0; index < DERIVED; index += 1) derivation.deriveAddress(networkOf('eth'), xpub, 0, index);
  const { user, system } = process.cpuUsage(before);
  return (DERIVED * 1e6) / (user + system);
}

async function main(): Promise<void> {
  const account = HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'"),
    limits = [await derivedPerCpuSecond(account.publicExtendedKey)];
  const projectId = (await ask('POST', '/v1/migration/projects', { name: 'old wallet' }))['id'] as string;
  const file = `chain: eth\nxpub: ${account.publicExtendedKey}\npath: m/44'/60'/0'\nrange: 0-${ROWS - 1}\n`;
  const { uploadId, uploadUrl } = await ask('POST', '/v1/migration/uploads', { filename: 'old.txt' });
  const { pathname, search } = new URL(uploadUrl as string);
  await ask('PUT', `${pathname}${search}`, file);
  await ask('POST', `/v1/migration/uploads/${uploadId}/complete`, {});
  const { id } = await ask('POST', `/v1/migration/projects/${projectId}/imports`, { uploadId });
  const batch = `/v1/migration/imports/${id}`;
  const idle = await beside(() => pause(OTHERS_MS)),
    memoryBefore = memory('VmRSS');
  writeFileSync(`/proc/${cloud}/clear_refs`, '5'); // its high-water mark begins anew

  const validated = await measured(() =>
    beside(async () => {
      await ask('POST', `${batch}/validate`, {});
      return until(batch, ['valid', 'invalid', 'conflict'], ['validating', 'created']);
    }),
  );
  limits.push(await derivedPerCpuSecond(account.publicExtendedKey));
  emit({
    id: 'P15',
    what: `${ROWS.toLocaleString('en-US')} addresses of a file read, checked, derived and staged, for a second of the node’s CPU`,
    ours: (ROWS * 1_000) / validated.cpuMs,
    limit: median(limits),
    unit: '/CPU s',
    better: 'higher',
    goal: 0.6,
    note: `${rounded(validated.tookMs / 1_000)} s; limit: derivation alone`,
  });

  const { dryRunId } = await ask('GET', `${batch}/dry-run`);
  const filled = await measured(() =>
    beside(async () => {
      await ask('POST', `${batch}/commit`, { dryRunId, acceptBillingChange: true });
      return until(batch, ['committed'], ['committing']);
    }),
  );
  const filledPerSecond = (ROWS * 1_000) / filled.tookMs;
  emit({
    id: 'P16',
    what: 'the same filled, in rows a second against P15',
    ours: filledPerSecond,
    limit: (ROWS * 1_000) / validated.tookMs,
    unit: '/s',
    better: 'higher',
    goal: 1,
    note: `${rounded(filled.tookMs / 1_000)} s from the commit until it is open`,
  });
  for (const [what, { p99 }] of Object.entries({ validated: validated.done, filled: filled.done }))
    emit({
      id: 'P18',
      what: `another request of the account while a file is ${what}, p99`,
      ours: p99,
      limit: idle.p99,
      unit: 'ms',
      better: 'lower',
      goal: 2,
      note: 'one at a time; limit: the same while nothing is imported',
    });
  await exported(projectId);
  await switches(projectId, id as string);
  emit({
    id: 'P17',
    what: 'memory of the node over all of it, the most beside what it began with',
    ours: memory('VmHWM') - memoryBefore,
    limit: 256,
    unit: 'MiB',
    better: 'lower',
    goal: 1,
    note: 'resident; the limit is the goal',
  });
}

/** The export against a cursor over the same rows without any of our code, rows a second. */
async function exported(projectId: string): Promise<void> {
  const read = async (): Promise<number> => {
    const reply = await agent.request({
      origin,
      path: `/v1/migration/projects/${projectId}/export`,
      method: 'GET',
      headers: { 'x-api-key': deployment.record.sandbox.cloudApiKey },
    });
    let lines = -1; // of which the first is the header
    for await (const chunk of reply.body) for (const byte of chunk as Buffer) if (byte === 10) lines += 1;
    if (reply.statusCode !== 200) throw new Error(`the export was answered ${reply.statusCode}`);
    return lines;
  };
  const ours = await measured(read);
  if (ours.done < ROWS) throw new Error(`an export of ${ours.done} lines`);
  const bare = await measured(async () => {
    let rows = 0;
    for await (const page of sql`select address, chain, derivation_path, user_ref from address where batch_id is not null`.cursor(
      1_000,
    ))
      rows += page.length;
    return rows;
  });
  emit({
    id: 'P19',
    what: `an export of ${ROWS.toLocaleString('en-US')} addresses`,
    ours: (ROWS * 1_000) / ours.tookMs,
    limit: (bare.done * 1_000) / bare.tookMs,
    unit: '/s',
    better: 'higher',
    goal: 0.5,
    note: 'over HTTP, as CSV; limit: a cursor over the same rows',
  });
}

/** How soon each switch is answered and in force. The last takes the addresses away again. */
async function switches(projectId: string, batchId: string): Promise<void> {
  const owner = await signInAsOwner(deployment, 'sandbox'),
    params = { projectId };
  for (const [what, turn] of [
    ['activated', () => owner.must('activateProject', { params, body: {} })],
    ['deactivated', () => owner.must('deactivateProject', { params })],
    ['given back', () => owner.must('rollbackImport', { params: { batchId } })],
  ] as const) {
    const isGivenBack = async () => (await ask('GET', `/v1/migration/imports/${batchId}`))['state'] !== 'committed';
    const at = performance.now();
    const answered = turn();
    // The rows of what is given back go afterwards, and the answer waits for them.
    if (what === 'given back') while (!(await isGivenBack())) await pause(1);
    else await answered;
    const tookMs = performance.now() - at;
    await answered;
    emit({
      id: 'P20',
      what: `${ROWS.toLocaleString('en-US')} addresses ${what}: until it is in force`,
      ours: tookMs,
      limit: 50,
      unit: 'ms',
      better: 'lower',
      goal: 1,
      note: 'the limit is the goal',
    });
  }
}

try {
  await main();
} finally {
  await agent.close();
  await sql.end({ timeout: 5 });
  await deployment.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
