import { randomBytes } from 'node:crypto';
import test from 'ava';
import { io } from 'socket.io-client';
import { createClient } from '../../protocol/client.ts';
import { STREAM_PATH } from '../../protocol/frames.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { enrol, eventually, raw, startTestCloud, testEdge } from '../support/gateway.ts';

const CLUSTER = { CLUSTER_SECRET: randomBytes(32).toString('hex'), INTERNAL_PORT: '0' };
const cloud = await startTestCloud({ PUBLIC_URL: 'http://127.0.0.1:9', ...CLUSTER });
const there = await cloud.another('there');
test.after.always(async () => {
  await there.stop();
  await cloud.stop();
});

const asKey = (apiKey: string, baseUrl = cloud.url) => createClient({ baseUrl, apiKey });
async function owner() {
  const organization = await cloud.organization();
  const bearer = await cloud.signIn(organization.owner);
  return { organization, bearer, client: createClient({ baseUrl: cloud.url, bearer }) };
}
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const HOUR_MS = 3_600_000;
const webhook = { url: 'http://localhost:9/x', events: ['deposit_confirmed' as const] };

test('console A3, A32: a key is an editor’s or a viewer’s; one that only reads writes nothing, and no edge comes with it', async (t) => {
  const { client, organization } = await owner();
  const made = await client.must('mintApiKey', { body: { label: 'reads', environment: 'sandbox', role: 'viewer' } });
  t.like(made, {
    role: 'viewer',
    status: 'active',
    createdBy: organization.owner.id,
    lastUsedAt: null,
    expiresAt: null,
  });
  const key = asKey(made.key);
  t.false(isRefusal(await key.call('listAddresses')));
  t.like(await key.call('createWebhook', { body: webhook }), {
    code: 'FORBIDDEN',
    details: { needs: 'editor', has: 'viewer' },
  });
  t.like(await testEdge(cloud, made.key).sync(), { code: 'FORBIDDEN', details: { needs: 'editor', has: 'viewer' } });
  const editor = await client.must('mintApiKey', { body: { label: 'writes', environment: 'sandbox' } });
  t.is(editor.role, 'editor');
  t.false(isRefusal(await asKey(editor.key).call('createWebhook', { body: webhook })));
  for (const role of ['owner', 'admin', ''])
    t.like(await client.call('mintApiKey', { body: { label: 'x', environment: 'sandbox', role: role as 'viewer' } }), {
      code: 'INVALID_INPUT',
    });
});

test('console A32, A33: a key with an end is refused from then on, here and on another node, and is shown as expired', async (t) => {
  const { client } = await owner();
  const mint = (expiresAt: string) =>
    client.call('mintApiKey', { body: { label: 'ends', environment: 'sandbox', expiresAt } });
  for (const wrong of [inMs(-1_000), inMs(367 * 24 * HOUR_MS)])
    t.like(await mint(wrong), { code: 'INVALID_INPUT', details: { field: 'expiresAt' } });
  const made = await mint(inMs(8_000));
  if (isRefusal(made)) return t.fail(made.code);
  // Both nodes remember the key: its end counts all the same.
  for (const url of [cloud.url, there.url]) t.false(isRefusal(await asKey(made.key, url).call('listAddresses')));
  for (const url of [cloud.url, there.url])
    await eventually(
      'the key ends',
      () => asKey(made.key, url).call('listAddresses'),
      (answer) => isRefusal(answer) && answer.code === 'UNAUTHORIZED',
    );
  t.true(Date.now() >= Date.parse(made.expiresAt!));
  t.like(
    (await client.must('listApiKeys')).content.find(({ id }) => id === made.id),
    { status: 'expired' },
  );
});

test('console A33: a key’s last use is noted from the first one on, once a minute, and never a refused one', async (t) => {
  const { client } = await owner();
  const made = await client.must('mintApiKey', { body: { label: 'used', environment: 'sandbox', role: 'viewer' } });
  const usedAt = async () => (await client.must('listApiKeys')).content.find(({ id }) => id === made.id)!.lastUsedAt;
  await asKey(made.key).call('createWebhook', { body: webhook });
  t.is(await usedAt(), null, 'a refused use is none');
  await asKey(made.key).must('listAddresses');
  const first = await eventually('noted', usedAt, (at) => at !== null);
  t.true(Math.abs(Date.parse(first!) - Date.now()) < 60_000);
  for (let use = 0; use < 5; use += 1) await asKey(made.key, there.url).must('listAddresses');
  t.is(await usedAt(), first, 'the other node does not write within the minute either');
  await client.must('revokeApiKey', { params: { id: made.id } });
  t.like(await asKey(made.key).call('listAddresses'), { code: 'UNAUTHORIZED' });
  t.is(await usedAt(), first);
});

test('console A32: of twenty for the fiftieth key of an account one has it; a revoked or expired one makes room', async (t) => {
  const { client, organization } = await owner();
  const { accountId } = organization.sandbox;
  await cloud.database.owner`
    insert into flock.api_key (id, account_id, organization_id, environment, label, hash, masked_prefix, created_at, expires_at)
      select 'key_more' || i, ${accountId}, ${organization.id}, 'sandbox', 'x', md5(${accountId} || i), 'flk_', now(),
             now() + interval '1 hour' from generate_series(1, 48) i`;
  const mint = () => client.call('mintApiKey', { body: { label: 'last', environment: 'sandbox' } });
  const made = await Promise.all(Array.from({ length: 20 }, mint));
  t.is(made.filter((one) => !isRefusal(one)).length, 1);
  t.like(made.find(isRefusal), { code: 'CONFLICT', details: { reason: 'limit', limit: 50 } });
  await cloud.database.owner`update flock.api_key set expires_at = now() where id = 'key_more1'`;
  t.false(isRefusal(await mint()));
  t.true(isRefusal(await mint()));
  const live = await client.call('mintApiKey', { body: { label: 'live', environment: 'live' } });
  t.false(isRefusal(live), 'each environment has its own');
});

test('console A34: keys that the edge reported are listed and asked to be revoked; revoked they are when the edge has signed it, and the cloud brings none back', async (t) => {
  const { client, organization, bearer } = await owner();
  const accountId = `${organization.id}_live`;
  const ids = Array.from({ length: 3 }, (_, at) => newId('ek', Date.now() + at));
  for (const id of ids)
    await cloud.database.owner`
      insert into local_key (account_id, id, environment, hash, label, prefix, created_at, signature)
        values (${accountId}, ${id}, 'live', ${id}, 'app', 'loc_live_ab', now(), 's')`;
  const page = await client.must('listEdgeKeys', { query: { size: '2' } });
  const rest = await client.must('listEdgeKeys', { query: { size: '2', after: page.next! } });
  t.deepEqual(
    [...page.content, ...rest.content].map(({ id }) => id),
    ids.toReversed(),
  );
  t.is(rest.next, null);
  t.like(page.content[0], { status: 'active', revokeAskedAt: null, revokedAt: null, label: 'app' });
  t.false(JSON.stringify(page).includes('hash'));
  const [first = ''] = ids;
  const asked = await client.must('revokeEdgeKey', { params: { id: first } });
  t.is(asked.status, 'revoking', 'no edge is there: it waits');
  t.deepEqual(await client.must('revokeEdgeKey', { params: { id: first } }), asked, 'asked once');
  t.like(await client.call('revokeEdgeKey', { params: { id: newId('ek', 1) } }), { code: 'NOT_FOUND' });
  const inSandbox = createClient({
    baseUrl: cloud.url,
    bearer,
    environment: 'sandbox',
  });
  t.like(await inSandbox.call('revokeEdgeKey', { params: { id: first } }), { code: 'NOT_FOUND' });
  const noted = await cloud.database.owner`
    select text from audit_entry where organization_id = ${organization.id} and text::jsonb ->> 'action' = 'revokeEdgeKey'
       and text::jsonb ->> 'outcome' = 'done'`;
  t.deepEqual(
    noted.map(({ text }) => (JSON.parse(text as string) as { target: string }).target),
    [first],
  );
  // What the leader answers with.
  await cloud.database.owner`update local_key set revoked_at = now(), signature = 't' where id = ${first}`;
  t.is((await client.must('revokeEdgeKey', { params: { id: first } })).status, 'revoked');
  for (const change of ['revoke_asked_at = null', 'revoked_at = null'])
    await t.throwsAsync(cloud.database.owner.unsafe(`update local_key set ${change} where id = '${first}'`), {
      message: /refused: local_key_(?:asked_once|stays_revoked)/,
    });
});

test('console A33: the stream of an edge ends with its key', async (t) => {
  const { client } = await owner();
  const body = { label: 'edge', environment: 'sandbox' as const };
  const { key: lasting } = await client.must('mintApiKey', { body });
  const edge = await enrol(cloud, { apiKey: lasting } as Parameters<typeof enrol>[1]);
  const url = `${cloud.url}${STREAM_PATH}`;
  const { key, expiresAt } = await client.must('mintApiKey', { body: { ...body, expiresAt: inMs(8_000) } });
  const socket = io(cloud.url, {
    path: STREAM_PATH,
    transports: ['websocket'],
    reconnection: false,
    auth: {
      headers: { 'x-api-key': key, ...edge.sign({ method: 'GET', url }) },
      sessionId: edge.sessionId,
      edgeVersion: '1.0.0',
      podHint: 'pod',
    },
  });
  const closing = new Promise<{ code: string }>((resolve) => socket.once('closing', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  t.deepEqual(await closing, { code: 'UNAUTHORIZED' });
  t.true(Date.now() >= Date.parse(expiresAt!) - 100);
  socket.close();
  t.is((await raw(cloud.url, 'GET', '/v1/addresses', { headers: { 'x-api-key': key } })).status, 401);
});
