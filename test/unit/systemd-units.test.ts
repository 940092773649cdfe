/** The units of `deploy/systemd`, as systemd's own tools judge them. No systemd runs them here. Ecosystem X65. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { DRAIN_DEADLINE_MS } from '../../supervision/drain.ts';
import { needsProgram } from '../support/installed.ts';
import { ROOT } from '../support/tree.ts';

const UNITS = { cloud: 'supervision/main.ts', edge: 'edge/main.ts' } as const;
const textOf = (name: string): string => readFileSync(`${ROOT}deploy/systemd/flock-${name}.service`, 'utf8');
const settingsOf = (text: string): string[] => text.split('\n').filter((line) => /^[A-Z]\w*=/.test(line));

test('ecosystem X65 the units are without a fault, and exposed by no more than 2.5, as systemd-analyze says', (t) => {
  needsProgram('systemd-analyze', 'systemd');
  const folder = mkdtempSync(join(tmpdir(), 'flock-units-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const analyze = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    return { status, text: stdout + stderr };
  };
  for (const name of Object.keys(UNITS)) {
    const file = join(folder, `flock-${name}.service`);
    const text = textOf(name).replace('/opt/flock/node_modules/.bin/node', process.execPath);
    writeFileSync(file, text);
    const verified = analyze('verify', file);
    t.is(verified.status, 0, verified.text);
    t.is(verified.text, '', name);
    const judged = analyze('security', '--offline=true', '--threshold=25', file);
    t.is(judged.status, 0, judged.text.split('\n').at(-2));
    const open = join(folder, `open-${name}.service`);
    writeFileSync(open, text.replace(/^(?:Protect|Private|Restrict|System|Capability).*\n/gm, ''));
    t.not(analyze('security', '--offline=true', '--threshold=25', open).status, 0, 'the judge says no');
    writeFileSync(open, text.replace('LimitCORE=0', 'LimitCORE=much'));
    t.not(analyze('verify', open).text, '', 'a setting that is none is found');
  }
});

test('ecosystem X65 fault 49: a static user, the phrase as a credential of the edge alone, no core file, time to drain', (t) => {
  for (const [name, program] of Object.entries(UNITS)) {
    const settings = settingsOf(textOf(name));
    t.true(settings.includes(`User=flock-${name}`), name);
    t.false(
      settings.some((line) => /^(?:DynamicUser|MemoryDenyWriteExecute)=/.test(line)),
      name,
    );
    for (const line of ['LimitCORE=0', 'RestartPreventExitStatus=78', 'NoNewPrivileges=yes', 'ProtectSystem=strict'])
      t.true(settings.includes(line), `${name}: ${line}`);
    t.true(
      settings.some((line) => line.startsWith('ExecStart=') && line.endsWith(` ${program}`)),
      name,
    );
    const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(textOf(name))?.[1]);
    t.true(stop * 1_000 >= DRAIN_DEADLINE_MS, name);
    t.is(textOf(name).includes('LoadCredential='), name === 'edge');
  }
  const edge = textOf('edge');
  t.regex(edge, /^LoadCredential=phrase:\/etc\/flock\/phrase$/m);
  t.regex(edge, /^Environment=MNEMONIC_FILE=%d\/phrase /m);
  t.regex(edge, /^ExecStart=.* --disable-sigusr1 /m);
});
