import test from 'ava';
import { Webhook } from 'standardwebhooks';
import type { AccountId } from '../../../protocol/ids.ts';
import { rounds, until } from '../../support/until.ts';
import { A, B, SECRET, answered, setup } from '../../support/publishing.ts';

test('decisions 4: a due delivery leaves signed through the leader, and its attempt is recorded with what follows', async (t) => {
  const { store, edges, clock, publisher, delivered } = setup();
  edges.leads(A);
  const id = store.add(A, { dueAtMs: clock.nowMs() });
  publisher.ring(A);
  await until('the frame left', () => edges.frames.length === 1);
  const delivery = edges.sent[0]!;
  t.like(delivery, { deliveryId: id, attempt: 1, url: 'https://hook.example/', body: '{"n":1}' });
  t.is(delivery.headers['webhook-timestamp'], String(Math.floor(clock.nowMs() / 1_000)));
  t.deepEqual(Object.keys(delivery.headers), ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
  t.notThrows(() => {
    const now = Date.now;
    Date.now = () => clock.nowMs();
    try {
      new Webhook(SECRET).verify(delivery.body, delivery.headers);
    } finally {
      Date.now = now;
    }
  });
  clock.advance(40);
  await publisher.report(A, [answered(delivery)]);
  t.deepEqual(
    store.recorded.map(({ deliveryId, attempt, statusCode, durationMs, error }) => [
      deliveryId,
      attempt,
      statusCode,
      durationMs,
      error,
    ]),
    [[id, 1, 200, 12, null]],
  );
  t.is(store.status(id).status, 'delivered');
  t.deepEqual(delivered, [40]);
  await publisher.stop();
  t.is(clock.pending, 0);
});

test('decisions 4: with no live edge a delivery stays pending and no attempt is counted', async (t) => {
  const { store, edges, publisher, clock } = setup();
  const id = store.add(A);
  publisher.ring(A);
  clock.advance(1_000);
  await rounds(20);
  t.deepEqual(
    [store.claims, edges.frames.length, store.status(id).attempts, store.status(id).status],
    [0, 0, 0, 'pending'],
  );
  edges.leads(A);
  publisher.ring(A);
  await until('the leader got it', () => edges.frames.length === 1);
  await publisher.stop();
});

test('P3 many deliveries leave in whole frames, by few claims, and their attempts share statements', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  for (let count = 0; count < 1_000; count += 1) store.add(A, { webhookId: `hook-${count % 4}` });
  publisher.ring(A);
  await until('all of them left', () => edges.sent.length === 1_000);
  t.true(edges.frames.every(({ deliveries }) => deliveries.length <= 256));
  t.true(store.claims <= 4 && edges.frames.length <= 6);
  await Promise.all(edges.sent.map((delivery) => publisher.report(A, [answered(delivery)])));
  t.is(store.recorded.length, 1_000);
  t.true(store.statements.length <= 3, `${store.statements.length} statements`);
  await publisher.stop();
});

test('C5-44 first attempts of one address and endpoint leave in order, one after the other; a failed one delays none', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const ordered = [1, 2, 3].map(() => store.add(A, { orderKey: 'addr' })) as [string, string, string];
  const [first, second, third] = ordered;
  const other = store.add(A, { orderKey: 'elsewhere' }),
    elsewhere = store.add(A, { orderKey: 'addr', webhookId: 'hook-2' });
  publisher.ring(A);
  await until('the heads left', () => edges.sent.length === 3);
  t.deepEqual(
    edges.sent.map(({ deliveryId }) => deliveryId),
    [first, other, elsewhere],
  );
  await publisher.report(A, [answered(edges.sent[0]!, 500)]);
  await until('the next one left', () => edges.sent.length === 4);
  t.is(edges.sent[3]!.deliveryId, second);
  await publisher.report(A, [answered(edges.sent[3]!)]);
  await until('the last one left', () => edges.sent.length === 5);
  t.is(edges.sent[4]!.deliveryId, third);
  t.is(store.status(first).status, 'failed');
  await publisher.stop();
});

test('decisions 4: an attempt beyond a ladder that was shortened meanwhile is recorded and ends the delivery', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const id = store.add(A, { attempts: 9 });
  publisher.ring(A);
  await until('it left', () => edges.sent.length === 1);
  t.is(edges.sent[0]!.attempt, 10);
  await publisher.report(A, [answered(edges.sent[0]!, 500)]);
  t.is(store.status(id).status, 'dead_lettered');
  t.is(store.recorded.length, 1);
  await publisher.report(A, [{ ...answered(edges.sent[0]!, 500), attempt: 22 }]);
  t.is(store.recorded.length, 1, 'no ladder is that long');
  await publisher.stop();
});

test('a retry waits for its rung, keeps its lane out of the way, and goes under the next attempt number', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  const id = store.add(A, { orderKey: 'addr' });
  publisher.ring(A);
  await until('the first attempt left', () => edges.sent.length === 1);
  await publisher.report(A, [answered(edges.sent[0]!, null)]);
  t.like(store.recorded[0], { statusCode: null, error: 'timeout' });
  clock.advance(119_000);
  await rounds(20);
  t.is(edges.sent.length, 1);
  const fresh = store.add(A, { orderKey: 'addr' });
  clock.advance(1_000);
  await until('retry and new event left', () => edges.sent.length === 3);
  t.deepEqual(
    edges.sent
      .slice(1)
      .map(({ deliveryId, attempt }) => [deliveryId, attempt])
      .sort(),
    [
      [id, 2],
      [fresh, 1],
    ].sort(),
  );
  await publisher.stop();
});

test('decisions 4: an endpoint that answers nothing keeps no other endpoint waiting', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  for (let count = 0; count < 3_000; count += 1) store.add(A, { webhookId: 'slow' });
  const quick = store.add(A, { webhookId: 'quick' });
  publisher.ring(A);
  await until('the quick one left', () => edges.sent.some(({ deliveryId }) => deliveryId === quick));
  t.true(edges.sent.length <= 1_025, `${edges.sent.length} at once`);
  await publisher.stop();
});

test('C5-45 deliveries of one event to several endpoints are apart: each has its own attempts', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const ids = ['hook-1', 'hook-2', 'hook-3'].map((webhookId) => store.add(A, { webhookId, orderKey: 'addr' }));
  publisher.ring(A);
  await until('all left', () => edges.sent.length === 3);
  await publisher.report(
    A,
    edges.sent.map((delivery, index) => answered(delivery, index === 1 ? 200 : 503)),
  );
  t.deepEqual(
    ids.map((id) => store.status(id).status),
    ['failed', 'delivered', 'failed'],
  );
  await publisher.stop();
});

test('a frame that the edge refuses goes again after a pause, in its order, and counts no attempt', async (t) => {
  const { store, edges, publisher, clock, warnings } = setup();
  edges.leads(A);
  edges.answer = () => ({ ok: false, code: 'EDGE_OUTBOX_FULL' });
  const ids = [store.add(A), store.add(A)];
  publisher.ring(A);
  await until('it was refused', () => warnings.length === 1);
  edges.answer = () => ({ ok: true });
  publisher.ring(A);
  await rounds(20);
  t.is(edges.frames.length, 1);
  clock.advance(1_200);
  await until('it went again', () => edges.sent.length === 4);
  t.deepEqual(
    edges.sent.slice(2).map(({ deliveryId, attempt }) => [deliveryId, attempt]),
    ids.map((id) => [id, 1]),
  );
  t.is(store.released, 0);
  await publisher.stop();
});

test('a wall clock that is set back prolongs neither the pause of an edge nor the wait for a report that never comes', async (t) => {
  const { store, edges, publisher, clock, warnings } = setup();
  edges.leads(A);
  edges.answer = () => ({ ok: false, code: 'EDGE_OUTBOX_FULL' });
  const id = store.add(A);
  publisher.ring(A);
  await until('it was refused', () => warnings.length === 1);
  edges.answer = () => ({ ok: true });
  clock.step(-30_000); // it stays due: the store goes by the wall clock
  clock.advance(1_200);
  await until('it went again', () => edges.frames.length === 2);
  clock.step(-3_600_000);
  clock.advance(120_000);
  await until('its claim was given back', () => store.released === 1);
  clock.step(3_700_000);
  publisher.ring(A);
  await until('and it is sent anew', () => edges.frames.length === 3);
  t.like(edges.sent.at(-1), { deliveryId: id, attempt: 1 });
  await publisher.stop();
});

test('§6 an edge with room for less than a frame gets smaller ones until it has all', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  const ids = new Set(Array.from({ length: 250 }, () => store.add(A)));
  let room = 20;
  edges.answer = () => {
    const { deliveries } = edges.frames.at(-1)!;
    if (deliveries.length > room) return { ok: false, code: 'EDGE_OUTBOX_FULL' };
    room -= deliveries.length;
    for (const { deliveryId } of deliveries) ids.delete(deliveryId);
    return { ok: true };
  };
  for (let second = 0; second < 60 && ids.size > 0; second += 1) {
    publisher.ring(A);
    await rounds(10);
    room = 20;
    clock.advance(1_200);
  }
  t.is(ids.size, 0);
  await publisher.stop();
});

test('a lost leader gives its claims back: the next one gets the same attempts', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const ids = [store.add(A, { orderKey: 'addr' }), store.add(A, { orderKey: 'addr' })];
  publisher.ring(A);
  await until('the first left', () => edges.frames.length === 1);
  edges.leaves(A);
  publisher.leaderLost(A);
  t.is(store.released, 2);
  edges.leads(A);
  publisher.ring(A);
  await until('it left again', () => edges.frames.length === 2);
  t.deepEqual(
    edges.sent.map(({ deliveryId, attempt }) => [deliveryId, attempt]),
    [
      [ids[0], 1],
      [ids[0], 1],
    ],
  );
  await publisher.stop();
});

test('§6 a claim whose answer was lost is given back before anything more is claimed: an address keeps its order', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  const first = store.add(A, { orderKey: 'addr' });
  store.unanswered = 1;
  publisher.ring(A);
  await until('the claim was not answered', () => store.unanswered === 0);
  const second = store.add(A, { orderKey: 'addr' });
  clock.advance(200);
  await until('one left', () => edges.frames.length === 1);
  await publisher.report(A, [answered(edges.sent[0]!)]);
  await until('the other left', () => edges.frames.length === 2);
  t.deepEqual(
    edges.sent.map(({ deliveryId }) => deliveryId),
    [first, second],
  );
  await publisher.stop();
});

test('§6 claims of a lost leader that could not be given back do not let a later event go first', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  const first = store.add(A, { orderKey: 'addr' });
  publisher.ring(A);
  await until('the first left', () => edges.frames.length === 1);
  edges.leaves(A);
  store.failingReleases = 1;
  publisher.leaderLost(A);
  store.add(A, { orderKey: 'addr' });
  edges.leads(A);
  clock.advance(200);
  await until('it left again', () => edges.frames.length === 2);
  t.is(edges.sent[1]!.deliveryId, first);
  await publisher.stop();
});

test('§6 a claim that was on its way when its leader was lost does not go before what was given back', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const first = store.add(A, { orderKey: 'addr' });
  publisher.ring(A);
  await until('the first left', () => edges.frames.length === 1);
  const second = store.add(A, { orderKey: 'addr' }),
    claimDue = store.claimDue.bind(store);
  let answer: (() => void) | null = null;
  store.claimDue = async (...ask) => {
    const due = await claimDue(...ask);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return due;
  };
  publisher.ring(A);
  await until('the second is claimed', () => answer !== null);
  publisher.leaderLost(A);
  store.claimDue = claimDue;
  answer!();
  await until('one left again', () => edges.frames.length === 2);
  t.deepEqual(
    edges.sent.map(({ deliveryId }) => deliveryId),
    [first, first],
  );
  await publisher.report(A, [answered(edges.sent[1]!)]);
  await until('the second left', () => edges.frames.length === 3);
  t.is(edges.sent[2]!.deliveryId, second);
  await publisher.stop();
});

test('what is never reported is due again when its claim ends, under the same attempt number', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  const id = store.add(A);
  publisher.ring(A);
  await until('it left', () => edges.frames.length === 1);
  clock.advance(100_000);
  await rounds(20);
  t.is(edges.frames.length, 1);
  clock.advance(21_000);
  await until('it left again', () => edges.frames.length === 2);
  t.like(edges.sent[1], { deliveryId: id, attempt: 1 });
  await publisher.stop();
});

test('a late report of a delivery that was given back is recorded all the same', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const id = store.add(A);
  publisher.ring(A);
  await until('it left', () => edges.frames.length === 1);
  publisher.leaderLost(A);
  await publisher.report(A, [answered(edges.sent[0]!)]);
  t.is(store.status(id).status, 'delivered');
  await publisher.stop();
});

test("reliability 3.10: an edge that reports on another account's delivery changes nothing", async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  edges.leads(B);
  const id = store.add(A);
  publisher.ring();
  await until('it left', () => edges.frames.length === 1);
  await publisher.report(B, [answered(edges.sent[0]!)]);
  t.is(store.status(id).status, 'pending');
  await publisher.report(A, [answered(edges.sent[0]!)]);
  t.is(store.status(id).status, 'delivered');
  await publisher.stop();
});

test('attempts that could not be recorded are not acknowledged; nonsense of one report fails nobody else', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  const ids = [store.add(A), store.add(A), store.add(A)];
  publisher.ring(A);
  await until('all left', () => edges.sent.length === 3);
  store.failing = 1;
  await t.throwsAsync(publisher.report(A, [answered(edges.sent[0]!)]), { message: 'the database is away' });
  t.is(store.status(ids[0]!).attempts, 0);
  store.poison = ids[0]!;
  // The first report is on its way alone; the other two share a statement, which is refused.
  const reports = await Promise.allSettled(
    [2, 0, 1].map((index) => publisher.report(A, [answered(edges.sent[index]!)])),
  );
  t.deepEqual(
    reports.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  t.deepEqual(store.statements, [1, 1, 2, 1, 1]);
  t.is(store.status(ids[1]!).status, 'delivered');
  await publisher.report(A, [{ ...answered(edges.sent[1]!), attempt: 99, durationMs: 1e12, statusCode: 5_000_000 }]);
  t.is(store.recorded.length, 2);
  await publisher.stop();
});

test('a delivery whose secret does not open is held once, with all of its lane, and keeps nothing else waiting', async (t) => {
  const { store, edges, publisher, warnings, clock } = setup();
  edges.leads(A);
  const broken = [1, 2, 3].map(() =>
    store.add(A, { webhookId: 'broken', orderKey: 'one address', sealedSecrets: ['unreadable'] }),
  );
  const id = store.add(A);
  publisher.ring(A);
  await until(
    'the other left and the broken ones are held',
    () => edges.sent.length === 1 && broken.every((one) => store.status(one).status === 'held'),
  );
  t.is(edges.sent[0]!.deliveryId, id);
  const told = warnings.length;
  t.true(warnings.includes('deliveries are held: the secret of their endpoint does not open'));
  const { claims } = store;
  clock.advance(600_000);
  await until('it was polled', () => store.claims > claims);
  await rounds(20);
  t.is(warnings.length, told, 'nothing is tried for ever');
  t.true(
    broken.every((one) => store.status(one).attempts === 0),
    'and no attempt is counted',
  );
  await publisher.stop();
});

test('decisions 4: of two secrets the one that opens signs alone', async (t) => {
  const { store, edges, publisher } = setup();
  edges.leads(A);
  store.add(A, { webhookId: 'rotating', sealedSecrets: ['sealed', 'unreadable'] });
  publisher.ring(A);
  await until('it left', () => edges.sent.length === 1);
  t.regex(edges.sent[0]!.headers['webhook-signature']!, /^v1,[A-Za-z0-9+/]{43}=$/);
  await publisher.stop();
});

test('stopping gives back what was claimed and takes nothing more', async (t) => {
  const { store, edges, publisher, clock } = setup();
  edges.leads(A);
  store.add(A);
  publisher.ring(A);
  await until('it left', () => edges.frames.length === 1);
  await publisher.stop();
  t.is(store.released, 1);
  publisher.ring(A);
  clock.advance(10_000);
  await rounds(20);
  t.is(edges.frames.length, 1);
});

test('polling finds what no doorbell rang for, account by account in turns', async (t) => {
  const { store, edges, clock, publisher } = setup();
  for (let count = 0; count < 1_100; count += 1) edges.leads(`org_${count}_live` as AccountId);
  for (const index of [3, 600, 1_099]) store.add(`org_${index}_live` as AccountId);
  for (let polls = 0; polls < 3; polls += 1) {
    clock.advance(200);
    await rounds(10);
  }
  t.deepEqual(
    edges.frames.map(({ accountId }) => accountId),
    ['org_3_live', 'org_600_live', 'org_1099_live'],
  );
  await publisher.stop();
});
