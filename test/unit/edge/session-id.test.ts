import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { claimSessionId } from '../../../edge/link/session-id.ts';

const MODULE = fileURLToPath(new URL('../../../edge/link/session-id.ts', import.meta.url));

function inFolder(run: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'flock-session-'));
  try {
    run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('§3.7 an edge that was killed comes back as the session that it was', (t) => {
  inFolder((folder) => {
    const script = `const { claimSessionId } = await import(${JSON.stringify(MODULE)});
      process.stdout.write(claimSessionId(${JSON.stringify(folder)}, () => 'ses_first').sessionId, () => process.kill(process.pid, 'SIGKILL'));`;
    const killed = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    t.is(killed.signal, 'SIGKILL');
    t.is(killed.stdout, 'ses_first');
    const back = claimSessionId(folder, () => 'ses_second');
    t.is(back.sessionId, 'ses_first');
    back.end();
  });
});

test('a graceful stop ends the session; a replica that shares the folder of a living one has its own', (t) => {
  inFolder((folder) => {
    const first = claimSessionId(folder, () => 'ses_first');
    const beside = claimSessionId(folder, () => 'ses_beside');
    t.is(beside.sessionId, 'ses_beside');
    beside.end();
    first.end();
    const next = claimSessionId(folder, () => 'ses_next');
    t.is(next.sessionId, 'ses_next');
    next.end();
  });
});
