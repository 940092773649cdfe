import test from 'ava';
import fc from 'fast-check';
import { pathOf } from '../../protocol/place.ts';
import { codesOf } from '../../protocol/route.ts';
import { ROUTE_LIST } from '../../protocol/routes.ts';
import { CHAINS, EVENTS } from '../../protocol/slugs.ts';
import { enrol, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
const organization = await cloud.organization();
const { sandbox, owner } = organization;
const edge = await enrol(cloud, sandbox);
const admin = await cloud.person({ admin: true });
const [bearer, adminBearer] = [await cloud.signIn(owner), await cloud.signIn(admin)];
const made = await sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'u1' } });
const webhook = await sandbox.client.must('createWebhook', {
  body: { url: 'http://localhost:9/x', events: ['deposit_detected'] },
});
await sandbox.client.must('simulateDeposit', { body: { chain: 'eth', address: made.address, amount: '1' } });
test.after.always(() => cloud.stop());

/** Runs per route: few, because each is a request; another seed each time, printed when it fails. */
const RUNS = 12;
/** Routes that end what the others need, or that are slow on purpose. */
const APART = new Set([
  'login',
  'logout',
  'refresh',
  'resetSandbox',
  'simulateChainDown',
  'getMetrics',
  'getDescription',
  'syncEdge',
  'revokeApiKey',
]);

// Values that are nearly right, plainly wrong, or hostile, for any field.
const values = fc.oneof(
  fc.constantFrom<unknown>(
    'eth',
    'ETH',
    'btc',
    ...CHAINS,
    ...EVENTS,
    made.id,
    made.address,
    webhook.id,
    '1',
    '0',
    '-1',
    '1.5',
    'all',
    '9'.repeat(78),
    'sandbox',
    'active',
    'confirmed',
    'in',
    '2026-01-01T00:00:00Z',
    'http://localhost/x',
    '123456',
    'growth',
    '',
    'x'.repeat(400),
    '\u0000',
    '\ud800',
    "'; drop table address; --",
    '../..',
    '%2e%2e',
    '{}',
    'constructor',
    '__proto__',
    null,
    true,
    [],
    {},
  ),
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.array(fc.constantFrom(...EVENTS)),
  fc.jsonValue({ maxDepth: 2 }),
);
const texts = fc
  .oneof(
    fc.constantFrom(
      made.id,
      made.address,
      webhook.id,
      'eth',
      'xlm',
      'x',
      '0198c0de-0000-7000-8000-000000000001',
      'schedules',
      '%00',
      'a/b',
      '日本',
    ), // `.` and `..` are taken out of a path by whoever asks, so that another route is asked.
    fc.string({ minLength: 1, maxLength: 60 }).filter((text) => text !== '.' && text !== '..'),
  )
  .filter((text) => text.isWellFormed());

const fieldsOf = (schema: unknown): string[] => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

for (const route of ROUTE_LIST.filter(({ where, operationId }) => where !== 'edge' && !APART.has(operationId))) {
  test(`issue 2: ${route.operationId} answers anything with a documented code, never with a fault`, async (t) => {
    const record = (names: readonly string[], value: fc.Arbitrary<unknown>) =>
      fc.record(Object.fromEntries([...names, 'unknown'].map((name) => [name, value])), { requiredKeys: [] });
    const documented = new Set<string>(codesOf(route));
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          id: texts,
          webhookId: texts,
          policyId: texts,
          chain: texts,
          address: texts,
          token: texts,
          path: texts,
          accountId: texts,
          userId: texts,
          projectId: texts,
          uploadId: texts,
          slug: texts,
          batchId: texts,
          reviewId: texts,
          scanId: texts,
        }),
        record(fieldsOf(route.query), values),
        record(fieldsOf(route.body), values),
        async (params, query, body) => {
          const pairs = Object.entries(query)
            .map(
              ([name, value]) =>
                `${name}=${encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed())}`,
            )
            .join('&');
          const path = `${pathOf(route.path, params)}${pairs === '' ? '' : `?${pairs}`}`;
          const text = route.method === 'GET' ? '' : JSON.stringify(body);
          const headers: Record<string, string> = text === '' ? {} : { 'content-type': 'application/json' };
          if (route.credential === 'application' || route.credential === 'signed')
            headers['x-api-key'] = sandbox.apiKey;
          if (route.credential === 'signed')
            Object.assign(headers, edge.sign({ method: route.method, url: `${cloud.url}${path}`, body: text }));
          if (route.credential === 'bearer')
            Object.assign(headers, { authorization: `Bearer ${bearer}`, 'x-environment': 'sandbox' });
          if (route.credential === 'admin') headers['authorization'] = `Bearer ${adminBearer}`;
          const answer = await raw(cloud.url, route.method, path, { headers, ...(text === '' ? {} : { body: text }) });
          // A document that is not the envelope (an export) is right by its status.
          if (answer.status < 300) return answer.json === undefined || answer.json.success;
          const { code } = answer.json.error;
          if (answer.status >= 500 && code !== 'CHAIN_UNAVAILABLE' && code !== 'SERVICE_UNAVAILABLE')
            throw new Error(`${answer.status} ${code} for ${path} ${text}`);
          if (!documented.has(code)) throw new Error(`${code} is not documented: ${path} ${text}`);
          return answer.json.data === null;
        },
      ),
      { numRuns: RUNS },
    );
    t.pass('property held');
  });
}

/** An example with one text of it in the place of a name that every object has, or with such a name beside. */
function* named(value: unknown, rebuild: (value: unknown) => unknown = (same) => same): Generator<unknown> {
  if (typeof value === 'string') yield rebuild('constructor');
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  for (const [name, entry] of entries)
    yield* named(entry, (one) => {
      const others = entries.map(([other, before]) => [other, other === name ? one : before] as const);
      return rebuild(Array.isArray(value) ? others.map(([, each]) => each) : Object.fromEntries(others));
    });
  if (!Array.isArray(value))
    yield rebuild(
      Object.fromEntries([...entries, ['__proto__', { environment: 'live', accountId: sandbox.accountId }]]),
    );
}

test('attack: a text that names what every object has is looked up nowhere, in any field of any example', async (t) => {
  let asked = 0;
  for (const route of ROUTE_LIST.filter(({ where, operationId }) => where !== 'edge' && !APART.has(operationId))) {
    const example = (route.body?.meta() as { examples?: readonly unknown[] } | undefined)?.examples?.[0];
    for (const body of example === undefined ? [] : named(example)) {
      const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
      const path = pathOf(route.path, Object.fromEntries(names.map((name) => [name, 'constructor'])));
      const headers: Record<string, string> = { 'content-type': 'application/json' };
      if (route.credential === 'application') headers['x-api-key'] = sandbox.apiKey;
      if (route.credential === 'bearer')
        Object.assign(headers, { authorization: `Bearer ${bearer}`, 'x-environment': 'sandbox' });
      if (route.credential === 'admin') headers['authorization'] = `Bearer ${adminBearer}`;
      const { status, json } = await raw(cloud.url, route.method, path, { headers, body: JSON.stringify(body) });
      t.not(json.error?.code, 'INTERNAL_ERROR', `${status} ${route.operationId} ${JSON.stringify(body)}`);
      asked += 1;
    }
  }
  t.true(asked > 50, String(asked));
});

test('a fault of ours would be in the log: there is none', (t) => {
  const faults = cloud.lines.filter(
    (line) => line.includes('a request failed') || line.includes('a reply has not the shape'),
  );
  t.deepEqual(faults, []);
});
