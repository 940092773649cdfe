/**
 * found F80: what is over its limit is not read. Heads announce bodies that are never sent: who waits for them does not
 * answer.
 */
import { request } from 'node:http';
import test from 'ava';
import { EDGE_VERSION } from '../../protocol/frames.ts';
import { enrol, jsonOf, raw, startTestCloud, testEdge } from '../support/gateway.ts';

const cloud = await startTestCloud();
test.after.always(() => cloud.stop());

const PER_MINUTE = 60;

/** The answer to a head whose body does not come. */
const unread = (method: string, path: string, headers: Record<string, string>) =>
  new Promise<{ status: number; code: string }>((resolve, reject) => {
    const asked = request(cloud.url + path, { method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        asked.destroy();
        resolve({ status: response.statusCode!, code: JSON.parse(Buffer.concat(chunks).toString()).error.code });
      });
    });
    asked.on('error', reject);
    asked.flushHeaders();
  });

const announced = (bytes: number) => ({ 'content-type': 'application/json', 'content-length': String(bytes) });
const OVER = { status: 429, code: 'RATE_LIMIT_EXCEEDED' };

test('found F80: a request counts however it ends, and one that is over its limit is answered by its head', async (t) => {
  const { live } = await cloud.organization({ tier: 'free' });
  const key = { 'x-api-key': live.apiKey };
  const PHRASE = `${'abandon '.repeat(11)}about`;
  const ends = [
    ['{', 'INVALID_INPUT'],
    [JSON.stringify({ label: PHRASE }), 'KEY_MATERIAL_REJECTED'],
    ['{"chain":"none"}', 'INVALID_INPUT'],
  ] as const;
  const answers = await Promise.all(
    Array.from({ length: PER_MINUTE }, async (_, at) => {
      const [body, code] = ends[at % ends.length]!;
      const answer = await raw(cloud.url, 'POST', '/v1/addresses', { headers: jsonOf(live.apiKey), body });
      t.deepEqual([answer.status, answer.json.error.code], [400, code]);
      return Number(answer.headers.get('ratelimit-remaining'));
    }),
  );
  t.is(Math.min(...answers), 0);
  t.deepEqual(await unread('POST', '/v1/addresses', { ...key, ...announced(16_384) }), OVER);
  t.deepEqual(await unread('POST', '/v1/migration/x/discover', { ...key, ...announced(2_000_000) }), OVER);
  const looked = await raw(cloud.url, 'GET', `/v1/addresses?label=${encodeURIComponent(PHRASE)}`, { headers: key });
  t.is(looked.json.error.code, 'RATE_LIMIT_EXCEEDED', 'nothing of it is looked through');
  t.false(looked.text.includes('abandon'));
  t.false(cloud.lines.some((line) => line.includes('abandon')));
});

test('found F80: over its limit an API key has no nonce stored, and keeps its own edge from nothing', async (t) => {
  const { live } = await cloud.organization({ tier: 'free' });
  const edge = await enrol(cloud, live);
  const body = { edgeVersion: EDGE_VERSION, sessionId: edge.sessionId };
  const thief = testEdge(cloud, live.apiKey);
  // Of a version that is not accepted: no rotation begins, and nobody is told.
  const sync = async () => {
    const old = { edgeVersion: '0.0.1', sessionId: thief.sessionId, keys: [], pools: [] };
    return ((await thief.client.call('syncEdge', { body: old })) as { code?: string }).code;
  };
  t.is(await sync(), 'EDGE_VERSION_UNSUPPORTED');
  const nonces = async () =>
    (await cloud.database.owner`select count(*)::int as n from edge_nonce where key_id = ${thief.signer.keyId}`)[0]![
      'n'
    ];
  t.is(await nonces(), 1);
  await Promise.all(
    Array.from({ length: PER_MINUTE }, () =>
      raw(cloud.url, 'GET', '/v1/webhooks', { headers: { 'x-api-key': live.apiKey } }),
    ),
  );
  t.is(await sync(), 'RATE_LIMIT_EXCEEDED');
  t.is(await nonces(), 1);
  t.true('readiness' in (await edge.client.must('resumeEdge', { body })));
});

test('found F80: a form of a provider of sign-on is not read from an address that posts too many', async (t) => {
  const post = () =>
    raw(cloud.url, 'POST', '/console/sso', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'RelayState=x',
    });
  const posted = await Promise.all(Array.from({ length: 60 }, post));
  t.true(posted.every(({ status }) => status === 303));
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '700000' };
  t.deepEqual(await unread('POST', '/console/sso', form), OVER);
});
