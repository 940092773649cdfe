/** A program that runs beside this one ends with it, and leaves nothing on the disk. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { guarded } from '../../../developer/watchdog.ts';

test('a program’s own folder is deleted when it ended, also when its parent is gone and it was killed', async (t) => {
  for (const [way, script] of [
    ['by itself', 'exit 3'],
    ['killed', 'exec tail -f /dev/null'],
  ] as const) {
    const folder = mkdtempSync(join(tmpdir(), 'flock-watchdog-'));
    writeFileSync(join(folder, 'state'), 'x');
    const child = spawn(...guarded('KILL', '/bin/sh', ['-c', script], folder), { stdio: ['pipe', 'ignore', 'pipe'] });
    await once(child.stderr, 'data');
    // What the end of this process does: the pipe closes.
    if (way === 'killed') child.stdin.destroy();
    const [code] = (await once(child, 'exit')) as [number];
    t.is(code, way === 'killed' ? 137 : 3, way);
    t.false(existsSync(folder), way);
  }
});

test('a program without a folder of its own has nothing deleted', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-watchdog-'));
  const child = spawn(...guarded('INT', '/bin/sh', ['-c', 'echo "$1" >&2; exit 0', 'said', 'a  b']), {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  t.teardown(() => rmSync(folder, { recursive: true }));
  t.regex(said, /^a {2}b$/m, 'arguments arrive as they are');
  t.true(existsSync(folder));
});
