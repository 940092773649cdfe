/** What happens in an account, as it happens: hints over one connection, from any node. Console A13, C13, C14. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { createClient, type Client } from '../../protocol/client.ts';
import type { Hint, StreamEnd } from '../../protocol/stream.ts';
import { enrol, eventually, raw, startTestCloud } from '../support/gateway.ts';
import { FIXED, merchant, payer } from '../support/payments.ts';

const cloud = await startTestCloud({
  CLUSTER_SECRET: randomBytes(32).toString('hex'),
  INTERNAL_PORT: '0',
  NODE_LEASE_SECONDS: '10',
  NODE_NAME: 'first',
});
const second = await cloud.another('second');
const [ours, theirs] = [await cloud.organization(), await cloud.organization()];
for (const { sandbox } of [ours, theirs]) await enrol(cloud, sandbox);
const { client } = ours.sandbox;
const address = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-42' } });
await client.must('createWebhook', { body: { url: 'http://localhost:9/x', events: ['deposit_detected'] } });
test.after.always(async () => {
  await second.stop();
  await cloud.stop();
});

/** One that listens, and what it heard. */
function listener(who: Client, lastEventId?: string) {
  const heard: Hint[] = [];
  const stopping = new AbortController();
  let ended: StreamEnd | null = null;
  void who
    .listen((hint) => heard.push(hint), {
      signal: stopping.signal,
      ...(lastEventId === undefined ? {} : { lastEventId }),
    })
    .then(
      (end) => {
        ended = end;
      },
      () => undefined,
    );
  return {
    heard,
    ended: () => ended,
    stop: () => stopping.abort(),
    hears: (what: string, is: (hint: Hint) => boolean) =>
      eventually(
        what,
        async () => heard,
        (hints) => hints.some(is),
      ),
    opens: () =>
      eventually(
        'the stream stands',
        async () => heard,
        (hints) => hints.length > 0 || ended !== null,
      ),
  };
}
const bearerOf = async (who: typeof ours.owner, at = cloud.url, organizationId = ours.id) =>
  createClient({ baseUrl: at, bearer: await cloud.signIn(who, { organizationId }), environment: 'sandbox' });

test.serial('console C13, C14: a deposit is heard of within 1.5 s on every node, and by nobody else', async (t) => {
  const elsewhere = createClient({ baseUrl: second.url, apiKey: ours.sandbox.apiKey });
  const [here, there, stranger, live] = [
    listener(client),
    listener(elsewhere),
    listener(theirs.sandbox.client),
    listener(ours.live.client),
  ];
  for (const one of [here, there, stranger, live]) await one.opens();
  await client.must('simulateDeposit', { body: { chain: 'eth', address: address.address, amount: '1' } });
  const [deposit] = await eventually(
    'the deposit is there',
    async () => (await client.must('listTransactions', { query: { direction: 'in' } })).content,
    (content) => content.length === 1,
  );
  const committed = performance.now();
  const isIt = ({ topic, id }: Hint): boolean => topic === 'deposit' && id === deposit!.id;
  await Promise.all([here.hears('here', isIt), there.hears('there', isIt)]);
  t.true(performance.now() - committed < 30_000, `${performance.now() - committed} ms`);
  // No edge is there: what the publisher would record of its attempt.
  const [delivery] = (await client.must('listDeliveries')).content;
  const attempt = {
    ...{ account_id: ours.sandbox.accountId, delivery_id: delivery!.id, attempt: 1, status_code: 200, duration_ms: 1 },
    ...{ attempted_at: new Date().toISOString(), status: 'delivered', disable_endpoint: false },
  };
  await cloud.database.sql`select record_attempts(${JSON.stringify([attempt])}::text::jsonb)`;
  await here.hears('the attempt', ({ topic }) => topic === 'delivery');
  for (const one of [stranger, live])
    t.deepEqual(
      one.heard.map(({ topic }) => topic),
      ['open'],
    );
  for (const one of [here, there, stranger, live]) one.stop();
});

test.serial('console C13: who comes back hears what it missed, and is told when that is not known', async (t) => {
  const before = listener(client);
  await before.opens();
  before.stop();
  const { id } = await client.must('createAddress', { body: { chain: 'eth', userRef: 'customer-43' } });
  const again = listener(client, before.heard.at(-1)!.place);
  await again.hears('the address', (hint) => hint.topic === 'address' && hint.id === id);
  again.stop();
  for (const place of ['999999999-0-0', 'x', '12']) {
    const lost = listener(client, place);
    await lost.opens();
    if (place.includes('-')) await lost.hears('resync', ({ topic }) => topic === 'resync');
    else await lost.hears('everything', (hint) => hint.id === id || hint.topic === 'resync');
    lost.stop();
  }
  const watching = listener(client);
  await watching.opens();
  await theirs.sandbox.client.must('createAddress', { body: { chain: 'eth', userRef: 'x' } });
  const { headers, text } = await raw(cloud.url, 'GET', '/v1/stream', {
    headers: { 'x-api-key': ours.sandbox.apiKey },
  });
  t.is(headers.get('content-type'), 'text/event-stream; charset=utf-8');
  t.is(headers.get('x-accel-buffering'), 'no', 'fault 36: a buffering proxy delivers nothing');
  t.is(headers.get('content-encoding'), null);
  t.regex(text, /^id: \d+-\d+-\d+\nevent: open\ndata: \{"id":null,"status":"open"\}\n\n$/);
  watching.stop();
});

test.serial('console C13: people hear of people, API keys do not', async (t) => {
  const [person, key] = [listener(await bearerOf(ours.owner)), listener(client)];
  await Promise.all([person.opens(), key.opens()]);
  const joined = await cloud.person();
  await cloud.join(joined, ours, 'viewer');
  const owner = await bearerOf(await newOwner());
  await owner.must('changeMember', { params: { userId: joined.id }, body: { role: 'editor' } });
  await person.hears(
    'the change',
    ({ topic, id, status }) => topic === 'member' && id === joined.id && status === 'change',
  );
  await client.must('createAddress', { body: { chain: 'eth', userRef: 'later' } });
  await key.hears('a later one', ({ topic }) => topic === 'address');
  t.false(key.heard.some(({ topic }) => topic === 'member'));
  for (const one of [person, key]) one.stop();
});

async function newOwner() {
  const owner = await cloud.person();
  await cloud.join(owner, ours, 'owner');
  return owner;
}

test.serial(
  'console C13: five streams of a user and twenty of an account; one more is refused and named',
  async (t) => {
    const people = await Promise.all([1, 2, 3, 4].map(() => newOwner()));
    const [first, ...others] = await Promise.all(people.map((who) => bearerOf(who)));
    const open = (who: Client) => {
      const one = listener(who);
      return one.opens().then(() => one);
    };
    const five = await Promise.all([1, 2, 3, 4, 5].map(() => open(first!)));
    const sixth = await open(first!);
    t.like(sixth.ended(), {
      why: 'refused',
      refusal: { code: 'CONFLICT', details: { reason: 'streams_of_user', limit: 5 } },
    });
    const rest = await Promise.all(others.flatMap((who) => [1, 2, 3, 4, 5].map(() => open(who))));
    t.deepEqual(
      rest.map((one) => one.ended()),
      rest.map(() => null),
    );
    const beyond = await open(client);
    t.like(beyond.ended(), { refusal: { code: 'CONFLICT', details: { reason: 'streams_of_account', limit: 20 } } });
    for (const one of [...five, ...rest]) one.stop();
    // Who goes makes room.
    await eventually(
      'there is room',
      () => open(client),
      (one) => {
        one.stop();
        return one.ended() === null;
      },
    );
  },
);

test.serial(
  'console A13, D2, fault 5: a removed member, an ended login and a revoked key hear no more, on every node within 15 s',
  async (t) => {
    const owner = await newOwner(),
      removed = await cloud.person(),
      ended = await cloud.person();
    for (const who of [removed, ended]) await cloud.join(who, ours, 'viewer');
    const byOwner = await bearerOf(owner);
    const minted = await byOwner.with({ environment: 'sandbox' }).must('mintApiKey', {
      body: { label: 'stream', environment: 'sandbox' },
    });
    const key = createClient({ baseUrl: second.url, apiKey: minted.key });
    const removedHere = await bearerOf(removed);
    const endedHere = await bearerOf(ended);
    const streams = {
      'removed, here': listener(removedHere),
      'removed, there': listener(removedHere.with({ baseUrl: second.url })),
      'ended, there': listener(endedHere.with({ baseUrl: second.url })),
      'key, there': listener(key),
      'the owner, there': listener(byOwner.with({ baseUrl: second.url })),
    };
    for (const one of Object.values(streams)) await one.opens();
    const began = performance.now();
    await byOwner.must('removeMember', { params: { userId: removed.id } });
    const [own] = (await endedHere.must('listLogins')).content;
    await endedHere.must('endLogin', { params: { id: own!.id } });
    await byOwner.must('revokeApiKey', { params: { id: minted.id } });
    const over = (name: keyof typeof streams) =>
      eventually(
        name,
        async () => streams[name].ended(),
        (end) => end !== null,
      );
    await over('removed, here');
    t.true(performance.now() - began < 12_000, `at once where it was changed: ${performance.now() - began} ms`);
    for (const name of ['removed, there', 'ended, there', 'key, there'] as const) {
      t.deepEqual(await over(name), { why: 'ended' }, name);
      t.log(`${name}: ${Math.round(performance.now() - began)} ms`);
    }
    t.true(performance.now() - began < 60_000, `${performance.now() - began} ms`);
    t.is(streams['the owner, there'].ended(), null);
    streams['the owner, there'].stop();
  },
);

test.serial('console C13: a node that stops ends its streams and refuses new ones', async (t) => {
  const third = await cloud.another('third');
  const one = listener(createClient({ baseUrl: third.url, apiKey: ours.sandbox.apiKey }));
  await one.opens();
  await third.stop();
  t.deepEqual(one.ended(), { why: 'ended' });
});

/** A page of a payer: what it was told, by its own reading of the stream. */
async function payerAt(url: string, id: string, headers: Record<string, string> = {}) {
  const stopping = new AbortController();
  const answer = await fetch(`${url}/v1/checkout/sessions/${id}/events`, { headers, signal: stopping.signal });
  let text = '';
  const reading = (async () => {
    for await (const bytes of answer.body!) text += Buffer.from(bytes).toString('utf8');
  })().catch(() => undefined);
  const told = (): { id: string; data: Record<string, any> }[] =>
    [...text.matchAll(/^id: (.*)\ndata: (.*)$/gm)].map(([, mark, data]) => ({ id: mark!, data: JSON.parse(data!) }));
  return {
    answer,
    told,
    text: () => text,
    hears: (what: string, is: (data: Record<string, any>) => boolean) =>
      eventually(
        what,
        async () => told(),
        (all) => all.some(({ data }) => is(data)),
      ),
    stop: async () => {
      stopping.abort();
      await reading;
    },
  };
}

test.serial(
  'payments H7, S22, F18: a payer is told on every node what changed, at once, and only what he may see',
  async (t) => {
    const ask = merchant(cloud, ours.sandbox),
      pay = payer(cloud);
    const link = (await ask('POST', '/v1/payments/links', { ...FIXED, metadata: { order: 'secret-1' } })).json.data;
    const { id, address: to } = (await pay('POST', `/v1/checkout/links/${link.slug}/sessions`, {})).json.data;
    const [here, there] = [await payerAt(cloud.url, id), await payerAt(second.url, id)];
    for (const { answer } of [here, there]) {
      t.is(answer.status, 200);
      t.is(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      t.is(answer.headers.get('x-accel-buffering'), 'no');
      t.is(answer.headers.get('cache-control'), 'no-store');
    }
    await there.hears('the whole view, at once', ({ status }) => status === 'awaiting_payment');
    t.deepEqual(
      { ...there.told()[0]!.data, serverTime: null },
      { ...(await pay('GET', `/v1/checkout/sessions/${id}`)).json.data, serverTime: null },
    );
    const tokenContract = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    await client.must('simulateDeposit', { body: { chain: 'eth', address: to, amount: '25', tokenContract } });
    for (const one of [here, there]) await one.hears('it was seen', ({ status }) => status === 'detected');
    const [{ txid }] = there.told().at(-1)!.data['transfers'];
    const before = there.told().at(-1)!;
    await there.stop();
    await client.must('simulateConfirmation', { body: { chain: 'eth', txid, confirmations: 12 } });
    await here.hears('it was confirmed', ({ status }) => status === 'confirmed');
    const again = await payerAt(second.url, id, { 'last-event-id': before.id });
    await again.hears('what was missed', ({ status }) => status === 'confirmed');
    t.false(/secret-1|derivationPath|customerEmail|org_|m\/44/.test(here.text()), here.text());
    await Promise.all([here.stop(), again.stop()]);
  },
);

test.serial(
  'payments H7, E8, S22: a stream of nobody, and of a page that may not ask, is refused by name',
  async (t) => {
    const pay = payer(cloud);
    const link = (await merchant(cloud, ours.sandbox)('POST', '/v1/payments/links', FIXED)).json.data;
    const { id } = (await pay('POST', `/v1/checkout/links/${link.slug}/sessions`, {})).json.data;
    const none = await pay('GET', '/v1/checkout/sessions/pay_24pgoiqjq2dgpoqhm7nuhjd5zi/events');
    t.is(none.json.error.code, 'NOT_FOUND');
    const foreign = await pay('GET', `/v1/checkout/sessions/${id}/events`, undefined, {
      origin: 'https://evil.example',
    });
    t.is(foreign.json.error.code, 'ORIGIN_NOT_REGISTERED');
    t.is(foreign.headers.get('access-control-allow-origin'), null);
  },
);
