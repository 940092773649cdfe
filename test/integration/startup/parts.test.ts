/**
 * A cloud node and an edge by themselves: they end when they should, whoever started them or reads their log is gone.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { API_KEYS, PHRASE } from '../../support/edge/edges.ts';
import { ROOT } from '../../support/tree.ts';

let database: TestDatabase;
const dataDir = mkdtempSync(join(tmpdir(), 'flock-parts-'));
test.before(async () => {
  database = await createTestDatabase();
});
test.after.always(async () => {
  rmSync(dataDir, { recursive: true, force: true });
  await database.close();
});

const PARTS = {
  cloud: () => ({
    entry: 'supervision/main.ts',
    env: { DATABASE_URL: database.url, SECRET_KEY: randomBytes(32).toString('hex'), CLOUD_PORT: '0' },
  }),
  edge: () => ({
    entry: 'edge/main.ts',
    env: {
      API_KEY: API_KEYS.live,
      CLOUD_URL: 'http://127.0.0.1:9',
      MNEMONIC: PHRASE,
      EDGE_DATA_DIR: dataDir,
      EDGE_PORT: '0',
      EDGE_CHAINS: 'eth',
    },
  }),
} as const;

function startPart(t: ExecutionContext, part: keyof typeof PARTS) {
  const { entry, env } = PARTS[part]();
  const child = spawn(process.execPath, [entry], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  t.teardown(() => {
    child.kill('SIGKILL');
  });
  return child;
}

for (const part of ['cloud', 'edge'] as const) {
  test(`issue 2.1: a process whose parent is gone before it serves ends: ${part}`, async (t) => {
    const child = startPart(t, part);
    child.disconnect();
    const [code] = (await once(child, 'exit')) as [number | null];
    t.not(code, null, 'by itself');
  });

  test(`issue 2.2: SIGTERM ends a process whose log has no reader any more: ${part}`, async (t) => {
    const child = startPart(t, part);
    await once(child.stdout!, 'data'); // its first line says that it listens
    child.stdout!.destroy();
    child.stderr!.destroy();
    child.kill('SIGTERM');
    // 0 is the answer of a drain that ended before the process's own deadline, which is below 10 s (another code after
    // it). A stopwatch out here would time the machine.
    t.deepEqual(await once(child, 'exit'), [0, null]);
  });
}
