/** The edge's REST: local keys, envelope, what is passed on and what is not. */
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { keysOf } from '../../../edge/local-keys/key-set.ts';
import { FRAME_BYTES_TO_EDGE_MAX } from '../../../protocol/frames.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { writeThenRead } from '../../support/writes-first.ts';
import { ask, eventually, PHRASE, startTestEdge, type TestEdge } from '../../support/edge/edges.ts';

async function stage(t: ExecutionContext): Promise<{ cloud: HostileCloud; edge: TestEdge }> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'eth' } });
  await edge.edge.registered;
  return { cloud, edge };
}

/** Requests of the application that the cloud has seen. */
const passedOn = (cloud: HostileCloud) =>
  cloud.seen.filter(({ path }) => !/^\/v1\/edge\/(sync|resume|heartbeat|audit-log|attestations)/.test(path));

test('§5 without a valid local key every path of the application is 401, and nothing reaches the cloud', async (t) => {
  const { cloud, edge } = await stage(t);
  const routes = ROUTE_LIST.filter(({ where, credential }) => where !== 'cloud' && credential === 'application');
  t.true(routes.length > 30);
  for (const { method, path } of routes) {
    const concrete = path.replace(/\{[^}]*\}/g, 'x');
    for (const headers of [
      {},
      { 'x-api-key': 'loc_live_22222222222222222222222222222222222222' },
      { 'x-api-key': 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa' },
      { authorization: `Bearer ${edge.localKey}` },
      { 'x-api-key': '' },
    ]) {
      const reply = await ask(edge.url, { method, path: concrete, headers: headers as Record<string, string> });
      t.is(reply.status, 401, `${method} ${concrete}`);
      t.is(reply.error?.code, 'UNAUTHORIZED');
      if ('x-api-key' in headers && headers['x-api-key'].startsWith('flk_'))
        t.is(reply.error?.details['reason'], 'cloud_key', 'found F76');
    }
  }
  t.deepEqual(passedOn(cloud), []);
});

test('found F76: a local key that is missing, malformed, unknown or a key of the cloud is told why, with the next step', async (t) => {
  const { edge } = await stage(t);
  const reasons: readonly [headers: Record<string, string>, reason: string][] = [
    [{}, 'no_key'],
    [{ 'x-api-key': 'loc_live_aaaa' }, 'malformed_key'],
    [{ 'x-api-key': '' }, 'malformed_key'],
    [{ 'x-api-key': `"${edge.localKey}"` }, 'malformed_key'],
    [{ 'x-api-key': `loc_live_${'2'.repeat(39)}` }, 'unknown_key'],
    [{ 'x-api-key': `loc_test_${edge.localKey.slice(9)}` }, 'unknown_key'],
    [{ 'x-api-key': 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa' }, 'cloud_key'],
  ];
  for (const [headers, reason] of reasons) {
    const { error } = await ask(edge.url, { method: 'GET', path: '/v1/addresses', headers });
    t.deepEqual(
      [error?.code, error?.details['reason']],
      ['UNAUTHORIZED', reason],
      JSON.stringify(headers).slice(0, 40),
    );
    t.truthy(error?.details['next']);
  }
});

test('found F76: a broadcast of an id that neither edge nor cloud knows says so, and not that it may be signed', async (t) => {
  const { cloud, edge } = await stage(t);
  for (const id of ['txn_nothing', 'dep_22222222222222222222222222', 'x']) {
    const { status, error } = await edge.ask('POST', `/v1/transactions/${id}/broadcast`);
    t.deepEqual(
      [status, error?.code, error?.details['id'], error?.details['mayBeSigned']],
      [404, 'NOT_FOUND', id, undefined],
      id,
    );
  }
  t.deepEqual(passedOn(cloud), [], 'what is no id is asked of nobody');
  cloud.on('POST /v1/transactions/{id}/broadcast', () => ({ code: 'NOT_FOUND' }));
  const id = 'txn_24pgoiqjq2dgpoqhm7nuhjd5zi',
    { error } = await edge.ask('POST', `/v1/transactions/${id}/broadcast`);
  t.like(error, { code: 'NOT_FOUND', details: { what: 'withdrawal', id, knownHere: false, knownToCloud: false } });
  t.is(error?.details['mayBeSigned'], undefined);
  t.regex(String(error?.details['next']), /build it first/);
});

test('found F76: at the edge too an unknown path names the nearest route, and who serves it', async (t) => {
  const { edge } = await stage(t);
  t.like((await edge.ask('GET', '/v1/adresses')).error, {
    code: 'NOT_FOUND',
    details: { nearest: 'GET /v1/addresses' },
  });
  t.like((await edge.ask('POST', '/v1/auth/login')).error, { code: 'NOT_FOUND', details: { servedBy: 'cloud' } });
  const wrong = await edge.ask('DELETE', '/v1/addresses');
  t.deepEqual(
    [wrong.status, wrong.headers.get('allow'), wrong.error?.message],
    [405, 'POST, GET', '/v1/addresses takes POST, GET, not DELETE'],
  );
  t.like((await edge.ask('POST', '/v1/edge/keys', { lable: 'x' })).error, {
    code: 'INVALID_INPUT',
    details: { problems: [{ field: 'label' }, { field: 'lable' }] },
  });
  t.like((await edge.ask('GET', '/v1/edge/keys?pgae=1')).error?.details, {
    field: 'query.pgae',
    nearest: 'page',
    known: ['page', 'size', 'after'],
  });
});

test('§1.4 what is passed on keeps path, query, body and idempotency key, is signed, and carries the key of the cloud only', async (t) => {
  const { cloud, edge } = await stage(t);
  cloud.on('PUT /v1/webhooks/{id}', () => ({
    data: {
      id: '0190d5a0-0000-7000-8000-000000000000',
      url: 'https://x',
      events: [],
      status: 'enabled',
      secretPreview: 'whsec_…',
      rotating: false,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:00:00.000Z',
    },
  }));
  const body = '{ "url": "https://x",  "events": [] }';
  const reply = await edge.ask('PUT', '/v1/webhooks/0190d5a0-0000-7000-8000-000000000000?a=%20b&c=d%2Fe', body, {
    'idempotency-key': 'k-1',
    'x-environment': 'live',
    cookie: 'a=b',
    'x-forwarded-for': '1.1.1.1',
  });
  t.is(reply.status, 200);
  t.is(reply.headers.get('x-request-id'), 'req_22222222222222222222222222', "the cloud's request id: its logs know it");
  const [seen] = passedOn(cloud);
  t.is(seen!.path, '/v1/webhooks/0190d5a0-0000-7000-8000-000000000000?a=%20b&c=d%2Fe');
  t.is(seen!.body, body);
  t.true(seen!.signed);
  t.like(seen!.headers, {
    'idempotency-key': 'k-1',
    'content-type': 'application/json',
    'x-api-key': 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
  });
  for (const name of ['cookie', 'x-forwarded-for', 'x-environment']) t.is(seen!.headers[name], undefined, name);
  t.false(JSON.stringify(seen).includes(edge.localKey));
});

test("§8.4 the cloud's refusals come through with the details of their code, a 429 with its Retry-After; the edge has none of its own", async (t) => {
  const { cloud, edge } = await stage(t);
  cloud.on('GET /v1/transactions', () => ({ code: 'RATE_LIMIT_EXCEEDED', details: { limit: 7, band: 'launch' } }));
  const limited = await edge.ask('GET', '/v1/transactions');
  t.is(limited.status, 429);
  t.deepEqual(limited.error?.details, { limit: 7 });
  cloud.on('GET /v1/transactions', () => ({
    data: { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0 },
  }));
  const statuses = await Promise.all(
    Array.from({ length: 500 }, async () => (await edge.ask('GET', '/v1/transactions')).status),
  );
  t.deepEqual([...new Set(statuses)], [200]);
});

test('what the cloud says of how its answer is to be read is not handed on, nor a header in another form than its own', async (t) => {
  const { cloud, edge } = await stage(t);
  const OWN = 'application/json; charset=utf-8';
  const told: readonly { name: string; given: string | string[]; said: string | null }[] = [
    { name: 'content-type', given: 'text/html', said: OWN },
    { name: 'content-type', given: 'application/json; charset=utf-7', said: OWN },
    { name: 'content-type', given: 'application/json; charset=utf-16le', said: OWN },
    { name: 'content-type', given: 'text/html;application/json', said: OWN },
    { name: 'content-encoding', given: 'identity', said: null },
    { name: 'content-disposition', given: 'attachment; filename="x.html"', said: null },
    { name: 'content-language', given: 'en', said: null },
    { name: 'set-cookie', given: 'a=b', said: null },
    { name: 'link', given: '<https://example.com>; rel=preload', said: null },
    { name: 'x-content-type-options', given: 'none', said: 'nosniff' },
    { name: 'idempotent-replayed', given: 'yes', said: null },
    { name: 'idempotent-replayed', given: 'true', said: 'true' },
    { name: 'ratelimit-remaining', given: '-1', said: null },
    { name: 'ratelimit-remaining', given: '0', said: '0' },
    { name: 'retry-after', given: 'Fri, 31 Dec 9999 23:59:59 GMT', said: null },
    { name: 'retry-after', given: '7', said: '7' },
    { name: 'retry-after', given: '999999999', said: '3600' },
  ];
  for (const { name, given, said } of told) {
    cloud.on('GET /v1/addresses', () => ({
      data: { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0, next: null },
      headers: { [name]: given },
    }));
    const { status, headers } = await edge.ask('GET', '/v1/addresses');
    t.deepEqual([status, headers.get(name)], [200, said], `${name}: ${String(given)}`);
    t.is(headers.get('content-type'), OWN);
  }
  for (const given of ['<script>', ['req_22222222222222222222222222', 'req_33333333333333333333333333']]) {
    cloud.on('GET /v1/addresses', () => ({
      data: { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0, next: null },
      headers: { 'x-request-id': given },
    }));
    const { headers } = await edge.ask('GET', '/v1/addresses');
    t.regex(headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/, 'its own');
  }
});

test('§7 a cloud that is gone is UPSTREAM_UNAVAILABLE, with the envelope; what needs no cloud works on', async (t) => {
  const { cloud, edge } = await stage(t);
  await cloud.close();
  const reply = await edge.ask('GET', '/v1/addresses');
  t.is(reply.status, 503);
  t.is(reply.error?.code, 'UPSTREAM_UNAVAILABLE');
  t.is((await edge.ask('GET', '/v1/edge/keys')).status, 200);
});

test('HEAD is answered as GET without a body, here as at the cloud', async (t) => {
  const { cloud, edge } = await stage(t);
  cloud.on('GET /v1/addresses', () => ({ data: { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0 } }));
  for (const [path, status] of [
    ['/v1/addresses', 200],
    ['/v1/edge/health', 200],
    ['/v1/edge/keys', 200],
    ['/v1/nope', 404],
  ] as const) {
    const head = await edge.ask('HEAD', path);
    t.is(head.status, status, path);
    t.is(head.text, '', path);
  }
  t.is((await ask(edge.url, { method: 'HEAD', path: '/v1/addresses' })).status, 401);
  t.is(cloud.countOf('GET /v1/addresses'), 1, 'and asked of the cloud as GET');
});

test('decisions 2: 404, 405, 413 and malformed requests have the envelope and a request id', async (t) => {
  const { edge } = await stage(t);
  for (const [method, path, status, code] of [
    ['GET', '/v1/nope', 404, 'NOT_FOUND'],
    ['GET', '/v2/addresses', 404, 'NOT_FOUND'],
    ['GET', '/v1/addresses/', 404, 'NOT_FOUND'],
    ['PUT', '/v1/addresses', 405, 'METHOD_NOT_ALLOWED'],
    ['DELETE', '/v1/edge/health', 405, 'METHOD_NOT_ALLOWED'],
    ['POST', '/v1/edge/sync', 404, 'NOT_FOUND'],
    ['POST', '/v1/edge/heartbeat', 404, 'NOT_FOUND'],
    ['POST', '/v1/edge/pools', 404, 'NOT_FOUND'],
    ['POST', '/v1/edge/transactions/txn_22222222222222222222222222/signed', 404, 'NOT_FOUND'],
    ['GET', '/v1/settings/api-keys', 404, 'NOT_FOUND'],
    ['POST', '/v1/auth/login', 404, 'NOT_FOUND'],
    ['GET', '/v1/admin/actors', 404, 'NOT_FOUND'],
  ] as const) {
    const reply = await edge.ask(method, path);
    t.is(reply.status, status, `${method} ${path}`);
    t.is(reply.error?.code, code);
    t.regex(reply.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/);
    t.regex(reply.text, /"meta":\{"requestId":"req_/);
  }
  t.is((await edge.ask('DELETE', '/v1/addresses')).headers.get('allow'), 'POST, GET', 'as at the cloud');
  const { hostname, port } = new URL(edge.url);
  for (const text of [
    `GET /v1/addresses/%zz HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: close\r\n\r\n`,
    'nonsense\r\n\r\n',
  ]) {
    const answer = await raw(edge.url, text);
    t.regex(answer, /^HTTP\/1\.1 400 /);
    t.is(
      /^x-request-id: (req_[a-z2-7]{26})\r$/im.exec(answer)?.[1] ?? '',
      /"requestId":"([^"]*)"/.exec(answer)![1]!,
      text,
    );
  }
  t.is((await edge.ask('POST', '/v1/addresses', 'x'.repeat(1_048_577))).error?.code, 'PAYLOAD_TOO_LARGE');
  t.regex(
    await writeThenRead(edge.url, '/v1/addresses', { 'x-api-key': edge.localKey }, 8_000_000),
    /^HTTP\/1\.1 413 /,
  );
  t.is((await edge.ask('GET', `/v1/addresses/${'x'.repeat(500)}`)).error?.code, 'INVALID_INPUT');
});

/** Sends bytes as they are: a client library would mend them. */
function raw(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

/**
 * A POST whose head the server has read, and whose body comes when the answer of this is called; that gives the
 * response.
 */
function requestUnderWay(
  url: string,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<() => Promise<string>> {
  const { hostname, port, host } = new URL(url);
  const head = Object.entries({
    host,
    'content-type': 'application/json',
    'content-length': String(body.length),
    expect: '100-continue',
    connection: 'close',
    ...headers,
  });
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`),
    );
    let answer = '';
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.startsWith('HTTP/1.1 100'))
        resolve(
          () =>
            new Promise((done) => {
              socket.on('close', () => done(answer));
              answer = '';
              socket.write(body);
            }),
        );
    });
  });
}

/** Key sets that the cloud got and that have a key, revoked or not. */
function setsWith(cloud: HostileCloud, id: string, revoked = false) {
  return cloud.keySets.filter(({ keys }) =>
    keysOf(keys).some((key) => key.id === id && (key.revokedAtMs !== null) === revoked),
  );
}

test('reliability 14: a connection that sent no request is closed on both sides, whatever its other end does', async (t) => {
  const { edge } = await stage(t);
  const { hostname, port } = new URL(edge.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () =>
    socket.write('this is not HTTP\r\n\r\n'),
  );
  socket.resume();
  const gone = new Promise<string>((resolve) => {
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  });
  const writing = setInterval(() => socket.write('x'), 100);
  t.teardown(() => {
    clearInterval(writing);
    socket.destroy();
  });
  t.regex(await gone, /^(ECONNRESET|EPIPE)$/);
});

test('a path that the cloud would read as another one is never signed', async (t) => {
  const { cloud, edge } = await stage(t);
  const start = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${edge.localKey}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  for (const path of [
    '/v1/addresses/%2e%2e',
    '/v1/addresses/..',
    '/v1/transactions/%2e%2e/broadcast',
    '/v1/webhooks/..%2fedge',
    '/v1/balances/%2e%2e/edge',
    '/v1/addresses/x/../../edge/sync',
    '//v1/addresses',
    '/v1//addresses',
    '/v1/addresses/.%2e/archive',
    '/v1\\addresses',
    'http://evil/v1/addresses',
  ]) {
    for (const method of ['GET', 'POST']) {
      const answer = await raw(edge.url, start(method, path));
      t.regex(answer, /^HTTP\/1\.1 (400|404|405|409) /, `${method} ${path}: ${answer.slice(0, 60)}`);
    }
  }
  // An encoded slash stays inside its segment at the other end too: an odd id, and no other path.
  t.deepEqual([...new Set(passedOn(cloud).map(({ path }) => path))], ['/v1/webhooks/..%2fedge']);
  t.regex(await raw(edge.url, 'NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 Bad Request[^]*"INVALID_INPUT"/);
});

test('§2.12 a phrase or a private key anywhere in a request is KEY_MATERIAL_REJECTED and reaches neither cloud nor log', async (t) => {
  const { cloud, edge } = await stage(t);
  const hex = 'c0ffee'.repeat(11).slice(0, 64);
  for (const [where, reply] of [
    ['body', await edge.ask('POST', '/v1/addresses', { chain: 'eth', userRef: 'u', label: PHRASE })],
    [
      'nested body',
      await edge.ask('POST', '/v1/webhooks', { url: 'https://x', events: [{ deep: [PHRASE.split(' ')] }] }),
    ],
    ['hex', await edge.ask('POST', '/v1/addresses', { chain: 'eth', userRef: 'u', label: hex })],
    ['query', await edge.ask('GET', `/v1/addresses?tag=${encodeURIComponent(PHRASE)}`)],
    ['path', await edge.ask('GET', `/v1/addresses/${hex}`)],
    ['header', await edge.ask('POST', '/v1/addresses', { chain: 'eth', userRef: 'u' }, { 'idempotency-key': PHRASE })],
    ['label of a local key', await edge.ask('POST', '/v1/edge/keys', { label: PHRASE })],
  ] as const) {
    t.is(reply.status, 400, where);
    t.is(reply.error?.code, 'KEY_MATERIAL_REJECTED', where);
  }
  t.deepEqual(passedOn(cloud), []);
  t.notRegex(JSON.stringify(edge.logged), /abandon|c0ffee/);
});

test('§2.8, §5.2 local keys over REST: minted, shown once, listed masked, revoked at once', async (t) => {
  const { cloud, edge } = await stage(t);
  const minted = await edge.ask('POST', '/v1/edge/keys', { label: 'billing' });
  t.is(minted.status, 201);
  t.deepEqual(Object.keys(minted.data!).sort(), ['expiresAt', 'id', 'key', 'label', 'mintedBy', 'prefix']);
  const key = String(minted.data!['key']),
    id = String(minted.data!['id']);
  const by = (method: string, path: string) => ask(edge.url, { method, path, headers: { 'x-api-key': key } });
  t.is((await by('GET', '/v1/edge/keys')).status, 200);
  const page = await edge.ask('GET', '/v1/edge/keys?size=1');
  t.like(page.data, { page: 0, size: 1, totalElements: 2, totalPages: 2 });
  t.false(page.text.includes(key));
  await eventually('the cloud has the record', () => cloud.localKeys.some((record) => record.id === id));
  const revoked = await edge.ask('DELETE', `/v1/edge/keys/${id}`);
  t.is(revoked.status, 200);
  t.truthy(revoked.data!['revokedAt']);
  t.is((await by('GET', '/v1/edge/keys')).status, 401);
  await eventually('the cloud has the revocation', () =>
    cloud.localKeys.some((record) => record.id === id && record.revokedAtMs !== null),
  );
  t.is((await edge.ask('DELETE', '/v1/edge/keys/ek_22222222222222222222222222')).error?.code, 'NOT_FOUND');
  for (const body of [{}, { label: '' }, { label: 7 }, { label: 'x', more: 1 }, '{"label":', '[]']) {
    t.is((await edge.ask('POST', '/v1/edge/keys', body)).error?.code, 'INVALID_INPUT', JSON.stringify(body));
  }
  for (const query of ['size=1000', 'bogus=1', 'size=1&size=2']) {
    t.is((await edge.ask('GET', `/v1/edge/keys?${query}`)).error?.code, 'INVALID_INPUT', query);
  }
  const plain = await edge.ask('POST', '/v1/edge/keys', '{"label":"x"}', { 'content-type': 'text/plain' });
  t.is(plain.error?.code, 'UNSUPPORTED_MEDIA_TYPE');
});

test('found F11: a local key has its minter and its end; revoked, it takes along what it minted, also by a request that is under way', async (t) => {
  const { cloud, edge } = await stage(t);
  const first = (await edge.ask('GET', '/v1/edge/keys')).data!['content'] as {
    id: string;
    mintedBy: string | null;
    expiresAt: string | null;
  }[];
  t.like(first, [{ mintedBy: null, expiresAt: null }]);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const minted = (await edge.ask('POST', '/v1/edge/keys', { label: 'leaked', expiresAt })).data as {
    id: string;
    key: string;
  };
  t.like(minted, { mintedBy: first[0]!.id, expiresAt });
  const by = (key: string, method: string, path: string, body?: object) =>
    ask(edge.url, { method, path, body, headers: { 'x-api-key': key } });
  const child = (await by(minted.key, 'POST', '/v1/edge/keys', { label: 'by the thief' })).data as {
    id: string;
    key: string;
  };
  t.like(child, { mintedBy: minted.id, expiresAt }, 'no longer good than its minter');
  for (const later of [new Date(Date.parse(expiresAt) + 1).toISOString(), '2020-01-01T00:00:00Z', 'tomorrow', 7]) {
    t.like(
      (await by(minted.key, 'POST', '/v1/edge/keys', { label: 'x', expiresAt: later })).error,
      { code: 'INVALID_INPUT', details: { field: 'expiresAt' } },
      String(later),
    );
  }
  const underWay = await requestUnderWay(
    edge.url,
    '/v1/edge/keys',
    { 'x-api-key': minted.key },
    JSON.stringify({ label: 'late' }),
  );
  const revoked = await edge.ask('DELETE', `/v1/edge/keys/${minted.id}`);
  t.like(revoked.data, { id: minted.id, alsoRevoked: [child.id] });
  t.regex(await underWay(), /^HTTP\/1\.1 401 /);
  for (const { key } of [minted, child])
    t.like((await by(key, 'GET', '/v1/edge/keys')).error, { code: 'UNAUTHORIZED', details: { reason: 'revoked' } });
  t.regex((await by(minted.key, 'GET', '/v1/edge/keys')).error!.details['next'] as string, /local-keys mint/);
  await eventually('the others can know', () =>
    cloud.keySets.some(({ keys }) => keysOf(keys).filter(({ revokedAtMs }) => revokedAtMs !== null).length === 2),
  );
  t.false(JSON.stringify(cloud.keySets).includes(minted.key.slice(9)));
});

test('found F11: two edges over a cloud that withholds and replays: a bare record opens nothing, a set its keys, a revocation stays', async (t) => {
  const { cloud, edge } = await stage(t),
    elsewhere = await stage(t);
  const atSecond = (key: string) =>
    ask(elsewhere.edge.url, { method: 'GET', path: '/v1/edge/keys', headers: { 'x-api-key': key } });
  const { id, key } = (await edge.ask('POST', '/v1/edge/keys', { label: 'app' })).data as { id: string; key: string };
  await eventually(
    'both forms are there',
    () => cloud.localKeys.some((record) => record.id === id) && setsWith(cloud, id).length > 0,
  );
  const record = cloud.localKeys.find((each) => each.id === id)!,
    set = setsWith(cloud, id)[0]!;
  await eventually('the second stream is up', () => elsewhere.cloud.streams === 1);
  elsewhere.cloud.push('keys', { records: [record] });
  elsewhere.cloud.push('key_set', { set: { ...set, signature: '00'.repeat(64) } });
  await eventually('a forged set is an alarm', () =>
    elsewhere.edge.logged.some(({ msg, alarm }) => msg === 'foreign_key_set_refused' && alarm === true),
  );
  t.is((await atSecond(key)).status, 401, 'a bare record says nothing of what came after it');
  elsewhere.cloud.push('key_set', { set });
  await eventually('a set does', async () => (await atSecond(key)).status === 200);
  await edge.ask('DELETE', `/v1/edge/keys/${id}`);
  await eventually('it is signed', () => setsWith(cloud, id, true).length > 0);
  elsewhere.cloud.push('key_set', { set: setsWith(cloud, id, true)[0]! });
  await eventually('revoked', async () => (await atSecond(key)).status === 401);
  elsewhere.cloud.push('keys', { records: [record] });
  elsewhere.cloud.push('key_set', { set });
  await eventually('the older set is refused', () =>
    elsewhere.edge.logged.some(({ msg }) => msg === 'older_key_set_refused'),
  );
  t.is((await atSecond(key)).status, 401);
});

test('console A34: the cloud asks for a revocation, the edge revokes with all that the key minted, and signs it; an unknown key and a malformed frame change nothing', async (t) => {
  const { cloud, edge } = await stage(t);
  const { id, key } = (await edge.ask('POST', '/v1/edge/keys', { label: 'app' })).data as { id: string; key: string };
  const headers = { 'x-api-key': key };
  const below = (await ask(edge.url, { method: 'POST', path: '/v1/edge/keys', headers, body: { label: 'below' } }))
    .data as { id: string };
  const statusOf = async () => (await ask(edge.url, { method: 'GET', path: '/v1/edge/keys', headers })).status;
  await eventually('the stream is up', () => cloud.streams === 1);
  cloud.push('revoke_keys', { ids: ['ek_x'] });
  cloud.push('revoke_keys', { ids: [`ek_${'a'.repeat(26)}`] });
  await eventually('an unknown key is a line of the log', () =>
    edge.logged.some(({ msg }) => msg === 'local_key_unknown'),
  );
  t.is(await statusOf(), 200);
  cloud.push('revoke_keys', { ids: [id] });
  await eventually('it is refused', async () => (await statusOf()) === 401);
  await eventually('both are signed as revoked', () =>
    [id, below.id].every((one) =>
      cloud.localKeys.some((record) => record.id === one && record.revokedAtMs !== null && record.signature !== ''),
    ),
  );
});

test('found F14: an answer above what its route can say, and a frame above what any can, are not parsed; the edge goes on', async (t) => {
  const { cloud, edge } = await stage(t);
  const large = JSON.stringify({
    success: true,
    data: { content: Array.from({ length: 4_000 }, () => ({ address: 'x'.repeat(200) })) },
    meta: {},
  });
  cloud.on('GET /v1/addresses', () => ({ raw: large, status: 200 }));
  cloud.on('GET /v1/addresses/{id}', () => ({ raw: large, status: 200 }));
  cloud.on('GET /v1/chains', () => ({ raw: large, status: 503 }));
  for (const path of ['/v1/addresses', '/v1/addresses/adr_22222222222222222222222222', '/v1/chains']) {
    const reply = await edge.ask('GET', path);
    t.like(reply.error, { code: 'UPSTREAM_UNAVAILABLE', details: { reason: 'ANSWER_TOO_LARGE' } }, path);
    t.true((reply.error!.details['limitBytes'] as number) < 200_000);
  }
  // Within its bytes, and still long work for a parser.
  for (const raw of [`${'['.repeat(30_000)}${']'.repeat(30_000)}`, `[${'{},'.repeat(55_000)}{}]`]) {
    cloud.on('GET /v1/addresses', () => ({ raw, status: 200 }));
    t.like(
      (await edge.ask('GET', '/v1/addresses?size=200')).error,
      { code: 'UPSTREAM_UNAVAILABLE', details: { reason: 'ANSWER_TOO_LARGE' } },
      raw.slice(0, 9),
    );
  }
  await eventually('the stream is up', () => cloud.streams === 1);
  cloud.push('keys', { records: [], more: 'x'.repeat(FRAME_BYTES_TO_EDGE_MAX) });
  await eventually('the frame closed the stream', () => edge.logged.some(({ msg }) => msg === 'stream_down'));
  t.like(
    edge.logged.find(({ msg }) => msg === 'frame_too_large'),
    { alarm: true, code: 'PAYLOAD_TOO_LARGE', reason: 'received' },
  );
  await eventually('it comes back', () => cloud.streams === 1 && cloud.sessions.length >= 2);
});

test('a cloud of before key sets gets records as before, and is named as such', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  cloud.carriesSets = false;
  const edge = await startTestEdge(t, cloud.url);
  await eventually('the record is there', () => cloud.localKeys.length > 0);
  await eventually('the log says so', () => edge.logged.some(({ msg }) => msg === 'key_sets_not_carried'));
  t.deepEqual(cloud.keySets, []);
  t.is((await edge.ask('GET', '/v1/edge/keys')).status, 200);
});

test('decisions 6: a cloud that invents a local key, in a welcome or a frame, opens no door, and raises an alarm', async (t) => {
  const { cloud, edge } = await stage(t);
  const invented = {
    id: 'ek_33333333333333333333333333',
    environment: 'live' as const,
    hash: '00'.repeat(32),
    label: 'admin',
    prefix: 'loc_live_x…',
    createdAtMs: 1,
    revokedAtMs: null,
    signature: '11'.repeat(64),
  };
  await eventually('the stream is up', () => cloud.streams === 1);
  cloud.push('keys', { records: [invented] });
  await eventually('the alarm rang', () =>
    edge.logged.some(({ msg, alarm }) => msg === 'foreign_local_keys_refused' && alarm === true),
  );
  cloud.welcomeKeys = [invented];
  cloud.dropStreams();
  await eventually(
    'it rang again',
    () => edge.logged.filter(({ msg }) => msg === 'foreign_local_keys_refused').length === 2,
  );
  t.is((await edge.ask('GET', '/v1/edge/keys')).data?.['totalElements'], 1);
});

test('ecosystem X51 /health and /metrics need no key and say nothing secret; through a proxy there are no metrics', async (t) => {
  const { cloud, edge } = await stage(t);
  await eventually('the stream is up', () => cloud.streams === 1);
  for (const path of ['/health/live', '/health/ready', '/v1/edge/health'])
    t.is((await ask(edge.url, { method: 'GET', path })).status, 200, path);
  const metrics = await ask(edge.url, { method: 'GET', path: '/metrics' });
  for (const name of [
    'svc_edge_outbox_depth 0',
    'svc_edge_outbox_poisoned 0',
    'svc_edge_registered 1',
    'svc_edge_stream_up 1',
    'svc_edge_alarms 0',
    'svc_edge_alarms_total 0',
  ])
    t.true(metrics.text.includes(name), name);
  const forwarded = await ask(edge.url, {
    method: 'GET',
    path: '/metrics',
    headers: { 'x-forwarded-for': '127.0.0.1' },
  });
  t.is(forwarded.status, 404);
  t.regex(forwarded.text, /METRICS_ALLOW and METRICS_TOKEN_FILE/);
});

test('§4.2 a destination that names another tag than chainTag is INVALID_INPUT before anything is built', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, { env: { EDGE_CHAINS: 'xrp' } });
  await edge.edge.registered;
  const to = 'X7gJ5YK8abHf2eTPWPFHAAot8Knck11QGqmQ7a6a3Z8PJvk'; // tag 1
  const reply = await edge.ask('POST', '/v1/transactions/unsigned', {
    chain: 'xrp',
    from: 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH',
    to,
    amount: '1',
    chainTag: '7',
  });
  t.is(reply.status, 400);
  t.is(reply.error?.code, 'INVALID_INPUT');
  t.is(reply.error?.details['field'], 'chainTag');
  t.is(cloud.countOf('POST /v1/transactions/unsigned'), 0);
});

test("§4.2 PATCH of a transaction that is not there is the cloud's 404; of one that nobody here asked for it is refused and not repriced", async (t) => {
  const { cloud, edge } = await stage(t);
  const path = '/v1/transactions/unsigned/txn_22222222222222222222222222';
  cloud.on('GET /v1/transactions/{id}', () => ({ code: 'NOT_FOUND' }));
  t.is((await edge.ask('PATCH', path)).error?.code, 'NOT_FOUND');
  cloud.on('GET /v1/transactions/{id}', () => ({ data: { id: 'txn_22222222222222222222222222', status: 'built' } }));
  const refused = await edge.ask('PATCH', path);
  t.is(refused.error?.code, 'SIGNED_BATCH_REJECTED');
  t.is(refused.error?.details['reason'], 'no_instruction');
  t.false(cloud.seen.some(({ method }) => method === 'PATCH'));
});

test('issue 2: what a path does not take is INVALID_INPUT at the edge too, and nothing is done', async (t) => {
  const { cloud, edge } = await stage(t);
  const before = cloud.seen.length;
  for (const [method, path, body] of [
    ['GET', '/v1/edge/outbox?bogus=1'],
    ['GET', '/v1/edge/health?bogus=1'],
    ['POST', '/v1/transactions/txn_22222222222222222222222222/broadcast', { amount: '1' }],
    ['POST', '/v1/transactions/txn_22222222222222222222222222/broadcast', '{"amount":'],
    ['DELETE', '/v1/edge/keys/ek_22222222222222222222222222', [1]],
  ] as const) {
    t.is(
      (await edge.ask(method, path, body)).error?.code,
      'INVALID_INPUT',
      `${method} ${path} ${JSON.stringify(body)}`,
    );
  }
  t.false(cloud.seen.slice(before).some(({ path }) => path.includes('/transactions/')));
  t.is(
    (await edge.ask('DELETE', '/v1/edge/keys/ek_22222222222222222222222222', {})).error?.code,
    'NOT_FOUND',
    'an empty one says nothing',
  );
});
