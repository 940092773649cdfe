/** `flock` as a process, against a server that answers what it is told to. Ecosystem X22–X25. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { commandHome, runCommand, startCommand } from '../support/command.ts';

const CLOUD_KEY = `flk_test_${'k'.repeat(32)}`;
const EDGE_KEY = `loc_test_${'k'.repeat(32)}`;

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server for one test. */
async function serving(t: ExecutionContext, answer: Answer): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      bodies.push(`${request.method} ${request.url} ${body}`.trim());
      answer(request, response, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

const says =
  (status: number, value: object): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  };
const fine = (data: unknown): Answer => says(200, { success: true, data });
const refused = (status: number, code: string): Answer =>
  says(status, { success: false, error: { code, message: 'no', details: { reason: 'planted' } } });

function home(t: ExecutionContext) {
  const made = commandHome();
  t.teardown(made.remove);
  return made;
}

test('ecosystem X24 each kind of end has its exit code; with --json the failure is a document on standard output', async (t) => {
  const { env } = home(t);
  const ends: readonly (readonly [Answer, number, string])[] = [
    [fine({ content: [], next: null }), 0, ''],
    [refused(401, 'UNAUTHORIZED'), 3, 'UNAUTHORIZED'],
    [refused(403, 'FORBIDDEN'), 3, 'FORBIDDEN'],
    [refused(404, 'NOT_FOUND'), 4, 'NOT_FOUND'],
    [refused(423, 'OF_A_NEWER_SERVICE'), 4, 'OF_A_NEWER_SERVICE'],
    [says(200, { html: true }), 5, 'CLIENT_NETWORK'],
  ];
  for (const [answer, code, refusal] of ends) {
    const { url } = await serving(t, answer);
    const as = { env: { ...env, FLOCK_URL: url, FLOCK_API_KEY: CLOUD_KEY } };
    const ended = await runCommand(['api', 'createAddress', '--chain', 'eth', '--user-ref', '7', '--json'], as);
    t.is(ended.code, code, ended.err);
    const document = JSON.parse(ended.out) as { error?: { code: string } };
    t.is(document.error?.code, refusal === '' ? undefined : refusal);
    t.is(ended.err === '', refusal === '');
    t.false(`${ended.out}${ended.err}`.includes(CLOUD_KEY));
  }
  const nobody = { env: { ...env, FLOCK_URL: 'http://127.0.0.1:9', FLOCK_API_KEY: CLOUD_KEY } };
  t.is((await runCommand(['api', 'mintLocalKey', '--label', 'x'], nobody)).code, 2, 'an edge alone serves it');
  t.is((await runCommand(['whoami'], nobody)).code, 5);
});

test('ecosystem X24 an interrupted call ends at once with 130', async (t) => {
  let asked: (() => void) | undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const { url } = await serving(t, () => asked!()); // never answers
  const { child, ended } = startCommand(['whoami'], { env: { FLOCK_URL: url, FLOCK_API_KEY: CLOUD_KEY } });
  await isAsked;
  child.kill('SIGINT');
  t.is((await ended).code, 130);
});

test('ecosystem X23 standard output is the answer alone, and closed it ends the command with one sentence', async (t) => {
  const { url } = await serving(t, fine({ content: Array.from({ length: 5_000 }, (_, n) => ({ n })), next: null }));
  const env = { FLOCK_URL: url, FLOCK_API_KEY: CLOUD_KEY };
  const { out, err, code } = await runCommand(['api', 'listAddresses', '--all', '--size', '200'], { env });
  t.is(code, 0);
  t.is(err, '');
  t.deepEqual(JSON.parse(out.trimEnd().split('\n').at(-1)!), { n: 4_999 });
  const { child, ended } = startCommand(['api', 'listAddresses', '--all'], { env });
  child.stdout!.destroy();
  const closed = await ended;
  t.is(closed.code, 1);
  t.regex(closed.err, /^standard output was closed before the answer was whole\n/);
});

test('ecosystem X25 fault 31 a key as argument is refused before anything, and is said nowhere', async (t) => {
  const { url, bodies } = await serving(t, fine({}));
  for (const args of [
    ['login', '--url', url, CLOUD_KEY],
    ['api', 'createAddress', `--user-ref=${EDGE_KEY}`],
    ['users', 'create', '--email', CLOUD_KEY, '--help'],
  ]) {
    const { code, out, err } = await runCommand([...args, '--json'], { env: home(t).env });
    t.is(code, 2, args.join(' '));
    t.regex(err, /standard input \(flock login\), in a file \(FLOCK_API_KEY_FILE\) or in a variable \(FLOCK_API_KEY\)/);
    t.false(`${out}${err}`.includes('kkkk'));
    t.like(JSON.parse(out), { error: { code: 'USAGE' } });
  }
  const edge = await runCommand(['local-keys', 'list', EDGE_KEY], { entry: 'edge/cli/flock-edge.ts' });
  t.is(edge.code, 2);
  t.regex(edge.err, /API_KEY_FILE/);
  t.deepEqual(bodies, []);
});

test('ecosystem X25 a profile is a file of its owner: others who may read it, or what is none, are refused by name', async (t) => {
  const { url } = await serving(t, fine({}));
  const { env } = home(t);
  const folder = env['FLOCK_CONFIG_DIR']!;
  const login = await runCommand(['login', '--url', url, '--profile', 'shop'], { env, input: `${CLOUD_KEY}\n` });
  t.is(login.code, 0, login.err);
  t.is(login.out, `profile shop: sandbox, cloud ${url}\n`);
  t.is(statSync(folder).mode & 0o777, 0o700);
  t.is(statSync(join(folder, 'shop.json')).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(folder), ['shop.json'], 'nothing half-written is left');
  const listed = await runCommand(['profiles', '--json'], { env });
  t.deepEqual(JSON.parse(listed.out), { profile: 'shop', url, side: 'cloud', environment: 'sandbox' });
  for (const [path, mode, back] of [
    [join(folder, 'shop.json'), 0o640, 0o600],
    [join(folder, 'shop.json'), 0o604, 0o600],
    [folder, 0o755, 0o700],
  ] as const) {
    chmodSync(path, mode);
    for (const command of ['whoami', 'profiles', 'logout']) {
      const { code, err } = await runCommand([command, '--profile', 'shop'], { env });
      t.is(code, command === 'logout' && path !== folder ? 0 : 2, `${command} ${path} ${mode.toString(8)}`);
      if (code !== 0) t.regex(err, /^PROFILE_READABLE: .*chmod [67]00 /);
      else writeFileSync(path, JSON.stringify({ url, apiKey: CLOUD_KEY }), { mode });
    }
    chmodSync(path, back);
  }
  for (const text of ['{', '[]', '{"url":"http://x"}', 'null']) {
    writeFileSync(join(folder, 'shop.json'), text);
    t.regex((await runCommand(['whoami', '--profile=shop'], { env })).err, /^PROFILE_INVALID: /, text);
  }
  t.is((await runCommand(['logout', '--profile', 'shop'], { env })).code, 0);
  t.false(existsSync(join(folder, 'shop.json')));
  for (const name of ['../shop', '', 'a b', '.x'])
    t.is((await runCommand(['whoami', '--profile', name], { env })).code, 2, name);
});

test('ecosystem X25 login keeps a key only when the service takes it, and asks nothing where no terminal is', async (t) => {
  const { url } = await serving(t, refused(401, 'UNAUTHORIZED'));
  const { env, folder } = home(t);
  const revoked = await runCommand(['login', '--url', url], { env, input: CLOUD_KEY });
  t.is(revoked.code, 3);
  for (const [args, input, reason] of [
    [['--url', url], '', 'NO_KEY'],
    [['--url', url], 'word of mine', 'KEY_FORM'],
    [['--url', url], EDGE_KEY, 'KEY_OF_OTHER_SIDE'],
    [['--edge', url], CLOUD_KEY, 'KEY_OF_OTHER_SIDE'],
    [['--url', url, '--edge', url], EDGE_KEY, 'NO_URL'],
    [[], CLOUD_KEY, 'NO_URL'],
    [['--url', 'ftp://x'], CLOUD_KEY, 'CLIENT_INVALID'],
    [['--dev', '--data-dir', folder], '', 'NO_DEVELOPER_MODE'],
  ] as const) {
    const { code, out, err } = await runCommand(['login', ...args, '--json'], { env, input });
    t.is(code, 2, reason);
    t.regex(err, new RegExp(`^${reason}: `), reason);
    t.like(JSON.parse(out), { error: { code: reason } });
    t.false(`${out}${err}`.includes('word of mine'));
  }
  t.false(existsSync(env['FLOCK_CONFIG_DIR']!));
  const noInput = await runCommand(['login', '--url', url], { env });
  t.is(noInput.code, 2, 'standard input is nothing');
});

test('ecosystem X25 a key of the environment comes before the profile of no name, and two of them are none', async (t) => {
  const { env, folder } = home(t);
  const [first, second] = [await serving(t, fine({})), await serving(t, fine({}))];
  await runCommand(['login', '--url', first.url], { env, input: CLOUD_KEY });
  const file = join(folder, 'key');
  writeFileSync(file, `${CLOUD_KEY}\n`);
  const of = async (more: Record<string, string>, ...args: string[]) =>
    runCommand(['whoami', '--json', ...args], { env: { ...env, ...more } });
  const urlOf = ({ out }: { out: string }) => (JSON.parse(out) as { url: string }).url;
  t.is(urlOf(await of({})), first.url);
  t.is(urlOf(await of({ FLOCK_API_KEY_FILE: file, FLOCK_URL: second.url })), second.url);
  t.is(urlOf(await of({ FLOCK_API_KEY_FILE: file, FLOCK_URL: second.url }, '--profile', 'default')), first.url);
  t.regex((await of({ FLOCK_API_KEY: CLOUD_KEY })).err, /^NO_URL: /);
  t.regex((await of({ FLOCK_API_KEY: CLOUD_KEY, FLOCK_API_KEY_FILE: file })).err, /^TWO_KEYS: /);
  t.regex((await of({ FLOCK_API_KEY_FILE: `${file}s`, FLOCK_URL: 'http://x' })).err, /^KEY_FILE: .*ENOENT/);
  t.regex((await of({ FLOCK_PROFILE: 'other' })).err, /^NO_PROFILE: .* other/);
});

test('ecosystem X2 api: fields are options by both spellings, words of the path need none, and what is wrong is named', async (t) => {
  const { url, bodies } = await serving(t, fine({}));
  const env = { FLOCK_URL: url, FLOCK_API_KEY: CLOUD_KEY };
  const asked = async (line: string, input?: string) => {
    bodies.length = 0;
    const ended = await runCommand(['api', ...line.split(' ')], { env, ...(input === undefined ? {} : { input }) });
    return ended.code === 0 ? bodies.join('\n') : `${ended.code} ${ended.err.trim()}`;
  };
  t.is(
    await asked('createAddress --chain eth --userRef 042 --label null'),
    'POST /v1/addresses {"chain":"eth","userRef":"042","label":null}',
  );
  t.is(await asked('getBalance eth 0xAb'), 'GET /v1/balances/eth/0xAb');
  t.is(await asked('listAddresses --size 5 --user-ref=-1'), 'GET /v1/addresses?size=5&userRef=-1');
  t.is(
    await asked('createWebhook --url http://localhost:9 --events deposit_detected --events deposit_confirmed'),
    'POST /v1/webhooks {"url":"http://localhost:9","events":["deposit_detected","deposit_confirmed"]}',
  );
  t.is(
    await asked('createAddress --json-body - --chain btc', '{"chain":"eth","userRef":"90071992547409931"}'),
    'POST /v1/addresses {"chain":"btc","userRef":"90071992547409931"}',
  );
  t.regex(
    await asked('createAddress --zebra 1'),
    /^2 USAGE: createAddress has no --zebra; it has --chain --user-ref --tag --label\./,
  );
  t.regex(await asked('createAddress --chain zebra --user-ref 1'), /^2 USAGE: --chain must be one of btc, eth/);
  t.regex(await asked('createAddress'), /^2 USAGE: createAddress needs --chain, --user-ref/);
  t.regex(await asked('listAddresses --size many'), /^2 USAGE: --size must be a whole number/);
  t.regex(await asked('getAddress adr_1 adr_2'), /^2 USAGE: getAddress takes 1 words \(id\)/);
  t.regex(await asked('getAddress adr_1 --json-body -', '{}'), /^2 USAGE: getAddress has no body/);
  t.regex(await asked('getAddress adr_1 --all'), /^2 USAGE: getAddress is no list/);
  t.regex(await asked('createAddress --json-body -', '{"chain":'), /^2 USAGE: --json-body: no whole JSON/);
  t.regex(await asked('createAddress --json-body -', '[]'), /^2 USAGE: --json-body: no JSON object/);
  t.regex(await asked('createAddress --json-body missing.json'), /^2 USAGE: --json-body: not read \(ENOENT\)/);
  t.regex(await asked('addresses'), /^2 USAGE: no such operation; there are listAddresses, /);
  t.regex(await asked('constructor'), /^2 USAGE: no such operation/);
});

test('ecosystem X22 help of an operation has every field; nothing of the cloud is loaded for any command of an application', async (t) => {
  const { out, code } = await runCommand(['api', 'createAddress', '--help']);
  t.is(code, 0);
  t.regex(out, /--user-ref {2}TEXT, needed/);
  t.is((await runCommand(['api', '--help'])).code, 0);
  const names = (await runCommand(['api', '--json'])).out.trimEnd().split('\n');
  t.true(names.length > 100);
  const reads = readFileSync(join(import.meta.dirname, '../../clients/cli/commands.ts'), 'utf8');
  t.deepEqual(
    [...reads.matchAll(/import\('([^']+)'\)/g)].filter(([, path]) => !path!.startsWith('./')),
    [],
  );
});

test('ecosystem X33 logs format prints the lines of a process for people, by level and by field', async (t) => {
  const line = (fields: object) => JSON.stringify({ level: 'info', time: 0, pid: 1, hostname: 'h', ...fields });
  const [asked, failed] = [
    line({ msg: 'asked', chain: 'eth' }),
    line({ level: 'error', msg: 'lost', chain: 'eth', n: 2 }),
  ];
  const input = [asked, failed, 'no JSON', '[1]', line({ msg: 'two words', note: 'a b' })].join('\n');
  const shown = async (...args: string[]) => (await runCommand(['logs', 'format', ...args], { input })).out;
  const at = '1970-01-01T00:00:00.000Z';
  t.is(
    await shown(),
    `${at} info  asked chain=eth\n${at} error lost chain=eth n=2\nno JSON\n[1]\n${at} info  two words note="a b"\n`,
  );
  t.is(await shown('--level', 'warn', '--has', 'chain'), `${at} error lost chain=eth n=2\n`);
  t.is(await shown('--has', 'chain=eth', '--has', 'n', '--json'), `${failed}\n`);
  t.is(await shown('--has', 'chain=btc'), '');
  t.regex((await runCommand(['logs', 'format', '--level', 'loud'], { input })).err, /^USAGE: --level must be one of /);
});
