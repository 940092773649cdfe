/** Each client against a real cloud and edge: an endpoint, an address, a deposit, and a delivery that it verifies. */
import { execFile, execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { installGo } from '../support/clients/installed-go.ts';
import { installPython, runPython } from '../support/clients/installed-python.ts';
import { installTypescript } from '../support/clients/installed.ts';
import { openDeveloper } from '../support/developer.ts';
import { patiently } from '../support/patience.ts';

type Core = typeof import('../../clients/typescript/src/index.ts');
type Webhooks = typeof import('../../clients/typescript/src/webhooks.ts');
interface Delivery {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const deliveries: Delivery[] = [];
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const headers = request.headers as Readonly<Record<string, string>>;
    deliveries.push({ path: request.url!, headers, body: Buffer.concat(chunks).toString('utf8') });
    response.writeHead(204).end();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const flock = await openDeveloper({ edgeEnv: { EDGE_WEBHOOK_ALLOWLIST: new URL(hooks).host } });
const typescript = installTypescript();
const python = installPython();
const go = installGo();
const settings = { baseUrl: flock.deployment.edgeUrl, apiKey: flock.deployment.localApiKey };

test.after.always(async () => {
  receiver.closeAllConnections();
  receiver.close();
  typescript.remove();
  python.remove();
  go.remove();
  await flock.close();
});

/** The first delivery to a path of the receiver about an address: each endpoint hears of those of all clients. */
const deliveryTo = async (path: string, address: string): Promise<Delivery> =>
  (await patiently(
    `a delivery to ${path}`,
    async () => deliveries.find((one) => one.path === path && one.body.includes(address)),
    Boolean,
  ))!;

test('ecosystem XA1 TypeScript: from the tarball to a verified deposit_confirmed at a real edge', async (t) => {
  const of = (name: string): Promise<unknown> =>
    import(join(typescript.folder, 'node_modules/flock-client/dist', `${name}.js`));
  const { createFlock, isFlockError } = (await of('index')) as Core;
  const { creditKey, verifyWebhook } = (await of('webhooks')) as Webhooks;
  const client = createFlock({ ...settings, expect: 'sandbox' });
  const { secret } = await client.createWebhook({ url: `${hooks}/typescript`, events: ['deposit_confirmed'] });
  const key = { idempotencyKey: 'first-address' };
  const address = await client.createAddress({ chain: 'eth', userRef: 'customer-é 7' }, key);
  t.deepEqual(
    await client.createAddress({ chain: 'eth', userRef: 'customer-é 7' }, key),
    address,
    'the same key again',
  );
  const conflict = await t.throwsAsync(client.createAddress({ chain: 'eth', userRef: 'another' }, key), { any: true });
  t.true(isFlockError(conflict, 'IDEMPOTENCY_CONFLICT'));
  const rows: string[] = [];
  for await (const row of client.listAddresses.all({ userRef: 'customer-é 7', size: 1 })) rows.push(row.id);
  t.deepEqual(rows, [address.id]);
  await client.simulateDeposit({ chain: 'eth', address: address.address, amount: '0.5', autoConfirm: true });
  const { body, headers } = await deliveryTo('/typescript', address.address);
  const verdict = await verifyWebhook(body, headers, secret);
  t.true(verdict.ok);
  if (!verdict.ok || verdict.event.event !== 'deposit_confirmed') return t.fail();
  t.like(verdict.event.data, { address: address.address, userRef: 'customer-é 7', amount: '500000000000000000' });
  t.regex(creditKey(verdict.event), /^eth:0x[0-9a-f]{64}:-?\d+$/);
  t.like(await verifyWebhook(body.replace('5', '6'), headers, secret), { ok: false, reason: 'signature' });
  t.is((await client.getBalance({ chain: 'eth', address: address.address })).amount, '500000000000000000');
});

test('ecosystem X10 TypeScript: a key that is revoked, and one of the cloud at an edge, are refusals that say what to do', async (t) => {
  const { createFlock, isFlockError } = (await import(
    join(typescript.folder, 'node_modules/flock-client/dist/index.js')
  )) as Core;
  for (const [key, reason] of [
    [`loc_test_${'a'.repeat(39)}`, /./],
    [flock.deployment.record.sandbox.cloudApiKey, /./],
  ] as const) {
    const error = await t.throwsAsync(createFlock({ ...settings, apiKey: key }).listAddresses(), { any: true });
    if (!isFlockError(error, 'UNAUTHORIZED')) return t.fail(String(error));
    t.regex(error.details.next ?? error.details.reason ?? '', reason);
    t.false(JSON.stringify(error).includes(key));
  }
});

test('ecosystem XA1 Python: from the wheel to a verified deposit_confirmed at a real edge', async (t) => {
  const { stdout } = await promisify(execFile)('python3', ['story.py'], {
    cwd: python.folder,
    env: {
      ...process.env,
      ...python.driver.env,
      EDGE: settings.baseUrl,
      KEY: settings.apiKey,
      HOOK: `${hooks}/python`,
    },
  });
  const { secret, address, rows } = JSON.parse(stdout) as {
    secret: string;
    address: { id: string; address: string; userRef: string };
    rows: readonly string[];
  };
  t.deepEqual(rows, [address.id]);
  t.is(address.userRef, 'customer-é 42');
  const { headers, body } = await deliveryTo('/python', address.address);
  const verified = (given: string): unknown =>
    JSON.parse(runPython(python.driver, ['verify.py'], JSON.stringify({ headers, body: given, secret })));
  t.like(verified(body), { ok: true, reason: null });
  t.like(verified(body.replace('5', '6')), { ok: false, reason: 'signature' });
});

test('ecosystem XA1 Go: from the module to a verified deposit_confirmed at a real edge', async (t) => {
  const { command, cwd } = go.driver;
  const { stdout } = await promisify(execFile)(command, ['story'], {
    cwd,
    env: { EDGE: settings.baseUrl, KEY: settings.apiKey, HOOK: `${hooks}/go` },
  });
  const { secret, address, rows, isNotFound } = JSON.parse(stdout) as {
    secret: string;
    address: { id: string; address: string; userRef: string };
    rows: readonly string[];
    isNotFound: boolean;
  };
  t.deepEqual(rows, [address.id]);
  t.is(address.userRef, 'customer-é go');
  t.true(isNotFound);
  const { headers, body } = await deliveryTo('/go', address.address);
  const verified = (given: string): unknown =>
    JSON.parse(
      execFileSync(command, ['verify'], { input: JSON.stringify({ headers, body: given, secret }), encoding: 'utf8' }),
    );
  const { data } = JSON.parse(body) as { data: { txid: string; outputIndex: number } };
  t.like(verified(body), {
    ok: true,
    key: `eth:${data.txid}:${data.outputIndex}`,
    data: { address: address.address, amount: '500000000000000000', userRef: 'customer-é go' },
  });
  t.deepEqual(verified(body.replace('5', '6')), { ok: false, reason: 'signature' });
});
