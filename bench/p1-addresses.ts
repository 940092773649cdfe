/** P1: `POST /v1/addresses` (auth, idempotency, derivation, durable) at 64 in flight, against bare INSERT commits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { startDeployment } from '../supervision/dev/deployment.ts';
import { percentile, rate, type Figure } from './figure.ts';

const IN_FLIGHT = 64;
const INSERTS_AT_ONCE = 32;
const RUN_MS = 6_000;
const WARM_MS = 2_000;
/** Limit and figure are measured in turns, because the machine's speed drifts; medians are compared. */
const ROUNDS = 3;
const emit = (figure: Figure): void => console.log(JSON.stringify(figure));

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'flock-bench-'));
  const deployment = await startDeployment({
    dataDir, cloudPort: 0, edgePort: 0, environment: 'sandbox', log: () => undefined,
    cloudEnv: { LOG_LEVEL: 'warn', SANDBOX_REQUESTS_PER_MINUTE: '100000000' },
  });
  const sql = openDatabase({
    url: deployment.databaseUrl, connections: INSERTS_AT_ONCE, name: 'flock-bench', role: null,
  });
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 });
  try {
    await sql`create table bench_row (
      id bigint primary key, account text not null, address text not null unique, path text not null, user_ref text,
      tag text, at timestamptz not null, status text not null)`;
    const { origin } = new URL(deployment.cloudUrl);
    const headers = { 'x-api-key': deployment.record.sandbox.cloudApiKey, 'content-type': 'application/json' };
    let asked = 0;
    const create = async (): Promise<void> => {
      const n = asked += 1;
      const reply = await agent.request({
        origin, path: '/v1/addresses', method: 'POST', headers: { ...headers, 'idempotency-key': `bench-${n}` },
        body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
      });
      await reply.body.text();
      if (reply.statusCode !== 201) throw new Error(`answered ${reply.statusCode}`);
    };
    let row = 0;
    const insert = (): Promise<unknown> => {
      const n = row += 1;
      const address = `0x${n.toString(16).padStart(40, '0')}`;
      return sql`
        insert into bench_row
          values (${n}, 'account', ${address}, 'm/44''/60''/0''/0/0', 'customer', 'deposits', now(), 'active')`;
    };
    await rate(create, IN_FLIGHT, WARM_MS);
    await rate(insert, INSERTS_AT_ONCE, WARM_MS);
    const ours: number[] = [], limit: number[] = [], latencies: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      limit.push((await rate(insert, INSERTS_AT_ONCE, RUN_MS)).perSecond);
      const measured = await rate(create, IN_FLIGHT, RUN_MS);
      ours.push(measured.perSecond);
      latencies.push(...measured.latenciesMs);
    }
    const msOf = (share: number): number => Math.round(percentile(latencies, share));
    emit({
      id: 'P1', what: '`POST /v1/addresses`, 64 in flight', ours: percentile(ours, 0.5),
      limit: percentile(limit, 0.5), unit: '/s',
      better: 'higher', goal: 0.5,
      note: `durable; limit: bare single-row INSERT commits at 32 connections; p50 ${msOf(0.5)} ms, `
        + `p99 ${msOf(0.99)} ms; the load generator shares the two cores`,
    });
  } finally {
    await agent.close();
    await sql.end({ timeout: 5 });
    await deployment.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
