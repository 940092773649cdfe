/** The edge's process: how it refuses to start, how it drains, and what it never writes anywhere. */
import { execFile, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../../protocol/node/ids.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { builtFor, RECEIVER, transactionFor, type Wanted } from '../../support/edge/built.ts';
import { startEdgeProcess } from '../../support/edge/edge-process.ts';
import { API_KEYS, ask, eventually, FIRST, mintIn, PHRASE } from '../../support/edge/edges.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startReceiver } from '../../support/edge/receivers.ts';

async function newCloud(t: ExecutionContext): Promise<HostileCloud> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  return cloud;
}

test('§5.1 a process with a wrong configuration ends at once with code 78 and every problem on standard error', async (t) => {
  const edge = await startEdgeProcess(t, {
    cloudUrl: 'nonsense',
    dataDir: newDirectory(),
    waits: false,
    env: { API_KEY: 'loc_live_CANARYCANARYCANARYCANARY', MNEMONIC: 'CANARY words', EDGE_SPEND_CAP_ETH: '-1' },
  });
  t.is((await edge.exited).code, 78);
  for (const name of ['API_KEY', 'CLOUD_URL', 'MNEMONIC', 'EDGE_SPEND_CAP_ETH'])
    t.regex(edge.output(), new RegExp(`- ${name}: `));
  t.notRegex(edge.output(), /CANARY/);
});

test('a port in use, a data directory of the other environment and one of a newer edge are told, and end the process', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await new Promise((resolve) => taken.once('listening', resolve));
  const port = (taken.address() as { port: number }).port;
  const { url: cloudUrl } = await newCloud(t);
  const busy = await startEdgeProcess(t, {
    cloudUrl,
    dataDir: newDirectory(),
    waits: false,
    env: { EDGE_PORT: String(port) },
  });
  t.not((await busy.exited).code, 0);
  t.regex(busy.output(), new RegExp(`EDGE_PORT: port ${port} is in use`));

  const dataDir = newDirectory();
  const live = await startEdgeProcess(t, { cloudUrl, dataDir });
  live.kill('SIGTERM');
  t.is((await live.exited).code, 0);
  const sandbox = await startEdgeProcess(t, { cloudUrl, dataDir, waits: false, env: { API_KEY: API_KEYS.sandbox } });
  t.is((await sandbox.exited).code, 78);
  t.regex(sandbox.output(), /EDGE_DATA_DIR: belongs to a live edge/);

  const newer = newDirectory();
  const database = new DatabaseSync(join(newer, 'edge.db'));
  database.exec('pragma user_version = 99');
  database.close();
  const old = await startEdgeProcess(t, { cloudUrl, dataDir: newer, waits: false });
  t.not((await old.exited).code, 0);
  t.regex(old.output(), /written by a newer edge/);

  const unwritable = await startEdgeProcess(t, { cloudUrl, dataDir: join(dataDir, 'edge.db'), waits: false });
  t.not((await unwritable.exited).code, 0);
  t.regex(unwritable.output(), /EDGE_DATA_DIR: .* Next: name a directory/);
});

test('SIGTERM: what is in flight is answered, new requests get 503, the process ends with 0 within 10 s', async (t) => {
  const cloud = await newCloud(t);
  const receiver = await startReceiver(t, (response) => setTimeout(() => response.end(), 500));
  const dataDir = newDirectory();
  const localKey = mintIn(dataDir, 'live');
  const edge = await startEdgeProcess(t, { cloudUrl: cloud.url, dataDir, localKey });
  await eventually('the stream is up', () => cloud.streams === 1);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  cloud.on('GET /v1/addresses', async () => {
    await held;
    return { data: { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0 } };
  });
  const inFlight = edge.ask('GET', '/v1/addresses');
  await eventually('the cloud has the request', () => cloud.countOf('GET /v1/addresses') === 1);
  await cloud.deliver([
    { deliveryId: 'dlv_1', attempt: 1, url: receiver.url, headers: {}, body: '{}', timeoutMs: 5_000 },
  ]);
  await eventually('the receiver has the delivery', () => receiver.hits.length >= 1);
  const startedMs = performance.now();
  edge.kill('SIGTERM');
  await eventually('it is stopping', () => edge.output().includes('"stopping"'));
  release();
  t.is((await inFlight).status, 200);
  t.is((await edge.exited).code, 0);
  t.true(performance.now() - startedMs < 60_000);
  t.deepEqual(
    cloud.attempts.map(({ statusCode }) => statusCode),
    [200],
    'the attempt in flight was finished and reported',
  );
});

test('SIGTERM while the cloud answers nothing: the process ends with 0, soon', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as { port: number };
  const edge = await startEdgeProcess(t, { cloudUrl: `http://127.0.0.1:${port}`, dataDir: newDirectory() });
  const startedMs = performance.now();
  edge.kill('SIGTERM');
  t.is((await edge.exited).code, 0);
  t.true(performance.now() - startedMs < 60_000);
});

test('§5.10 settings that are, or may carry, a credential are out of the environment of a running edge', async (t) => {
  const tells =
    "process.on('SIGUSR2', () => process.stdout.write('NAMES ' + Object.keys(process.env).sort().join(' ') + '\\n'))";
  const edge = await startEdgeProcess(t, {
    cloudUrl: (await newCloud(t)).url,
    dataDir: newDirectory(),
    env: {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(tells)}`,
      MNEMONIC_PASSPHRASE: 'x',
      EDGE_SPEND_LEDGER: newDirectory(),
      POD_HINT: 'kept',
      EDGE_VERIFY_RPC_ETH: 'https://node.example/CANARY',
      EDGE_VERIFY_RPC_BTC: 'https://user:CANARY@node.example',
    },
  });
  edge.kill('SIGUSR2');
  await eventually('it has told the names', () => /NAMES .*\n/.test(edge.output()));
  const names = /NAMES (.*)\n/.exec(edge.output())![1]!.split(' ');
  t.deepEqual(
    names.filter((name) =>
      /^(MNEMONIC|API_KEY|EDGE_(SPEND_LEDGER|VERIFY_RPC|KEYSTORE_PASSPHRASE|PKCS11_PIN))/.test(name),
    ),
    [],
  );
  t.true(names.includes('POD_HINT'));
});

test('the edge ends when the process that started it is gone', async (t) => {
  const edge = await startEdgeProcess(t, { cloudUrl: (await newCloud(t)).url, dataDir: newDirectory() });
  edge.closeChannel();
  t.is((await edge.exited).code, 0);
});

test('§5.10 canaries: no phrase, seed, extended key, API key, local key or webhook body in logs, answers or on disk', async (t) => {
  const cloud = await newCloud(t);
  const receiver = await startReceiver(t);
  const dataDir = newDirectory();
  const localKey = mintIn(dataDir, 'live');
  const edge = await startEdgeProcess(t, {
    cloudUrl: cloud.url,
    dataDir,
    localKey,
    env: { LOG_LEVEL: 'debug', MNEMONIC_PASSPHRASE: 'CANARY-PASSPHRASE' },
  });
  await eventually('the stream is up', () => cloud.streams === 1);
  const answers: string[] = [];
  const note = async (method: string, path: string, body?: unknown) =>
    answers.push((await edge.ask(method, path, body)).text);
  const minted = await edge.ask('POST', '/v1/edge/keys', { label: 'CANARY-LABEL' });
  const newKey = String(minted.data?.['key']);
  const wanted: Wanted = { from: FIRST, to: RECEIVER, amount: 1n };
  cloud.on('POST /v1/transactions/unsigned', () => ({
    data: builtFor(wanted, transactionFor(wanted), newId('txn', 1)),
    status: 201,
  }));
  await note('POST', '/v1/transactions/unsigned', { chain: 'eth', from: FIRST, to: RECEIVER, amount: '1' });
  cloud.on('GET /v1/balances', () => ({ raw: 'CANARY no json', status: 500 }));
  await edge.ask('GET', '/v1/balances');
  await note('POST', '/v1/addresses', { chain: 'eth', userRef: 'u', label: PHRASE });
  await note('POST', `/v1/addresses?x=${encodeURIComponent(PHRASE)}`, {});
  await note('POST', '/v1/addresses', '{"chain": "CANARY');
  await cloud.deliver([
    {
      deliveryId: 'dlv_1',
      attempt: 1,
      url: `${receiver.url}/CANARY`,
      headers: { 'webhook-signature': 'v1,CANARY' },
      body: '{"x":"CANARY-BODY"}',
      timeoutMs: 1_000,
    },
  ]);
  await eventually('the attempt is recorded', () => cloud.attempts.length === 1);
  answers.push(
    (await ask(edge.url, { method: 'GET', path: '/' })).text,
    (await ask(edge.url, { method: 'GET', path: '/metrics' })).text,
  );
  edge.kill('SIGTERM');
  await edge.exited;

  const xpubs = cloud.syncs[0]!.keys.map(({ xpub }) => xpub);
  t.true(xpubs.length > 0 && xpubs.every((xpub) => xpub.startsWith('xpub')));
  const secrets = [
    'abandon abandon',
    'CANARY',
    API_KEYS.live,
    API_KEYS.live.slice(9),
    localKey,
    localKey.slice(9),
    newKey,
    newKey.slice(9),
    ...xpubs,
    'xprv',
    Buffer.from(PHRASE).toString('base64').slice(0, 40),
    Buffer.from(PHRASE).toString('hex').slice(0, 40),
  ];
  for (const secret of secrets) {
    t.false(edge.output().includes(secret), `log: ${secret.slice(0, 12)}`);
    if (secret !== 'CANARY') t.false(answers.join('\n').includes(secret), `answers: ${secret.slice(0, 12)}`);
  }
  for (const file of readdirSync(dataDir)) {
    const text = readFileSync(join(dataDir, file)).toString('latin1');
    for (const secret of secrets)
      if (secret !== 'CANARY') t.false(text.includes(secret), `${file}: ${secret.slice(0, 12)}`);
    t.false(text.includes('CANARY-BODY'), file);
    t.is(statSync(join(dataDir, file)).mode & 0o077, 0, `${file} is its owner's alone`);
  }
});

test('the command line mints, lists and revokes while the edge runs; the running one takes it up at once and shares it', async (t) => {
  const cloud = await newCloud(t);
  const dataDir = newDirectory();
  const command = fileURLToPath(new URL('../../../edge/cli/flock-edge.ts', import.meta.url));
  const run = async (...args: string[]) =>
    JSON.parse(
      (
        await promisify(execFile)(process.execPath, [command, 'local-keys', ...args, '--data-dir', dataDir], {
          env: { PATH: process.env['PATH'] ?? '', API_KEY: API_KEYS.live },
        })
      ).stdout
        .trim()
        .split('\n')
        .at(-1)!,
    ) as Record<string, string>;
  const first = await run('mint', '--label', 'before the edge ever ran');
  t.deepEqual(Object.keys(first), ['id', 'label', 'key', 'prefix', 'mintedBy', 'expiresAt']);
  const edge = await startEdgeProcess(t, { cloudUrl: cloud.url, dataDir });
  const statusWith = async (key: string) =>
    (await ask(edge.url, { method: 'GET', path: '/v1/edge/keys', headers: { 'x-api-key': key } })).status;
  t.is(await statusWith(first['key']!), 200);
  const second = await run('mint', '--label', 'while it runs');
  t.is(await statusWith(second['key']!), 200);
  await run('revoke', first['id']!);
  t.is(await statusWith(first['key']!), 401);
  t.is((await run('list'))['label'], 'while it runs');
  cloud.push('lease', { role: 'leader', leaseEpoch: 1, leaseTtlMs: 30_000 }); // Brings the next heartbeat forward.
  await eventually(
    'both records, and the revocation, are with the cloud',
    () =>
      cloud.localKeys.some(({ id }) => id === second['id']) &&
      cloud.localKeys.some(({ id, revokedAtMs }) => id === first['id'] && revokedAtMs !== null),
  );
  t.false(JSON.stringify(cloud.localKeys).includes(second['key']!));
});

test('found F9 SIGUSR1 opens no inspector, with the flag of the start commands and without it', async (t) => {
  const { url: cloudUrl } = await newCloud(t);
  // The witness: what the signal does to a process that has closed no door.
  const open = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => void open.kill('SIGKILL'));
  await new Promise((resolve) => open.stdout.once('data', resolve));
  const told = new Promise<string>((resolve) => open.stderr.once('data', (chunk: Buffer) => resolve(chunk.toString())));
  open.kill('SIGUSR1');
  const where = /ws:\/\/(\S+?)\//.exec(await told)![1]!;
  open.kill('SIGKILL');
  await new Promise((resolve) => open.once('exit', resolve));
  for (const options of [[], ['--disable-sigusr1']]) {
    const edge = await startEdgeProcess(t, { cloudUrl, dataDir: newDirectory(), options });
    for (let signal = 0; signal < 3; signal += 1) {
      edge.kill('SIGUSR1');
      t.is((await edge.ask('GET', '/v1/edge/health')).status, 200, 'it goes on');
    }
    await t.throwsAsync(fetch(`http://${where}/json/list`), undefined, 'nobody listens where the witness did');
    t.notRegex(edge.output(), /Debugger|inspector/i);
  }
});

test('found F9 a start that leaves a door open ends with code 78 and names it', async (t) => {
  const { url: cloudUrl } = await newCloud(t);
  for (const [options, env, named] of [
    [['--inspect=127.0.0.1:0'], {}, /- --inspect: /],
    [[], { NODE_OPTIONS: '--heapsnapshot-signal=SIGUSR2' }, /- NODE_OPTIONS: take --heapsnapshot-signal out/],
    [[], { NODE_OPTIONS: '"--ins\\pect=127.0.0.1:0"' }, /- NODE_OPTIONS: take --inspect out/],
    [[], { NODE_DEBUG: 'http' }, /- NODE_DEBUG: unset it/],
  ] as const) {
    const edge = await startEdgeProcess(t, { cloudUrl, dataDir: newDirectory(), options, env, waits: false });
    t.is((await edge.exited).code, 78);
    t.regex(edge.output(), named);
  }
});
