/**
 * A disk that takes no more bytes: a clear refusal, nothing half written, and work as before when there is room again.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { openStorage } from '../../../edge/storage/storage.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { API_KEYS, ask, eventually, mintIn, PHRASE } from '../../support/edge/edges.ts';
import { startEdgeProcess } from '../../support/edge/edge-process.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startReceiver } from '../../support/edge/receivers.ts';

const ENTRY = fileURLToPath(new URL('../../../edge/main.ts', import.meta.url));

test('§7 issue 4, 6: above the file-size limit writes are refused with EDGE_OUTBOX_FULL and its reason; the edge lives, and nothing that was answered is lost', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const dataDir = newDirectory();
  const localKey = mintIn(dataDir, 'live');
  // The shell sets the limit (blocks of 1,024 bytes) and becomes the edge: no file of it grows beyond.
  const child = spawn('bash', ['-c', 'ulimit -f 1000; exec "$0" "$1"', process.execPath, ENTRY], {
    env: {
      PATH: process.env['PATH'] ?? '',
      API_KEY: API_KEYS.live,
      CLOUD_URL: cloud.url,
      MNEMONIC: PHRASE,
      EDGE_DATA_DIR: dataDir,
      EDGE_PORT: '0',
      EDGE_CHAINS: 'eth',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const port = await new Promise<number>((resolve) =>
    child.once('message', (message: { port: number }) => resolve(message.port)),
  );
  const url = `http://127.0.0.1:${port}`;
  const mint = () =>
    ask(url, {
      method: 'POST',
      path: '/v1/edge/keys',
      body: { label: 'x'.repeat(120) },
      headers: { 'x-api-key': localKey },
    });
  const minted: string[] = [];
  let refused = await mint();
  while (refused.status === 201) {
    minted.push(String(refused.data!['id']));
    refused = await mint();
  }
  t.true(minted.length > 10);
  t.is(refused.status, 507);
  t.is(refused.error?.code, 'EDGE_OUTBOX_FULL');
  t.is(refused.error?.details['reason'], 'disk_full');
  t.regex(refused.error?.message ?? '', /takes no more bytes/);
  t.is((await ask(url, { method: 'GET', path: '/v1/edge/health' })).status, 200);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  await eventually('the stream is gone', () => cloud.streams === 0);
  const again = await startEdgeProcess(t, { cloudUrl: cloud.url, dataDir, localKey });
  t.is((await again.ask('POST', '/v1/edge/keys', { label: 'room again' })).status, 201);
  again.kill('SIGTERM');
  await again.exited;
  const storage = openStorage(dataDir);
  const kept = new Set(storage.all<{ id: string }>('select id from local_keys').map(({ id }) => id));
  storage.close();
  t.true(minted.every((id) => kept.has(id)));
  t.is(kept.size, minted.length + 2);
});

/** Mounts a file system of that size in memory; null where this user may not. */
function smallDisk(t: ExecutionContext, megabytes: number): string | null {
  const directory = newDirectory();
  if (
    process.getuid?.() !== 0 ||
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', directory]).status !== 0
  )
    return null;
  t.teardown(() => spawnSync('umount', ['-l', directory]));
  return directory;
}

test('issue 4: a file system without a free byte: writes are refused and said so, deliveries wait in memory, all goes on when there is room', async (t) => {
  const disk = smallDisk(t, 4);
  if (disk === null)
    return t.pass(
      'only a user that may mount can have a small file system; the test above has the limit that everybody may set',
    );
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const receiver = await startReceiver(t);
  const dataDir = join(disk, 'edge'),
    ballast = join(disk, 'ballast');
  mkdirSync(dataDir);
  const localKey = mintIn(dataDir, 'live');
  const edge = await startEdgeProcess(t, { cloudUrl: cloud.url, dataDir, localKey });
  await eventually('the stream is up', () => cloud.streams === 1);
  spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']);
  const refused = await edge.ask('POST', '/v1/edge/keys', { label: 'x' });
  t.is(refused.status, 507);
  t.like(refused.error, { code: 'EDGE_OUTBOX_FULL', details: { reason: 'disk_full' } });
  await eventually('the log names the setting and the next step', () =>
    /"setting":"EDGE_DATA_DIR","next":"free space[^}]*"msg":"storage_failed"/.test(edge.output()),
  );
  await cloud.deliver([
    { deliveryId: 'dlv_1', attempt: 1, url: receiver.url, headers: {}, body: '{}', timeoutMs: 5_000 },
  ]);
  await eventually('it was delivered', () => receiver.hits.length >= 1);
  await eventually('and its report found no room', () => edge.output().includes('relay_fault'));
  t.deepEqual(cloud.attempts, [], 'what is not durable is not reported');
  rmSync(ballast);
  await eventually('the report came', () => cloud.attempts.length === 1);
  t.is((await edge.ask('POST', '/v1/edge/keys', { label: 'x' })).status, 201);
  t.is(receiver.hits.length, 1);
  edge.kill('SIGTERM');
  t.is((await edge.exited).code, 0);
});
