/**
 * `npm run bench -- memory [--minutes 60]`: resident memory of a cloud node and of an edge under full load (addresses
 * issued by 64 accounts, lists read beside them), sampled once a minute. Prints a table for docs/sizing.md: it says
 * what was run.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import { startDeployment } from '../developer/deployment.ts';
import { openAccounts } from './accounts.ts';

const MINUTES = Number(process.argv[2] ?? 60);
const ACCOUNTS = 64;
const IN_FLIGHT = 64;
/** Of so many requests one reads a page of addresses. */
const READS_EVERY = 4;
const MINUTE_MS = 60_000;
const RETRY_MS = 1_000;
const MIB = 1_024;

/** Kilobytes of a line of /proc/PID/status, as MiB. */
function mebibytes(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+([0-9]+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(found?.[1] ?? Number.NaN) / MIB);
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
  const agent = new Agent({ connections: IN_FLIGHT, pipelining: 1 }),
    origin = new URL(deployment.cloudUrl).origin;
  let requests = 0,
    refused = 0,
    over = false;
  const ask = async (keys: readonly string[]): Promise<void> => {
    const n = (requests += 1),
      headers = {
        'x-api-key': keys[n % keys.length]!,
        'content-type': 'application/json',
        'idempotency-key': `memory-${n}`,
      };
    const reply =
      n % READS_EVERY === 0
        ? await agent.request({ origin, path: '/v1/addresses?size=50', method: 'GET', headers })
        : await agent.request({
            origin,
            path: '/v1/addresses',
            method: 'POST',
            headers,
            body: `{"chain":"eth","userRef":"customer-${n}","tag":"deposits"}`,
          });
    await reply.body.text();
    if (reply.statusCode === 503) {
      refused += 1; // a machine that others use too is late now and then, and the node says so
      await delay(RETRY_MS);
    } else if (reply.statusCode >= 300) throw new Error(`answered ${reply.statusCode}`);
  };
  const line = (minute: number): void => {
    const { cloud, edge } = deployment;
    console.log(
      `| ${minute} | ${requests.toLocaleString('en-US')} | ${refused} | ${mebibytes(cloud.pid, 'VmRSS')} | ${mebibytes(cloud.pid, 'VmHWM')} | ${mebibytes(cloud.pid, 'RssAnon')} | ${mebibytes(edge.pid, 'VmRSS')} |`,
    );
  };
  try {
    const keys = await openAccounts(deployment, ACCOUNTS);
    console.log(
      '| minute | requests | of them 503 | node, MiB | its peak | of it heap and buffers | edge, MiB |\n|---|---|---|---|---|---|---|',
    );
    line(0);
    const load = Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (!over) await ask(keys);
      }),
    );
    for (let minute = 1; minute <= MINUTES; minute += 1) {
      await Promise.race([delay(MINUTE_MS), load]);
      line(minute);
    }
    over = true;
    await load;
  } finally {
    over = true;
    await agent.close();
    await deployment.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

await main();
