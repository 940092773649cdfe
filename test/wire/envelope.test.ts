import { connect } from 'node:net';
import test from 'ava';
import { jsonOf, raw, startTestCloud } from '../support/gateway.ts';
import { writeThenRead } from '../support/writes-first.ts';

const cloud = await startTestCloud();
const { sandbox } = await cloud.organization();
test.after.always(() => cloud.stop());
const asApp = { 'x-api-key': sandbox.apiKey };

test('§2.1 a success has success, data and meta; a failure has error, and data is null', async (t) => {
  const good = await raw(cloud.url, 'GET', '/v1/addresses', { headers: asApp });
  t.is(good.status, 200);
  t.deepEqual(Object.keys(good.json), ['success', 'data', 'meta']);
  t.deepEqual(good.json.data, { content: [], page: 0, size: 20, totalElements: 0, totalPages: 0, next: null });
  t.regex(good.json.meta.requestId, /^req_[a-z2-7]{26}$/);
  t.is(good.headers.get('x-request-id'), good.json.meta.requestId);
  t.is(new Date(good.json.meta.timestamp).toISOString(), good.json.meta.timestamp);
  const bad = await raw(cloud.url, 'GET', '/v1/addresses/adr_nothing', { headers: asApp });
  t.deepEqual(Object.keys(bad.json), ['success', 'data', 'error', 'meta']);
  t.is(bad.json.data, null);
  t.deepEqual([bad.status, bad.json.success, bad.json.error.code], [404, false, 'NOT_FOUND']);
  t.not(bad.json.meta.requestId, good.json.meta.requestId);
});

test('§2.1 short lists come whole; a page of them comes when it is asked for, and what is no page is refused', async (t) => {
  const ask = (path: string) => raw(cloud.url, 'GET', path, { headers: asApp });
  for (const path of [
    '/v1/chains',
    '/v1/edge/readiness',
    '/v1/treasury/tokens',
    '/v1/edge/sessions',
    '/v1/edge/gas-tanks',
    '/v1/migration/key-sources',
  ]) {
    const whole = (await ask(path)).json.data as {
      content: unknown[];
      page: number;
      totalElements: number;
      totalPages: number;
    };
    t.is(whole.content.length, whole.totalElements, path);
    const {
      next,
      registryVersion: _version, // the list of tokens says of which version it is
      ...second
    } = (await ask(`${path}?page=1&size=3`)).json.data as { next: string | null; registryVersion?: number };
    t.is(next === null, whole.content.length <= 6, path);
    const third = (await ask(`${path}?after=${next}&size=3`)).json.data as { content: unknown[] } | null;
    t.deepEqual(next === null ? [] : third!.content, whole.content.slice(6, 9), path);
    t.deepEqual(
      second,
      {
        content: whole.content.slice(3, 6),
        page: 1,
        size: 3,
        totalElements: whole.totalElements,
        totalPages: Math.ceil(whole.totalElements / 3),
      },
      path,
    );
    t.is(((await ask(`${path}?page=0`)).json.data as { size: number }).size, 20, path);
    for (const query of [
      'page=-1',
      'size=0',
      'size=201',
      'size=1000000000',
      'page=x',
      'chain=eth',
      'after=x',
      'after=',
      `page=1&after=${next ?? 'x'}`,
    ]) {
      t.deepEqual(
        [(await ask(`${path}?${query}`)).status, (await ask(`${path}?${query}`)).json.error.code],
        [400, 'INVALID_INPUT'],
        `${path}?${query}`,
      );
    }
  }
});

test('decisions 2: an unknown path is 404, an unknown method 405 with Allow, both in the envelope', async (t) => {
  for (const path of ['/v1', '/v1/nothing', '/v1/addresses/', '/v2/addresses', '/v1/edge/keys']) {
    const answer = await raw(cloud.url, 'GET', path, { headers: asApp });
    t.deepEqual([answer.status, answer.json.error.code], [404, 'NOT_FOUND'], path);
    t.regex(answer.headers.get('x-request-id')!, /^req_/);
  }
  for (const [method, path, allow] of [
    ['DELETE', '/v1/addresses', 'POST, GET'],
    ['POST', '/v1/chains', 'GET'],
    ['PATCH', '/health/live', 'GET'],
    ['OPTIONS', '/v1/addresses', 'POST, GET'],
  ] as const) {
    const answer = await raw(cloud.url, method, path, { headers: asApp });
    t.deepEqual(
      [answer.status, answer.json.error.code, answer.headers.get('allow')],
      [405, 'METHOD_NOT_ALLOWED', allow],
      `${method} ${path}`,
    );
  }
});

test('found F76: an unknown path names itself, the nearest route and the documents; a wrong method names those that are taken', async (t) => {
  const near: readonly [method: string, path: string, nearest: string | undefined][] = [
    ['GET', '/v1/adresses', 'GET /v1/addresses'],
    ['POST', '/v1/adress', 'POST /v1/addresses'],
    ['GET', '/v1/address/adr_24pgoiqjq2dgpoqhm7nuhjd5zi', 'GET /v1/addresses/{id}'],
    ['GET', '/addresses', 'GET /v1/addresses'],
    ['POST', '/v1/transactions/txn_24pgoiqjq2dgpoqhm7nuhjd5zi/brodcast', 'POST /v1/transactions/{id}/broadcast'],
    ['GET', '/v1/balance/eth/0x52908400098527886E0F7030069857D2E4169EE7', 'GET /v1/balances/{chain}/{address}'],
    ['GET', '/completely/elsewhere/and/far', undefined],
  ];
  for (const [method, path, nearest] of near) {
    const { status, json } = await raw(cloud.url, method, path, { headers: asApp });
    t.deepEqual(
      [
        status,
        json.error.code,
        json.error.details['method'],
        json.error.details['path'],
        json.error.details['nearest'],
      ],
      [404, 'NOT_FOUND', method, path, nearest],
      path,
    );
    t.true(
      json.error.message.includes(`${method} ${path}`) && json.error.message.includes('/docs'),
      json.error.message,
    );
    if (nearest !== undefined) t.true(json.error.message.includes(nearest), json.error.message);
  }
  t.like((await raw(cloud.url, 'GET', '/v1/edge/keys', { headers: asApp })).json.error.details, { servedBy: 'edge' });
  const wrong = (await raw(cloud.url, 'DELETE', '/v1/addresses', { headers: asApp })).json.error;
  t.like(wrong.details, { method: 'DELETE', path: '/v1/addresses', allowed: ['POST', 'GET'] });
  t.is(wrong.message, '/v1/addresses takes POST, GET, not DELETE');
  t.like((await raw(cloud.url, 'POST', '/v1/transactions/unsinged', { headers: asApp })).json.error, {
    code: 'METHOD_NOT_ALLOWED',
    details: { nearest: 'POST /v1/transactions/unsigned' },
  });
  const words = `/v1/${'abandon '.repeat(11).replaceAll(' ', '%20')}about`;
  t.is(
    (await raw(cloud.url, 'GET', words, { headers: asApp })).json.error.code,
    'KEY_MATERIAL_REJECTED',
    'and a phrase is never repeated',
  );
});

test('found F76: an id that nothing has is named with what was looked for and where', async (t) => {
  const id = '24pgoiqjq2dgpoqhm7nuhjd5zi';
  const paths: readonly [method: string, path: string, what: string][] = [
    ['GET', `/v1/addresses/adr_${id}`, 'address'],
    ['GET', `/v1/transactions/txn_${id}`, 'transaction'],
    ['POST', `/v1/transactions/txn_${id}/broadcast`, 'withdrawal'],
    ['PATCH', `/v1/transactions/unsigned/txn_${id}`, 'withdrawal'],
    ['GET', '/v1/webhooks/0198c0de-0000-7000-8000-000000000001', 'webhook'],
    ['DELETE', '/v1/webhooks/0198c0de-0000-7000-8000-000000000001', 'webhook'],
    ['POST', `/v1/webhooks/deliveries/dlv_${id}/replay`, 'delivery'],
    ['POST', `/v1/addresses/adr_${id}/archive`, 'address'],
  ];
  for (const [method, path, what] of paths) {
    const {
      status,
      json: { error },
    } = await raw(cloud.url, method, path, { headers: asApp });
    t.deepEqual(
      [status, error.code, error.details['what'], error.details['environment']],
      [404, 'NOT_FOUND', what, 'sandbox'],
      path,
    );
    t.true(
      path.includes(String(error.details['id'])) && error.message.includes(String(error.details['id'])),
      error.message,
    );
    t.truthy(error.details['next']);
  }
  t.like((await raw(cloud.url, 'GET', '/v1/addresses/adr_nothing', { headers: asApp })).json.error.details, {
    id: 'adr_nothing',
    reason: 'not_an_id',
  });
});

test('decisions 2: a body over the limit is 413, announced or not; one that is no JSON is 415', async (t) => {
  const headers = jsonOf(sandbox.apiKey);
  const large = JSON.stringify({ chain: 'eth', label: 'x'.repeat(20_000) });
  const announced = await raw(cloud.url, 'POST', '/v1/addresses', { headers, body: large });
  t.deepEqual(
    [announced.status, announced.json.error.code, announced.json.error.details['maxBytes']],
    [413, 'PAYLOAD_TOO_LARGE', 16_384],
  );
  const streamed = await fetch(`${cloud.url}/v1/addresses`, {
    method: 'POST',
    headers,
    duplex: 'half',
    body: new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(large));
        controller.close();
      },
    }),
  } as RequestInit);
  const { error } = (await streamed.json()) as { error: { code: string; details: object } };
  t.deepEqual([streamed.status, error.code, error.details], [413, 'PAYLOAD_TOO_LARGE', { maxBytes: 16_384 }]);
  const late = await writeThenRead(cloud.url, '/v1/addresses', headers, 8_000_000);
  t.regex(late, /^HTTP\/1\.1 413 /, 'also for a client that reads when it has written');
  for (const more of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/xml' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ]) {
    const answer = await raw(cloud.url, 'POST', '/v1/addresses', { headers: { ...headers, ...more }, body: '{}' });
    t.deepEqual([answer.status, answer.json.error.code], [415, 'UNSUPPORTED_MEDIA_TYPE'], JSON.stringify(more));
  }
});

test('issue 2: malformed JSON, wrong types and unknown fields are INVALID_INPUT and say which field', async (t) => {
  const headers = jsonOf(sandbox.apiKey);
  const cases: [body: string | Uint8Array, field: string][] = [
    ['{"chain":', 'body'],
    ['nothing', 'body'],
    ['[]', 'body'],
    ['"eth"', 'body'],
    ['null', 'body'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'body'],
    ['{}', 'chain'],
    ['{"chain":1}', 'chain'],
    ['{"chain":null}', 'chain'],
    ['{"chain":["eth"]}', 'chain'],
    ['{"chain":"eth","userRef":7}', 'userRef'],
    ['{"chain":"eth","userRef":"u","admin":true}', 'admin'],
    ['{"chain":"eth","userRef":"u","__proto__":{"admin":true}}', '__proto__'],
    ['{"chain":"eth","user_ref":"u"}', 'userRef'],
    ['{"chain":"eth","userRef":""}', 'userRef'],
    ['{"chain":"eth","userRef":"u","label":"a\\u0000b"}', 'label'],
    ['{"chain":"eth","userRef":"u","label":"\\ud800"}', 'label'],
    [`{"chain":"eth","userRef":"${'u'.repeat(257)}"}`, 'userRef'],
  ];
  for (const [body, field] of cases) {
    const answer = await raw(cloud.url, 'POST', '/v1/addresses', { headers, body });
    t.deepEqual(
      [answer.status, answer.json.error.code, answer.json.error.details['field']],
      [400, 'INVALID_INPUT', field],
      String(body).slice(0, 60),
    );
  }
  t.is(
    (await raw(cloud.url, 'POST', '/v1/addresses', { headers: asApp })).json.error.details['field'],
    'chain',
    'no body at all',
  );
  t.is((await raw(cloud.url, 'GET', '/v1/addresses?colour=red', { headers: asApp })).json.error.code, 'INVALID_INPUT');
  t.is(
    (
      await raw(cloud.url, 'POST', '/v1/addresses/adr_24pgoiqjq2dgpoqhm7nuhjd5zi/archive', {
        headers,
        body: '{"now":true}',
      })
    ).json.error.code,
    'INVALID_INPUT',
  );
});

test('§2.2 slugs are lower case, both ways; an unknown chain is INVALID_CHAIN', async (t) => {
  for (const chain of ['ETH', 'Eth', 'ethereum', 'doge', ' eth', '']) {
    const answer = await raw(cloud.url, 'POST', '/v1/addresses', {
      headers: jsonOf(sandbox.apiKey),
      body: JSON.stringify({ chain, userRef: 'u' }),
    });
    t.deepEqual([answer.status, answer.json.error.code], [400, 'INVALID_CHAIN'], chain);
  }
  t.is(
    (await raw(cloud.url, 'GET', '/v1/balances/ETH/0x52908400098527886E0F7030069857D2E4169EE7', { headers: asApp }))
      .json.error.code,
    'INVALID_CHAIN',
  );
  t.is(
    (await raw(cloud.url, 'GET', '/v1/transactions?chain=ETH', { headers: asApp })).json.error.code,
    'INVALID_CHAIN',
  );
});

test('decisions 3: page and size are bounded; what is out of bounds is refused, not bent', async (t) => {
  for (const query of [
    'page=-1',
    'page=1.5',
    'page=1e2',
    'page=01',
    'page=',
    'page=a',
    'size=0',
    'size=201',
    'size=1000000000',
    'size=99999999999999999999',
    'page=1&page=2',
  ]) {
    const answer = await raw(cloud.url, 'GET', `/v1/addresses?${query}`, { headers: asApp });
    t.deepEqual([answer.status, answer.json.error.code], [400, 'INVALID_INPUT'], query);
  }
  const most = await raw(cloud.url, 'GET', '/v1/transactions?size=200&page=1000000', { headers: asApp });
  t.deepEqual(most.json.data, { content: [], page: 1_000_000, size: 200, totalElements: 0, totalPages: 0, next: null });
});

test('a path that is no path and a request that is no request are answered in the envelope', async (t) => {
  const { hostname, port } = new URL(cloud.url);
  const ask = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk.toString();
      });
      socket.on('close', () => resolve(answer));
      socket.on('error', reject);
    });
  const garbage = await ask('this is not HTTP\r\n\r\n');
  t.regex(garbage, /^HTTP\/1\.1 400 /);
  t.is((JSON.parse(garbage.split('\r\n\r\n')[1]!) as { error: { code: string } }).error.code, 'INVALID_INPUT');
  const broken = await ask(
    `GET /v1/addresses/%E0%A4%A HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${sandbox.apiKey}\r\nConnection: close\r\n\r\n`,
  );
  t.regex(broken, /^HTTP\/1\.1 400 /);
  t.regex(broken, /INVALID_INPUT/);
  const noHost = await ask(`GET /v1/addresses HTTP/1.1\r\nX-Api-Key: ${sandbox.apiKey}\r\nConnection: close\r\n\r\n`);
  t.regex(noHost, /^HTTP\/1\.1 400 [^]*"INVALID_INPUT"/);
});

test.serial(
  '§7 what breaks inside is INTERNAL_ERROR: with the id of the log line, without a word of what broke',
  async (t) => {
    await cloud.database.owner`alter table flock.withdrawal rename to elsewhere`;
    const answer = await raw(cloud.url, 'GET', '/v1/transactions', { headers: asApp });
    await cloud.database.owner`alter table flock.elsewhere rename to withdrawal`;
    t.deepEqual(
      [answer.status, answer.json.error],
      [500, { code: 'INTERNAL_ERROR', message: 'unhandled; quote meta.requestId', details: {} }],
    );
    const lines = cloud.lines.filter((line) => line.includes(answer.json.meta.requestId));
    t.true(lines.some((line) => line.includes('a request failed') && line.includes('42P01')));
    t.is((await raw(cloud.url, 'GET', '/v1/transactions', { headers: asApp })).status, 200);
  },
);

test('reliability 14: a connection that sent no request is closed on both sides, whatever its other end does', async (t) => {
  const { hostname, port } = new URL(cloud.url);
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

test('an offer to speak another protocol and an expectation that nobody knows are passed over: the request is answered', async (t) => {
  const { hostname, port } = new URL(cloud.url);
  const answerTo = (header: string, path = '/v1/addresses') =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-Api-Key: ${sandbox.apiKey}\r\n${header}\r\n\r\n`,
        );
      });
      socket.once('data', (chunk) => {
        socket.destroy();
        resolve(chunk.toString());
      });
      socket.once('close', () => resolve('closed without an answer'));
      socket.once('error', reject);
    });
  // As every clear-text request of Java's HTTP client, and `curl --http2`.
  t.regex(
    await answerTo('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk'),
    /^HTTP\/1\.1 200 /,
  );
  t.regex(
    await answerTo('Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\nSec-WebSocket-Version: 13'),
    /^HTTP\/1\.1 200 /,
  );
  t.regex(await answerTo('Expect: a-miracle'), /^HTTP\/1\.1 200 /);
});

test('issue 2.7: the description, its page and the health paths need no credential', async (t) => {
  const api = await raw(cloud.url, 'GET', '/v1/openapi.json');
  t.is((api.json as unknown as { openapi: string }).openapi, '3.1.0');
  const page = await raw(cloud.url, 'GET', '/docs/');
  t.regex(page.headers.get('content-type')!, /^text\/html/);
  t.regex(page.headers.get('content-security-policy')!, /default-src 'none'/);
  t.is((await raw(cloud.url, 'GET', '/docs/no-such-page')).status, 404);
  t.regex((await raw(cloud.url, 'GET', '/docs/api/createAddress')).text, /Issue a deposit address/);
  t.deepEqual((await raw(cloud.url, 'GET', '/health/live')).json.data, { status: 'live' });
  t.deepEqual((await raw(cloud.url, 'GET', '/health/ready')).json.data, {
    status: 'ready',
    checks: { database: true, owner: true, accepting: true },
  });
  t.deepEqual((await raw(cloud.url, 'GET', '/v1/edge/health')).json.data, { status: 'ok' });
  const head = await raw(cloud.url, 'HEAD', '/v1/addresses', { headers: asApp });
  t.deepEqual([head.status, head.text], [200, '']);
});

test('issue 2.11: the metrics by name', async (t) => {
  const { text, headers } = await raw(cloud.url, 'GET', '/metrics');
  t.regex(headers.get('content-type')!, /^text\/plain/);
  for (const name of [
    'svc_event_publication_incomplete',
    'svc_blocks_unresolved',
    'svc_head_age_seconds',
    'svc_mailbox_depth',
    'svc_append_batch_size',
    'svc_delivery_latency_seconds',
    'svc_nonce_gaps',
    'svc_http_request_seconds',
    'svc_mail_unsent',
  ])
    t.regex(text, new RegExp(`^# TYPE ${name} `, 'm'), name);
  t.regex(text, /^svc_event_publication_incomplete 0$/m);
});
