/**
 * One embedded PostgreSQL for a whole test run: started by the first test process that needs it, ended with the run.
 *   node test/support/postgres-host.ts PID FOLDER      PID is the test runner; FOLDER gets `url` once the server serves
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../developer/embedded-postgres.ts';

const [runner, folder] = [Number(process.argv[2]), process.argv[3]!];
const POLL_MS = 200;

/** Start time of a process in clock ticks, null when it is gone: a pid alone could be another process by now. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

const born = startOf(runner);
try {
  const server = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), durable: false });
  writeFileSync(join(folder, 'url.new'), server.url, { mode: 0o600 });
  renameSync(join(folder, 'url.new'), join(folder, 'url'));
  while (born !== null && startOf(runner) === born) await delay(POLL_MS);
  await server.stop();
} catch (error) {
  writeFileSync(join(folder, 'failed'), String((error as Error).stack));
  await delay(5_000); // for the waiting test processes to read it
} finally {
  rmSync(folder, { recursive: true, force: true });
}
