import test from 'ava';
import { claimOf } from '../../../actors/webhook/flights.ts';
import { type AccountId, isId } from '../../../protocol/ids.ts';
import { newId, shardOf } from '../../../protocol/node/ids.ts';
import type { DeliveryClaim, DueDelivery } from '../../../model/ports/delivery-store.ts';
import type { Stores } from '../../../persistence/postgres/stores.ts';
import type { DeliveryRow, PublicationRow, WebhookRow } from '../../../model/rows/webhook.ts';
import type { RowWrite } from '../../../model/account/capabilities.ts';
import { seeded } from '../../support/seeded.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { newOrganization, NOW_MS, openStores, publicationRow, webhookRow, write } from '../../support/store-rows.ts';

let database: TestDatabase;
let stores: Stores;
test.before(async () => {
  database = await createTestDatabase();
  stores = await openStores(database);
  await stores.maintain(NOW_MS);
});
test.after.always(() => database.close());

const CLAIM_MS = 60_000;
const claim = (accountId: AccountId, more: { limit?: number; nowMs?: number; busy?: string[]; held?: string[] } = {}) =>
  stores.deliveries.claimDue(
    [accountId],
    more.limit ?? 100,
    more.nowMs ?? NOW_MS,
    CLAIM_MS,
    more.busy ?? [],
    more.held,
  );

async function setUp(...hooks: Partial<WebhookRow>[]): Promise<{ live: AccountId; hooks: WebhookRow[] }> {
  const { live } = await newOrganization(stores);
  const rows = hooks.map((more) => webhookRow(live, more));
  await write(
    stores,
    live,
    rows.map((row) => ({ table: 'webhook', row })),
  );
  return { live, hooks: rows };
}

async function publish(live: AccountId, ...more: Partial<PublicationRow>[]): Promise<PublicationRow[]> {
  const rows = more.map((one) => publicationRow(live, one));
  await write(
    stores,
    live,
    rows.map((row): RowWrite => ({ table: 'publication', row })),
  );
  return rows;
}

const failed = (due: DueDelivery, nextAttemptAtMs: number) => ({
  accountId: due.accountId,
  deliveryId: due.delivery.id,
  attempt: due.delivery.attempts + 1,
  statusCode: 500,
  durationMs: 12.4,
  error: null,
  atMs: NOW_MS,
  next: { status: 'failed' as const, nextAttemptAtMs, disableEndpoint: false },
});
const delivered = (due: DueDelivery) => ({
  ...failed(due, 0),
  statusCode: 200,
  next: { status: 'delivered' as const, nextAttemptAtMs: null, disableEndpoint: false },
});
const stateOf = async (id: string): Promise<Partial<DeliveryRow>> => {
  const [row] = await database.owner<DeliveryRow[]>`select status, attempts, replay from delivery where id = ${id}`;
  return { ...row };
};

test('decisions 4: one delivery per event and subscribed endpoint, in the statement of the event', async (t) => {
  const {
    live,
    hooks: [subscribed, other, disabled],
  } = await setUp({}, { events: ['pool_low'] }, { status: 'disabled' });
  const gone = webhookRow(live, { status: 'deleted' });
  await write(stores, live, [{ table: 'webhook', row: gone }]);
  const [event] = await publish(live, {});
  const rows = await database.owner<
    { id: string; webhookId: string; status: string }[]
  >`select id, webhook_id, status from delivery where event_id = ${event!.eventId}`;
  t.deepEqual(
    new Map(rows.map(({ webhookId, status }) => [webhookId, status])),
    new Map([
      [subscribed!.id, 'pending'],
      [disabled!.id, 'held'],
    ]),
  );
  t.true(rows.every(({ id }) => isId('dlv', id)));
  const [toAll] = await publish(live, { event: 'identity_rotation_detected', toAll: true });
  const everyone = await database.owner<
    { webhookId: string }[]
  >`select webhook_id from delivery where event_id = ${toAll!.eventId}`;
  t.deepEqual(everyone.map(({ webhookId }) => webhookId).sort(), [subscribed!.id, other!.id, disabled!.id].sort());
});

test('a claim brings what is to be sent, is exclusive, and runs out', async (t) => {
  const {
    live,
    hooks: [hook],
  } = await setUp({ sealedSecrets: ['one', 'two'] });
  const [event] = await publish(live, { body: '{"x":1}', orderKey: '0xa' });
  const [first, second] = await Promise.all([claim(live), claim(live)]);
  t.is(first.length + second.length, 1);
  const [due] = [...first, ...second];
  t.like(due, { accountId: live, url: hook!.url, sealedSecrets: ['one', 'two'], body: '{"x":1}', orderKey: '0xa' });
  t.like(due!.delivery, {
    eventId: event!.eventId,
    webhookId: hook!.id,
    replay: 0,
    status: 'pending',
    attempts: 0,
    nextAttemptAtMs: NOW_MS,
  });
  t.deepEqual(await claim(live, { nowMs: NOW_MS + CLAIM_MS - 1 }), []);
  const [again, ...more] = await claim(live, { nowMs: NOW_MS + CLAIM_MS });
  t.is(again?.delivery.id, due!.delivery.id, 'never reported: due again');
  t.deepEqual(more, []);
  await stores.deliveries.releaseClaims([claimOf(again!)]);
  t.is((await claim(live)).length, 1, 'given back: due at once');
  t.deepEqual(await stores.deliveries.claimDue([], 10, NOW_MS, CLAIM_MS, []), []);
});

test('a node that takes shards gives back what their owner before had claimed', async (t) => {
  const own = await createTestDatabase(); // accounts of other tests may be of the next shard
  t.teardown(() => own.close());
  const alone = await openStores(own, 'node-a');
  await alone.maintain(NOW_MS);
  const { live } = await newOrganization(alone);
  await write(alone, live, [
    { table: 'webhook', row: webhookRow(live) },
    { table: 'publication', row: publicationRow(live) },
  ]);
  const claimed = () => alone.deliveries.claimDue([live], 100, NOW_MS, CLAIM_MS, []);
  t.is((await claimed()).length, 1);
  t.deepEqual(await claimed(), [], 'claimed by a node that is killed now');
  t.is(await alone.deliveries.releaseAbandoned('node-a', [(shardOf(live) + 1) % 1_024]), 0, 'another shard');
  t.is(await alone.deliveries.releaseAbandoned('node-a', [shardOf(live)]), 1);
  t.is((await claimed()).length, 1, 'due at once');
});

test('4.1 row 2: a node that was frozen until its claims had run out gives back none that another one has now', async (t) => {
  const { live } = await setUp({});
  await publish(live, { orderKey: '0xa' }, { orderKey: '0xb' });
  const [frozen, ...rest] = await claim(live);
  const [taken] = await claim(live, { nowMs: NOW_MS + CLAIM_MS, limit: 1 });
  t.is(taken!.delivery.id, frozen!.delivery.id);
  await stores.deliveries.releaseClaims([frozen!, ...rest].map(claimOf));
  t.deepEqual(
    (await claim(live, { nowMs: NOW_MS + CLAIM_MS })).map(({ delivery }) => delivery.id),
    rest.map(({ delivery }) => delivery.id),
    'what nobody else has is due; what somebody has is left alone',
  );
  await stores.deliveries.releaseClaims([claimOf(taken!)]);
  t.is((await claim(live, { nowMs: NOW_MS + CLAIM_MS, limit: 1 }))[0]?.delivery.id, taken!.delivery.id);
});

test("4.1 row 2: a node whose shards are others' by now releases no claim on their accounts", async (t) => {
  const own = await createTestDatabase();
  t.teardown(() => own.close());
  const first = await openStores(own, 'first');
  await first.maintain(NOW_MS);
  const { live } = await newOrganization(first);
  await write(first, live, [
    { table: 'webhook', row: webhookRow(live) },
    { table: 'publication', row: publicationRow(live) },
  ]);
  const shards = [shardOf(live)];
  const second = await openStores(own, 'second');
  t.is((await second.deliveries.claimDue([live], 10, NOW_MS, CLAIM_MS, [])).length, 1);
  t.is(await first.deliveries.releaseAbandoned('first', shards), 0, 'it woke up, and did not hear of its claims');
  t.deepEqual(await first.deliveries.claimDue([live], 10, NOW_MS, CLAIM_MS, []), []);
  t.is(await second.deliveries.releaseAbandoned('second', shards), 1);
});

test("4.1 row 2, found: a node whose shards are others' by now claims nothing of their accounts, however long it still believes", async (t) => {
  const own = await createTestDatabase();
  t.teardown(() => own.close());
  const first = await openStores(own, 'first');
  await first.maintain(NOW_MS);
  const { live } = await newOrganization(first);
  await write(first, live, [
    { table: 'webhook', row: webhookRow(live) },
    { table: 'publication', row: publicationRow(live) },
  ]);
  const claimed = (by: Stores) => by.deliveries.claimDue([live], 10, NOW_MS, CLAIM_MS, []);
  const second = await openStores(own, 'second');
  t.deepEqual(await claimed(first), [], 'it was frozen, and woke up');
  const due = await claimed(second);
  t.is(due.length, 1);
  await second.deliveries.releaseClaims(due.map(claimOf));
  const again = await openStores(own, 'first');
  t.deepEqual(await claimed(second), []);
  t.is((await claimed(again)).length, 1, 'the same node with another epoch');
});

test('§6 a claim whose answer was lost holds back what comes after it in its lane, and no other, until it is over', async (t) => {
  const { live } = await setUp({});
  const [first] = await publish(live, { orderKey: 'a' }, { orderKey: 'a' }, { orderKey: 'b' });
  // Nobody got its answer, and it may have run after all claims of the account were ended.
  const [lost] = await claim(live, { limit: 1 });
  t.is(lost!.delivery.eventId, first!.eventId);
  const nowMs = NOW_MS + 1,
    laterMs = nowMs + CLAIM_MS;
  const others = await claim(live, { held: [], nowMs });
  t.deepEqual(
    others.map(({ orderKey }) => orderKey),
    ['b'],
  );
  const held = others.map(({ claimedUntil }) => claimedUntil);
  t.deepEqual(await claim(live, { held, nowMs }), []);
  const over = await claim(live, { held, nowMs: laterMs });
  t.deepEqual(
    over.map(({ delivery: { eventId }, orderKey }) => [orderKey, eventId === first!.eventId]),
    [
      ['a', true],
      ['a', false],
      ['b', false],
    ],
  );
  const [next] = await publish(live, { orderKey: 'a' });
  const behind = await claim(live, { held: over.map(({ claimedUntil }) => claimedUntil), nowMs: laterMs });
  t.deepEqual(
    behind.map(({ delivery }) => delivery.eventId),
    [next!.eventId],
    'what is in the caller’s hands holds nothing back: the caller keeps the order',
  );
});

test('issue 10.4, found: what an owner of before delivered is delivered, however many attempts the next one has recorded meanwhile', async (t) => {
  const { live } = await setUp({});
  await publish(live, {});
  const [before] = await claim(live);
  const [after] = await claim(live, { nowMs: NOW_MS + CLAIM_MS });
  await stores.deliveries.recordAttempts([failed(after!, 0)]);
  const second = { ...after!, delivery: { ...after!.delivery, attempts: 1 } };
  await stores.deliveries.recordAttempts([failed(second, NOW_MS + 5_000)]);
  t.like(await stateOf(before!.delivery.id), { status: 'failed', attempts: 2 });
  await stores.deliveries.recordAttempts([delivered(before!)]);
  t.deepEqual(await stateOf(before!.delivery.id), { status: 'delivered', attempts: 3, replay: 0 });
  await stores.deliveries.recordAttempts([delivered(before!)]);
  t.deepEqual(await stateOf(before!.delivery.id), { status: 'delivered', attempts: 3, replay: 0 });
});

test('issue 10.4, found: two owners that posted one delivery under one number: what one of them delivered is delivered, and each has its attempt', async (t) => {
  const { live } = await setUp({});
  for (const last of [
    { status: 'failed', nextAttemptAtMs: NOW_MS + 5_000 },
    { status: 'dead_lettered', nextAttemptAtMs: null },
  ] as const) {
    await publish(live, {});
    const [before] = await claim(live);
    const [after] = await claim(live, { nowMs: NOW_MS + CLAIM_MS });
    t.is(after!.delivery.id, before!.delivery.id, 'the claim of before had run out');
    // The frozen one reports first.
    await stores.deliveries.recordAttempts([{ ...failed(before!, 0), next: { ...last, disableEndpoint: false } }]);
    await stores.deliveries.recordAttempts([delivered(after!)]);
    t.deepEqual(await stateOf(after!.delivery.id), { status: 'delivered', attempts: 2, replay: 0 });
    const attempts = await database.owner<{ attempt: number; statusCode: number }[]>`
      select attempt, status_code from attempt where delivery_id = ${after!.delivery.id} order by 1`;
    t.deepEqual(
      attempts.map(({ attempt, statusCode }) => [attempt, statusCode]),
      [
        [1, 500],
        [2, 200],
      ],
    );
    // Reported again, and by the other way round: nothing more.
    await stores.deliveries.recordAttempts([delivered(after!), failed(before!, NOW_MS + 9)]);
    t.deepEqual(await stateOf(after!.delivery.id), { status: 'delivered', attempts: 2, replay: 0 });
  }
});

test('4.1 row 2: whatever two nodes do with claims, each ends by its own node, by its time, or by the next owner', async (t) => {
  for (const seed of [1, 2, 3]) {
    const random = seeded(seed),
      pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const { live } = await setUp({}, {});
    await publish(live, ...Array.from({ length: 4 }, (_, n) => ({ orderKey: `lane-${n % 2}` })));
    const believes = new Map<string, DeliveryClaim[]>([
        ['a', []],
        ['b', []],
      ]),
      held = new Map<string, { claim: string; endsMs: number }>();
    let nowMs = NOW_MS;
    for (let step = 0; step < 80; step += 1) {
      const node = pick(['a', 'b']),
        claims = believes.get(node)!;
      const dice = random();
      if (dice < 0.45) {
        const due = await claim(live, { nowMs, limit: 1 + Math.floor(random() * 4) });
        for (const one of due) {
          const { deliveryId, claimedUntil } = claimOf(one);
          t.true((held.get(deliveryId)?.endsMs ?? 0) <= nowMs, `seed ${seed}, step ${step}: it was another's`);
          held.set(deliveryId, { claim: claimedUntil, endsMs: nowMs + CLAIM_MS });
          claims.push({ deliveryId, claimedUntil });
        }
      } else if (dice < 0.85) {
        const given = claims.filter(() => random() < 0.5);
        await stores.deliveries.releaseClaims(given);
        for (const { deliveryId, claimedUntil } of given)
          if (held.get(deliveryId)?.claim === claimedUntil) held.delete(deliveryId);
      } else nowMs += Math.floor(random() * CLAIM_MS);
      const rows = await database.owner<{ id: string }[]>`
        select id from delivery where account_id = ${live} and claimed_until > ${new Date(nowMs)}`;
      t.deepEqual(
        rows.map(({ id }) => id).sort(),
        [...held].flatMap(([id, { endsMs }]) => (endsMs > nowMs ? [id] : [])).sort(),
        `seed ${seed}, step ${step}`,
      );
    }
  }
});

test('C5-44 first attempts leave in publication order per key and endpoint; retries may be overtaken', async (t) => {
  const { live } = await setUp({});
  const events = await publish(live, { orderKey: 'a' }, { orderKey: 'b' }, { orderKey: 'a' }, { orderKey: 'a' });
  const all = await claim(live);
  t.deepEqual(
    all.map(({ delivery }) => delivery.eventId),
    events.map(({ eventId }) => eventId),
  );
  const [a1, b1, a2, a3] = all;
  // The first of key a fails; its retry waits and holds up nobody.
  await stores.deliveries.recordAttempts([failed(a1!, NOW_MS + 120_000), delivered(b1!)]);
  await stores.deliveries.releaseClaims([a2!, a3!].map(claimOf));
  t.deepEqual(
    (await claim(live, { limit: 1 })).map(({ delivery }) => delivery.id),
    [a2!.delivery.id],
  );
  t.deepEqual(
    (await claim(live)).map(({ delivery }) => delivery.id),
    [a3!.delivery.id],
    'the earlier one is on its way',
  );
  await stores.deliveries.recordAttempts([delivered(a2!), delivered(a3!)]);
  const retry = await claim(live, { nowMs: NOW_MS + 120_000 });
  t.deepEqual(
    retry.map(({ delivery }) => [delivery.id, delivery.attempts, delivery.status]),
    [[a1!.delivery.id, 1, 'failed']],
  );
});

test('events of one append are published in the order in which they arose, however many', async (t) => {
  const { live } = await setUp({}, {});
  const events = await publish(live, ...Array.from({ length: 300 }, () => ({ orderKey: 'a' })));
  const rows = await database.owner<
    { eventId: string }[]
  >`select event_id from publication where account_id = ${live} order by seq`;
  t.deepEqual(
    rows.map(({ eventId }) => eventId),
    events.map(({ eventId }) => eventId),
  );
  const claimed = await claim(live, { limit: 600 });
  t.deepEqual(
    [...new Set(claimed.map(({ delivery }) => delivery.eventId))],
    events.map(({ eventId }) => eventId),
  );
  t.is(new Set(claimed.map(({ delivery }) => delivery.id)).size, 600);
  await stores.deliveries.recordAttempts(claimed.map(delivered));
  t.deepEqual(await claim(live), []);
});

test('an attempt and its retry that are reported together leave the state of the retry', async (t) => {
  const { live } = await setUp({});
  await publish(live, {});
  const [due] = await claim(live);
  const second = { ...delivered(due!), attempt: 2 };
  await stores.deliveries.recordAttempts([second, failed(due!, NOW_MS + 5)]);
  t.deepEqual(await stateOf(due!.delivery.id), { status: 'delivered', attempts: 2, replay: 0 });
  t.is((await stores.read.delivery(live, due!.delivery.id))?.attempts.length, 2);
});

test('an event is not claimed while an earlier one of its key is held by another claimer', async (t) => {
  const { live } = await setUp({});
  const events = await publish(live, { orderKey: 'a' }, { orderKey: 'a' }, { orderKey: 'b' });
  const other = await database.admin.reserve();
  try {
    await other.unsafe('begin');
    await other`select 1 from flock.delivery where event_id = ${events[0]!.eventId} for update`;
    t.deepEqual(
      (await claim(live)).map(({ delivery }) => delivery.eventId),
      [events[2]!.eventId],
    );
    await other.unsafe('rollback');
  } finally {
    other.release();
  }
  t.deepEqual(
    (await claim(live)).map(({ delivery }) => delivery.eventId),
    [events[0]!.eventId, events[1]!.eventId],
  );
});

test('a failing or busy endpoint delays no other endpoint, a backlog no other account', async (t) => {
  const {
    live,
    hooks: [slow, quick],
  } = await setUp({}, {});
  await publish(live, ...Array.from({ length: 5 }, () => ({ orderKey: 'a' })));
  const mine = await claim(live, { busy: [slow!.id], limit: 3 });
  t.deepEqual(
    mine.map(({ delivery }) => delivery.webhookId),
    [quick!.id, quick!.id, quick!.id],
  );
  const other = await setUp({});
  const [event] = await publish(other.live, {});
  const both = await stores.deliveries.claimDue([live, other.live], 100, NOW_MS, CLAIM_MS, []);
  t.true(both.some(({ delivery }) => delivery.eventId === event!.eventId));
});

test('an attempt is recorded once, with what follows from it; another account has no say', async (t) => {
  const { live } = await setUp({});
  const { live: stranger } = await setUp({});
  await publish(live, {});
  const [due] = await claim(live);
  const id = due!.delivery.id;
  await stores.deliveries.recordAttempts([{ ...delivered(due!), accountId: stranger }]);
  t.deepEqual(await stateOf(id), { status: 'pending', attempts: 0, replay: 0 });
  await stores.deliveries.recordAttempts([failed(due!, NOW_MS + 5)]);
  await stores.deliveries.recordAttempts([failed(due!, NOW_MS + 9)]);
  t.deepEqual(
    await stateOf(id),
    { status: 'failed', attempts: 1, replay: 0 },
    'a frame that came twice changes nothing',
  );
  const view = await stores.read.delivery(live, id);
  t.deepEqual(view?.attempts, [{ attempt: 1, statusCode: 500, durationMs: 12, error: null, atMs: NOW_MS }]);
  await stores.deliveries.recordAttempts([
    {
      ...failed(due!, 0),
      attempt: 2,
      next: { status: 'dead_lettered', nextAttemptAtMs: null, disableEndpoint: false },
    },
  ]);
  t.deepEqual(await stateOf(id), { status: 'dead_lettered', attempts: 2, replay: 0 });
  t.deepEqual(await claim(live, { nowMs: NOW_MS + 1e9 }), []);
  await stores.deliveries.recordAttempts([]);
});

test('what was delivered stays delivered, whatever attempt an edge reports afterwards', async (t) => {
  const { live } = await setUp({});
  await publish(live, {});
  const [due] = await claim(live);
  await stores.deliveries.recordAttempts([delivered(due!)]);
  await stores.deliveries.recordAttempts([{ ...failed(due!, NOW_MS + 5), attempt: 2 }]);
  t.deepEqual(await stateOf(due!.delivery.id), { status: 'delivered', attempts: 1, replay: 0 });
  t.deepEqual(await claim(live, { nowMs: NOW_MS + 1e9 }), []);
});

test('I16 nothing is claimed for an endpoint that is not enabled, also where its deliveries were not held yet', async (t) => {
  const {
    live,
    hooks: [hook],
  } = await setUp({});
  await publish(live, {});
  await database.owner`update webhook set status = 'disabled' where id = ${hook!.id}`;
  t.deepEqual(await claim(live), []);
});

test('C5-48 a 410 of the URL that an endpoint had before does not disable it at its new one', async (t) => {
  const {
    live,
    hooks: [hook],
  } = await setUp({});
  await publish(live, {}, {});
  const [due] = await claim(live);
  const gone = {
    ...failed(due!, 0),
    statusCode: 410,
    next: { status: 'dead_lettered' as const, nextAttemptAtMs: null, disableEndpoint: true },
  };
  await write(stores, live, [{ table: 'webhook', row: { ...hook!, url: 'https://moved.example/' } }]);
  await stores.deliveries.recordAttempts([{ ...gone, postedTo: due!.url }]);
  t.is((await stores.read.webhook(live, hook!.id))?.status, 'enabled');
  t.deepEqual(await stateOf(due!.delivery.id), { status: 'dead_lettered', attempts: 1, replay: 0 });
  await publish(live, {});
  const [next] = await claim(live);
  await stores.deliveries.recordAttempts([{ ...gone, deliveryId: next!.delivery.id, postedTo: next!.url }]);
  t.is((await stores.read.webhook(live, hook!.id))?.status, 'disabled');
});

test('I16 a delivery stands while its endpoint is enabled, with the endpoint as it is now; nobody else sees it', async (t) => {
  const {
      live,
      hooks: [hook],
    } = await setUp({}),
    { live: theirs } = await setUp({});
  await publish(live, {}, {});
  const claimed = (await claim(live)).map(({ delivery: { id, webhookId } }) => ({ id, webhookId }));
  const look = (accountId: AccountId) => stores.deliveries.standing(accountId, claimed);
  t.is((await look(live)).length, 2);
  await write(stores, live, [{ table: 'webhook', row: { ...hook!, url: 'https://moved.example/' } }]);
  t.deepEqual(
    await look(live),
    claimed.map((one) => ({ ...one, url: 'https://moved.example/', sealedSecrets: hook!.sealedSecrets })),
  );
  t.deepEqual(await look(theirs), []);
  await write(stores, live, [{ table: 'webhook', row: { ...hook!, status: 'disabled' } }]);
  t.deepEqual(await look(live), []);
});

test('found F82: what was claimed before a live endpoint was disabled is held, and stands no more when it is enabled again; what comes after does', async (t) => {
  const {
    live,
    hooks: [hook, other],
  } = await setUp({}, {});
  await publish(live, {}, {});
  const claimed = (await claim(live)).map(({ delivery }) => delivery),
    look = async () => (await stores.deliveries.standing(live, claimed)).map(({ id }) => id).sort();
  t.deepEqual(await look(), claimed.map(({ id }) => id).sort());
  for (const status of ['disabled', 'enabled'] as const)
    await write(stores, live, [{ table: 'webhook', row: { ...hook!, status, updatedAtMs: Date.now() } }]);
  t.deepEqual(
    await look(),
    claimed
      .filter(({ webhookId }) => webhookId === other!.id)
      .map(({ id }) => id)
      .sort(),
    'sent by a replay, not by surprise',
  );
  const [event] = await publish(live, {});
  const later = (await claim(live))
    .map(({ delivery }) => delivery)
    .filter(({ eventId, webhookId }) => eventId === event!.eventId && webhookId === hook!.id);
  t.is(later.length, 1);
  t.deepEqual(
    (await stores.deliveries.standing(live, later)).map(({ id }) => id),
    later.map(({ id }) => id),
  );
});

test('found F82: a delivery of a sandbox account stands until a reset forgets it, though its endpoint stays', async (t) => {
  const { sandbox } = await newOrganization(stores);
  const hook = webhookRow(sandbox);
  await write(stores, sandbox, [{ table: 'webhook', row: hook }]);
  await publish(sandbox, {}, {});
  const [one, other] = await claim(sandbox);
  const look = async () =>
    (await stores.deliveries.standing(sandbox, [one!.delivery, other!.delivery])).map(({ id }) => id);
  t.is((await look()).length, 2);
  await stores.deliveries.recordAttempts([delivered(one!)]);
  t.deepEqual(await look(), [other!.delivery.id]);
  await write(stores, sandbox, [{ table: 'sandbox_reset' }]);
  t.deepEqual(await look(), []);
});

test('C5-48 410 disables the endpoint and what waits for it is held; so does disabling or deleting it', async (t) => {
  const {
    live,
    hooks: [gone, other],
  } = await setUp({}, {});
  await publish(live, {}, {});
  const due = await claim(live);
  const answered = due.find(({ delivery }) => delivery.webhookId === gone!.id)!;
  await stores.deliveries.recordAttempts([
    {
      ...failed(answered, NOW_MS + 1),
      statusCode: 410,
      next: { status: 'failed', nextAttemptAtMs: NOW_MS + 1, disableEndpoint: true },
    },
  ]);
  t.is((await stores.read.webhook(live, gone!.id))?.status, 'disabled');
  const states = await database.owner<
    { webhookId: string; status: string }[]
  >`select webhook_id, status from delivery where account_id = ${live}`;
  t.true(states.every(({ webhookId, status }) => status === (webhookId === gone!.id ? 'held' : 'pending')));
  // The answer of an attempt that was under way when the endpoint was disabled wakes nothing.
  const late = due.find(({ delivery }) => delivery.webhookId === gone!.id && delivery.id !== answered.delivery.id)!;
  await stores.deliveries.recordAttempts([failed(late, NOW_MS + 1)]);
  t.deepEqual(await stateOf(late.delivery.id), { status: 'held', attempts: 1, replay: 0 });

  await write(stores, live, [{ table: 'webhook', row: { ...other!, status: 'deleted' } }]);
  t.deepEqual(await claim(live, { nowMs: NOW_MS + 1e9 }), [], 'I16: it stops at once');
  t.is(await stores.read.webhook(live, other!.id), null);
  t.is((await stores.read.deliveries(live, {}, { page: 0, size: 50 })).totalElements, 4, 'history stays');
});

test('C5-46 a replay is a new delivery of the same event, as often as it is asked for', async (t) => {
  const {
    live,
    hooks: [hook],
  } = await setUp({});
  const [event] = await publish(live, {});
  const [due] = await claim(live);
  await stores.deliveries.recordAttempts([delivered(due!)]);
  const ids = [newId('dlv', NOW_MS + 1), newId('dlv', NOW_MS + 2)];
  for (const newDeliveryId of ids)
    await write(stores, live, [{ table: 'replay', deliveryId: due!.delivery.id, newDeliveryId, nowMs: NOW_MS + 5 }]);
  const again = await claim(live, { nowMs: NOW_MS + 5 });
  t.deepEqual(
    again.map(({ delivery }) => [delivery.id, delivery.eventId, delivery.replay]),
    [
      [ids[0], event!.eventId, 1],
      [ids[1], event!.eventId, 2],
    ],
  );
  await write(stores, live, [{ table: 'webhook', row: { ...hook!, status: 'deleted' } }]);
  const { appendOf } = await import('../../support/store-rows.ts');
  const refused = await stores.accounts.append(
    await appendOf(stores, live, [
      { table: 'replay', deliveryId: due!.delivery.id, newDeliveryId: newId('dlv', NOW_MS + 3), nowMs: NOW_MS },
    ]),
  );
  t.is(refused.kind === 'refused' && refused.refusal.code, 'NOT_FOUND');
});

test("I14 the gauge counts what is due, untried and in nobody's hands while the leader edge is there", async (t) => {
  const { live } = await setUp({}, { status: 'disabled' });
  const before = await stores.deliveries.incompletePublications();
  await publish(live, {}, {});
  t.is(await stores.deliveries.incompletePublications(), before, 'an edge that is away is no stall of this service');
  const session = (liveness: 'live' | 'down') =>
    stores.edge.saveSessions([
      {
        id: newId('ses', NOW_MS),
        accountId: live,
        role: 'leader',
        edgeVersion: '0.1.0',
        liveness,
        leaseEpoch: 1,
        outboxMode: 'durable',
        outboxDepth: 0,
        outboxPoisoned: false,
        podHint: null,
        lastHeartbeatAtMs: NOW_MS,
        startedAtMs: NOW_MS,
        endedAtMs: null,
      },
    ]);
  await session('down');
  t.is(await stores.deliveries.incompletePublications(), before);
  await session('live');
  t.is(await stores.deliveries.incompletePublications(), before + 2, 'nobody takes them');
  const nowMs = Date.now();
  const [first, second] = await claim(live, { nowMs });
  t.is(await stores.deliveries.incompletePublications(), before, 'a publisher has them');
  await stores.deliveries.releaseClaims([claimOf(second!)]);
  t.is(await stores.deliveries.incompletePublications(), before + 1);
  await stores.deliveries.recordAttempts([delivered(first!), failed(second!, NOW_MS)]);
  t.is(await stores.deliveries.incompletePublications(), before, 'a failing endpoint is no stall either');
});

test('attempts go to the partition of the month of their delivery, and partitions are made ahead', async (t) => {
  const { live } = await setUp({});
  await publish(live, {});
  await stores.maintain(NOW_MS); // as every day: what is there already is no error
  const [due] = await claim(live);
  await stores.deliveries.recordAttempts([delivered(due!)]);
  const [row] = await database.owner<
    { partition: string }[]
  >`select tableoid::regclass::text as partition from attempt where delivery_id = ${due!.delivery.id}`;
  t.is(row!.partition, 'attempt_202606');
  const names = await database.owner<
    { name: string }[]
  >`select relname as name from pg_class where relname like 'attempt_2026%' and relkind = 'r' order by 1`;
  t.true(
    ['attempt_202606', 'attempt_202607', 'attempt_202608', 'attempt_202609'].every((name) =>
      names.some((one) => one.name === name),
    ),
  );
  // The boundary: the last millisecond of a month and the first of the next.
  const [bound] = await database.owner<{ before: boolean; after: boolean }[]>`
    select ${newId('dlv', Date.UTC(2026, 6, 1) - 1)} < 'dlv_' || id_prefix_of('2026-07-01Z') as before,
           ${newId('dlv', Date.UTC(2026, 6, 1))} >= 'dlv_' || id_prefix_of('2026-07-01Z') as after`;
  t.deepEqual({ ...bound }, { before: true, after: true });
});

test('the look for what stays behind goes by endpoint and order key: a backlog of one endpoint is not read again for each of its events', async (t) => {
  // On a table without its own index, made to use any: the index of an endpoint's open deliveries must not be one that
  // serves.
  await database.owner`create table flock.look (like flock.delivery including indexes)`;
  const indexes = await database.owner<{ name: string; text: string }[]>`
    select indexname as name, indexdef as text from pg_indexes where schemaname = 'flock' and tablename = 'look'`;
  const own = indexes.find(({ text }) => text.includes('(webhook_id, order_key, seq)'))!;
  const open = indexes.find(({ text }) => text.includes('(webhook_id, next_attempt_at, seq) WHERE (next_attempt_at'))!;
  await database.owner`drop index flock.${database.owner(own.name)}`;
  const plan = await database.owner`
    explain select e.seq from flock.look e
      where e.webhook_id = 'wh_x' and e.order_key = 'k' and e.status = 'pending' and e.replay = 0 order by e.seq limit 1`;
  t.false(JSON.stringify(plan).includes(open.name), JSON.stringify(plan));
  await database.owner`drop table flock.look`;
});
