/** Each check of `flock-edge doctor` names the planted fault, and no other does. Ecosystem X34, X35, XA4. */
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { networkOf } from '../../../chains/registry.ts';
import type { EvmNetwork } from '../../../chains/evm/network.ts';
import { edgeChecks, runningChecks } from '../../../edge/doctor/checks.ts';
import { ConfigurationError, readConfig } from '../../../edge/config.ts';
import {
  coreFinding,
  diskFinding,
  fileLimitFinding,
  filesFinding,
  processesFinding,
  swapFinding,
  type Machine,
} from '../../../edge/doctor/machine.ts';
import { isMnemonic } from '../../../edge/keystore/keys.ts';
import { openStorage } from '../../../edge/storage/storage.ts';
import { examine, type Examination, type Verdict } from '../../../protocol/node/doctor/examine.ts';
import { startAnvil } from '../../support/anvil.ts';
import { nobodyAt } from '../../support/command.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startSilent } from '../../support/silent-server.ts';
import { OLD_PHRASE } from '../../support/edge/keystores.ts';

const PATIENT_MS = 120_000;
const MACHINE: Machine = {
  limits:
    'Max core file size        0                    0                    bytes\nMax open files  4096  4096  files\n',
  swaps: 'Filename Type Size Used Priority\n',
  locks: '',
};
const KEY = { sandbox: `flk_test_${'k'.repeat(32)}`, live: `flk_live_${'k'.repeat(32)}` };

interface Cloud {
  status: number;
  date: string | null;
  answers: Record<string, unknown>;
}
const page = (content: readonly unknown[]) => ({ content, hasMore: false, next: null, page: 0, size: 200 });
const endpoint = (url: string) => ({ id: '01890000-0000-7000-8000-000000000001', url, status: 'enabled' });
const healthy = (): Cloud => ({
  status: 200,
  date: null,
  answers: {
    '/health/live': { status: 'ok' },
    '/v1/edge/lease': { state: 'held', epoch: 4, holder: 'ses_1', expiresAt: null },
    '/v1/edge/readiness': page([{ chain: 'eth', state: 'ready', reason: null }]),
    '/v1/webhooks': page([endpoint('https://192.0.2.10/hook')]),
    '/v1/treasury/sweeps/policies': page([{ chain: 'eth', enabled: true, pausedAt: null }]),
  },
});

const cloud = { now: healthy() };
const server = createServer((request, response) => {
  const { status, date, answers } = cloud.now;
  const data = answers[new URL(request.url!, 'http://x').pathname];
  const code = status === 200 && data === undefined ? 404 : status;
  response.writeHead(code, { 'content-type': 'application/json', ...(date === null ? {} : { date }) });
  const refusal = { code: 'UNAUTHORIZED', message: '', details: {} };
  response.end(JSON.stringify(code === 200 ? { success: true, data } : { success: false, error: refusal }));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const cloudUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
test.after.always(() => {
  server.closeAllConnections();
  server.close();
});

/** Settings of an edge whose directory an edge has used. */
function settings(environment: 'sandbox' | 'live' = 'sandbox'): Record<string, string> {
  const folder = newDirectory();
  const [dataDir, phrase, key] = [join(folder, 'edge'), join(folder, 'phrase'), join(folder, 'key')];
  mkdirSync(dataDir, { mode: 0o700 });
  openStorage(dataDir).close();
  for (const [file, text] of [
    [phrase, OLD_PHRASE],
    [key, KEY[environment]],
  ] as const)
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
  return {
    CLOUD_URL: cloudUrl,
    API_KEY_FILE: key,
    EDGE_DATA_DIR: dataDir,
    EDGE_CHAINS: 'eth',
    MNEMONIC_FILE: phrase,
    EDGE_SPEND_CAP_ETH: '1',
    EDGE_WEBHOOK_ALLOWLIST: '192.0.2.0/24',
  };
}

async function looked(env: Record<string, string>, machine = MACHINE): Promise<Examination> {
  let read;
  try {
    read = readConfig(env, isMnemonic);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    read = error.problems;
  }
  return examine(edgeChecks(read, machine), PATIENT_MS);
}
const noted = ({ checks }: Examination): [string, Verdict][] =>
  checks.filter(({ verdict }) => verdict !== 'ok').map(({ id, verdict }) => [id, verdict]);
const saysOnly = async (
  t: ExecutionContext,
  env: Record<string, string>,
  [check, verdict, says]: readonly [string, Verdict, RegExp],
  machine = MACHINE,
): Promise<void> => {
  const examination = await looked(env, machine);
  t.deepEqual(noted(examination), [[check, verdict]]);
  const { seen, remedy } = examination.checks.find(({ id }) => id === check)!;
  t.regex(seen, says);
  t.truthy(remedy);
  t.false(JSON.stringify(examination).includes('kkkk'));
};

test.serial('ecosystem X34 nothing is said of a healthy edge, and nothing in its directory is changed', async (t) => {
  cloud.now = healthy();
  const env = settings();
  const before = readdirSync(env['EDGE_DATA_DIR']!);
  const examination = await looked(env);
  t.deepEqual(noted(examination), []);
  t.is(examination.verdict, 'ok');
  t.deepEqual(readdirSync(env['EDGE_DATA_DIR']!), before);
});

test.serial(
  'ecosystem X35 planted: settings that are not understood are all named, and the rest is not known',
  async (t) => {
    cloud.now = healthy();
    const examination = await looked({ ...settings(), EDGE_PORT: 'x', EDGE_CHAINS: 'doge' });
    t.deepEqual(noted(examination), [
      ['settings', 'fail'],
      ['everything_else', 'unknown'],
    ]);
    t.regex(examination.checks[0]!.seen, /^2 to correct: .*EDGE_(PORT|CHAINS).*EDGE_(PORT|CHAINS)/);
  },
);

test.serial('ecosystem X35 planted: a keystore that does not open', async (t) => {
  cloud.now = healthy();
  const { MNEMONIC_FILE: _, ...rest } = settings();
  const [file, passphrase] = [join(newDirectory(), 'keys.flock'), join(newDirectory(), 'passphrase')];
  writeFileSync(file, '{}', { mode: 0o600 });
  writeFileSync(passphrase, 'no such passphrase\n', { mode: 0o600 });
  const env = { ...rest, EDGE_KEYSTORE_FILE: file, EDGE_KEYSTORE_PASSPHRASE_FILE: passphrase };
  await saysOnly(t, env, ['keystore', 'fail', /^EDGE_KEYSTORE_FILE: /]);
});

test.serial('ecosystem X35 planted: modes, a damaged journal, one of a newer edge, no directory', async (t) => {
  cloud.now = healthy();
  const open = settings();
  chmodSync(join(open['EDGE_DATA_DIR']!, 'edge.db'), 0o644);
  await saysOnly(t, open, ['files', 'fail', /others may read 1 of its files: edge\.db \(644\)/]);
  chmodSync(join(open['EDGE_DATA_DIR']!, 'edge.db'), 0o600);
  chmodSync(open['EDGE_DATA_DIR']!, 0o755);
  await saysOnly(t, open, ['files', 'warn', /others may look into the directory \(755\)/]);
  chmodSync(open['EDGE_DATA_DIR']!, 0o777);
  await saysOnly(t, open, ['files', 'fail', /others may write into the directory/]);
  const newer = settings();
  const database = new DatabaseSync(join(newer['EDGE_DATA_DIR']!, 'edge.db'));
  database.exec('pragma user_version = 999');
  database.close();
  await saysOnly(t, newer, ['journal', 'fail', /a newer edge wrote it/]);
  const older = settings();
  const written = openStorage(older['EDGE_DATA_DIR']!);
  written.setSetting('written', 'after the copy');
  written.close();
  const copy = new DatabaseSync(join(older['EDGE_DATA_DIR']!, 'edge.db'));
  copy.exec('update commits set n = 0');
  copy.close();
  await saysOnly(t, older, ['journal', 'fail', /lost its last writes/]);
  const damaged = settings();
  writeFileSync(join(damaged['EDGE_DATA_DIR']!, 'edge.db'), 'x'.repeat(9_000), { mode: 0o600 });
  const found = await looked(damaged);
  t.like(
    found.checks.find(({ id }) => id === 'journal'),
    { verdict: 'fail', seen: 'edge.db is damaged' },
  );
  t.like(
    found.checks.find(({ id }) => id === 'outbox'),
    { verdict: 'unknown' },
  );
  const absent = await looked({ ...settings(), EDGE_DATA_DIR: join(newDirectory(), 'none') });
  t.deepEqual(
    noted(absent).map(([id]) => id),
    ['files', 'journal', 'outbox', 'disk'],
  );
});

test.serial('ecosystem X35 planted: an outbox that is stuck, that waits, and writes that were set aside', async (t) => {
  cloud.now = healthy();
  const write = (sql: string, ...values: (string | number)[]): Record<string, string> => {
    const env = settings();
    const database = new DatabaseSync(join(env['EDGE_DATA_DIR']!, 'edge.db'));
    database.prepare(sql).run(...values);
    database.close();
    return env;
  };
  const into = 'insert into outbox (kind, subject, body, tries, last_code, created_at_ms) values (?, ?, ?, ?, ?, ?)';
  const stuck = write(into, 'attempt', 'dlv_1/1', '{}', 3, 'CHAIN_UNAVAILABLE', Date.now());
  await saysOnly(t, stuck, ['outbox', 'fail', /attempt \(CHAIN_UNAVAILABLE\)/]);
  const old = write(into, 'attempt', 'dlv_1/1', '{}', 0, '', Date.now() - 3_600_000);
  await saysOnly(t, old, ['outbox', 'warn', /1 writes wait, the oldest for 36\d\d s/]);
  const aside = write(
    'insert into outbox_aside (seq, kind, subject, body, tries, last_code, created_at_ms, set_aside_at_ms) values (1, ?, ?, ?, 3, ?, 1, 1)',
    'attempt',
    'dlv_1/1',
    '{}',
    'X',
  );
  await saysOnly(t, aside, ['outbox', 'warn', /1 writes are set aside/]);
});

test.serial(
  'ecosystem X35 planted: a full disk, core files, swap, few files, two processes; and a system that says nothing',
  async (t) => {
    t.is(diskFinding('.', 0.5).verdict, 'ok');
    t.is(diskFinding('.', 0.05).verdict, 'warn');
    t.is(diskFinding('.', 0.01).verdict, 'fail');
    cloud.now = healthy();
    const core = { ...MACHINE, limits: MACHINE.limits!.replace(/size +0/, 'size unlimited') };
    await saysOnly(t, settings(), ['core_files', 'warn', /memory of this process to a core file/], core);
    const few = { ...MACHINE, limits: MACHINE.limits!.replaceAll('4096', '256') };
    await saysOnly(t, settings(), ['file_limit', 'warn', /only 256 files/], few);
    const swaps = { ...MACHINE, swaps: `${MACHINE.swaps}/dev/sda2 partition 1 0 -2\n` };
    t.is(swapFinding(swaps, 'sandbox').verdict, 'ok');
    t.regex(swapFinding(swaps, 'live').seen, /a seed in it/);
    t.is(swapFinding(swaps, 'live').verdict, 'warn');
    const silent: Machine = { limits: null, swaps: null, locks: null };
    const dataDir = settings()['EDGE_DATA_DIR']!;
    for (const finding of [
      coreFinding(silent),
      fileLimitFinding(silent),
      swapFinding(silent, 'live'),
      processesFinding(silent, dataDir),
    ])
      t.is(finding.verdict, 'unknown');
    t.is(filesFinding(dataDir).verdict, 'ok');
  },
);

test.serial(
  'ecosystem X35 planted: two processes have one directory open, as the system lists their locks',
  async (t) => {
    const env = settings();
    const storage = openStorage(env['EDGE_DATA_DIR']!);
    t.teardown(() => storage.close());
    const { ino } = lstatSync(join(env['EDGE_DATA_DIR']!, 'edge.db-shm'));
    const row = (pid: number) => `1: POSIX  ADVISORY  READ ${pid} 00:1b:${ino} 128 128\n`;
    const here = env['EDGE_DATA_DIR']!;
    t.is(processesFinding({ ...MACHINE, locks: row(41) }, here).seen, 'one process runs on it');
    t.is(processesFinding({ ...MACHINE, locks: row(41) + row(process.pid) }, here).verdict, 'ok');
    const two = processesFinding({ ...MACHINE, locks: row(41) + row(42) }, here);
    t.is(two.verdict, 'fail');
    t.regex(two.seen, /2 processes have it open: 41, 42/);
  },
);

test.serial('ecosystem X35 planted: what is wrong at the cloud is named by the check that asks for it', async (t) => {
  const cases: readonly (readonly [(to: Cloud) => void, readonly [string, Verdict, RegExp]])[] = [
    [({ answers }) => Object.assign(answers['/v1/edge/lease']!, { state: 'vacant' }), ['lease', 'fail', /no replica/]],
    [
      (to) => void (to.answers['/v1/edge/readiness'] = page([{ chain: 'eth', state: 'not_ready', reason: 'no_key' }])),
      ['enrolment', 'fail', /1 of 1 chains are not ready: eth no_key/],
    ],
    [
      (to) => void (to.date = new Date(Date.now() + 100_000).toUTCString()),
      ['clock', 'fail', /(9\d|100) s behind the service/],
    ],
    [
      (to) => void (to.answers['/v1/webhooks'] = page([endpoint('https://10.1.2.3/x')])),
      ['targets', 'fail', /1 of 1 endpoints are held back: 10\.1\.2\.3:443 \(private\)/],
    ],
    [
      (to) => void (to.answers['/v1/webhooks'] = page([endpoint('https://nobody.invalid/x')])),
      ['targets', 'fail', /nobody\.invalid:443/],
    ],
    [
      (to) =>
        void (to.answers['/v1/treasury/sweeps/policies'] = page([{ chain: 'bsc', enabled: true, pausedAt: null }])),
      ['sweeps', 'warn', /policies of bsc are on/],
    ],
  ];
  for (const [plant, expected] of cases) {
    cloud.now = healthy();
    plant(cloud.now);
    await saysOnly(t, settings(), expected);
  }
  cloud.now = { ...healthy(), status: 401 };
  const refused = await looked(settings());
  t.deepEqual(
    noted(refused).map(([id, verdict]) => `${id} ${verdict}`),
    ['cloud fail', 'key fail', 'enrolment unknown', 'lease unknown', 'targets unknown', 'sweeps unknown'],
  );
  const away = await looked({ ...settings(), CLOUD_URL: await nobodyAt() });
  t.like(
    away.checks.find(({ id }) => id === 'cloud'),
    { verdict: 'fail', seen: 'nothing answers (ECONNREFUSED)' },
  );
  t.is(noted(away).filter(([, verdict]) => verdict === 'unknown').length, 6);
});

test.serial('ecosystem X35 planted: a node of another chain, one that stands still, and nobody', async (t) => {
  cloud.now = healthy();
  const eth = networkOf('eth') as EvmNetwork;
  const [own, other] = [await startAnvil(t, eth), await startAnvil(t, { ...eth, chainId: 5n as never })];
  await own.mine();
  const env = (...urls: string[]) => ({ ...settings('live'), EDGE_VERIFY_RPC_ETH: urls.join(',') });
  t.deepEqual(noted(await looked(env(own.url))), []);
  await saysOnly(t, env(own.url, other.url), ['verify_node_eth', 'fail', /node 2 is not usable/]);
  await saysOnly(t, env('http://127.0.0.1:9', own.url), ['verify_node_eth', 'fail', /node 1 is not usable/]);
  const still = await startAnvil(t, eth, { args: ['--timestamp', '1700000000'] });
  await saysOnly(t, env(still.url), ['verify_node_eth', 'warn', /node 1 is at 0, \d{7,} s old/]);
});

test('ecosystem X36 a check that is given up asks the cloud, and a node, nothing any more', async (t) => {
  const silent = await startSilent(t);
  const env = { ...settings('live'), CLOUD_URL: silent.url, EDGE_VERIFY_RPC_ETH: silent.url };
  const { checks } = await examine(edgeChecks(readConfig(env, isMnemonic), MACHINE));
  await silent.left();
  t.true(silent.taken() > 0);
  const isAsked = /^(?:cloud|clock|key|enrolment|lease|targets|sweeps|verify_node_eth)$/;
  t.true(
    checks.every(({ id, verdict }) => isAsked.test(id) === (verdict !== 'ok')),
    JSON.stringify(checks),
  );
});

test('ecosystem X36 an edge that runs looks by the same checks, but for those that its running answers', (t) => {
  const read = readConfig({ ...settings('live'), EDGE_VERIFY_RPC_ETH: 'http://127.0.0.1:9' }, isMnemonic);
  const running = runningChecks(read.config, MACHINE).map(({ id }) => id);
  const all = edgeChecks(read, MACHINE).map(({ id }) => id);
  t.deepEqual(
    all.filter((id) => !running.includes(id)),
    ['settings', 'keystore', 'journal'],
  );
  t.deepEqual(
    running.filter((id) => !all.includes(id)),
    [],
  );
});

test('ecosystem X36 an edge that runs counts itself among the processes on its directory', async (t) => {
  const env = settings();
  const storage = openStorage(env['EDGE_DATA_DIR']!);
  t.teardown(() => storage.close());
  const { ino } = lstatSync(join(env['EDGE_DATA_DIR']!, 'edge.db-shm'));
  const row = (pid: number) => `1: POSIX  ADVISORY  READ ${pid} 00:1b:${ino} 128 128\n`;
  const processesOf = async (locks: string) => {
    const checks = runningChecks(readConfig(env, isMnemonic).config, { ...MACHINE, locks });
    return (await examine(checks.filter(({ id }) => id === 'processes'))).checks[0]!;
  };
  t.is((await processesOf(row(process.pid))).verdict, 'ok');
  t.is((await processesOf(row(process.pid) + row(process.pid + 1))).verdict, 'fail');
});
