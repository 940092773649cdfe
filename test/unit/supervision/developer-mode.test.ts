/** What `npm start` and `npm run demo` say before anything runs: options, ports, what is played on. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { codeCommand } from '../../../developer/first-steps.ts';
import { codeOf } from '../../support/gateway.ts';
import { nodesOf } from '../../../developer/demo-chain.ts';
import { initdbFailure, inUse } from '../../../developer/embedded-postgres.ts';
import { startOptions, wantsHelp } from '../../../developer/options.ts';
import { requireFreePorts } from '../../../developer/ports.ts';
import { CHAINS, FAMILY_OF } from '../../../protocol/slugs.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { ROOT } from '../../support/tree.ts';

test('issue 2.1: the demo calls a node real where one runs, and a stand-in what is one', (t) => {
  for (const chain of CHAINS) {
    const stage = readFileSync(`${ROOT}developer/demo-${FAMILY_OF[chain]}.ts`, 'utf8');
    t.regex(nodesOf(chain), /from '\.\/stand-ins\//.test(stage) ? /stand-in/ : /^a real /, chain);
    t.false(/from '\.\/stand-ins\//.test(stage) && /real/.test(nodesOf(chain)), chain);
  }
});

test('issue 2.1: an option that npm kept for itself is named, not passed over', (t) => {
  const error = t.throws(() => startOptions([], { npm_config_fresh: 'true' }), { instanceOf: RangeError });
  t.regex(error.message, /npm start -- --fresh/);
  t.regex(t.throws(() => startOptions([], { npm_config_data_dir: 'true' })).message, /npm start -- --data-dir/);
  t.true(startOptions(['--fresh'], {}).fresh);
});

test('issue 2.1: a port that this user may not have is not called taken', async (t) => {
  const listen = async (port: number): Promise<string | null> => (port === 81 ? 'EACCES' : null);
  const error = await t.throwsAsync(
    requireFreePorts(
      [
        { setting: 'CLOUD_PORT', port: 8_080 },
        { setting: 'EDGE_PORT', port: 81 },
      ],
      5_000,
      listen,
    ),
  );
  t.regex(error.message, /^port 81 \(EDGE_PORT\) cannot be used by this user \(EACCES\)$/m);
  t.regex(error.message, /EDGE_PORT=8181 npm start/, 'one that it may have');
});

test('issue 2.1: a server that outlived its Flock is not called another Flock', (t) => {
  t.regex(
    inUse('/data/cluster', [1_412, 1_403, 1_413], false),
    /\(pid 1412, 1403, 1413\): .*does not end by itself.*kill -INT 1403$/,
  );
  t.regex(inUse('/data/cluster', [1_403], true), /another Flock runs on the same data; stop it first/);
});

test('found F76: before npm ci every command says so, in place of a stack', (t) => {
  const clone = newDirectory();
  mkdirSync(join(clone, 'developer'), { recursive: true });
  cpSync(`${ROOT}developer/installed.mjs`, join(clone, 'developer/installed.mjs'));
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { scripts: Record<string, string> };
  const commands = Object.values(scripts).filter((line) => line.startsWith('exec node'));
  t.true(commands.length >= 9);
  for (const line of commands)
    t.regex(line, /^exec node (?:--disable-sigusr1 )?--import \.\/developer\/installed\.mjs /);
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', './developer/installed.mjs', 'developer/start.ts'],
    { cwd: clone, encoding: 'utf8' },
  );
  t.is(status, 1);
  t.regex(stderr, /^The packages of Flock are not installed\. Run {2}npm ci {2}in this directory first/);
  t.notRegex(stderr, /\bat .*:[0-9]+:[0-9]+/);
});

test('found F76: initdb on a full disk, or below a directory that its user cannot write to, says what to do', (t) => {
  t.regex(
    initdbFailure('initdb: error: could not create directory "/data/x": No space left on device', '/data/x'),
    /the disk is full.*--data-dir/,
  );
  t.regex(
    initdbFailure('initdb: error: could not access directory: Permission denied', '/data/x'),
    /may not write to \/data\/x.*--data-dir/,
  );
  t.is(initdbFailure('something else', '/data/x'), 'initdb failed: something else');
});

test('found F76: an unknown option of a command is answered with those that it has', (t) => {
  for (const [entry, args, usage] of [
    ['developer/start.ts', ['--frehs'], /Unknown option '--frehs'[^]*usage: npm start -- \[--fresh\]/],
    ['developer/demo.ts', ['--chian', 'eth'], /Unknown option '--chian'[^]*usage: npm run demo -- \[--chain btc\|/],
    ['test/simulation/soak.ts', ['--sedes', '1'], /Unknown option '--sedes'[^]*usage: npm run soak -- \[--seeds N\]/],
    [
      'gateway/cli/flock.ts',
      ['webhooks', 'listen', '--secret', 'whsec_abc'],
      /^--secret: a secret begins with whsec_ and is base64 after it, whole\n$/,
    ],
    [
      'gateway/cli/flock.ts',
      ['webhooks', 'listen', '--prot', '1'],
      /Unknown option '--prot'[^]*usage: flock webhooks listen/,
    ],
    [
      'gateway/cli/flock.ts',
      ['users', 'create', '--mail', 'x'],
      /Unknown option '--mail'[^]*usage: flock users create/,
    ],
    [
      'edge/cli/flock-edge.ts',
      ['local-keys', 'mint', '--lable', 'x'],
      /usage: flock-edge local-keys mint --label NAME/,
    ],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', entry, ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', DATABASE_URL: 'postgres://flock_app@127.0.0.1:9/none' },
    });
    t.true(status === 1 || status === 2, entry);
    t.regex(stderr, usage);
  }
});

test('console C18: what npm start prints for the code of a sign-in, pasted into a shell, prints one that is good', (t) => {
  const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
  const before = codeOf({ totpSecret });
  const printed = execFileSync('bash', ['-c', codeCommand({ totpSecret })], { cwd: ROOT, encoding: 'utf8' });
  t.true([before, codeOf({ totpSecret })].map((code) => `{"code":"${code}"}\n`).includes(printed), printed);
});

test('help of npm start is asked by --help or -h, whatever else is there', (t) => {
  for (const args of [['--help'], ['-h'], ['--unknown', '--help']]) t.true(wantsHelp(args), args.join(' '));
  t.false(wantsHelp(['--fresh']));
});
