/**
 * P3: webhooks through a real cloud and edge — a backlog from its commit to the last recorded attempt, by CPU of cloud,
 * edge, database and receiver, against a bare POST loop to the same receiver with its own; and from a block of a real
 * node to the webhook at the receiver.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent } from 'undici';
import { startReceiver } from '../gateway/cli/webhook-receiver.ts';
import { openDatabase, type Sql } from '../persistence/postgres/sql.ts';
import { createClient, type Client } from '../protocol/client.ts';
import { isRefusal } from '../protocol/errors.ts';
import { newId } from '../protocol/node/ids.ts';
import { openEvmStage } from '../developer/demo-evm.ts';
import type { Stage } from '../developer/demo-stage.ts';
import { startDeployment, type Deployment } from '../developer/deployment.ts';
import { backendsCpuMs, calls, median, percentile, serverPidOf, type Figure } from './figure.ts';

const EVENTS = 5_000;
const ROUNDS = 3;
/** As many as an edge has at once to one host. */
const POSTS_AT_ONCE = 32;
const PAYMENTS = 100;
/** Replicas beside the leader in the second half. */
const FOLLOWERS = 2;
const LOOK_MS = 20;
const PATIENCE_MS = 60_000;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

interface Receiving {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** A body of the size of a deposit's event. */
const bodyOf = (id: string): string =>
  JSON.stringify({
    id,
    event: 'deposit_detected',
    createdAt: '2026-01-01T00:00:00.000Z',
    confirmations: 1,
    data: {
      depositId: 'dep_22222222222222222222222222',
      chain: 'eth',
      txid: `0x${'a'.repeat(64)}`,
      outputIndex: -1,
      address: `0x${'b'.repeat(40)}`,
      amount: '0.0123',
      token: null,
      userRef: 'customer-1',
      tag: 'deposits',
      status: 'detected',
      blockHeight: 18_000_000,
      blockHash: `0x${'c'.repeat(64)}`,
    },
  });

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await pause(LOOK_MS);
  }
}

async function bareReceiver(): Promise<Receiving> {
  const entry = fileURLToPath(new URL('./receiver.ts', import.meta.url));
  const child = spawn(process.execPath, [entry], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    return {
      port: Number(line),
      pid: child.pid!,
      stop: () => {
        child.stdin.end();
      },
    };
  }
  throw new Error('the receiver did not start');
}

/** Writes a backlog in one commit, as appends would have, and answers the events per second until all are recorded. */
async function backlog(sql: Sql, accountId: string, webhookId: string): Promise<number> {
  const nowMs = Date.now();
  const rows = Array.from({ length: EVENTS }, () => {
    const event = newId('dlv', nowMs).replace('dlv_', 'evt_');
    return { event, delivery: newId('dlv', nowMs), body: bodyOf(event) };
  });
  await sql`
    with made as (
      insert into flock.publication (account_id, event_id, event, body, order_key, to_all, created_at, completed_at)
        select ${accountId}, r.event, 'deposit_detected', r.body, r.event, false, now(), now()
          from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) r(event text, body text)
      returning event_id, seq
    )
    insert into flock.delivery
        (id, account_id, event_id, webhook_id, event, seq, order_key, status, next_attempt_at, created_at)
      select r.delivery, ${accountId}, m.event_id, ${webhookId}, 'deposit_detected', m.seq, m.event_id, 'pending', now(), now()
        from made m
        join jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) r(event text, delivery text)
          on r.event = m.event_id`;
  const at = performance.now();
  await until('the backlog is recorded', async () => {
    // The newest that is due, by its index: what is measured is not read for it.
    const left = await sql`
      select from flock.delivery where webhook_id = ${webhookId} and next_attempt_at is not null
       order by webhook_id desc, next_attempt_at desc, seq desc limit 1`;
    return left.length === 0;
  });
  return (EVENTS * 1_000) / (performance.now() - at);
}

async function throughput(
  { id: figureId, what }: { id: string; what: string },
  deployment: Deployment,
  client: Client,
  sql: Sql,
  { port, pid }: Receiving,
): Promise<void> {
  const accountId = `${deployment.record.organizationId}_live`;
  // An event that nothing here causes: only the backlog goes to this endpoint.
  const { id } = await client.must('createWebhook', {
    body: { url: `http://127.0.0.1:${port}/`, events: ['withdrawal_failed'] },
  });
  const agent = new Agent({ connections: POSTS_AT_ONCE, pipelining: 1 });
  const post = async (): Promise<void> => {
    const { body } = await agent.request({
      origin: `http://127.0.0.1:${port}`,
      path: '/',
      method: 'POST',
      body: bodyOf('evt_22222222222222222222222222'),
      headers: {
        'content-type': 'application/json',
        'webhook-id': 'evt',
        'webhook-timestamp': '1',
        'webhook-signature': `v1,${'a'.repeat(44)}`,
      },
    });
    await body.dump();
  };
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const parts = {
    cloud: deployment.cloud.pid,
    edge: deployment.edge.pid,
    database: serverPidOf(backend!.pid),
    receiver: pid,
  };
  /** CPU of every part for an event, microseconds; of this process too, which is the sender of the limit. */
  const cost = async (
    work: () => Promise<number>,
  ): Promise<{ perSecond: number; us: Record<keyof typeof parts | 'sender', number> }> => {
    const cpu = (): [string, number][] => [
      ...Object.entries(parts).map(([name, of]): [string, number] => [name, backendsCpuMs(of)]),
      ['sender', process.cpuUsage().user / 1e3 + process.cpuUsage().system / 1e3],
    ];
    const before = new Map(cpu()),
      perSecond = await work();
    return {
      perSecond,
      us: Object.fromEntries(
        cpu().map(([name, ms]) => [name, Math.round(((ms - before.get(name)!) * 1_000) / EVENTS)]),
      ) as Record<keyof typeof parts | 'sender', number>,
    };
  };
  type Cost = Awaited<ReturnType<typeof cost>>;
  const ours: Cost[] = [],
    limit: Cost[] = [];
  await backlog(sql, accountId, id);
  await calls(post, POSTS_AT_ONCE, EVENTS);
  for (let round = 0; round < ROUNDS; round += 1) {
    limit.push(await cost(async () => (await calls(post, POSTS_AT_ONCE, EVENTS)).perSecond));
    ours.push(await cost(() => backlog(sql, accountId, id)));
  }
  await agent.close();
  const of = (costs: Cost[], ...names: (keyof Cost['us'])[]): number =>
    median(costs.map(({ us }) => names.reduce((sum, name) => sum + us[name], 0)));
  const each = (['cloud', 'edge', 'database', 'receiver'] as const)
    .map((name) => `${name} ${of(ours, name)} µs`)
    .join(', ');
  const rates = [ours, limit].map((costs) => Math.round(median(costs.map(({ perSecond }) => perSecond))));
  emit({
    id: figureId,
    what: `webhooks, a backlog of ${EVENTS.toLocaleString('en-US')}${what}, for a second of CPU`,
    ours: 1e6 / of(ours, 'cloud', 'edge', 'database', 'receiver'),
    limit: 1e6 / of(limit, 'sender', 'receiver'),
    unit: '/CPU s',
    better: 'higher',
    goal: 0.25,
    note:
      `commit of the publications → signed → edge → 200 of the receiver → attempt durable; ${each}; limit: undici POST loop, ` +
      `${POSTS_AT_ONCE} connections, same receiver process; by rate ${rates.join(' against ')} /s`,
  });
}

async function latency({ id, what }: { id: string; what: string }, client: Client, stage: Stage): Promise<void> {
  const receiver = await startReceiver();
  try {
    const webhook = await client.must('createWebhook', {
      body: { url: `http://127.0.0.1:${receiver.port}/`, events: ['deposit_detected'] },
    });
    receiver.setSecret(webhook.secret);
    const { address } = await client.must('createAddress', { body: { chain: stage.chain, userRef: 'customer-1' } });
    const tookMs: number[] = [];
    for (let n = 0; n < PAYMENTS; n += 1) {
      const { txid, blockAtMs } = await stage.pay(address, BigInt(1_000 + n));
      const event = await receiver.next(({ data }) => JSON.stringify(data).includes(txid), PATIENCE_MS);
      tookMs.push(event.atMs - blockAtMs);
    }
    emit({
      id,
      what: `block mined → webhook received, p99${what}`,
      ours: percentile(tookMs, 0.99),
      limit: 500,
      unit: 'ms',
      better: 'lower',
      goal: 1,
      note:
        `anvil, one payment at a time, n = ${PAYMENTS}, polled every 50 ms; p50 ${Math.round(median(tookMs))} ms; ` +
        'the limit is the goal',
    });
  } finally {
    await receiver.close();
  }
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const stage = await openEvmStage('eth');
  const receiver = await bareReceiver();
  const deployment = await startDeployment({
    dataDir,
    cloudPort: 0,
    edgePort: 0,
    environment: 'live',
    log: () => undefined,
    cloudEnv: { LOG_LEVEL: 'warn', ...stage.cloudEnv },
    edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: '127.0.0.1' },
  });
  const sql = openDatabase({ url: deployment.databaseUrl, connections: 2, name: 'flock-bench', role: null });
  try {
    const client = createClient({ baseUrl: deployment.edgeUrl, apiKey: deployment.localApiKey });
    await until('the edge is ready', async () => {
      const view = await client.call('getEdgeReadiness');
      return !isRefusal(view) && view.content.some((row) => row.chain === 'eth' && row.state === 'ready');
    });
    await latency({ id: 'P3b', what: '' }, client, stage);
    await throughput({ id: 'P3a', what: '' }, deployment, client, sql, receiver);
    for (let more = 0; more < FOLLOWERS; more += 1) await deployment.addReplica();
    await until('all replicas are there', async () => {
      const sessions = await client.must('listEdgeSessions');
      return sessions.content.filter(({ liveness }) => liveness === 'live').length > FOLLOWERS;
    });
    await latency({ id: 'P3b-3', what: ', three replicas' }, client, stage);
    await throughput({ id: 'P3a-3', what: ', three replicas' }, deployment, client, sql, receiver);
  } finally {
    await sql.end({ timeout: 5 });
    await deployment.stop();
    receiver.stop();
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
