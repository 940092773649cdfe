import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync, brotliCompressSync } from 'node:zlib';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { ChainUnavailable, MalformedReply, type Endpoint } from '../../chains/chain.ts';
import { callRpc, callRpcBatch, safeText } from '../../chains/json-rpc.ts';
import { createFailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint, EndpointFailure, type HttpEndpointOptions } from '../../chains/transport/http-endpoint.ts';
import { HandTimer } from '../support/hand-timer.ts';
import { recordAnswers, replayAnswers } from '../support/recorded-endpoint.ts';

async function serve(t: ExecutionContext, listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function endpointAt(t: ExecutionContext, url: string, more: Partial<HttpEndpointOptions> = {}) {
  const endpoint = createHttpEndpoint({ chain: 'eth', name: 'one', url, ...more });
  t.teardown(() => endpoint.close());
  return endpoint;
}

const get = (endpoint: Endpoint) => endpoint.request({ method: 'GET', path: '/x' });

test('reliability 14: a node that never answers fails in its time', async (t) => {
  const endpoint = endpointAt(t, await serve(t, () => undefined), { timeoutMs: 80 });
  await t.throwsAsync(() => get(endpoint), { instanceOf: EndpointFailure, message: 'eth: no answer within 80 ms' });
  const half = endpointAt(
    t,
    await serve(t, (_request, response) => {
      response.writeHead(200);
      response.write('{');
    }),
    { timeoutMs: 80 },
  );
  await t.throwsAsync(() => get(half), { instanceOf: EndpointFailure });
});

test('a call may be given more or less time than its endpoint has', async (t) => {
  const endpoint = endpointAt(t, await serve(t, () => undefined), { timeoutMs: 60_000 });
  await t.throwsAsync(() => endpoint.request({ method: 'GET', path: '/', timeoutMs: 50 }), {
    instanceOf: EndpointFailure,
    message: 'eth: no answer within 50 ms',
  });
});

test('reliability 14: answers over the limit are cut off, also after decompression', async (t) => {
  const big = Buffer.alloc(200_000, 0x20);
  const plain = endpointAt(t, await serve(t, (_request, response) => void response.end(big)), {
    answerBytesMax: 100_000,
  });
  await t.throwsAsync(() => get(plain), { instanceOf: EndpointFailure, message: /larger than 100000 bytes/ });
  const bomb = endpointAt(
    t,
    await serve(
      t,
      (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(big)),
    ),
    { answerBytesMax: 100_000 },
  );
  await t.throwsAsync(() => get(bomb), { instanceOf: EndpointFailure });
});

test('10.2 compressed answers are read', async (t) => {
  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const) {
    const endpoint = endpointAt(
      t,
      await serve(t, (request, response) => {
        t.regex(String(request.headers['accept-encoding']), /gzip/);
        response.writeHead(200, { 'content-encoding': encoding }).end(compress(Buffer.from('{"a":"é"}')));
      }),
    );
    t.is((await get(endpoint)).text, '{"a":"é"}');
  }
});

test('reliability 14 X2: 429, gateway errors and redirects are failures that never show the URL; Retry-After is kept', async (t) => {
  let status = 429;
  const url = await serve(
    t,
    (_request, response) =>
      void response.writeHead(status, { 'retry-after': '7', location: 'http://127.0.0.1:1/' }).end('no'),
  );
  const endpoint = endpointAt(t, `${url}/v3/SECRETKEY?apikey=SECRETKEY`);
  const limited = await t.throwsAsync(() => get(endpoint), { instanceOf: EndpointFailure, message: /rate limited/ });
  t.is(limited?.retryAfterMs, 7_000);
  for (status of [301, 408, 502, 503, 504])
    await t.throwsAsync(() => get(endpoint), { instanceOf: EndpointFailure, message: `eth: http ${status}` });
  status = 500;
  const failure = await t.throwsAsync(() => get(endpoint), { instanceOf: EndpointFailure });
  t.notRegex(JSON.stringify([failure?.message, failure?.reason]), /SECRETKEY/);
  const gone = endpointAt(t, 'http://127.0.0.1:9/SECRETKEY', { timeoutMs: 500 });
  const refused = await t.throwsAsync(() => get(gone), { instanceOf: EndpointFailure });
  t.notRegex(refused!.message, /SECRETKEY/);
});

test("an HTTP error with the node's own JSON is an answer: Bitcoin Core says 500, Horizon 404", async (t) => {
  let status = 500;
  const endpoint = endpointAt(
    t,
    await serve(
      t,
      (_request, response) =>
        void response
          .writeHead(status, { 'content-type': 'application/json' })
          .end('{"error":{"code":-5,"message":"Block not found"}}'),
    ),
  );
  for (status of [500, 404, 400]) t.is((await get(endpoint)).status, status);
});

test('the base path, its query and basic authentication go with every request', async (t) => {
  const seen: unknown[] = [];
  const url = await serve(t, (request, response) => {
    seen.push([request.method, request.url, request.headers.authorization]);
    response.end('{}');
  });
  const endpoint = endpointAt(t, `${url.replace('//', '//user:pa%20ss@')}/base/?key=1`);
  await endpoint.request({ method: 'GET', path: '/accounts?x=2' });
  await endpoint.request({ method: 'POST', path: '', body: '{}' });
  const basic = `Basic ${Buffer.from('user:pa ss').toString('base64')}`;
  t.deepEqual(seen, [
    ['GET', '/base/accounts?x=2&key=1', basic],
    ['POST', '/base?key=1', basic],
  ]);
  t.throws(() => createHttpEndpoint({ chain: 'eth', name: 'one', url: 'ftp://127.0.0.1' }), { instanceOf: TypeError });
});

// ── Failover ─────────────────────────────────────────────────────────────────────────────────────────────────────

const fake = (name: string): Endpoint => ({ name, request: async () => ({ status: 200, headers: {}, text: '{}' }) });

function failover(count: number) {
  const clock = { nowMs: 1_000_000 };
  const endpoints = Array.from({ length: count }, (_, i) => fake(`e${i}`));
  const reports: string[] = [];
  const transport = createFailoverTransport({
    chain: 'eth',
    endpoints,
    elapsedMs: () => clock.nowMs,
    random: () => 0.5,
    onReport: ({ name }, outcome) => void reports.push(`${name} ${outcome}`),
  });
  return { clock, endpoints, transport, reports };
}

test('transport: picks rotate over healthy endpoints and skip those excluded', (t) => {
  const { transport, endpoints } = failover(3);
  t.deepEqual(
    [0, 0, 0, 0].map(() => transport.pick().name),
    ['e0', 'e1', 'e2', 'e0'],
  );
  t.not(transport.pick([endpoints[1]!]).name, 'e1');
  t.throws(() => transport.pick(endpoints), { instanceOf: ChainUnavailable, message: /none left/ });
});

test('transport: attempt goes on to the next endpoint, answers as the first that can, and names all reasons when none can', async (t) => {
  const { transport, reports } = failover(3);
  t.is(
    await transport.attempt(async ({ name }) => {
      if (name !== 'e2') throw new EndpointFailure('eth', 'http 503');
      return name;
    }),
    'e2',
  );
  t.deepEqual(reports, ['e0 failed', 'e1 failed', 'e2 ok']);
  await t.throwsAsync(
    () =>
      transport.attempt(async () => {
        throw new ChainUnavailable('eth', 'no such block');
      }),
    { instanceOf: ChainUnavailable, message: /e0: no such block; .*e1: no such block/ },
  );
  await t.throwsAsync(
    () =>
      transport.attempt(async () => {
        throw new RangeError('a fault of ours');
      }),
    { instanceOf: RangeError },
  );
});

test('transport: an answer of another shape is tried elsewhere; with one endpoint it stays a fault', async (t) => {
  const bad = async ({ name }: Endpoint) => {
    if (name === 'e0') throw new MalformedReply('block', '{');
    return name;
  };
  t.is(await failover(2).transport.attempt(bad), 'e1');
  await t.throwsAsync(() => failover(1).transport.attempt(bad), { instanceOf: MalformedReply });
});

test('transport: the first failure is free, then waits double with jitter up to a minute; success ends them', async (t) => {
  const {
    transport,
    clock,
    endpoints: [only],
  } = failover(1);
  const fail = () =>
    transport.attempt(async () => {
      throw new EndpointFailure('eth', 'http 503');
    });
  await t.throwsAsync(fail);
  await t.throwsAsync(fail);
  t.is(transport.health()[0]!.state, 'backing_off');
  await t.throwsAsync(() => transport.attempt(async () => 'asked'), {
    instanceOf: ChainUnavailable,
    message: /backing off/,
  });
  clock.nowMs += 375; // 500 × (0.5 + 0.5 / 2)
  t.is(transport.health()[0]!.state, 'healthy');
  for (let i = 0; i < 20; i++) {
    await t.throwsAsync(fail);
    clock.nowMs += 60_000;
  }
  t.is(transport.health()[0]!.state, 'healthy', 'never more than a minute');
  transport.report(only!, 'ok', 5);
  await t.throwsAsync(fail);
  t.is(transport.health()[0]!.state, 'healthy');
});

test('found: one that is late is not waited for alone: the next is asked as well, the first good answer counts, and the late one is noted', async (t) => {
  const clock = new HandTimer(),
    reports: string[] = [];
  let end: (error: Error) => void = () => undefined;
  const transport = createFailoverTransport({
    chain: 'eth',
    endpoints: [fake('e0'), fake('e1')],
    elapsedMs: () => clock.nowMs,
    random: () => 0.5,
    hedge: { ms: 2_500, timer: clock.timer },
    onReport: ({ name }, outcome) => void reports.push(`${name} ${outcome}`),
  });
  const asked: string[] = [];
  const read = ({ name }: Endpoint) => {
    asked.push(name);
    return name === 'e0'
      ? new Promise<string>((_, reject) => {
          end = reject;
        })
      : Promise.resolve(name);
  };
  for (let round = 0; round < 2; round += 1) {
    while (asked.filter((name) => name === 'e0').length === round)
      t.is(await clock.until(transport.attempt(read)), 'e1');
    end(new EndpointFailure('eth', 'no answer within 20000 ms'));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    t.is(asked.filter((name) => name === 'e0').length, round + 1);
  }
  t.true(clock.nowMs <= 5_000);
  clock.nowMs += 60_000; // its back-off is over
  asked.length = 0;
  for (let turn = 0; turn < 6; turn += 1) await clock.until(transport.attempt(read));
  t.deepEqual([...new Set(asked)], ['e1'], 'who needs an answer does not try out one that was down');
  t.is(transport.pick([transport.endpoints[1]!]).name, 'e0', 'who asks it alone does');
  transport.report(transport.endpoints[0]!, 'ok');
  t.deepEqual([transport.pick().name, transport.pick().name].sort(), ['e0', 'e1']);
  t.deepEqual(
    reports.filter((one) => one.startsWith('e0')),
    ['e0 failed', 'e0 failed', 'e0 ok'],
  );
});

test('transport: a node that proves nothing is not one that fails', async (t) => {
  const { transport } = failover(1);
  for (let i = 0; i < 5; i++)
    await t.throwsAsync(() =>
      transport.attempt(async () => {
        throw new ChainUnavailable('eth', 'no such block yet');
      }),
    );
  t.is(transport.health()[0]!.state, 'healthy');
});

test('transport: Retry-After is waited for', async (t) => {
  const { transport, clock } = failover(1);
  await t.throwsAsync(() =>
    transport.attempt(async () => {
      throw new EndpointFailure('eth', 'rate limited', 7_000);
    }),
  );
  clock.nowMs += 6_999;
  t.is(transport.health()[0]!.state, 'backing_off');
  clock.nowMs += 1;
  t.is(transport.health()[0]!.state, 'healthy');
});

test('G10 transport: an endpoint behind the others is asked last, until it caught up or all show the lower head', (t) => {
  const {
    transport,
    endpoints: [a, b],
  } = failover(2);
  transport.report(a!, 'ok', 100);
  transport.report(b!, 'ok', 96);
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['healthy', 'lagging'],
  );
  t.deepEqual(
    [1, 2, 3].map(() => transport.pick().name),
    ['e0', 'e0', 'e0'],
  );
  t.is(transport.pick([a!]).name, 'e1');
  transport.report(b!, 'ok', 98);
  t.is(transport.health()[1]!.state, 'healthy');
  transport.report(a!, 'ok', 50);
  transport.report(b!, 'ok', 50);
  transport.report(a!, 'ok', 50);
  t.deepEqual(
    transport.health().map(({ state }) => state),
    ['healthy', 'healthy'],
    'a rollback that all show',
  );
});

test('G14 transport: an endpoint of another network is not asked until an identity check clears it', async (t) => {
  const {
    transport,
    endpoints: [a, b],
  } = failover(2);
  transport.report(a!, 'wrong_network');
  t.deepEqual(
    [1, 2, 3].map(() => transport.pick().name),
    ['e1', 'e1', 'e1'],
  );
  transport.report(b!, 'wrong_network');
  t.throws(() => transport.pick(), { instanceOf: ChainUnavailable, message: /wrong_network/ });
  await t.throwsAsync(() => transport.attempt(async () => 1), { instanceOf: ChainUnavailable });
  transport.report(a!, 'ok');
  t.is(transport.pick().name, 'e0');
});

test('transport property: whatever is reported, attempt asks each endpoint at most once and ends', async (t) => {
  const outcome = fc.constantFrom('ok', 'failed', 'lagging', 'wrong_network');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2), outcome, fc.nat(20), fc.nat(2_000)), { maxLength: 30 }),
      async (steps) => {
        const { transport, endpoints, clock } = failover(3);
        for (const [which, what, head, waitMs] of steps) {
          transport.report(endpoints[which]!, what, head);
          clock.nowMs += waitMs;
        }
        const asked: string[] = [];
        await t.throwsAsync(
          () =>
            transport.attempt(async ({ name }) => {
              asked.push(name);
              throw new ChainUnavailable('eth', 'no');
            }),
          { instanceOf: ChainUnavailable },
        );
        t.is(new Set(asked).size, asked.length);
      },
    ),
    { numRuns: 50 },
  );
});

// ── Recording and JSON-RPC ───────────────────────────────────────────────────────────────────────────────────────

const idsOf = (body: string) => [JSON.parse(body) as { id: number } | { id: number }[]].flat().map(({ id }) => id);

test('recorded answers are given back in order, the last for ever, and nothing else is made up', async (t) => {
  let count = 0;
  const live: Endpoint = {
    name: 'live',
    request: async ({ body }) => ({
      status: 200,
      headers: {},
      text: `{"jsonrpc":"2.0","id":${idsOf(body!)[0]},"result":"0x${++count}"}`,
    }),
  };
  const recorder = recordAnswers(live);
  for (let i = 0; i < 2; i++) await callRpc('eth', recorder.endpoint, 'eth_blockNumber', []);
  t.is(recorder.exchanges.length, 2);
  const replay = replayAnswers('eth', 'replay', JSON.parse(JSON.stringify(recorder.exchanges)));
  const results = [];
  for (let i = 0; i < 3; i++) results.push(await callRpc('eth', replay, 'eth_blockNumber', []));
  t.deepEqual(
    results,
    ['0x1', '0x2', '0x2'].map((result) => ({ ok: true as const, result })),
  );
  await t.throwsAsync(() => callRpc('eth', replay, 'eth_chainId', []), {
    instanceOf: ChainUnavailable,
    message: /not recorded/,
  });
});

/** Answers a text; `$1`, `$2` … in it are the numbers of the calls. */
const answering = (status: number, text: string): Endpoint => ({
  name: 'a',
  request: async ({ body }) => ({
    status,
    headers: {},
    text: text.replace(/\$(\d)/g, (_, place: string) => String(idsOf(body!)[Number(place) - 1])),
  }),
});

test('G8 JSON-RPC: errors are values, a missing result or an empty answer is unknown, no JSON is a fault', async (t) => {
  const call = (status: number, text: string) => callRpc('eth', answering(status, text), 'm', []);
  t.deepEqual(await call(200, '{"id":$1,"result":null}'), { ok: true, result: null });
  t.deepEqual(await call(200, '{"id":$1,"error":{"code":-32000,"message":"x"}}'), {
    ok: false,
    error: { code: -32000, message: 'x' },
  });
  t.deepEqual(await call(413, 'too big'), { ok: false, error: { code: 413, message: 'http 413' } });
  t.deepEqual(await call(403, '{"message":"no"}'), { ok: false, error: { code: 403, message: 'http 403' } });
  await t.throwsAsync(() => call(200, '{"id":$1}'), { instanceOf: ChainUnavailable });
  await t.throwsAsync(() => call(200, ''), { instanceOf: ChainUnavailable });
  await t.throwsAsync(() => call(200, '<html>'), { instanceOf: MalformedReply });
  await t.throwsAsync(() => call(200, '[1]'), { instanceOf: MalformedReply });
});

test('JSON-RPC: a batch is answered by id, refused batches go one by one, a missing answer is a fault', async (t) => {
  const calls = [
    { method: 'a', params: [] },
    { method: 'b', params: [] },
  ];
  t.deepEqual(
    await callRpcBatch(
      'eth',
      answering(200, '[{"id":$2,"result":"b"},{"id":$1,"error":{"code":1,"message":"m"}}]'),
      calls,
    ),
    [
      { ok: false, error: { code: 1, message: 'm' } },
      { ok: true, result: 'b' },
    ],
  );
  await t.throwsAsync(() => callRpcBatch('eth', answering(200, '[{"id":$2,"result":"b"}]'), calls), {
    instanceOf: MalformedReply,
  });
  const single: Endpoint = {
    name: 's',
    request: async ({ body }) => ({
      status: 200,
      headers: {},
      text: body!.startsWith('[')
        ? '{"id":null,"error":{"code":-32600,"message":"batch not supported"}}'
        : `{"id":${idsOf(body!)[0]},"result":"${(JSON.parse(body!) as { method: string }).method}"}`,
    }),
  };
  t.deepEqual(await callRpcBatch('eth', single, calls), [
    { ok: true, result: 'a' },
    { ok: true, result: 'b' },
  ]);
  t.deepEqual(await callRpcBatch('eth', single, []), []);
});

interface Call {
  id: number;
  method: string;
  params: unknown[];
}
const questions = Array.from({ length: 40 }, (_, i) => ({ method: 'echo', params: [i] }));
const echoes = questions.map(({ params }) => ({ ok: true as const, result: params[0] }));
const echo = ({ id, params }: Call) => ({ jsonrpc: '2.0', id, result: params[0] });

/** An endpoint that answers batches as told, and records how many calls each request held. */
function batching(
  answer: (calls: Call[]) => unknown,
  status: (calls: Call[]) => number = () => 200,
): { endpoint: Endpoint; sizes: number[] } {
  const sizes: number[] = [];
  return {
    sizes,
    endpoint: {
      name: 'b',
      request: async ({ body }) => {
        const asked = JSON.parse(body!) as Call | Call[],
          calls = Array.isArray(asked) ? asked : [asked];
        sizes.push(calls.length);
        return {
          status: status(calls),
          headers: {},
          text: JSON.stringify(Array.isArray(asked) ? answer(asked) : echo(asked)),
        };
      },
    },
  };
}

const refusal = (id: unknown, code: number, message: string) => ({ jsonrpc: '2.0', id, error: { code, message } });
/** How providers refuse a batch that is larger than they take; each below its own size. */
const REFUSALS: readonly (readonly [what: string, refuse: (calls: Call[]) => unknown, status?: number])[] = [
  ['one error for the array', () => refusal(null, -32_600, 'batch size exceeded')],
  ['one error without a word on why', () => refusal(null, -32_005, 'x')],
  ['one error in an array', () => [refusal(null, -32_600, 'batch too large')]],
  ['HTTP 413', () => 'entity too large', 413],
  ['HTTP 400', () => refusal(null, -32_600, 'Batch of more than 10 requests are not allowed'), 400],
  ['HTTP 500 that names the batch', () => refusal(null, -32_000, 'batch limit 10 exceeded'), 500],
  ['−32007 on each', (calls) => calls.map(({ id }) => refusal(id, -32_007, '50/second request limit reached'))],
  ['−32007 on each, without a word on why', (calls) => calls.map(({ id }) => refusal(id, -32_007, 'no'))],
  [
    '−32005 on some',
    (calls) => calls.map((call, i) => (i % 2 === 0 ? echo(call) : refusal(call.id, -32_005, 'limit exceeded'))),
  ],
];

test("found F24: a batch whose size is refused is halved down to single calls, and the endpoint's size is remembered", async (t) => {
  for (const [what, refuse, status = 200] of REFUSALS) {
    for (const most of [1, 3, 10, 39]) {
      const { endpoint, sizes } = batching(
        (calls) => (calls.length > most ? refuse(calls) : calls.map(echo)),
        (calls) => (calls.length > most ? status : 200),
      );
      t.deepEqual(await callRpcBatch('eth', endpoint, questions), echoes, `${what}, ${most}`);
      const first = sizes.splice(0),
        refused = first.filter((size) => size > most).length;
      t.true(refused >= 1 && refused <= 6, `${what}, ${most}: refused ${refused} times`);
      t.deepEqual(await callRpcBatch('eth', endpoint, questions), echoes);
      t.true(
        sizes.every((size) => size <= most),
        `${what}, ${most}: ${sizes.join()} after ${first.join()}`,
      );
    }
  }
});

test("F24 what is no refusal of a size is not asked again in parts: the same failure for each call, or each one's own", async (t) => {
  for (const status of [401, 403, 404, 429, 502, 503]) {
    const { endpoint, sizes } = batching(
      () => refusal(null, -32_005, 'daily request count exceeded'),
      () => status,
    );
    const answers = await callRpcBatch('eth', endpoint, questions);
    t.true(answers.length === 40 && answers.every(({ ok }) => !ok), String(status));
    t.deepEqual(sizes, [40], String(status));
  }
  const skipped = batching((calls) =>
    calls.map(({ id, params }) =>
      refusal(id, -32_007, `Slot ${params[0]} was skipped, or missing due to ledger jump to recent snapshot`),
    ),
  );
  t.true((await callRpcBatch('sol', skipped.endpoint, questions)).every(({ ok }) => !ok));
  t.deepEqual(skipped.sizes, [40], 'Solana says so of a slot');
});

test('F24 a size that was refused once is tried again after a while: a plan may change', async (t) => {
  let most = 5;
  const { endpoint, sizes } = batching((calls) =>
    calls.length > most ? refusal(null, -32_600, 'batch too large') : calls.map(echo),
  );
  await callRpcBatch('eth', endpoint, questions);
  most = 1_000;
  for (let round = 0; round < 120; round += 1) t.deepEqual(await callRpcBatch('eth', endpoint, questions), echoes);
  t.is(Math.max(...sizes.slice(-3)), 40);
});

test('found F25: answers that are shifted by one are no answers: numbers are unique per process, and matched', async (t) => {
  const seen = new Set<number>();
  let late: unknown = { jsonrpc: '2.0', id: 4_711, result: '0x3e8' };
  const shifted: Endpoint = {
    name: 's',
    request: async ({ body }) => {
      const asked = JSON.parse(body!) as Call | Call[];
      for (const { id } of [asked].flat()) {
        t.false(seen.has(id));
        seen.add(id);
      }
      const answer = late;
      late = Array.isArray(asked) ? asked.map(echo) : echo(asked);
      return { status: 200, headers: {}, text: JSON.stringify(answer) };
    },
  };
  for (let i = 0; i < 5; i += 1)
    await t.throwsAsync(callRpc('eth', shifted, 'eth_getBalance', [`0x${i}`]), {
      instanceOf: MalformedReply,
      message: /another question/,
    });
  for (let i = 0; i < 3; i += 1)
    await t.throwsAsync(callRpcBatch('eth', shifted, questions.slice(0, 2)), { instanceOf: MalformedReply });
});

test('F25 numbers come back as text too; a result without one, of another or twice is no answer; an error without one refuses nothing', async (t) => {
  const call = (text: string) => callRpc('eth', answering(200, text), 'm', []);
  t.deepEqual(await call('{"id":"$1","result":7}'), { ok: true, result: 7 });
  for (const id of ['null', '0', '-1', '""', '"a"', '[]', '{}', 'true', '1.5', '9007199254740993'])
    await t.throwsAsync(call(`{"id":${id},"result":7}`), { instanceOf: MalformedReply }, id);
  await t.throwsAsync(call('{"result":7}'), { instanceOf: MalformedReply });
  await t.throwsAsync(call('{"id":4711,"error":{"code":-32000,"message":"nonce too low"}}'), {
    instanceOf: MalformedReply,
  });
  t.deepEqual(await call('{"id":null,"error":{"code":-32000,"message":"x"}}'), {
    ok: false,
    error: { code: -32_000, message: 'x', unmatched: true },
  });
  const two = questions.slice(0, 2);
  for (const text of [
    '[{"id":$1,"result":1},{"id":$1,"result":2}]',
    '[{"id":$1,"result":1},{"id":4711,"result":2}]',
    '[{"id":$1,"result":1},{"result":2}]',
    '[1,2]',
  ]) {
    await t.throwsAsync(callRpcBatch('eth', answering(200, text), two), { instanceOf: MalformedReply }, text);
  }
});

test("X2 a node's text is one line without URLs, of bounded length", (t) => {
  t.is(safeText('see https://rpc.example/v3/SECRET for\nmore'), 'see <url> for more');
  t.is(safeText('wss://a/b?k=S'), '<url>');
  t.is(safeText('x'.repeat(10_000)).length, 300);
});

test("X2 a node's text can be stored whatever it holds: PostgreSQL takes no U+0000 and no half of a surrogate pair", (t) => {
  t.is(safeText('no\u0000thing\u001b[31m\u007f here'), 'no thing [31m here');
  t.is(safeText('a\ud83d b'), 'a\ufffd b');
  const cut = safeText('x'.repeat(299) + '\u{1f600}');
  t.true(cut.isWellFormed() && cut.length <= 300);
});
