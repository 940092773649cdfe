/** `GET /v1/settings/edge-setup`: what it answers is pasted into a shell, and an edge enrols. Spec §4.3; issue 4.1. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { readConfig } from '../../edge/config.ts';
import { isMnemonic } from '../../edge/keystore/keys.ts';
import { edgeSetupOf } from '../../gateway/http/edge/edge-setup.ts';
import { createClient } from '../../protocol/client.ts';
import { PHRASE } from '../support/edge/edges.ts';
import { startTestCloud } from '../support/gateway.ts';
import { ROOT } from '../support/tree.ts';
import { freePort } from '../../developer/ports.ts';

const ENROL_MS = 60_000;
const LOOK_MS = 200;

/** A directory to paste in: the checkout's scripts and code, a phrase, and a home of its own. */
function pasteDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'flock-paste-'));
  for (const name of ['package.json', 'node_modules', 'edge', 'protocol', 'chains', 'developer'])
    symlinkSync(join(ROOT, name), join(directory, name));
  writeFileSync(join(directory, 'phrase'), `${PHRASE}\n`, { mode: 0o600 });
  return directory;
}

test('issue 4.1: the command for a checkout, pasted into a shell, makes an edge that enrols with a real cloud', async (t) => {
  const [cloudPort, edgePort] = [await freePort(), await freePort()];
  const cloud = await startTestCloud({ CLOUD_PORT: String(cloudPort) });
  const directory = pasteDirectory();
  t.teardown(async () => {
    await cloud.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const { owner, sandbox } = await cloud.organization();
  const asOwner = createClient({ baseUrl: cloud.url, bearer: await cloud.signIn(owner), environment: 'sandbox' });
  const { checkoutCommand } = await asOwner.must('getEdgeSetup');
  const env = {
    PATH: [join(ROOT, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
    HOME: directory,
    EDGE_PORT: String(edgePort),
    FLOCK_API_KEY: sandbox.apiKey,
  };
  let output = '';
  const shell = spawn('sh', ['-c', checkoutCommand], {
    cwd: directory,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [shell.stdout, shell.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  let ended: number | null = null;
  const gone = new Promise<void>((resolve) =>
    shell.once('exit', (code) => {
      ended = code ?? -1;
      resolve();
    }),
  );
  t.teardown(async () => {
    if (ended === null) process.kill(-shell.pid!, 'SIGTERM');
    await gone;
  });
  const deadline = performance.now() + ENROL_MS;
  for (let state = ''; state !== 'ready';) {
    if (ended !== null || performance.now() > deadline) return t.fail(`no edge enrolled (${ended}):\n${output}`);
    await pause(LOOK_MS);
    state = (await sandbox.client.must('getEdgeReadiness')).content.find(({ chain }) => chain === 'eth')!.state;
  }
  const health = await fetch(`http://127.0.0.1:${edgePort}/v1/edge/health`);
  t.is(health.status, 200, 'it listens where the setting says');
  t.truthy((await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } })).address);
  t.false(output.includes(sandbox.apiKey) || output.includes(PHRASE), 'it says neither the key nor the phrase');
});

test('issue 4.1: without the API key either command names what is missing and starts nothing', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'flock-paste-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const environment of ['live', 'sandbox'] as const) {
    const { command, checkoutCommand } = edgeSetupOf(environment, 'https://flock.example.com');
    for (const pasted of [command, checkoutCommand]) {
      const { status, stderr } = spawnSync('sh', ['-c', pasted], {
        cwd: directory,
        env: { PATH: process.env['PATH'], HOME: directory },
        encoding: 'utf8',
      });
      t.not(status, 0);
      t.true(stderr.includes(`export FLOCK_API_KEY=flk_${environment === 'live' ? 'live' : 'test'}_`), stderr);
    }
  }
});

/** What a container gets of the pasted command: a `docker` that writes down its arguments stands in for the engine. */
function pastedToDocker(t: import('ava').ExecutionContext, environment: 'live' | 'sandbox', publicUrl: string) {
  const directory = mkdtempSync(join(tmpdir(), 'flock-paste-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const script =
    '#!/bin/sh\nfor word in "$@"; do printf "%s\\n" "$word"; done > "$HOME/argv"; printf "%s" "$API_KEY" > "$HOME/key"\n';
  writeFileSync(join(directory, 'docker'), script);
  chmodSync(join(directory, 'docker'), 0o755);
  const apiKey = `flk_${environment === 'live' ? 'live' : 'test'}_${'a'.repeat(39)}`;
  const env = { PATH: [directory, process.env['PATH']].join(delimiter), HOME: directory, FLOCK_API_KEY: apiKey };
  const { status, stderr } = spawnSync('sh', ['-c', edgeSetupOf(environment, publicUrl).command], {
    cwd: directory,
    env,
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
  const words = readFileSync(join(directory, 'argv'), 'utf8').trimEnd().split('\n');
  const after = (flag: string) => words.flatMap((word, index) => (words[index - 1] === flag ? [word] : []));
  return { directory, words, apiKey, after, key: readFileSync(join(directory, 'key'), 'utf8') };
}

for (const [environment, publicUrl] of [
  ['live', 'https://flock.example.com'],
  ['live', 'http://cloud:8080'],
  ['live', 'http://127.0.0.1:8080'],
  ['sandbox', 'http://cloud:8080'],
  ['sandbox', 'http://127.0.0.1:8080'],
  ['sandbox', "https://it's.example"],
] as const) {
  test(`issue 4.1: the container of the pasted Docker command gets settings that an edge takes: ${environment} ${publicUrl}`, (t) => {
    const { words, apiKey, after, key, directory } = pastedToDocker(t, environment, publicUrl);
    t.is(words[0], 'run');
    t.deepEqual(
      words.slice(-4),
      ['flock-edge', 'node', '--disable-sigusr1', 'edge/main.ts'],
      'what compose.yaml starts',
    );
    t.false(
      words.some((word) => word.includes(apiKey)),
      'the key is no argument: it would stand in the process list',
    );
    t.is(key, apiKey);
    const settings = Object.fromEntries(
      after('-e').map((setting) => {
        const [name, ...value] = setting.split('=');
        return [name!, value.length === 0 ? key : value.join('=')];
      }),
    );
    const mounts = after('--mount').map(
      (mount) => Object.fromEntries(mount.split(',').map((part) => part.split('='))) as Record<string, string>,
    );
    const secret = mounts.find(({ target }) => target === settings['MNEMONIC_FILE'])!;
    t.deepEqual(secret, {
      type: 'bind',
      source: `${directory}/phrase`,
      target: settings['MNEMONIC_FILE'],
      readonly: undefined,
    } as never);
    t.true(mounts.some(({ type, target }) => type === 'volume' && target === settings['EDGE_DATA_DIR']));
    const phraseFile = join(directory, 'phrase');
    writeFileSync(phraseFile, PHRASE, { mode: 0o600 });
    const { config } = readConfig({ ...settings, MNEMONIC_FILE: phraseFile }, isMnemonic);
    t.is(config.environment, environment);
    t.is(new URL(config.cloudUrl).origin, new URL(publicUrl).origin);
    const published = after('-p').map((mapping) => Number(mapping.split(':').at(-1)));
    if (after('--network').length === 0) t.deepEqual([published, config.host], [[config.port], '0.0.0.0']);
    else
      t.deepEqual(
        [after('--network'), config.host],
        [['host'], '127.0.0.1'],
        'a cloud on this machine is reached by its own network',
      );
  });
}

test('issue 4.1: only a live edge on the way over http to another machine is told to allow it, in both commands, and why', (t) => {
  const table: [Parameters<typeof edgeSetupOf>, boolean][] = [
    [['live', 'http://cloud:8080'], true],
    [['live', 'http://10.0.0.7'], true],
    [['live', 'https://cloud'], false],
    [['live', 'http://localhost:8080'], false],
    [['live', 'http://[::1]:8080'], false],
    [['sandbox', 'http://cloud:8080'], false],
  ];
  for (const [[environment, publicUrl], isPlain] of table) {
    const { command, checkoutCommand, variables } = edgeSetupOf(environment, publicUrl);
    t.is(command.includes(' -e EDGE_PLAIN_HTTP=allowed '), isPlain, publicUrl);
    t.is(checkoutCommand.includes(' EDGE_PLAIN_HTTP=allowed '), isPlain, publicUrl);
    t.is(
      variables.some(({ name, value }) => name === 'EDGE_PLAIN_HTTP' && value === 'allowed'),
      isPlain,
      publicUrl,
    );
  }
});
