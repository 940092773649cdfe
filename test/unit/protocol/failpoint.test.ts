import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { failpoint } from '../../../protocol/node/failpoint.ts';
import { patiently } from '../../support/company.ts';
import { ROOT } from '../../support/tree.ts';

/** Passes a.before and a.after three times in a process with a setting. */
const SCRIPT = `
  import { failpoint } from ${JSON.stringify(new URL('protocol/node/failpoint.ts', `file://${ROOT}`).href)};
  for (const n of [1, 2, 3]) { failpoint('a.before'); process.stdout.write(String(n)); failpoint('a.after'); }`;
const ARGS = ['--input-type=module-typescript', '--eval', SCRIPT];
const envOf = (setting: string) => ({ ...process.env, FLOCK_FAILPOINTS: setting });
const passThrice = (setting: string) => spawnSync(process.execPath, ARGS, { env: envOf(setting), encoding: 'utf8' });
const spawnThrice = (setting: string) =>
  spawn(process.execPath, ARGS, { env: envOf(setting), stdio: ['ignore', 'pipe', 'inherit'] });

test('reliability 4.1 #1: a recording run lists the places in the order in which they are passed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-failpoints-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const { status } = passThrice(`record:${join(folder, 'list')}`);
  t.is(status, 0);
  t.is(readFileSync(join(folder, 'list'), 'utf8'), 'a.before\na.after\n'.repeat(3));
});

test('reliability 4.1 #1: the K-th pass of a place kills the process there', (t) => {
  for (const [setting, written] of [
    ['kill:a.before:1', ''],
    ['kill:a.after:1', '1'],
    ['kill:a.before:3', '12'],
  ] as const) {
    const { signal, stdout } = passThrice(setting);
    t.deepEqual([signal, stdout], ['SIGKILL', written], setting);
  }
  t.deepEqual([passThrice('kill:a.before:4').status, passThrice('kill:other:1').stdout], [0, '123']);
});

test('reliability 4.1 #5: a process that is held stands still at each place until it is let go, and once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-failpoints-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'a.after.done'), ''); // a process before this one stood there
  const child = spawnThrice(`hold:${folder}`);
  let written = '';
  child.stdout.on('data', (text) => {
    written += String(text);
  });
  await patiently(
    'it stands',
    async () => existsSync(join(folder, 'a.before')),
    (stands) => stands,
  );
  t.is(written, '');
  writeFileSync(join(folder, 'a.before.done'), '');
  t.deepEqual(await once(child, 'close'), [0, null]);
  t.is(written, '123');
});

test('a setting that is misspelt stops the process instead of testing nothing', (t) => {
  for (const setting of ['kill:a.before', 'kill:a.before:0', 'kil:a:1', 'on'])
    t.not(passThrice(setting).status, 0, setting);
  t.notThrows(() => failpoint('anything'));
});
