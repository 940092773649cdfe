import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import { createClient } from '../../../protocol/client.ts';
import { pathMatches } from '../../../protocol/route.ts';
import { ROUTES, type OperationId } from '../../../protocol/routes.ts';
import { verifyWebhook } from '../../../protocol/node/webhook-signature.ts';
import { ERRORS, isRefusal, Refused } from '../../../protocol/errors.ts';
import { exampleOf } from '../../../protocol/schema/events.ts';
import { Webhook } from 'standardwebhooks';
import { vector } from '../../support/vectors.ts';

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}
type Reply = (seen: Seen) => { status?: number; headers?: Record<string, string>; body: string };

/** A server that answers as it is told: the other side of the wire, not one of ours. */
async function serving(reply: Reply): Promise<{ url: string; seen: Seen[]; close: () => Promise<void> }> {
  const seen: Seen[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const one = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      seen.push(one);
      const { status = 200, headers = {}, body } = reply(one);
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
const envelope = (data: unknown) =>
  JSON.stringify({ success: true, data, meta: { requestId: 'req_1', timestamp: '2026-01-01T00:00:00.000Z' } });
const failure = (code: string, details: object = {}) =>
  JSON.stringify({ success: false, data: null, error: { code, message: 'm', details }, meta: {} });

test('a call goes where the route table says, with its parameters, query, body and credentials', async (t) => {
  const server = await serving(() => ({
    status: 201,
    headers: { 'x-request-id': 'req_1', 'idempotent-replayed': 'true' },
    body: envelope({ id: 'adr_1' }),
  }));
  const client = createClient({
    baseUrl: `${server.url}/`,
    apiKey: 'flk_test_x',
    sign: ({ method, body }) => ({ signature: `${method} ${body.length}` }),
  });
  const answer = await client.ask('createAddress', {
    body: { chain: 'eth', userRef: 'customer-1' },
    idempotencyKey: 'k',
    headers: { 'x-more': '1' },
  });
  t.deepEqual(answer, {
    status: 201,
    requestId: 'req_1',
    replayed: true,
    retryAfterSeconds: null,
    outcome: { id: 'adr_1' } as never,
  });
  await client.call('getTokenBalance', { params: { chain: 'xlm', address: 'G/A', token: 'USD:G?' } });
  await client.call('listTransactions', { query: { size: '5', userRef: 'a&b' } });
  await client.with({ bearer: 'jwt', environment: 'sandbox' }).call('listMembers');
  t.like(server.seen[0], { method: 'POST', url: '/v1/addresses', body: '{"chain":"eth","userRef":"customer-1"}' });
  t.like(server.seen[0]!.headers, {
    'x-api-key': 'flk_test_x',
    'idempotency-key': 'k',
    'content-type': 'application/json',
    'x-more': '1',
    signature: 'POST 38',
  });
  t.is(server.seen[1]!.url, '/v1/balances/xlm/G%2FA/tokens/USD%3AG%3F');
  t.is(server.seen[2]!.url, '/v1/transactions?size=5&userRef=a%26b');
  t.like(server.seen[3]!.headers, { authorization: 'Bearer jwt', 'x-environment': 'sandbox' });
  await server.close();
});

test('a refusal is a value with its code and details; `must` throws it', async (t) => {
  const server = await serving(() => ({
    status: 429,
    headers: { 'retry-after': '7' },
    body: failure('RATE_LIMIT_EXCEEDED', { limit: 60 }),
  }));
  const client = createClient({ baseUrl: server.url });
  t.deepEqual(await client.call('listChains'), {
    ok: false,
    code: 'RATE_LIMIT_EXCEEDED',
    message: 'm',
    details: { limit: 60 },
  } as never);
  t.is((await client.ask('listChains')).retryAfterSeconds, 7);
  const thrown = await t.throwsAsync(() => client.must('listChains'), { instanceOf: Refused });
  t.is((thrown as Refused).refusal.code, 'RATE_LIMIT_EXCEEDED');
  t.is(server.seen.length, 3, 'nothing is retried');
  await server.close();
});

test('what is no envelope and nobody there are UPSTREAM_UNAVAILABLE', async (t) => {
  const bodies = ['<html>', '', '[]', 'null', '{"success":false}', '{"success":"yes"}'];
  let at = 0;
  const server = await serving(() => ({ status: 502, body: bodies[at++]! }));
  const client = createClient({ baseUrl: server.url });
  for (const body of bodies) t.like(await client.call('listChains'), { ok: false, code: 'UPSTREAM_UNAVAILABLE' }, body);
  await server.close();
  t.like(await client.call('listChains'), { ok: false, code: 'UPSTREAM_UNAVAILABLE' });
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const slow = createClient({ baseUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, timeoutMs: 30 });
  t.like(await slow.call('listChains'), { code: 'UPSTREAM_UNAVAILABLE', details: { reason: 'timeout' } });
  const abort = new AbortController();
  const asked = slow.with({ timeoutMs: 60_000 }).call('listChains', { signal: abort.signal });
  abort.abort();
  await t.throwsAsync(() => asked, { name: 'AbortError' });
  silent.close();
  silent.closeAllConnections();
});

test('ecosystem X9 a refusal with a code of a newer service keeps its code, message and details; an edge, which acts on codes, waits', async (t) => {
  const body = JSON.stringify({
    success: false,
    data: null,
    error: { code: 'BRAND_NEW', message: 'a new reason', details: { since: '2.0' } },
    meta: { requestId: 'req_x', timestamp: '2026-01-01T00:00:00Z' },
  });
  const server = await serving(() => ({ status: 422, body }));
  const client = createClient({ baseUrl: server.url });
  const { status, outcome } = await client.ask('listChains');
  t.is(status, 422);
  t.deepEqual(outcome as unknown, { ok: false, code: 'BRAND_NEW', message: 'a new reason', details: { since: '2.0' } });
  await t.throwsAsync(() => client.must('listChains'), { instanceOf: Refused, message: 'BRAND_NEW: a new reason' });
  t.like(await client.with({ knownCodes: new Set(Object.keys(ERRORS)) }).call('listChains'), {
    code: 'UPSTREAM_UNAVAILABLE',
    details: { reason: 'unknown code', code: 'BRAND_NEW', status: 422 },
  });
  await server.close();
});

test('migration M-E2: JSON Lines are a text, whatever JSON is in them', async (t) => {
  const text = '{"address":"a"}\n{"address":"b"}\n# end, 2 rows\n';
  const server = await serving(() => ({
    body: text,
    headers: { 'content-type': 'application/x-ndjson; charset=utf-8' },
  }));
  const client = createClient({ baseUrl: server.url });
  t.is(await client.must('exportProject', { params: { projectId: 'mig_1' }, query: { format: 'JSONL' } }), text);
  await server.close();
});

test('a redirect is not followed: it is no answer of the service', async (t) => {
  const server = await serving(() => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' }));
  t.like(await createClient({ baseUrl: server.url }).call('listChains'), { code: 'UPSTREAM_UNAVAILABLE' });
  await server.close();
});

test("a path parameter that is missing is the caller's mistake", async (t) => {
  await t.throwsAsync(() => createClient({ baseUrl: 'http://127.0.0.1:9' }).call('getAddress', {} as never), {
    message: /id is missing/,
  });
});

interface Webhooks {
  vectors: {
    secret: string;
    payload: string;
    timestamp: number;
    headers: Record<string, string>;
    valid: boolean;
    note: string;
  }[];
}

test('decisions 4: deliveries of the Standard Webhooks vectors verify, or do not, as they say', (t) => {
  for (const { secret, payload, headers, valid, timestamp, note } of vector<Webhooks>('auth/standard-webhooks.json')
    .vectors) {
    const verdict = verifyWebhook(secret, headers, payload, timestamp * 1_000);
    t.is(verdict.valid || verdict.reason === 'body', valid, note); // their payloads are no events of ours
  }
});

test('a delivery is verified over its raw bytes, in any header case, with a tolerance of five minutes', (t) => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const event = exampleOf('deposit_confirmed');
  const body = JSON.stringify(event);
  const at = new Date('2026-01-01T00:00:00Z');
  const headers = {
    'Webhook-Id': event.id,
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': `v1,AAAA ${new Webhook(secret).sign(event.id, at, body)}`,
  };
  const verdict = verifyWebhook(secret, headers, Buffer.from(body), at.getTime());
  t.true(verdict.valid);
  t.is(verdict.valid && verdict.event.event, 'deposit_confirmed');
  const reason = (...args: Parameters<typeof verifyWebhook>) => {
    const judged = verifyWebhook(...args);
    return judged.valid ? 'valid' : judged.reason;
  };
  t.is(reason(secret, headers, `${body} `, at.getTime()), 'signature');
  t.is(reason(`whsec_${Buffer.alloc(24, 8).toString('base64')}`, headers, body, at.getTime()), 'signature');
  t.is(reason(secret, headers, body, at.getTime() + 301_000), 'timestamp');
  t.is(reason(secret, headers, body, at.getTime() - 301_000), 'timestamp');
  t.is(reason(secret, headers, body, at.getTime() + 299_000), 'valid');
  for (const name of Object.keys(headers))
    t.is(reason(secret, { ...headers, [name]: undefined }, body, at.getTime()), 'headers', name);
  t.is(reason(secret, { ...headers, 'webhook-timestamp': 'soon' }, body, at.getTime()), 'headers');
  t.is(isRefusal(verdict), false);
  // Whoever forgot to set a secret has none that anybody could sign with.
  const unsigned = createHmac('sha256', '')
    .update(`${event.id}.${headers['webhook-timestamp']}.${body}`)
    .digest('base64');
  for (const none of ['', 'whsec_', 'whsec_!'])
    t.is(reason(none, { ...headers, 'webhook-signature': `v1,${unsigned}` }, body, at.getTime()), 'signature', none);
  const of = (id: string) => ({
    ...headers,
    'Webhook-Id': id,
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  });
  t.is(reason(secret, of('evt_other'), body, at.getTime()), 'body', 'of another event than its header says');
  t.is(reason(secret, of('evt.1'), body, at.getTime()), 'headers', 'a dot ends the id');
});

test('a parameter of a path arrives as it is, on every route; one that a URL would take for a step is refused and not sent', async (t) => {
  const sent: string[] = [];
  const client = createClient({
    baseUrl: 'http://cloud.example',
    fetch: async (url) => {
      sent.push(new URL(url as string).pathname);
      return new Response('{"success":true,"data":null}');
    },
  });
  const withParams = Object.entries(ROUTES).filter(([, { path }]) => path.includes('{'));
  t.true(withParams.length > 30);
  const call = (id: string, params: object) => client.ask(id as OperationId, { params } as never);
  for (const [id, { path }] of withParams) {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
    await fc.assert(
      fc.asyncProperty(
        fc.record(Object.fromEntries(names.map((name) => [name, fc.string({ minLength: 1, unit: 'binary' })]))),
        async (params) => {
          const isStep = names.some((name) => /^\.{1,2}$/.test(params[name]!));
          sent.length = 0;
          await call(id, params);
          if (isStep) return sent.length === 0;
          const parts = sent[0]!.split('/'),
            wanted = path.split('/');
          return (
            pathMatches(path, sent[0]!) &&
            wanted.every(
              (part, at) => !part.startsWith('{') || decodeURIComponent(parts[at]!) === params[part.slice(1, -1)],
            )
          );
        },
      ),
      { numRuns: 20, examples: [[Object.fromEntries(names.map((name) => [name, '...']))]] },
    );
    for (const name of names)
      for (const step of ['', '.', '..']) {
        sent.length = 0;
        const { status, outcome } = await call(id, {
          ...Object.fromEntries(names.map((each) => [each, 'x'])),
          [name]: step,
        });
        t.like(outcome, { code: 'NOT_FOUND', details: { [name]: step, reason: 'not_an_id' } }, `${id} ${name}`);
        t.is(status, 404);
        t.deepEqual(sent, [], `${id} ${name}`);
      }
  }
});
