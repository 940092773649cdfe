import test from 'ava';
import { randomBytes } from 'node:crypto';
import { createPhraseKeystore } from '../../edge/keystore/phrase-keystore.ts';
import { derivePool } from '../../edge/link/pools.ts';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { jsonOf, raw, startTestCloud, testEdge } from '../support/gateway.ts';

const WAIT_MS = 700;
const cloud = await startTestCloud({ POOL_WAIT_MS: String(WAIT_MS) });
test.after.always(() => cloud.stop());

/**
 * A sandbox account with a pool that is used up, and its edge, which has no stream: it refills only when the test says
 * so.
 */
async function empty() {
  const { sandbox } = await cloud.organization();
  const { client, sessionId } = testEdge(cloud, sandbox.apiKey),
    keystore = createPhraseKeystore(randomBytes(64));
  await client.must('syncEdge', {
    body: { edgeVersion: EDGE_VERSION, sessionId, keys: [], pools: [await derivePool(keystore, 'sol', 0, 2)] },
  });
  const create = () =>
    raw(cloud.url, 'POST', '/v1/addresses', { headers: jsonOf(sandbox.apiKey), body: '{"chain":"sol","userRef":"u"}' });
  const first = await Promise.all([create(), create()]);
  return {
    create,
    first,
    beat: () =>
      client.must('heartbeatEdge', {
        body: {
          sessionId,
          edgeVersion: EDGE_VERSION,
          outboxDepth: 0,
          outboxPoisoned: false,
          outboxMode: 'durable',
          podHint: null,
        },
      }),
    push: async (from: number, count: number) =>
      client.must('pushPool', { body: { pool: await derivePool(keystore, 'sol', from, count) } }),
  };
}

test('found pool storm: an empty pool without a live edge is 423 EDGE_OFFLINE, at once', async (t) => {
  const { create, first } = await empty();
  t.deepEqual(
    first.map(({ status }) => status),
    [201, 201],
  );
  const startedMs = performance.now();
  const { status, json } = await create();
  t.deepEqual([status, json.error?.code], [423, 'EDGE_OFFLINE']);
  t.true(performance.now() - startedMs < WAIT_MS);
});

test('found pool storm: an empty pool with a live edge is 503 pool_refill after POOL_WAIT_MS, with Retry-After', async (t) => {
  const { create, beat } = await empty();
  await beat();
  const startedMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, create));
  t.true(performance.now() - startedMs >= WAIT_MS);
  for (const { status, json, headers } of answers) {
    t.deepEqual([status, json.error?.code, json.error?.details['reason']], [503, 'SERVICE_UNAVAILABLE', 'pool_refill']);
    t.regex(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  }
});

test('found pool storm: requests that wait for a refill are served when it comes, each with an address of its own', async (t) => {
  const { create, beat, push } = await empty();
  await beat();
  const waiting = Array.from({ length: 3 }, create);
  await push(2, 1);
  await push(3, 1);
  const answers = await Promise.all(waiting),
    served = answers.filter(({ status }) => status === 201);
  t.is(served.length, 2, JSON.stringify(answers.map(({ json }) => json.error)));
  t.is(new Set(served.map(({ json }) => json.data['address'])).size, 2);
  t.is(answers.find(({ status }) => status !== 201)!.json.error!.details['reason'], 'pool_refill');
});
