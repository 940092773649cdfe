/**
 * Webhooks end to end: a real cloud node, a real edge over real sockets, receivers that are slow, fail and say 410.
 * Spec §2.7, §4.1, §6; decisions 4; issue 4.9.
 */
import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import test, { type ExecutionContext } from 'ava';
import { verifyWebhook } from '../../protocol/node/webhook-signature.ts';
import { exampleOf, eventEnvelope } from '../../protocol/schema/events.ts';
import { eventually, startTestEdge } from '../support/edge/edges.ts';
import { newDirectory } from '../support/edge/disk.ts';
import { startReceiver, type Hit } from '../support/edge/receivers.ts';
import { startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud({ WEBHOOK_LADDER_SECONDS: '0,1,1,1' });
test.after.always(() => cloud.stop());
const LONG_MS = 60_000;

async function company(t: ExecutionContext) {
  const { sandbox } = await cloud.organization();
  const { client, accountId } = sandbox;
  const settings = {
    environment: 'sandbox' as const,
    phrase: generateMnemonic(wordlist),
    dataDir: newDirectory(),
    env: { API_KEY: sandbox.apiKey, EDGE_CHAINS: 'eth', EDGE_WEBHOOK_CONCURRENCY_PER_HOST: '64' },
  };
  const { edge } = await startTestEdge(t, cloud.url, settings);
  await eventually(
    'an edge leads',
    async () => (await client.must('listEdgeSessions')).content.some(({ role }) => role === 'leader'),
    LONG_MS,
  );
  const newAddress = async () =>
    (await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-1' } })).address;
  const pay = (address: string) =>
    client.must('simulateDeposit', { body: { chain: 'eth', address, amount: '0.1', autoConfirm: true } });
  const deliveries = async (query: Record<string, string> = {}) =>
    (await client.must('listDeliveries', { query: { size: '200', ...query } as never })).content;
  const again = () => startTestEdge(t, cloud.url, settings);
  return { client, accountId, newAddress, pay, deliveries, edge, again };
}

const idOf = ({ headers }: Hit) => headers['webhook-id'] as string;

test('C5-44 issue 4.9: a backlog of an edge that was away arrives in publication order per address and endpoint, one after the other; others do not wait', async (t) => {
  const { client, accountId, newAddress, pay, deliveries, edge, again } = await company(t);
  const arrivals: { endpoint: string; id: string; began: number; ended: number }[] = [];
  let clock = 0,
    open = 0,
    openMost = 0,
    served = 0;
  const receiver = await startReceiver(t, (response, hit) => {
    const arrival = { endpoint: hit.url, id: idOf(hit), began: (clock += 1), ended: Infinity };
    arrivals.push(arrival);
    openMost = Math.max(openMost, (open += 1));
    served += 1;
    const failing = served % 9 === 0;
    setTimeout(
      () => {
        open -= 1;
        arrival.ended = clock += 1;
        response.writeHead(failing ? 500 : 204).end();
      },
      (served * 7) % 23,
    );
  });
  for (const path of ['/a', '/b'])
    await client.must('createWebhook', {
      body: { url: `${receiver.url}${path}`, events: ['deposit_detected', 'deposit_confirmed'] },
    });
  const addresses = await Promise.all(Array.from({ length: 6 }, newAddress));
  await edge.stop();
  await Promise.all(
    addresses.map(async (address) => {
      for (let paid = 0; paid < 4; paid += 1) await pay(address);
    }),
  );
  const count = 6 * 4 * 2 * 2;
  await eventually('all of it waits', async () => (await deliveries({ status: 'pending' })).length === count, LONG_MS);
  t.is(arrivals.length, 0);
  await again();
  await eventually(
    'everything is delivered',
    async () => (await deliveries({ status: 'delivered' })).length === count,
    LONG_MS,
  );
  const published = await cloud.database.owner<{ eventId: string; orderKey: string }[]>`
    select event_id, order_key from publication where account_id = ${accountId} and event like 'deposit%' order by seq`;
  t.is(published.length, count / 2);
  for (const endpoint of ['/a', '/b']) {
    for (const key of new Set(published.map(({ orderKey }) => orderKey))) {
      const expected = published.filter(({ orderKey }) => orderKey === key).map(({ eventId }) => eventId);
      const firsts = expected.map((eventId) =>
        arrivals.find((arrival) => arrival.endpoint === endpoint && arrival.id === eventId)!,
      );
      const inOrder = firsts.toSorted((a, b) => a.began - b.began).map(({ id }) => id);
      t.deepEqual(inOrder, expected, `${endpoint} ${key}`);
      firsts
        .slice(1)
        .forEach((first, before) =>
          t.true(firsts[before]!.ended < first.began, 'after the answer to the one before it'),
        );
    }
  }
  t.true(openMost > 1, 'addresses and endpoints do not wait for each other');
  t.true(arrivals.length > count, 'some were tried again');
});

test('§2.7 decisions 4: while a secret is rotated each delivery verifies under both secrets, after it under the new one only', async (t) => {
  const { client, newAddress, pay } = await company(t);
  const receiver = await startReceiver(t);
  const made = await client.must('createWebhook', { body: { url: receiver.url, events: ['deposit_detected'] } });
  const params = { webhookId: made.id };
  const address = await newAddress();
  const next = async () => {
    const before = receiver.hits.length;
    await pay(address);
    await eventually('it arrived', () => receiver.hits.length > before, LONG_MS);
    const { headers, body } = receiver.hits.at(-1)!;
    return (secret: string) => verifyWebhook(secret, headers, body).valid;
  };
  const first = await next();
  t.true(first(made.secret));
  const rotated = await client.must('rotateWebhookSecret', { params });
  const between = await next();
  t.deepEqual([between(made.secret), between(rotated.secret)], [true, true]);
  await client.must('dropPreviousWebhookSecret', { params });
  const after = await next();
  t.deepEqual([after(made.secret), after(rotated.secret)], [false, true]);
  t.like(verifyWebhook(rotated.secret, receiver.hits.at(-1)!.headers, receiver.hits.at(-1)!.body), {
    valid: true,
    event: { event: 'deposit_detected' },
  });
});

test('ecosystem X21 an endpoint is tested with a good and a broken signature; nothing of it is in a ledger', async (t) => {
  const { client, accountId, deliveries } = await company(t);
  const verdicts: string[] = [];
  let secret = '';
  let refuses = true;
  const receiver = await startReceiver(t, (response, { headers, body }) => {
    const judged = verifyWebhook(secret, headers, body);
    verdicts.push(judged.valid ? judged.event.event : judged.reason);
    response.writeHead(judged.valid ? 204 : refuses ? 401 : 200).end();
  });
  const made = await client.must('createWebhook', { body: { url: receiver.url, events: ['deposit_detected'] } });
  secret = made.secret;
  const params = { webhookId: made.id };
  const versionOf = async () =>
    (await cloud.database.owner`select max(version) as v from event where account_id = ${accountId}`)[0]!['v'];
  const before = await versionOf();
  const tested = await client.must('testWebhook', { params });
  t.like(tested, { webhookId: made.id, url: receiver.url, passed: true });
  t.like(tested.attempts[0], { signature: 'good', statusCode: 204, error: null, passed: true });
  t.like(tested.attempts[1], { signature: 'broken', statusCode: 401, error: null, passed: true });
  t.deepEqual(verdicts, ['webhook_test', 'signature']);
  t.deepEqual(
    receiver.hits.map(({ headers }) => headers['webhook-id']),
    tested.attempts.map(({ eventId }) => eventId),
  );
  secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const stale = await client.must('testWebhook', { params });
  t.deepEqual([stale.passed, ...stale.attempts.map(({ passed }) => passed)], [false, false, true], 'a stale secret');
  refuses = false;
  secret = made.secret;
  const open = await client.must('testWebhook', { params });
  t.deepEqual([open.passed, ...open.attempts.map(({ passed }) => passed)], [false, true, false], 'it verifies nothing');
  await receiver.close();
  const silent = await client.must('testWebhook', { params });
  t.like(silent.attempts[0], { statusCode: null, error: 'refused', passed: false });
  t.like(silent.attempts[1], { statusCode: null, error: 'refused', passed: false }, 'no answer refuses nothing');
  t.deepEqual(await deliveries(), []);
  t.is(await versionOf(), before, 'no fact');
});

test('§4.1 a burst that is on its way follows its endpoint: other URL, other secret, then deleted; nothing of it leaves after the deletion', async (t) => {
  const { client, newAddress, pay, deliveries, edge, again } = await company(t);
  const open: (() => void)[] = [];
  const receiver = await startReceiver(t, (response) => void open.push(() => response.writeHead(200).end()));
  const { id: webhookId } = await client.must('createWebhook', {
    body: { url: `${receiver.url}/old`, events: ['deposit_detected'] },
  });
  const params = { webhookId },
    address = await newAddress();
  await edge.stop();
  for (let paid = 0; paid < 5; paid += 1) await pay(address);
  await eventually('all of it waits', async () => (await deliveries({ status: 'pending' })).length === 5, LONG_MS);
  await again();
  await eventually('the first is there', () => open.length === 1, LONG_MS);
  await client.must('replaceWebhook', { params, body: { url: `${receiver.url}/new`, events: ['deposit_detected'] } });
  const { secret } = await client.must('rotateWebhookSecret', { params });
  await client.must('dropPreviousWebhookSecret', { params });
  open[0]!();
  await eventually('the second is there', () => open.length === 2, LONG_MS);
  const { url, headers, body } = receiver.hits[1]!;
  t.deepEqual([url, verifyWebhook(secret, headers, body).valid], ['/new', true]);
  await client.must('deleteWebhook', { params });
  open[1]!();
  await eventually(
    'the answer is recorded',
    async () => (await deliveries({ status: 'delivered', webhookId })).length === 2,
    LONG_MS,
  );
  await client.must('createWebhook', { body: { url: `${receiver.url}/other`, events: ['deposit_detected'] } });
  await pay(address);
  await eventually('a later event is there', () => open.length === 3, LONG_MS);
  t.deepEqual(
    receiver.hits.map((hit) => hit.url),
    ['/old', '/new', '/other'],
  );
  t.is((await deliveries({ status: 'held', webhookId })).length, 3);
  open[2]!();
});

test('C5-48 410 disables the endpoint, later events are held with the reason, and a range replayed after PUT delivers every one of them', async (t) => {
  const { client, newAddress, pay, deliveries } = await company(t);
  let gone = true;
  const receiver = await startReceiver(t, (response) => response.writeHead(gone ? 410 : 200).end());
  const { id: webhookId } = await client.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected'] },
  });
  const from = new Date(Date.now() - 60_000).toISOString(),
    to = new Date(Date.now() + 600_000).toISOString();
  const address = await newAddress();
  await pay(address);
  await eventually(
    'it is disabled',
    async () => (await client.must('getWebhook', { params: { webhookId } })).status === 'disabled',
    LONG_MS,
  );
  await pay(address);
  await pay(address);
  await eventually('two are held', async () => (await deliveries({ status: 'held', webhookId })).length === 2, LONG_MS);
  t.true(
    (await deliveries({ status: 'held' })).every(
      ({ heldReason, attempts }) => heldReason === 'endpoint_disabled' && attempts.length === 0,
    ),
  );
  t.is((await client.must('listDeadLetters')).totalElements, 1);
  gone = false;
  await client.must('replaceWebhook', {
    params: { webhookId },
    body: { url: receiver.url, events: ['deposit_detected'] },
  });
  t.like(await client.must('replayDeliveries', { body: { from, to, webhookId } }), {
    count: 3,
    replayed: 0,
    dryRun: true,
  });
  t.is((await deliveries({ status: 'delivered' })).length, 0, 'a count sends nothing');
  t.like(await client.must('replayDeliveries', { body: { from, to, webhookId, dryRun: false } }), {
    count: 3,
    replayed: 3,
  });
  await eventually(
    'all three are delivered',
    async () => (await deliveries({ status: 'delivered', webhookId })).length === 3,
    LONG_MS,
  );
  t.is(new Set(receiver.hits.slice(1).map(idOf)).size, 3);
});

test('issue 4.9: events of an endpoint whose secret does not open are held and shown, and a rotated secret delivers every one', async (t) => {
  const { client, newAddress, pay, deliveries } = await company(t);
  const receiver = await startReceiver(t);
  const { id: webhookId } = await client.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected'] },
  });
  await cloud.database.owner`update webhook set sealed_secrets = '{not-ours}' where id = ${webhookId}`;
  const address = await newAddress();
  for (let paid = 0; paid < 3; paid += 1) await pay(address);
  await eventually(
    'three are held',
    async () => (await deliveries({ status: 'held', webhookId })).length === 3,
    LONG_MS,
  );
  t.true(
    (await deliveries({ webhookId })).every(
      ({ heldReason, attempts }) => heldReason === 'secret_unreadable' && attempts.length === 0,
    ),
  );
  t.is(receiver.hits.length, 0, 'nothing leaves unsigned');
  const { secret } = await client.must('rotateWebhookSecret', { params: { webhookId } });
  await eventually(
    'all three are delivered',
    async () => (await deliveries({ status: 'delivered', webhookId })).length === 3,
    LONG_MS,
  );
  t.true(receiver.hits.every(({ headers, body }) => verifyWebhook(secret, headers, body).valid));
});

test('§6 a redirect, a 500 and a hang-up each count as one attempt of the ladder, and the last one is a dead letter that can be replayed', async (t) => {
  const { client, newAddress, pay, deliveries } = await company(t);
  const answers = [302, 500, 404, 503];
  let asked = 0;
  const receiver = await startReceiver(t, (response) =>
    response.writeHead(answers[asked++] ?? 200, { location: '/elsewhere' }).end(),
  );
  const { id: webhookId } = await client.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected'] },
  });
  await pay(await newAddress());
  await eventually(
    'it is a dead letter',
    async () => (await client.must('listDeadLetters')).totalElements === 1,
    LONG_MS,
  );
  const [dead] = await deliveries({ webhookId });
  t.deepEqual(
    dead!.attempts.map(({ attempt, statusCode }) => [attempt, statusCode]),
    answers.map((status, index) => [index + 1, status]),
  );
  t.true(dead!.attempts.every(({ durationMs }) => durationMs >= 0));
  t.false(receiver.hits.some(({ url }) => url === '/elsewhere'));
  await client.must('replayDelivery', { params: { id: dead!.id } });
  await eventually(
    'the replay is delivered',
    async () => (await deliveries({ status: 'delivered', webhookId })).length === 1,
    LONG_MS,
  );
  t.is(idOf(receiver.hits.at(-1)!), dead!.eventId);
});

test('§6 every body that arrives is an envelope of the catalogue', async (t) => {
  const { client, newAddress, pay } = await company(t);
  const receiver = await startReceiver(t);
  await client.must('createWebhook', {
    body: { url: receiver.url, events: ['deposit_detected', 'deposit_confirmed'] },
  });
  await pay(await newAddress());
  await eventually('both arrived', () => receiver.hits.length >= 2, LONG_MS);
  for (const { body } of receiver.hits) {
    const { event, data } = eventEnvelope.parse(JSON.parse(body));
    t.deepEqual(Object.keys(data).toSorted(), Object.keys(exampleOf(event).data).toSorted());
  }
});
