/** Webhooks from the cloud's frame to the receiver and back into the cloud's record, over real sockets. */
import test, { type ExecutionContext } from 'ava';
import type { Delivery } from '../../../edge/webhooks/post.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { eventually, startTestEdge, type TestEdge } from '../../support/edge/edges.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startReceiver } from '../../support/edge/receivers.ts';

interface Stage {
  readonly cloud: HostileCloud;
  readonly edge: TestEdge;
  readonly dataDir: string;
}

async function stage(t: ExecutionContext, env: Record<string, string> = {}): Promise<Stage> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const dataDir = newDirectory();
  return { cloud, dataDir, edge: await lead(t, cloud, dataDir, env) };
}

async function lead(
  t: ExecutionContext,
  cloud: HostileCloud,
  dataDir: string,
  env: Record<string, string> = {},
): Promise<TestEdge> {
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    dataDir,
    env: { EDGE_CHAINS: 'eth', ...env },
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  return edge;
}

function delivery(url: string, index: number, more: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId: `dlv_${index}`,
    attempt: 1,
    url,
    headers: { 'webhook-id': `evt_${index}` },
    body: `{"n":${index}}`,
    timeoutMs: 15_000,
    ...more,
  };
}

const outboxDepth = async (edge: TestEdge) => (await edge.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'];

test('§6 the leader relays, each attempt is recorded and leaves the outbox when the cloud has it', async (t) => {
  const { cloud, edge } = await stage(t);
  const receiver = await startReceiver(t, (response, { body }) =>
    response.writeHead(body === '{"n":2}' ? 500 : 204).end(),
  );
  t.deepEqual(await cloud.deliver([1, 2, 3].map((index) => delivery(receiver.url, index))), { ok: true });
  await eventually('all attempts are recorded', () => cloud.attempts.length === 3);
  t.deepEqual(
    cloud.attempts.map(({ deliveryId, statusCode, outcome }) => `${deliveryId} ${statusCode} ${outcome}`).sort(),
    ['dlv_1 204 answered', 'dlv_2 500 answered', 'dlv_3 204 answered'],
  );
  t.true(cloud.attempts.every(({ durationMs }) => durationMs >= 0 && Number.isInteger(durationMs)));
  await eventually('the outbox is empty', async () => (await outboxDepth(edge)) === 0);
  t.deepEqual(receiver.hits.map(({ body }) => body).sort(), ['{"n":1}', '{"n":2}', '{"n":3}']);
});

test('a frame that comes twice is posted once', async (t) => {
  const { cloud } = await stage(t);
  const receiver = await startReceiver(t, (response) => setImmediate(() => response.end()));
  await Promise.all([cloud.deliver([delivery(receiver.url, 1)]), cloud.deliver([delivery(receiver.url, 1)])]);
  await eventually('the attempt is recorded', () => cloud.attempts.length >= 1);
  await cloud.deliver([delivery(receiver.url, 1, { attempt: 2 })]);
  await eventually('the second attempt is recorded', () => cloud.attempts.length >= 2);
  t.deepEqual(
    cloud.attempts.map(({ attempt }) => attempt),
    [1, 2],
  );
  t.is(receiver.hits.length, 2);
});

test('an attempt that the cloud did not acknowledge is kept, reported again after a restart under the new epoch, and not posted again', async (t) => {
  const { cloud, edge, dataDir } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.onAttempts = () => null;
  await cloud.deliver([delivery(receiver.url, 1)]);
  await eventually('the receiver was called', () => receiver.hits.length >= 1);
  await eventually('the attempt waits', async () => (await outboxDepth(edge)) === 1);
  await edge.edge.stop();
  cloud.leaseEpoch = 2;
  cloud.onAttempts = () => ({ ok: true });
  const next = await lead(t, cloud, dataDir);
  await eventually('the attempt is recorded', () => cloud.attempts.length === 1);
  t.is(cloud.attemptFrames[0]!.leaseEpoch, 2);
  t.is(cloud.attemptFrames[0]!.sessionId, next.edge.sessionId);
  t.is(receiver.hits.length, 1);
});

test('after a restart a delivery that was tried is reported when the cloud sends it again, and not posted again', async (t) => {
  const { cloud, edge, dataDir } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.onAttempts = () => ({ ok: false, code: 'SERVICE_UNAVAILABLE' });
  await cloud.deliver([delivery(receiver.url, 1)]);
  await eventually('the attempt waits', async () => (await outboxDepth(edge)) === 1);
  await edge.edge.stop();
  const next = await lead(t, cloud, dataDir);
  t.true((await cloud.deliver([delivery(receiver.url, 1)])).ok);
  cloud.onAttempts = () => ({ ok: true });
  await eventually('the attempt is recorded', () => cloud.attempts.length === 1);
  await eventually('the outbox is empty', async () => (await outboxDepth(next)) === 0);
  t.is(receiver.hits.length, 1);
});

test('reports of a replica that leads no more are kept for two terms of the lease, then they make way: another leader has made the attempts anew', async (t) => {
  const clock = { aheadMs: 0, wallMs: 0 };
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    env: { EDGE_CHAINS: 'eth' },
    ports: { wallMs: () => Date.now() + clock.wallMs, monotonicMs: () => performance.now() + clock.aheadMs },
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const receiver = await startReceiver(t);
  cloud.onAttempts = () => ({ ok: false, code: 'SERVICE_UNAVAILABLE' });
  await cloud.deliver([delivery(receiver.url, 1)]);
  await eventually('the attempt waits', async () => (await outboxDepth(edge)) === 1);
  const push = (role: 'leader' | 'follower') => {
    cloud.role = role;
    cloud.leaseEpoch += 1;
    cloud.push('lease', { role, leaseEpoch: cloud.leaseEpoch, leaseTtlMs: 30_000 });
  };
  push('follower');
  await eventually('the lease is lost', () => edge.logged.some(({ msg }) => msg === 'lease_lost'));
  clock.wallMs = 86_400_000;
  const beats = cloud.heartbeats.length;
  await eventually('it went on', () => cloud.heartbeats.length > beats, 30_000);
  t.is(await outboxDepth(edge), 1, 'a wall clock that jumps ages nothing');
  clock.aheadMs = 61_000;
  await eventually('it made way', async () => (await outboxDepth(edge)) === 0, 30_000);
  t.true(edge.logged.some(({ msg }) => msg === 'attempts_superseded'));
  t.deepEqual(cloud.attempts, []);
});

test('§7 a frame under an old epoch, or to a follower, is dropped: nothing is posted', async (t) => {
  const { cloud, edge } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.leaseEpoch = 5;
  cloud.push('lease', { role: 'leader', leaseEpoch: 5, leaseTtlMs: 30_000 });
  await eventually('the new epoch was asked for', () =>
    edge.logged.some(({ msg, leaseEpoch }) => msg === 'lease_changed' && leaseEpoch === 5),
  );
  t.like(await cloud.deliver([delivery(receiver.url, 1)], 4), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.true((await cloud.deliver([delivery(receiver.url, 2)], 5)).ok);
  await eventually('the other one is recorded', () => cloud.attempts.length === 1);
  cloud.role = 'follower';
  cloud.leaseEpoch = 6;
  cloud.push('lease', { role: 'follower', leaseEpoch: 6, leaseTtlMs: 30_000 });
  await eventually('the lease is lost', () =>
    edge.logged.some(({ msg, leaseEpoch }) => msg === 'lease_lost' && leaseEpoch === 6),
  );
  t.like(await cloud.deliver([delivery(receiver.url, 3)], 6), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.like(await cloud.deliver([delivery(receiver.url, 4)], 5), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.deepEqual(
    receiver.hits.map(({ body }) => body),
    ['{"n":2}'],
  );
});

test('§7 a welcome or an answer with an epoch below the highest one seen is not believed, and raises an alarm', async (t) => {
  const { cloud, edge } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.leaseEpoch = 5;
  cloud.push('lease', { role: 'leader', leaseEpoch: 5, leaseTtlMs: 30_000 });
  await eventually('epoch 5 holds', () =>
    edge.logged.some(({ msg, leaseEpoch }) => msg === 'lease_changed' && leaseEpoch === 5),
  );
  cloud.leaseEpoch = 3;
  // Brings a heartbeat, answered with epoch 3.
  cloud.push('lease', { role: 'leader', leaseEpoch: 5, leaseTtlMs: 30_000 });
  await eventually('the answer was refused', () =>
    edge.logged.some(({ msg, alarm }) => msg === 'stale_lease_epoch' && alarm === true),
  );
  cloud.dropStreams();
  await eventually(
    'the welcome was refused',
    () => edge.logged.filter(({ msg }) => msg === 'stale_lease_epoch').length >= 2,
  );
  await eventually('the stream is closed again', () => cloud.sessions.length >= 3);
  t.deepEqual(receiver.hits, []);
  cloud.leaseEpoch = 6;
  await eventually('a higher epoch is believed', () =>
    edge.logged.some(({ msg, leaseEpoch }) => msg === 'welcomed' && leaseEpoch === 6),
  );
  t.true((await cloud.deliver([delivery(receiver.url, 1)], 6)).ok);
  await eventually('and deliveries go on', () => receiver.hits.length >= 1);
});

test('a pushed lease alone makes no leader: the cloud is asked, and its answer counts', async (t) => {
  const { cloud } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.role = 'follower';
  cloud.leaseEpoch = 9;
  cloud.push('lease', { role: 'leader', leaseEpoch: 9, leaseTtlMs: 3_600_000 });
  t.like(await cloud.deliver([delivery(receiver.url, 1)], 9), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.deepEqual(receiver.hits, []);
});

test('a lease that ran out by the monotonic clock lets nothing through, until the cloud says so again', async (t) => {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const clock = { offsetMs: 0 };
  const edge = await startTestEdge(t, cloud.url, {
    environment: 'sandbox',
    env: { EDGE_CHAINS: 'eth' },
    ports: { monotonicMs: () => performance.now() + clock.offsetMs },
  });
  await eventually('the edge is welcomed', () => edge.logged.some(({ msg }) => msg === 'welcomed'));
  const receiver = await startReceiver(t);
  clock.offsetMs = 60_000; // Frozen for a minute; meanwhile another replica leads.
  cloud.role = 'follower';
  cloud.leaseEpoch = 2;
  t.like(await cloud.deliver([delivery(receiver.url, 1)], 1), { ok: false, code: 'LEASE_EPOCH_STALE' });
  t.deepEqual(receiver.hits, []);
  cloud.role = 'leader';
  cloud.leaseEpoch = 3;
  t.true((await cloud.deliver([delivery(receiver.url, 2)], 3)).ok);
  await eventually('the delivery arrived', () => receiver.hits.length >= 1);
});

test('§6 a receiver that hangs delays no other, and all of its own slots do not take the rest', async (t) => {
  const { cloud } = await stage(t, { EDGE_WEBHOOK_CONCURRENCY: '8', EDGE_WEBHOOK_CONCURRENCY_PER_HOST: '4' });
  const hanging = [
    await startReceiver(t, () => undefined),
    await startReceiver(t, () => undefined),
    await startReceiver(t, () => undefined),
  ];
  const quick = await startReceiver(t);
  const stuck = hanging.flatMap(({ url }, host) =>
    Array.from({ length: 20 }, (_, index) => delivery(url, 1_000 * (host + 1) + index)),
  );
  t.true((await cloud.deliver(stuck)).ok);
  await eventually('the hanging ones hold what they may', () => hanging.every(({ hits }) => hits.length >= 1));
  t.true((await cloud.deliver(Array.from({ length: 20 }, (_, index) => delivery(quick.url, index)))).ok);
  await eventually('all of the others arrived', () => quick.hits.length >= 20);
  // Those that hang still hold their slots: none of them had to be given up first.
  t.true(hanging.every(({ hits }) => hits.length <= 4));
});

test('of one host deliveries start in the order of the frames', async (t) => {
  const { cloud } = await stage(t, { EDGE_WEBHOOK_CONCURRENCY_PER_HOST: '1' });
  const receiver = await startReceiver(t, (response) => setImmediate(() => response.end()));
  await cloud.deliver(Array.from({ length: 50 }, (_, index) => delivery(receiver.url, index)));
  await cloud.deliver(Array.from({ length: 50 }, (_, index) => delivery(receiver.url, 50 + index)));
  await eventually('all arrived', () => receiver.hits.length >= 100);
  t.deepEqual(
    receiver.hits.map(({ body }) => JSON.parse(body) as { n: number }).map(({ n }) => n),
    Array.from({ length: 100 }, (_, index) => index),
  );
});

test('§7 with a full outbox deliveries are not taken, and nothing is dropped', async (t) => {
  const { cloud, edge } = await stage(t, { EDGE_OUTBOX_CAPACITY: '3' });
  const receiver = await startReceiver(t);
  cloud.onAttempts = () => ({ ok: false, code: 'SERVICE_UNAVAILABLE' });
  t.true((await cloud.deliver([1, 2, 3].map((index) => delivery(receiver.url, index)))).ok);
  await eventually('the outbox is full', async () => (await outboxDepth(edge)) === 3);
  t.like(await cloud.deliver([delivery(receiver.url, 4)]), { ok: false, code: 'EDGE_OUTBOX_FULL' });
  t.is(receiver.hits.length, 3);
  cloud.onAttempts = () => ({ ok: true });
  await eventually('it drained', async () => (await outboxDepth(edge)) === 0);
  t.true((await cloud.deliver([delivery(receiver.url, 4)])).ok);
});

test('§2.8 a report that the cloud keeps refusing poisons the outbox and is shown with its reason', async (t) => {
  const { cloud, edge } = await stage(t);
  const receiver = await startReceiver(t);
  cloud.onAttempts = () => ({ ok: false, code: 'INVALID_INPUT' });
  await cloud.deliver([delivery(receiver.url, 1)]);
  await eventually(
    'it is poisoned',
    async () => (await edge.ask('GET', '/v1/edge/outbox')).data?.['outboxPoisoned'] === true,
  );
  t.like((await edge.ask('GET', '/v1/edge/outbox')).data?.['poisonedBy'] as object, {
    subject: 'dlv_1/1',
    kind: 'attempt',
    code: 'INVALID_INPUT',
  });
  t.regex((await edge.ask('GET', '/')).text, /A report is stuck/);
});

test('when the stream drops the edge comes back with a fresh signature and the same session', async (t) => {
  const { cloud, edge } = await stage(t);
  cloud.dropStreams();
  await eventually('it is back', () => cloud.sessions.length === 2 && cloud.streams === 1);
  t.deepEqual(cloud.sessions, [edge.edge.sessionId, edge.edge.sessionId]);
  t.is(cloud.badSignatures, 0);
});

test('a malformed frame is dropped and said so; the stream goes on', async (t) => {
  const { cloud, edge } = await stage(t);
  for (const [frame, body] of [
    ['deliver', { leaseEpoch: 'x' }],
    ['lease', null],
    ['keys', { records: [{}] }],
    ['sign', {}],
    ['welcome', 7],
    ['replenish', { chain: 'eth' }],
  ] as const)
    cloud.push(frame, body);
  await eventually('each was noticed', () => edge.logged.filter(({ msg }) => msg === 'frame_malformed').length === 6);
  t.is(cloud.streams, 1);
});

test('found F76: a webhook body, its URL and its signature are not logged; why one is blocked is shown here and not told to the cloud', async (t) => {
  const { cloud, edge } = await stage(t);
  const receiver = await startReceiver(t, (response) => response.writeHead(500).end('CANARY-ANSWER'));
  await cloud.deliver([
    delivery(`${receiver.url}/CANARY-PATH?k=CANARY-QUERY`, 1, {
      body: '{"x":"CANARY-BODY"}',
      headers: { 'webhook-signature': 'v1,CANARY-SIGNATURE' },
    }),
    delivery('http://169.254.169.254/CANARY-BLOCKED', 2),
  ]);
  await eventually('both are recorded', () => cloud.attempts.length === 2);
  t.true(edge.logged.some(({ msg, reason }) => msg === 'webhook_blocked' && reason === 'forbidden'));
  const shown = async (path: string) => (await edge.ask('GET', path)).text;
  const [health, figures, page] = await Promise.all(['/v1/edge/health', '/metrics', '/'].map(shown));
  const [blocked] = (JSON.parse(health!) as { data: { webhooksBlocked: object[] } }).data.webhooksBlocked;
  t.like(blocked, { target: '169.254.169.254:80', reason: 'forbidden', setting: 'EDGE_WEBHOOK_ALLOWLIST', count: 1 });
  t.true(figures!.includes('svc_edge_webhooks_blocked_total{reason="forbidden"} 1'));
  t.true(figures!.includes('svc_edge_webhook_targets_blocked 1'));
  t.regex(page!, /169\.254\.169\.254:80[^]*EDGE_WEBHOOK_ALLOWLIST/);
  t.notRegex(health! + figures! + page!, /CANARY/);
  t.notRegex(JSON.stringify(cloud.attempts), /169\.254|forbidden|ALLOWLIST/, 'found F76: why stays at the edge');
  t.notRegex(JSON.stringify(edge.logged), /CANARY/);
  t.notRegex(JSON.stringify(cloud.attempts), /CANARY/, 'only status and duration go back');
});
