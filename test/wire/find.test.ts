/** Search, and one event as it was signed. Console C16, C17. */
import test from 'ava';
import { isRefusal } from '../../protocol/errors.ts';
import { enrol, eventually, jsonOf, raw, startTestCloud } from '../support/gateway.ts';

const cloud = await startTestCloud();
const [ours, theirs] = [await cloud.organization(), await cloud.organization()];
for (const { sandbox } of [ours, theirs]) await enrol(cloud, sandbox);
const { client } = ours.sandbox;
const address = await client.must('createAddress', {
  body: { chain: 'eth', userRef: 'customer-42', label: 'Main desk' },
});
await client.must('createWebhook', { body: { url: 'http://localhost:9/x', events: ['deposit_detected'] } });
const { txid } = await client.must('simulateDeposit', {
  body: { chain: 'eth', address: address.address, amount: '1' },
});
const [deposit] = await eventually(
  'the deposit is there',
  async () => (await client.must('listTransactions', { query: { direction: 'in' } })).content,
  (content) => content.length === 1,
);
const [delivery] = await eventually(
  'the event is published',
  async () => (await client.must('listDeliveries')).content,
  (content) => content.length > 0,
);
test.after.always(() => cloud.stop());

const idsOf = async (asked: string | { txid: string }, who = client) =>
  (await who.must('search', { query: typeof asked === 'string' ? { q: asked } : asked })).content.map(
    ({ kind, id }) => `${kind} ${id}`,
  );

test('console C16: an account finds its own by every text that names it', async (t) => {
  const found = { address: `address ${address.id}`, deposit: `deposit ${deposit!.id}` };
  const asked: Readonly<Record<string, string>> = {
    [address.id]: found.address,
    [address.address]: found.address,
    [address.address.toLowerCase()]: found.address,
    'customer-42': found.address,
    Main: found.address,
    ' Main desk ': found.address,
    [deposit!.id]: found.deposit,
    [delivery!.id]: `delivery ${delivery!.id}`,
    [delivery!.eventId]: `event ${delivery!.eventId}`,
  };
  for (const [q, expected] of Object.entries(asked)) t.deepEqual(await idsOf(q), [expected], q);
  for (const text of [txid, txid.toUpperCase().replace('0X', '')])
    t.deepEqual(await idsOf({ txid: text }), [found.deposit], text);
  t.deepEqual(await idsOf('main'), []);
  t.deepEqual(await idsOf('customer'), []);
});

test('console C16: nobody finds what another account has, or its own other environment', async (t) => {
  for (const q of [
    address.id,
    address.address,
    'customer-42',
    'Main',
    deposit!.id,
    { txid },
    delivery!.id,
    delivery!.eventId,
  ])
    for (const who of [theirs.sandbox.client, ours.live.client])
      t.deepEqual(await idsOf(q, who), [], JSON.stringify(q));
});

test('console C16: what is no question is refused, and hostile text finds nothing', async (t) => {
  for (const query of ['', '?q=', '?q=%20', `?q=${'x'.repeat(201)}`, '?q=a&more=b', '?q=a&txid=b', '?q=%00']) {
    const answer = await raw(cloud.url, 'GET', `/v1/search${query}`, { headers: jsonOf(ours.sandbox.apiKey) });
    t.is(answer.json.error?.code, 'INVALID_INPUT', query);
  }
  const key = await client.call('search', { query: { q: '1'.repeat(63) + '2' } });
  t.is(isRefusal(key) ? key.code : 'taken', 'KEY_MATERIAL_REJECTED');
  for (const q of ['%', '_', "'; drop table address; --", '\u{10FFFF}', '{}', '*']) t.deepEqual(await idsOf(q), [], q);
});

test('console C17: an event has the bytes that are signed, and its deliveries', async (t) => {
  const event = await client.must('getEvent', { params: { id: delivery!.eventId } });
  t.like(event, { id: delivery!.eventId, event: 'deposit_detected' });
  t.deepEqual(
    event.deliveries.map(({ id }) => id),
    [delivery!.id],
  );
  const [stored] = await cloud.database.owner<{ body: string }[]>`
    select body from flock.publication where event_id = ${event.id}`;
  t.is(event.body, stored!.body);
  t.is((JSON.parse(event.body!) as { id: string }).id, event.id);
  for (const who of [theirs.sandbox.client, ours.live.client]) {
    const outcome = await who.call('getEvent', { params: { id: event.id } });
    t.is(isRefusal(outcome) ? outcome.code : 'found', 'NOT_FOUND');
  }
  t.is((await raw(cloud.url, 'GET', '/v1/events/evt_x', { headers: jsonOf(ours.sandbox.apiKey) })).status, 404);
});

test.serial(
  'console C17: the timeline of a deposit has its steps, a reorg too, and the events with their deliveries',
  async (t) => {
    const paid = await client.must('createAddress', { body: { chain: 'eth', userRef: 'timeline' } });
    await client.must('simulateDeposit', {
      body: { chain: 'eth', address: paid.address, amount: '2', autoConfirm: true },
    });
    const [row] = await eventually(
      'it is confirmed',
      async () => (await client.must('listTransactions', { query: { userRef: 'timeline' } })).content,
      ([found]) => found?.status === 'confirmed',
    );
    const before = await client.must('getTimeline', { params: { id: row!.id } });
    t.deepEqual(
      before.steps.map(({ step }) => step),
      ['detected', 'confirmed'],
    );
    t.deepEqual(
      before.events.map(({ event }) => event),
      ['deposit_detected', 'deposit_confirmed'],
    );
    t.is(before.events[0]!.deliveries.length, 1);
    await client.must('simulateReorg', { body: { chain: 'eth', depth: 13 } });
    const after = await eventually(
      'the reorg is a step',
      () => client.must('getTimeline', { params: { id: row!.id } }),
      ({ steps }) => steps.some(({ step }) => step === 'reversed' || step === 'moved'),
    );
    t.deepEqual(
      after.steps.slice(0, 2).map(({ step }) => step),
      ['detected', 'confirmed'],
    );
    for (const who of [theirs.sandbox.client, ours.live.client]) {
      const outcome = await who.call('getTimeline', { params: { id: row!.id } });
      t.is(isRefusal(outcome) ? outcome.code : 'found', 'NOT_FOUND');
    }
    const built = await client.call('getTimeline', { params: { id: 'txn_x' } });
    t.is(isRefusal(built) ? built.code : 'found', 'NOT_FOUND');
  },
);

test.serial(
  'ecosystem X30: events are read in the order of their publication, from any place, without a gap',
  async (t) => {
    const read = (query: object) => client.must('listEvents', { query: query as never });
    const all = await read({ since: 'start', size: 200 });
    const stored = await cloud.database.owner<{ eventId: string; body: string }[]>`
    select event_id, body from flock.publication where account_id = ${ours.sandbox.accountId} order by seq`;
    t.true(stored.length >= 2, 'some were published');
    t.deepEqual(
      all.content.map(({ id, body }) => [id, body]),
      stored.map((row) => [row.eventId, row.body]),
    );
    t.false(all.hasMore);
    const walked: string[] = [];
    for (let since = 'start'; ; since = walked.at(-1)!) {
      const { content, hasMore } = await read({ since, size: 1 });
      walked.push(...content.map(({ id }) => id));
      if (!hasMore) break;
    }
    t.deepEqual(
      walked,
      stored.map((row) => row.eventId),
    );
    t.deepEqual(await read({ since: walked.at(-1), size: 20 }), { content: [], hasMore: false });
    const newest = await read({ size: 1 });
    t.deepEqual(
      newest.content.map(({ id }) => id),
      walked.slice(-1),
    );
    t.false(newest.hasMore);
    for (const who of [theirs.sandbox.client, ours.live.client]) {
      const outcome = await who.call('listEvents', { query: { since: walked[0]!, size: '20' } });
      t.is(isRefusal(outcome) ? outcome.code : 'found', 'NOT_FOUND');
    }
    for (const query of ['?since=first', '?size=0', '?size=201', '?since=evt_x']) {
      const { status } = await raw(cloud.url, 'GET', `/v1/events${query}`, { headers: jsonOf(ours.sandbox.apiKey) });
      t.is(status, query.includes('since') ? 404 : 400, query);
    }
  },
);
