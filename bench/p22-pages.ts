/**
 * P22: 1,000 open pages of payers with live updates: what they cost while nothing happens, how soon a confirmation is
 * on the wire while 100 a second come, and what a page costs against a bare reply of its bytes. payments B5.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { openCheckout } from './checkout.ts';
import { backendsCpuMs, calls, median, percentile, type Figure } from './figure.ts';

const PAGES = 1_000;
const OPEN_OF_LINK = 200;
const IDLE_MS = 20_000;
const WIRE_MS = 60_000;
const IN_FLIGHT = 16;
const REPLIES = 3_000;
const ROUNDS = 3;
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

const checkout = await openCheckout(IN_FLIGHT);
const folder = mkdtempSync(join(tmpdir(), 'flock-bench-'));
const { agent, origin, apiKey, deployment } = checkout;
const cloud = deployment.cloud.pid;
const sql = openDatabase({ url: deployment.databaseUrl, connections: 1, name: 'flock-bench', role: null });
const residentKb = (): number => Number(/^VmRSS:\s+([0-9]+)/m.exec(readFileSync(`/proc/${cloud}/status`, 'utf8'))![1]);

const followed: ClientRequest[] = [];
/** Follows a payment; `said` gets each status and when it came, milliseconds. */
async function follow(paymentId: string, client: number, said: (status: string, atMs: number) => void): Promise<void> {
  const asked = request(`${origin}/v1/checkout/sessions/${paymentId}/events`, {
    agent: false,
    headers: { accept: 'text/event-stream', 'x-forwarded-for': `10.2.0.${client % 250}` },
  });
  followed.push(asked);
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  if (answer.statusCode !== 200) throw new Error(`a stream was answered ${answer.statusCode}`);
  answer.setEncoding('utf8');
  let text = '';
  const first = Promise.withResolvers<void>();
  answer.on('data', (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const found = /"status":"([a-z_]+)"/.exec(text.slice(0, end));
      text = text.slice(end + 2);
      if (found === null) continue;
      said(found[1]!, Date.now());
      first.resolve();
    }
  });
  for (const one of [answer, asked]) one.on('error', () => undefined); // the benchmark ends
  await first.promise;
}

async function post(body: object): Promise<void> {
  const path = '/v1/sandbox/simulate-deposit';
  const reply = await agent.request({
    origin,
    path,
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await reply.body.text();
  if (reply.statusCode >= 300) throw new Error(`${path} was answered ${reply.statusCode} ${text}`);
}

const percent = (share: number): number => Math.round(share * 1_000) / 10;

async function cpuShareOf(durationMs: number): Promise<number> {
  const beforeMs = backendsCpuMs(cloud),
    at = performance.now();
  await pause(durationMs);
  return (backendsCpuMs(cloud) - beforeMs) / (performance.now() - at);
}

/**
 * Each payment has a block of its own, which confirms the one that is twelve blocks deep: from its decision, as the
 * payment is dated, to its page. Milliseconds, and confirmations a second.
 */
async function confirmations(
  payments: { paymentId: string; address: string }[],
  confirmedAt: Map<number, number>,
): Promise<{ tookMs: number[]; perSecond: number }> {
  const { perSecond } = await calls(
    async (n) => {
      const { address } = payments[n]!;
      await post({ address, chain: 'eth', amount: '25', tokenContract: USDC, autoConfirm: n >= PAGES - IN_FLIGHT });
    },
    IN_FLIGHT,
    PAGES,
  );
  const deadline = performance.now() + WIRE_MS;
  while (confirmedAt.size < PAGES && performance.now() < deadline) await pause(100);
  const decided = await sql<{ id: string; updatedAt: number }[]>`
    select id, updated_at from flock.payment where status = 'confirmed'`;
  const at = new Map(decided.map(({ id, updatedAt }) => [id, updatedAt]));
  return {
    tookMs: payments.map(({ paymentId }, n) => Math.max(0, confirmedAt.get(n)! - at.get(paymentId)!)),
    perSecond,
  };
}

async function pageAgainstBare(slug: string): Promise<void> {
  const get = async (at: string, path: string): Promise<Buffer> => {
    const reply = await agent.request({ origin: at, path, method: 'GET', headers: { 'x-forwarded-for': '10.3.0.1' } });
    const bytes = Buffer.from(await reply.body.arrayBuffer());
    if (reply.statusCode !== 200) throw new Error(`${path} was answered ${reply.statusCode}`);
    return bytes;
  };
  const file = join(folder, 'page.html');
  writeFileSync(file, await get(origin, `/pay/${slug}`));
  const entry = fileURLToPath(new URL('./bare-page.ts', import.meta.url)),
    bare = spawn(process.execPath, [entry, file], { stdio: ['pipe', 'ignore', 'pipe'] });
  const [port] = (await once(createInterface({ input: bare.stderr! }), 'line')) as [string];
  const ours: number[] = [],
    limit: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    limit.push((await calls(() => get(`http://127.0.0.1:${port}`, '/'), IN_FLIGHT, REPLIES)).perSecond);
    ours.push((await calls(() => get(origin, `/pay/${slug}`), IN_FLIGHT, REPLIES)).perSecond);
  }
  bare.stdin!.end();
  emit({
    id: 'P22c',
    what: '`GET /pay/{slug}`',
    ours: median(ours),
    limit: median(limit),
    unit: '/s',
    better: 'higher',
    goal: 0.25,
    note: `${IN_FLIGHT} in flight; limit: bare Fastify with the same bytes`,
  });
}

try {
  const slugs: string[] = [];
  for (let n = 0; n < PAGES; n += OPEN_OF_LINK) slugs.push(await checkout.link());
  const payments: { paymentId: string; address: string }[] = [];
  await calls(async (n) => void payments.push(await checkout.open(slugs[n % slugs.length]!)), IN_FLIGHT, PAGES);
  const atRest = await cpuShareOf(IDLE_MS),
    beforeKb = residentKb();
  const confirmedAt = new Map<number, number>();
  await calls(
    (n) =>
      follow(payments[n]!.paymentId, n, (status, atMs) => {
        if (status === 'confirmed' && !confirmedAt.has(n)) confirmedAt.set(n, atMs);
      }),
    IN_FLIGHT,
    PAGES,
  );
  await pause(2_000); // what opening them left is collected
  const idle = await cpuShareOf(IDLE_MS),
    eachKb = (residentKb() - beforeKb) / PAGES;
  emit({
    id: 'P22a',
    what: `the node with ${PAGES.toLocaleString('en-US')} open pages and nothing to say, beside the node without`,
    ours: Math.max(0, idle - atRest) * 100,
    limit: 5,
    unit: '% of a core',
    better: 'lower',
    goal: 1,
    note: `${percent(idle)} % with them, ${percent(atRest)} % without; the limit is the goal`,
  });
  emit({
    id: 'P22a-memory',
    what: 'resident memory of the node for each of them',
    ours: eachKb,
    limit: 60,
    unit: 'kB',
    better: 'lower',
    goal: 1,
    note: 'growth of the process; the limit is the goal',
  });
  const { tookMs, perSecond } = await confirmations(payments, confirmedAt);
  emit({
    id: 'P22b',
    what: 'a payment confirmed → its page shows it, p99',
    ours: percentile(tookMs, 0.99),
    limit: 1_000,
    unit: 'ms',
    better: 'lower',
    goal: 1,
    note: `${Math.round(perSecond)} a second (asked for: 100), each in a block of its own, ${PAGES.toLocaleString('en-US')} streams, all parts on two cores; p50 ${Math.round(median(tookMs))} ms; the limit is the goal`,
  });
  await pageAgainstBare(slugs[0]!);
} finally {
  for (const one of followed) one.destroy();
  await sql.end({ timeout: 5 });
  await checkout.close();
  rmSync(folder, { recursive: true, force: true });
}
