/** `flock` as a process against a real cloud and edge. Ecosystem X22–X36. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { verifyWebhook } from '../../clients/typescript/src/webhooks.ts';
import { commandHome, runCommand, startCommand } from '../support/command.ts';
import { EVENTS, type EventName } from '../../protocol/slugs.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';
import { ROOT } from '../support/tree.ts';

const flock = await openDeveloper();
const { deployment } = flock;
const { env, folder, remove } = commandHome();

test.after.always(async () => {
  await flock.close();
  remove();
});

const json = async (args: readonly string[], input?: string): Promise<unknown> => {
  const { code, out, err } = await runCommand([...args, '--json'], { env, ...(input === undefined ? {} : { input }) });
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${err}`);
  return JSON.parse(out);
};

test.serial('ecosystem X22 login at the cloud and at the edge, and the same operation at both', async (t) => {
  const [cloud, edge] = [deployment.record.sandbox.cloudApiKey, deployment.localApiKey];
  t.like(await json(['login', '--url', deployment.cloudUrl], cloud), { profile: 'default', side: 'cloud' });
  t.like(await json(['login', '--edge', deployment.edgeUrl, '--profile', 'edge'], edge), { side: 'edge' });
  const made = (await json(['api', 'createAddress', '--chain', 'eth', '--user-ref', '042', '--profile', 'edge'])) as {
    id: string;
    userRef: string;
  };
  t.is(made.userRef, '042');
  t.like(await json(['api', 'getAddress', made.id]), { id: made.id, userRef: '042' });
  const refusal = await runCommand(['api', 'getAddress', 'adr_none', '--json'], { env });
  t.is(refusal.code, 4);
  t.like(JSON.parse(refusal.out), { error: { code: 'NOT_FOUND' } });
  const stranger = await runCommand(['login', '--url', deployment.cloudUrl], {
    env,
    input: `${cloud.slice(0, -4)}aaaa`,
  });
  t.is(stranger.code, 3);
  t.like(await json(['whoami']), { environment: 'sandbox', profile: 'default' }, 'the profile before it stays');
});

test.serial('ecosystem X22 login --dev takes what npm start keeps', async (t) => {
  writeFileSync(join(folder, 'seed.json'), JSON.stringify(deployment.record));
  writeFileSync(join(folder, 'local-key.sandbox'), `${deployment.localApiKey}\n`);
  const dev = ['login', '--dev', '--data-dir', folder, '--profile', 'dev'];
  t.like(await json([...dev, '--url', deployment.cloudUrl]), { side: 'cloud', environment: 'sandbox' });
  t.like(await json([...dev, '--edge', deployment.edgeUrl]), { side: 'edge', environment: 'sandbox' });
});

interface Got {
  readonly id: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** A receiver whose deliveries are kept; closed, nothing takes a connection. */
async function receiving(port = 0, status = () => 200) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      got.push({
        id: request.headers['webhook-id'] as string,
        body: Buffer.concat(chunks).toString(),
        headers: request.headers,
      });
      response.writeHead(status()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const at = (server.address() as AddressInfo).port;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { got, port: at, url: `http://127.0.0.1:${at}/hook`, close };
}

test.serial('ecosystem X21 webhooks test says what an endpoint does wrong, at the cloud and at the edge', async (t) => {
  let status = 204;
  const receiver = await receiving(0, () => status);
  const { id, secret } = await flock.atCloud.must('createWebhook', {
    body: { url: receiver.url, events: ['edge_offline'] },
  });
  for (const profile of ['default', 'edge']) {
    const open = await runCommand(['webhooks', 'test', id, '--profile', profile], { env });
    t.is(open.code, 1, open.err);
    t.regex(open.out, /^ok {4}good {4}204 .*\nfail {2}broken {2}204 .*\na broken signature is taken \(204\)/);
    const [good, broken] = receiver.got.splice(0);
    const judged = async ({ body, headers }: Got) => (await verifyWebhook(body, headers, secret)).ok;
    t.deepEqual([await judged(good!), await judged(broken!)], [true, false], 'as a client verifies it');
  }
  status = 401;
  const stale = await runCommand(['webhooks', 'test', id], { env });
  t.is(stale.code, 1);
  t.regex(stale.out, /a good signature is answered 401/);
  await receiver.close();
  const away = await runCommand(['webhooks', 'test', id, '--json'], { env });
  t.is(away.code, 1);
  t.like(JSON.parse(away.out), { webhookId: id, passed: false });
  t.is((await runCommand(['webhooks', 'test'], { env })).code, 2);
  await flock.atCloud.must('deleteWebhook', { params: { webhookId: id } });
  t.is((await runCommand(['webhooks', 'test', id], { env })).code, 4);
});

/** What was published behind an event, in its order, as the database has it. */
const published = async (since: string): Promise<string[]> => {
  const { content } = await flock.atCloud.must('listEvents', { query: { since, size: '200' } });
  return content.map(({ id }) => id);
};
const newest = async (): Promise<string> =>
  (await flock.atCloud.must('listEvents', { query: { size: '1' } })).content[0]?.id ?? 'start';
const deposit = async (address: string): Promise<void> => {
  const body = { chain: 'eth', address, amount: '0.1', autoConfirm: true } as const;
  await flock.atEdge.must('simulateDeposit', { body });
};

test.serial(
  'ecosystem X29, X30 XA3: listen posts every event once, in order and signed, through a freeze, a dead target and a restart',
  async (t) => {
    const first = await receiving();
    const { address } = await flock.atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'listened' } });
    const args = ['listen', '--forward-to', first.url];
    const secret = ((await json(['listen', '--print-secret'])) as { secret: string }).secret;
    t.like(await json(['listen', '--print-secret']), { secret }, 'it stays');
    const from = await newest();
    const one = startCommand(args, { env });
    await one.says(/^ready/m);
    await deposit(address);
    await patiently(
      'two events',
      async () => first.got.length,
      (count) => count >= 2,
    );

    one.child.kill('SIGSTOP');
    await deposit(address);
    await patiently(
      'more were published',
      () => published(from),
      (ids) => ids.length >= 4,
    );
    await first.close();
    one.child.kill('SIGCONT');
    await one.says(/waiting for/);
    const second = await receiving(first.port, () => 500);
    await patiently(
      'those of the freeze',
      async () => second.got.length,
      (count) => count >= 2,
    );
    one.child.kill('SIGINT');
    const ended = await one.ended;
    t.is(ended.code, 130);
    t.false(`${ended.out}${ended.err}`.includes(secret));

    await deposit(address);
    await patiently(
      'more were published',
      () => published(from),
      (ids) => ids.length >= 6,
    );
    const again = startCommand([...args, '--json', '--count', '2'], { env });
    const restarted = await again.ended;
    t.is(restarted.code, 0);
    const got = [...first.got, ...second.got];
    t.deepEqual(
      got.map(({ id }) => id),
      await published(from),
    );
    for (const { body, headers } of got) {
      const verdict = await verifyWebhook(body, headers as Record<string, string>, secret);
      t.true(verdict.ok, JSON.stringify(verdict));
    }
    const lines = restarted.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    t.is(lines.length, 2);
    t.like(lines[0], { posted: { how: 'answered', status: 500 }, event: 'deposit_detected' });
    await second.close();

    const [id] = await published(from);
    const shown = await runCommand(['events', id!], { env });
    t.is(shown.out, `${got[0]!.body}\n`);
    const third = await receiving();
    t.is((await runCommand(['replay', id!, '--to', third.url], { env })).code, 0);
    t.is(third.got[0]!.body, got[0]!.body, 'fault 25: the exact bytes');
    await third.close();
    t.is((await runCommand(['replay', id!, '--to', third.url], { env })).code, 5, 'nothing is there');
    const alone = await runCommand(['replay', id!, '--json'], { env });
    t.is(alone.code, 1);
    t.like(JSON.parse(alone.out), { error: { code: 'NO_DELIVERY' } });
  },
);

test.serial(
  'ecosystem X31, X30: live is printed only, another machine needs a word, filtered events are counted',
  async (t) => {
    const live = { FLOCK_URL: deployment.cloudUrl, FLOCK_API_KEY: deployment.record.live.cloudApiKey };
    const as = async (args: readonly string[], more: Record<string, string> = {}) =>
      (await runCommand(['listen', ...args], { env: { ...env, ...more } })).err;
    t.regex(await as(['--forward-to', 'http://127.0.0.1:9'], live), /^SANDBOX_ONLY: /);
    for (const remote of ['http://example.com/x', 'http://10.0.0.1', 'http://127.0.0.1.example.com', 'http://[::2]'])
      t.regex(await as(['--forward-to', remote]), /^TARGET_REMOTE: .*--allow-remote/, remote);
    for (const wrong of ['ftp://127.0.0.1', 'http://a:b@127.0.0.1', 'x'])
      t.regex(await as(['--forward-to', wrong]), /^TARGET: /, wrong);
    t.regex(await as(['--events', 'deposit_lost']), /^USAGE: --events: deposit_lost is none of /);
    t.regex(await as(['--count', '0']), /^USAGE: --count/);
    t.regex(await as(['--profile', 'edge']), /^KEY_OF_OTHER_SIDE: /);
    t.regex(
      await as([], { FLOCK_URL: deployment.cloudUrl, FLOCK_API_KEY: `flk_test_${'x'.repeat(40)}` }),
      /^UNAUTHORIZED: /m,
    );
    const { address } = await flock.atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'filtered' } });
    const one = startCommand(['listen', '--events', 'deposit_confirmed', '--count', '1', '--json'], { env });
    await one.says(/^ready/m);
    await deposit(address);
    const { code, out } = await one.ended;
    t.is(code, 0);
    t.like(JSON.parse(out), { event: 'deposit_confirmed', posted: null });
  },
);

test.serial(
  'ecosystem X32 fault 34: trigger makes the fact, and its event; each event has a recipe or says what it needs',
  async (t) => {
    const lines = (await runCommand(['trigger', '--json'], { env })).out.trimEnd().split('\n');
    const known = lines.map(
      (line) => JSON.parse(line) as { event: string; inputs: object | null; needs: string | null },
    );
    t.deepEqual(
      known.map(({ event }) => event),
      [...EVENTS],
    );
    t.true(known.every(({ inputs, needs }) => (inputs === null) === (needs !== null)));
    const guide = readFileSync(join(ROOT, 'docs/guides/payments.md'), 'utf8');
    for (const [, told] of guide.matchAll(/-- trigger (\w+)/g))
      t.truthy(known.find(({ event }) => event === told)?.inputs, `the guide makes ${told}`);
    const without = known.find(({ inputs }) => inputs === null);
    for (const { event, inputs, needs } of known.filter((one) => one.inputs !== null || one === without)) {
      const ended = await runCommand(['trigger', event, '--json', '--cleanup'], { env });
      if (inputs === null) {
        t.is(ended.code, 1, event);
        t.like(JSON.parse(ended.out), { error: { code: 'NEEDS', message: `${event} needs ${needs}` } });
        continue;
      }
      t.is(ended.code, 0, `${event}: ${ended.err}`);
      const { id } = JSON.parse(ended.out) as { id: string };
      t.is((await flock.atCloud.must('getEvent', { params: { id } })).event, event as EventName);
    }
    const set = ['--set', 'userRef=042', '--set', 'amount=0.5', '--json'];
    const { id } = (await json(['trigger', 'deposit_confirmed', ...set])) as { id: string };
    const { body } = await flock.atCloud.must('getEvent', { params: { id } });
    t.like((JSON.parse(body!) as { data: object }).data, { userRef: '042', amount: '500000000000000000' });
    const of = async (args: readonly string[], more = {}) =>
      (await runCommand(['trigger', ...args], { env: { ...env, ...more } })).err;
    t.regex(await of(['deposit_confirmed', '--set', 'zebra=1']), /^USAGE: --set zebra: .* chain, userRef, amount/);
    t.regex(await of(['deposit_lost']), /^USAGE: no such event; there are deposit_detected, /);
    const live = { FLOCK_URL: deployment.cloudUrl, FLOCK_API_KEY: deployment.record.live.cloudApiKey };
    t.regex(await of(['deposit_detected'], live), /^SANDBOX_ONLY: /);
  },
);

test.serial(
  'ecosystem X33 logs tail prints what happens, filtered, and ends after as many as are wanted',
  async (t) => {
    const { id, address } = await flock.atEdge.must('createAddress', { body: { chain: 'eth', userRef: 'tailed' } });
    const tail = startCommand(['logs', 'tail', '--topic', 'deposit', '--count', '1', '--json'], { env });
    await tail.says(/^ready/m);
    await flock.atEdge.must('archiveAddress', { params: { id } });
    await flock.atEdge.must('unarchiveAddress', { params: { id } });
    await deposit(address);
    const { code, out } = await tail.ended;
    t.is(code, 0);
    const lines = out.trimEnd().split('\n');
    t.is(lines.length, 1);
    t.like(JSON.parse(lines[0]!), { topic: 'deposit' });
    t.regex(
      (await runCommand(['logs', 'tail', '--topic', 'zebra'], { env })).err,
      /^USAGE: --topic: zebra is none of /,
    );
    t.regex((await runCommand(['logs', 'tail', '--count', '0'], { env })).err, /^USAGE: --count/);
    const wrong = { ...env, FLOCK_URL: deployment.cloudUrl, FLOCK_API_KEY: `flk_test_${'x'.repeat(43)}` };
    t.is((await runCommand(['logs', 'tail'], { env: wrong })).code, 3);
    t.regex((await runCommand(['logs', 'tail', '--profile', 'edge'], { env })).err, /^KEY_OF_OTHER_SIDE: /);
  },
);

test.serial('ecosystem X27 fault 28: listen ends with the process that started it', async (t) => {
  const script = `
    const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['gateway/cli/flock.ts', 'listen'], { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (text) => { if (/ready/.test(text)) process.stdout.write(child.pid + '\\n'); });`;
  const parent = spawn(process.execPath, ['-e', script], { cwd: ROOT, env: { PATH: process.env['PATH'], ...env } });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  parent.kill('SIGKILL');
  await patiently(
    'it ends',
    async () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
  t.pass();
});
