/** One attempt against receivers that misbehave, over real sockets; the SSRF policy where the connection is made. */
import type { LookupAddress } from 'node:dns';
import test, { type ExecutionContext } from 'ava';
import type { Resolve } from '../../../edge/webhooks/connector.ts';
import { parseWebhookAllowlist } from '../../../edge/webhooks/allowlist.ts';
import { createWebhookPolicy } from '../../../edge/webhooks/policy.ts';
import {
  ATTEMPT_TIMEOUT_MS,
  createWebhookPoster,
  retryAfterSeconds,
  type Delivery,
  type WebhookPoster,
} from '../../../edge/webhooks/post.ts';
import type { Environment } from '../../../protocol/slugs.ts';
import { startReceiver, startTcp } from '../../support/edge/receivers.ts';

const SIGNATURE = { 'webhook-id': 'evt_x', 'webhook-timestamp': '1700000000', 'webhook-signature': 'v1,abc' };

function deliveryTo(url: string, more: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId: 'dlv_1',
    attempt: 1,
    url,
    headers: SIGNATURE,
    body: '{"event":"deposit_detected","ü":1}',
    timeoutMs: 30_000,
    ...more,
  };
}

function newPoster(
  t: ExecutionContext,
  {
    environment = 'sandbox',
    list = null,
    resolve,
  }: { environment?: Environment; list?: string | null; resolve?: Resolve } = {},
): WebhookPoster & { blocked: string[] } {
  const parsed = list === null ? null : parseWebhookAllowlist(list);
  if (parsed !== null && !parsed.ok) throw new Error('allow-list');
  const blocked: string[] = [];
  const poster = createWebhookPoster({
    policy: createWebhookPolicy({ environment, allowlist: parsed === null ? null : parsed.targets, ownPort: () => 1 }),
    connections: 8,
    monotonicMs: () => performance.now(),
    wallMs: Date.now,
    onBlocked: (_id, reason) => blocked.push(reason),
    ...(resolve === undefined ? {} : { resolve }),
  });
  t.teardown(() => poster.close());
  return { ...poster, blocked };
}

const answers =
  (addresses: string[]): Resolve =>
  (_host, done) =>
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

test('decisions 4: the bytes and the signature headers arrive unchanged, and no other header of the cloud does', async (t) => {
  const receiver = await startReceiver(t);
  const delivery = deliveryTo(`${receiver.url}/hook?a=b`, {
    headers: {
      ...SIGNATURE,
      authorization: 'Bearer x',
      cookie: 'a=b',
      host: 'evil',
      'x-forwarded-for': '1.1.1.1',
      'content-type': 'text/html',
    },
  });
  const attempt = await newPoster(t).post(delivery);
  t.like(attempt, { deliveryId: 'dlv_1', attempt: 1, statusCode: 200, outcome: 'answered', retryAfterSeconds: null });
  const [hit] = receiver.hits;
  t.like(hit, { method: 'POST', url: '/hook?a=b', body: delivery.body });
  t.like(hit!.headers, { ...SIGNATURE, 'content-type': 'application/json', host: `127.0.0.1:${receiver.port}` });
  for (const name of ['authorization', 'cookie', 'x-forwarded-for']) t.is(hit!.headers[name], undefined, name);
});

test('found F14: whatever the cloud leaves out, a delivery says that it is one; a path beyond the prefix reaches nobody, also on a connection that is open', async (t) => {
  const receiver = await startReceiver(t),
    poster = newPoster(t, { list: `http://127.0.0.1:${receiver.port}/hooks/` });
  t.like(await poster.post(deliveryTo(`${receiver.url}/hooks/x`, { headers: {} })), { statusCode: 200 });
  t.like(receiver.hits[0]!.headers, { 'content-type': 'application/json', 'webhook-signature': 'unsigned' });
  for (const path of [
    '/admin',
    '/hooks/../admin',
    '/hooks/%2e%2e/admin',
    '/hooks/%2e%2e%2fadmin',
    '/hooks\\..\\admin',
    '/hooks//admin',
    '/hooks/..;/admin',
  ]) {
    t.like(
      await poster.post(deliveryTo(receiver.url + path)),
      { statusCode: null, outcome: 'refused', durationMs: 0 },
      path,
    );
  }
  t.deepEqual([receiver.hits.length, new Set(poster.blocked)], [1, new Set(['path_not_listed'])]);
});

test('decisions 4: a redirect is an answer and is not followed', async (t) => {
  const target = await startReceiver(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await startReceiver(t, (response) =>
      response.writeHead(status, { location: `${target.url}/secret` }).end(),
    );
    t.like(await newPoster(t).post(deliveryTo(receiver.url)), { statusCode: status, outcome: 'answered' });
  }
  t.deepEqual(target.hits, []);
});

test('a receiver that never answers is given up in time; one that answers its head and then hangs has answered', async (t) => {
  const poster = newPoster(t);
  const hanging = await startReceiver(t, () => undefined);
  const startedMs = performance.now();
  t.like(await poster.post(deliveryTo(hanging.url, { timeoutMs: 300 })), { statusCode: null, outcome: 'timeout' });
  t.true(performance.now() - startedMs < 15_000);
  const dripping = await startReceiver(t, (response) => {
    response.writeHead(200);
    response.write('x');
  });
  t.like(await poster.post(deliveryTo(dripping.url)), { statusCode: 200, outcome: 'answered' });
  const mute = await startTcp(t, () => undefined);
  t.like(await poster.post(deliveryTo(mute.url, { timeoutMs: 300 })), { statusCode: null, outcome: 'timeout' });
  t.is(ATTEMPT_TIMEOUT_MS, 15_000);
});

test('a head that drips byte by byte ends with the time limit', async (t) => {
  const receiver = await startTcp(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x: y\r\n'), 20);
    socket.on('close', () => clearInterval(timer));
  });
  t.like(await newPoster(t).post(deliveryTo(receiver.url, { timeoutMs: 300 })), {
    statusCode: null,
    outcome: 'timeout',
  });
});

test('an answer of megabytes is cut after its first 64 kB, and its status counts', async (t) => {
  let written = 0;
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    const chunk = Buffer.alloc(64 * 1_024, 120);
    const pump = () => {
      while (!response.destroyed && written < 512 * 1_024 * 1_024) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pump);
      }
    };
    pump();
  });
  const poster = newPoster(t);
  t.like(await poster.post(deliveryTo(receiver.url)), { statusCode: 200, outcome: 'answered' });
  await poster.post(deliveryTo(receiver.url));
  t.true(written < 64 * 1_024 * 1_024, `${written} bytes left the receiver`);
});

test('refused connections, resets and bytes that are no HTTP are told apart, coarsely', async (t) => {
  const poster = newPoster(t);
  const closed = await startTcp(t, () => undefined);
  await closed.close();
  t.like(await poster.post(deliveryTo(closed.url)), { statusCode: null, outcome: 'refused' });
  const resetting = await startTcp(t, (socket) => socket.on('data', () => socket.resetAndDestroy()));
  t.like(await poster.post(deliveryTo(resetting.url)), { statusCode: null, outcome: 'failed' });
  const babbling = await startTcp(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  t.like(await poster.post(deliveryTo(babbling.url)), { statusCode: null, outcome: 'failed' });
  const huge = await startTcp(t, (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}\r\n\r\n`));
  t.like(await poster.post(deliveryTo(huge.url)), { statusCode: null, outcome: 'failed' });
  t.like(
    await newPoster(t, {
      resolve: (_host, done) => done(Object.assign(new Error('x'), { code: 'ENOTFOUND' }), []),
    }).post(deliveryTo('http://nowhere.example/')),
    { statusCode: null, outcome: 'refused' },
  );
  t.like(await poster.post(deliveryTo(babbling.url.replace('http:', 'https:'))), {
    statusCode: null,
    outcome: 'failed',
  });
});

test('Retry-After is read in both forms and bounded', (t) => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  t.is(retryAfterSeconds('120', nowMs), 120);
  t.is(retryAfterSeconds('Thu, 01 Jan 2026 00:02:00 GMT', nowMs), 120);
  t.is(retryAfterSeconds('Wed, 31 Dec 2025 00:00:00 GMT', nowMs), 0);
  t.is(retryAfterSeconds('999999999', nowMs), 604_800);
  for (const text of [undefined, '', '-1', '1.5', 'soon', '99999999999999'])
    t.is(retryAfterSeconds(text, nowMs), null, String(text));
});

test('429 and 503 carry their Retry-After back', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(429, { 'retry-after': '7' }).end());
  t.like(await newPoster(t).post(deliveryTo(receiver.url)), { statusCode: 429, retryAfterSeconds: 7 });
});

// ── SSRF where the connection is made ────────────────────────────────────────────────────────────────────────────

test('reliability 0.6: no spelling of a loopback literal reaches a receiver of a live edge', async (t) => {
  const receiver = await startReceiver(t);
  const poster = newPoster(t, { environment: 'live' });
  const forms = [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '①②⑦.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '127.0.0.1.',
    'localhost',
  ];
  for (const form of forms) {
    t.like(
      await poster.post(deliveryTo(`http://${form}:${receiver.port}/`)),
      { statusCode: null, outcome: 'refused' },
      form,
    );
  }
  t.is(poster.blocked.length, forms.length);
  t.deepEqual(receiver.hits, []);
});

test('a name that resolves to an internal address is refused, also when a public one stands beside it', async (t) => {
  const receiver = await startReceiver(t);
  for (const addresses of [
    ['127.0.0.1'],
    ['93.184.216.34', '127.0.0.1'],
    ['169.254.169.254'],
    ['10.0.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['fd00:ec2::254'],
  ]) {
    const poster = newPoster(t, { environment: 'live', resolve: answers(addresses) });
    t.like(
      await poster.post(deliveryTo(`https://hooks.example.com:${receiver.port}/`)),
      { statusCode: null, outcome: 'refused' },
      addresses.join(),
    );
  }
  t.deepEqual(receiver.hits, []);
});

test('rebinding: the address that was judged is the one that is connected to, with one resolution a connection', async (t) => {
  const receiver = await startReceiver(t);
  let asked = 0;
  const flipping: Resolve = (host, done) => {
    asked += 1;
    answers([asked % 2 === 1 ? '127.0.0.2' : '127.0.0.1'])(host, done);
  };
  // Nobody listens at the address that is allowed; the receiver is at the one that the second answer names.
  const poster = newPoster(t, { environment: 'live', list: '127.0.0.2', resolve: flipping });
  t.like(await poster.post(deliveryTo(`http://hooks.example.com:${receiver.port}/`)), {
    outcome: 'refused',
    statusCode: null,
  });
  t.is(asked, 1);
  t.like(await poster.post(deliveryTo(`http://hooks.example.com:${receiver.port}/`)), {
    outcome: 'refused',
    statusCode: null,
  });
  t.deepEqual(receiver.hits, []);
});

test('a listed name may live in the private network, at the judged address', async (t) => {
  const receiver = await startReceiver(t);
  const poster = newPoster(t, {
    environment: 'live',
    list: `localhost:${receiver.port}`,
    resolve: answers(['127.0.0.1']),
  });
  t.like(await poster.post(deliveryTo(`http://localhost:${receiver.port}/`)), { statusCode: 200 });
  t.like(await poster.post(deliveryTo(`http://other.example:${receiver.port}/`)), { outcome: 'refused' });
  t.is(receiver.hits.length, 1);
});

test('what is no URL of ours is blocked without a connection', async (t) => {
  const poster = newPoster(t);
  for (const url of [
    'ftp://127.0.0.1/',
    'nonsense',
    'http://user:pass@127.0.0.1/',
    'file:///etc/passwd',
    'http://169.254.169.254/latest/meta-data/',
  ]) {
    t.like(await poster.post(deliveryTo(url)), { statusCode: null, outcome: 'refused', durationMs: 0 }, url);
  }
});

test('found F13: a place that is forbidden, a name without an address and one where nobody listens are one attempt to the cloud; the log keeps the reason', async (t) => {
  const closed = await startTcp(t, () => undefined);
  await closed.close();
  const failing =
    (code: string): Resolve =>
    (_host, done) =>
      done(Object.assign(new Error('x'), { code }), []);
  const places: readonly (readonly [string, string, Resolve | undefined, string | undefined, string | null])[] = [
    ['internal', 'https://db.corp.example/', answers(['10.0.0.7']), undefined, 'private'],
    ['loopback', 'https://db.corp.example/', answers(['127.0.0.1']), undefined, 'loopback'],
    ['not listed', 'https://db.corp.example/', answers(['93.184.216.34']), '10.9.0.0/16', 'not_listed'],
    ['no addresses', 'https://db.corp.example/', answers([]), undefined, 'forbidden'],
    ['literal', 'https://10.0.0.7/', undefined, undefined, 'private'],
    ...['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL'].map(
      (code) => [code, 'https://db.corp.example/', failing(code), undefined, code] as const,
    ),
    [
      'nobody listens in a listed network',
      `http://db.corp.example:${closed.port}/`,
      answers(['127.0.0.1']),
      '127.0.0.1',
      null,
    ],
    [
      'nobody at two addresses',
      `http://db.corp.example:${closed.port}/`,
      answers(['127.0.0.1', '127.0.0.2']),
      '127.0.0.1,127.0.0.2',
      null,
    ],
  ];
  for (const [name, url, resolve, list, reason] of places) {
    const poster = newPoster(t, {
      environment: 'live',
      ...(resolve === undefined ? {} : { resolve }),
      ...(list === undefined ? {} : { list }),
    });
    const { deliveryId, attempt, ...rest } = (await poster.post(deliveryTo(url)))!;
    t.deepEqual(rest, { statusCode: null, durationMs: 0, retryAfterSeconds: null, outcome: 'refused' }, name);
    t.deepEqual(poster.blocked, reason === null ? [] : [reason], name);
  }
});

test('an attempt that the end of the process cut short is no attempt', async (t) => {
  const receiver = await startReceiver(t, () => undefined);
  const poster = newPoster(t);
  const attempt = poster.post(deliveryTo(receiver.url, { timeoutMs: 10_000 }));
  while (receiver.hits.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await poster.close();
  t.is(await attempt, null);
});
