import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { failpoint } from '../../../protocol/failpoint.ts';
import { ROOT } from '../../support/tree.ts';

/** Passes a.before and a.after three times in a process with a setting. */
function passThrice(setting: string) {
  const script = `
    import { failpoint } from ${JSON.stringify(new URL('protocol/failpoint.ts', `file://${ROOT}`).href)};
    for (const n of [1, 2, 3]) { failpoint('a.before'); process.stdout.write(String(n)); failpoint('a.after'); }`;
  return spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', script], { env: { ...process.env, FLOCK_FAILPOINTS: setting }, encoding: 'utf8' });
}

test('reliability 4.1 #1: a recording run lists the places in the order in which they are passed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-failpoints-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const { status } = passThrice(`record:${join(folder, 'list')}`);
  t.is(status, 0);
  t.is(readFileSync(join(folder, 'list'), 'utf8'), 'a.before\na.after\n'.repeat(3));
});

test('reliability 4.1 #1: the K-th pass of a place kills the process there', (t) => {
  for (const [setting, written] of [['kill:a.before:1', ''], ['kill:a.after:1', '1'], ['kill:a.before:3', '12']] as const) {
    const { signal, stdout } = passThrice(setting);
    t.deepEqual([signal, stdout], ['SIGKILL', written], setting);
  }
  t.deepEqual([passThrice('kill:a.before:4').status, passThrice('kill:other:1').stdout], [0, '123']);
});

test('a setting that is misspelt stops the process instead of testing nothing', (t) => {
  for (const setting of ['kill:a.before', 'kill:a.before:0', 'kil:a:1', 'on']) t.not(passThrice(setting).status, 0, setting);
  t.notThrows(() => failpoint('anything'));
});
