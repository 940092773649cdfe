/** `flock-client` as a customer gets it: packed, installed offline in an empty folder, run by the behaviour suite. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import test from 'ava';
import { build } from 'esbuild';
import { packTypescript } from '../../../clients/typescript/pack.ts';
import { verifyWebhook as verifiedByUs } from '../../../protocol/node/webhook-signature.ts';
import { EVENTS } from '../../../protocol/slugs.ts';
import { drive } from '../../support/clients/drive.ts';
import { FAULTS } from '../../support/clients/faults.ts';
import { installTypescript } from '../../support/clients/installed.ts';
import { CASES } from '../../support/clients/suite.ts';
import { ROOT } from '../../support/tree.ts';

type Core = typeof import('../../../clients/typescript/src/index.ts');
type Webhooks = typeof import('../../../clients/typescript/src/webhooks.ts');
type Testing = typeof import('../../../clients/typescript/src/testing.ts');

/** Bytes in brotli, minified. X14. */
const BYTES_MAX = { index: 6 * 1_024, webhooks: 1_024, units: 600 };
const CASES_MIN = 120;
/** Of a case that breaks off at each byte, how far apart the bytes are at which it is tried with a fault. */
const CUTS_APART = 40;

const installed = installTypescript();
const entry = async <T>(name: string): Promise<T> =>
  (await import(join(installed.folder, 'node_modules/flock-client/dist', `${name}.js`))) as T;
test.after.always(() => installed.remove());

test('ecosystem X2, X4, X5, X6, X7, X8, X9, X11, X12, X15 faults 1 3 4 5 6 7 8 13: every case of the behaviour suite, with the packed client', async (t) => {
  t.true(CASES.length >= CASES_MIN);
  t.is(new Set(CASES.map(({ id }) => id)).size, CASES.length);
  const judged = await drive(
    installed.driver,
    CASES.map((one) => ({ case: one })),
  );
  t.deepEqual(
    judged.filter(({ wrong }) => wrong.length > 0).map(({ case: { id }, wrong }) => ({ id, wrong })),
    [],
  );
});

test('ecosystem X12 XA2 every case of the behaviour suite finds the fault that it is for', async (t) => {
  t.deepEqual(Object.keys(FAULTS).toSorted(), [...new Set(CASES.map(({ fault }) => fault))].toSorted());
  const planted = new Map(Object.entries(FAULTS).map(([name, fault]) => [name, installed.planted(name, fault)]));
  const judged = await drive(
    installed.driver,
    CASES.map((one) => ({ case: one, client: planted.get(one.fault)! })),
    CUTS_APART,
  );
  t.deepEqual(
    judged.filter(({ wrong }) => wrong.length === 0).map(({ case: { id, fault } }) => `${id}: ${fault}`),
    [],
  );
  t.false(
    judged.some(({ wrong }) => wrong[0]!.includes('compileSourceTextModule')),
    'a fault is a program still',
  );
});

test('ecosystem X13 fault 11: the package has no dependency, names nothing of Node.js, and is the same bytes again', (t) => {
  const manifest = JSON.parse(installed.fileOf('package.json')) as Record<string, unknown>;
  t.deepEqual(
    Object.keys(manifest).filter((name) => /dependencies/i.test(name)),
    [],
  );
  for (const name of ['index', 'webhooks', 'units', 'testing']) {
    const text = installed.fileOf(`dist/${name}.js`).replace(/"[^"\n]*"|`[^`]*`/g, '');
    t.notRegex(text, /\b(?:node:|require\(|Buffer|process\.|__dirname|setImmediate)/, name);
    t.notRegex(installed.fileOf(`dist/${name}.d.ts`), /\.ts'|\.\.\/\.\.|reference types/, name);
  }
  const again = join(installed.folder, 'again');
  mkdirSync(again);
  const hash = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');
  t.is(hash(packTypescript(again)), hash(installed.tarball));
});

test('ecosystem X13 fault 9: a CommonJS program has the same package, and an error of one copy is one of the other', async (t) => {
  const script = `const { createFlock, isFlockError } = require('flock-client');
    try { createFlock({ baseUrl: 'nowhere' }) } catch (error) { console.log(isFlockError(error), error.code) }`;
  t.is(
    execFileSync(process.execPath, ['--input-type=commonjs', '-e', script], {
      cwd: installed.folder,
      encoding: 'utf8',
    }),
    'true CLIENT_INVALID\n',
  );
  const copy = (await import(
    `${installed.planted('copy', ['index', 'var RETRIES = 2', 'var RETRIES = 1'])}/dist/index.js`
  )) as Core;
  const { isFlockError, FlockError } = await entry<Core>('index');
  const error = t.throws(() => copy.createFlock({ baseUrl: 'nowhere' }), { any: true });
  t.false(error instanceof FlockError);
  t.true(isFlockError(error));
  t.true(isFlockError(error, 'CLIENT_INVALID'));
  t.false(isFlockError(error, 'NOT_FOUND'));
  for (const other of [new Error('a'), null, undefined, 'CLIENT_INVALID', { code: 'CLIENT_INVALID' }])
    t.false(isFlockError(other));
});

test('ecosystem X14 fault 10: each entry is within its budget, and pulls in no other', async (t) => {
  for (const [name, bytesMax] of Object.entries(BYTES_MAX)) {
    const { outputFiles } = await build({
      stdin: {
        contents: `export * from 'flock-client${name === 'index' ? '' : `/${name}`}'`,
        resolveDir: installed.folder,
      },
      bundle: true,
      minify: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      target: 'es2022',
    });
    const bytes = brotliCompressSync(outputFiles[0]!.contents).length;
    t.log(`${name}: ${bytes} bytes in brotli`);
    t.true(bytes <= bytesMax, `${name}: ${bytes}`);
    t.is(outputFiles[0]!.text.includes('/v1/addresses'), name === 'index', name);
    t.is(outputFiles[0]!.text.includes('HMAC'), name === 'webhooks', name);
  }
});

test('ecosystem X1, X8 the types that are installed take what is right, and nothing else', (t) => {
  const program = `
    import { createFlock, isFlockError, type Address } from '§';
    import { creditKey, verifyWebhook } from '§/webhooks';
    import { exampleEvent, signEvent } from '§/testing';
    import { fromUnits, toUnits } from '§/units';
    const flock = createFlock({ baseUrl: 'http://127.0.0.1:8081', apiKey: 'loc_test_a' });
    const address: Address = await flock.createAddress({ chain: 'eth', userRef: '42' }, { idempotencyKey: 'a' });
    // @ts-expect-error 42 is not "042"
    await flock.createAddress({ chain: 'eth', userRef: 42 });
    // @ts-expect-error an unknown chain
    await flock.createAddress({ chain: 'doge', userRef: '42' });
    // @ts-expect-error what is required
    await flock.createAddress();
    // @ts-expect-error an operation without a key
    await flock.mintLocalKey({ label: 'a' }, { idempotencyKey: 'a' });
    // @ts-expect-error a signed operation is an edge's own
    flock.syncEdge;
    // @ts-expect-error amounts are text
    await flock.buildTransaction({ chain: 'eth', from: '', to: '', amount: 1 });
    for await (const row of flock.listAddresses.all({ size: 5 })) row.id satisfies string;
    // @ts-expect-error a walk has no page
    flock.listAddresses.all({ page: 1 });
    if (address.status === 'hibernating') throw new Error('a newer service may say so');
    try { await flock.getEdgeHealth(); } catch (error) {
      if (isFlockError(error, 'INSUFFICIENT_FUNDS')) error.details.balance satisfies string | undefined;
      if (isFlockError(error)) error.requestId satisfies string | null;
    }
    const { body, headers } = await signEvent(exampleEvent('deposit_confirmed', { amount: '1' }), 'whsec_YQ==');
    const verdict = await verifyWebhook(body, headers, 'whsec_YQ==');
    if (verdict.ok && verdict.event.event === 'deposit_confirmed') creditKey(verdict.event) satisfies string;
    toUnits(fromUnits(1n, 6), 6) satisfies bigint;
  `.replaceAll('§', 'flock-client');
  writeFileSync(join(installed.folder, 'program.mts'), program);
  const readme = installed.fileOf('README.md');
  const blocks = [...readme.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code]) => code!);
  t.is(blocks.length, 2);
  blocks.forEach((code, at) => {
    const given =
      'declare const process: { env: Record<string, string | undefined> };\n' +
      'declare function credit(key: string, data: object): Promise<void>;\n';
    writeFileSync(join(installed.folder, `readme-${at}.mts`), given + code);
  });
  const options = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.asynciterable'],
    types: [],
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(
    join(installed.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['*.mts'] }),
  );
  const compile = (): string => {
    try {
      execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', installed.folder], {
        stdio: 'pipe',
      });
      return '';
    } catch (error) {
      return String((error as { stdout: Buffer }).stdout);
    }
  };
  t.is(compile(), '');
  writeFileSync(join(installed.folder, 'program.mts'), program.replace("userRef: '42' }, {", 'userRef: 42 }, {'));
  t.regex(compile(), /program\.mts.*TS2322/);
});

test('ecosystem X5 fault 2: no listener stays on the signal of the caller', async (t) => {
  const { createFlock } = await entry<Core>('index');
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal),
    remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => ((listeners += 1), add(...args));
  signal.removeEventListener = (...args: Parameters<typeof remove>) => ((listeners -= 1), remove(...args));
  let asked = 0;
  const flock = createFlock({
    baseUrl: 'http://edge.invalid',
    fetch: async () => {
      t.true(listeners > 0);
      asked += 1;
      if (asked % 2 === 1) throw new TypeError('fetch failed');
      return Response.json({ success: true, data: {} });
    },
    clock: { now: () => 0, random: () => 0.999_999, sleep: async () => undefined },
  });
  for (let n = 0; n < 100; n += 1) await flock.getEdgeHealth({}, { signal });
  t.is(asked, 200);
  t.is(listeners, 0);
});

test('ecosystem X6 a walk ends after 10,000 pages', async (t) => {
  const { createFlock, isFlockError } = await entry<Core>('index');
  let pages = 0;
  const flock = createFlock({
    baseUrl: 'http://edge.invalid',
    fetch: async () => Response.json({ success: true, data: { content: [{}], next: `c${(pages += 1)}` } }),
  });
  const walk = async (): Promise<void> => {
    for await (const row of flock.listAddresses.all()) t.truthy(row);
  };
  const error = await t.throwsAsync(walk(), { any: true });
  t.true(isFlockError(error, 'CLIENT_NETWORK'));
  t.is(pages, 10_000);
});

test('ecosystem X5 the clock of the client itself: a pause is as long as it says, and an abort ends it', async (t) => {
  const { createFlock, isFlockError } = await entry<Core>('index');
  const stop = new AbortController();
  const flock = createFlock({
    baseUrl: 'http://edge.invalid',
    fetch: async () => {
      queueMicrotask(() => setTimeout(() => stop.abort(), 5));
      return new Response('', { status: 503, headers: { 'retry-after': '50' } });
    },
  });
  const began = performance.now();
  const error = await t.throwsAsync(flock.getEdgeHealth({}, { signal: stop.signal }), { any: true });
  t.true(isFlockError(error, 'CLIENT_ABORTED'));
  t.true(performance.now() - began < 45_000);
});

test('ecosystem X16 every event of the catalogue is signed for tests as the service signs it', async (t) => {
  const { exampleEvent, signEvent } = await entry<Testing>('testing');
  const { verifyWebhook } = await entry<Webhooks>('webhooks');
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  for (const event of EVENTS) {
    const { body, headers } = await signEvent(exampleEvent(event), [secret]);
    const ours = verifiedByUs(secret, headers, body);
    t.true(ours.valid, event);
    const request = new Request('http://receiver.invalid', { method: 'POST', body, headers });
    const verdict = await verifyWebhook(request, null, secret);
    t.true(verdict.ok && verdict.event.event === event, event);
  }
  await t.throwsAsync(signEvent(exampleEvent('deposit_confirmed'), 'whsec_!'), { instanceOf: TypeError });
});

test('ecosystem X5 options that are no numbers are refused, and a pause that took too long sends nothing more', async (t) => {
  const { createFlock, isFlockError } = await entry<Core>('index');
  for (const name of ['retries', 'timeoutMs', 'deadlineMs', 'pagesMax'])
    for (const value of [NaN, -1, '5']) {
      const error = t.throws(() => createFlock({ baseUrl: 'http://edge.invalid', [name]: value }), { any: true });
      t.true(isFlockError(error, 'CLIENT_INVALID'), `${name} ${value}`);
      t.deepEqual((error as { details: unknown }).details, { field: name });
    }
  let asked = 0,
    now = 0;
  const flock = createFlock({
    baseUrl: 'http://edge.invalid',
    fetch: async () => {
      asked += 1;
      return new Response('', { status: 503 });
    },
    clock: { now: () => now, random: () => 0, sleep: async () => void (now += 3_600_000) },
  });
  const slept = await t.throwsAsync(flock.getEdgeHealth(), { any: true });
  t.true(isFlockError(slept, 'CLIENT_NETWORK') && slept.status === 503 && slept.attempts === 1);
  for (const how of [{ deadlineMs: 0 }, { timeoutMs: NaN }]) {
    const over = await t.throwsAsync(flock.getEdgeHealth({}, how), { any: true });
    t.true(isFlockError(over, 'CLIENT_TIMEOUT') && over.attempts === 0);
  }
  t.is(asked, 1);
  const long = createFlock({
    baseUrl: 'http://edge.invalid',
    timeoutMs: Infinity,
    deadlineMs: Infinity,
    fetch: async (_, init) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      init!.signal!.throwIfAborted();
      return Response.json({ success: true, data: {} });
    },
  });
  t.deepEqual(await long.getEdgeHealth(), {} as never);
});
