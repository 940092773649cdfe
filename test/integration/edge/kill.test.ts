/** The edge killed at every named place: nothing signed twice, nothing lost, order kept. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { decodeSigned } from '../../../chains/evm/envelope.ts';
import type { Delivery } from '../../../edge/webhooks/post.ts';
import { openStorage } from '../../../edge/storage/storage.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { HostileCloud } from '../../support/edge/hostile-cloud.ts';
import { builtFor, RECEIVER, transactionFor, type Wanted } from '../../support/edge/built.ts';
import { startEdgeProcess, type EdgeProcess } from '../../support/edge/edge-process.ts';
import { eventually, FIRST, mintIn } from '../../support/edge/edges.ts';
import { newDirectory } from '../../support/edge/disk.ts';
import { startReceiver } from '../../support/edge/receivers.ts';

const WANTED: Wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 17n };
const DELIVERIES = 3;

function deliveriesTo(url: string, count: number): Delivery[] {
  return Array.from({ length: count }, (_, index) => ({
    deliveryId: `dlv_${index}`,
    attempt: 1,
    url,
    headers: {},
    body: `{"n":${index}}`,
    timeoutMs: 5_000,
  }));
}

const COUNTER = 'POST /v1/edge/transactions/{id}/counter';
const FIRST_NONCE = 8;

interface Story {
  readonly cloud: HostileCloud;
  readonly dataDir: string;
  readonly localKey: string;
  readonly id: string;
  readonly receiverUrl: string;
}

async function begin(t: ExecutionContext): Promise<Story & { hits: { body: string }[] }> {
  const cloud = await HostileCloud.start();
  t.teardown(() => cloud.close());
  const receiver = await startReceiver(t);
  const dataDir = newDirectory();
  const id = newId('txn', 1_700_000_000_000);
  cloud.on('POST /v1/transactions/unsigned', () => ({
    data: builtFor(WANTED, transactionFor(WANTED), id),
    status: 201,
  }));
  // As the account's actor does: who asks again for an id that is not signed gets its own value again, another id the
  // next one.
  const bound = new Map<string, number>();
  cloud.on(COUNTER, ({ path }) => {
    const asked = path.split('/')[4]!,
      nonce = bound.get(asked) ?? FIRST_NONCE + bound.size;
    bound.set(asked, nonce);
    return { data: builtFor(WANTED, transactionFor(WANTED, { nonce }), asked) };
  });
  return { cloud, dataDir, localKey: mintIn(dataDir, 'live'), id, receiverUrl: receiver.url, hits: receiver.hits };
}

/** Builds, broadcasts and delivers; every step may meet a dead edge. */
async function tell({ cloud, id, receiverUrl }: Story, edge: EdgeProcess): Promise<void> {
  const quiet = (work: Promise<unknown>) => work.catch(() => undefined);
  await eventually('the stream is up', () => cloud.streams === 1);
  await quiet(
    edge.ask('POST', '/v1/transactions/unsigned', {
      chain: 'eth',
      from: FIRST,
      to: RECEIVER,
      amount: WANTED.amount.toString(),
    }),
  );
  await quiet(edge.ask('POST', `/v1/transactions/${id}/broadcast`));
  await quiet(cloud.deliver(deliveriesTo(receiverUrl, DELIVERIES)));
}

async function finish({ cloud, id }: Story): Promise<void> {
  await eventually('the signed bytes arrived', () => cloud.submitted.some((submitted) => submitted.id === id));
  await eventually(
    'all attempts are recorded',
    () => new Set(cloud.attempts.map(({ deliveryId }) => deliveryId)).size === DELIVERIES,
  );
}

test.serial('issue 2, 3: a run that records lists every place of the edge', async (t) => {
  const story = await begin(t);
  const file = join(story.dataDir, 'places');
  const edge = await startEdgeProcess(t, {
    ...story,
    cloudUrl: story.cloud.url,
    env: { FLOCK_FAILPOINTS: `record:${file}` },
  });
  await tell(story, edge);
  await finish(story);
  const passed = () => [...new Set(readFileSync(file, 'utf8').trim().split('\n'))].sort();
  await eventually('the last acknowledgement arrived', () => passed().length >= PLACES.length);
  t.deepEqual(passed(), [...PLACES].sort());
});

const PLACES = [
  'edge.sign.bound',
  'edge.sign.counted',
  'edge.sign.journaled',
  'edge.sign.signed',
  'edge.sign.recorded',
  'edge.submit.before',
  'edge.submit.after',
  'edge.relay.before_post',
  'edge.relay.after_post',
  'edge.relay.after_record',
  'edge.report.before',
  'edge.report.after',
];

for (const place of PLACES) {
  test.serial(
    `issue 2, 3: SIGKILL at ${place}: one signature, counted once, every delivery made and recorded`,
    async (t) => {
      const story = await begin(t);
      const options = { ...story, cloudUrl: story.cloud.url };
      const first = await startEdgeProcess(t, { ...options, env: { FLOCK_FAILPOINTS: `kill:${place}:1` } });
      await tell(story, first);
      t.is((await first.exited).signal, 'SIGKILL');
      story.cloud.leaseEpoch += 1;
      const second = await startEdgeProcess(t, options);
      await tell(story, second); // The cloud sends again what it has no record of; the application asks again.
      await finish(story);
      t.is(new Set(story.cloud.submitted.map(({ signedPayload }) => signedPayload)).size, 1);
      t.is(new Set(story.hits.map(({ body }) => body)).size, DELIVERIES);
      await eventually(
        'the outbox is empty',
        async () => (await second.ask('GET', '/v1/edge/outbox')).data?.['outboxDepth'] === 0,
      );
      second.kill('SIGTERM');
      t.is((await second.exited).code, 0);
      const storage = openStorage(story.dataDir);
      t.is(storage.all('select 1 from spend').length, 1);
      t.is(storage.all('select 1 from signatures').length, 1);
      storage.close();
    },
  );
}

test.serial(
  'found F43: SIGKILL between a bound counter and its signature: nothing was signed, the same instruction is bound again, and the next one has the next value',
  async (t) => {
    const story = await begin(t),
      { cloud, id } = story;
    const options = { ...story, cloudUrl: cloud.url };
    const first = await startEdgeProcess(t, { ...options, env: { FLOCK_FAILPOINTS: 'kill:edge.sign.bound:1' } });
    const buildAndSend = async (edge: EdgeProcess, txn: string, wanted: Wanted) => {
      cloud.on('POST /v1/transactions/unsigned', () => ({
        data: builtFor(wanted, transactionFor(wanted), txn),
        status: 201,
      }));
      await edge.ask('POST', '/v1/transactions/unsigned', {
        chain: 'eth',
        from: FIRST,
        to: RECEIVER,
        amount: wanted.amount.toString(),
        paymentRef: txn,
      });
      return edge.ask('POST', `/v1/transactions/${txn}/broadcast`);
    };
    await eventually('the stream is up', () => cloud.streams === 1);
    await buildAndSend(first, id, WANTED).catch(() => undefined);
    t.is((await first.exited).signal, 'SIGKILL');
    t.deepEqual([cloud.countOf(COUNTER), cloud.submitted.length], [1, 0]);
    const left = openStorage(story.dataDir);
    t.deepEqual([left.all('select 1 from spend').length, left.all('select 1 from signatures').length], [0, 0]);
    left.close();
    cloud.leaseEpoch += 1;
    const second = await startEdgeProcess(t, options),
      next = newId('txn', 1_700_000_000_001);
    await eventually('the stream is up again', () => cloud.streams === 1);
    t.is((await second.ask('POST', `/v1/transactions/${id}/broadcast`)).status, 200);
    t.is((await buildAndSend(second, next, WANTED)).status, 200);
    t.deepEqual(
      cloud.seen.flatMap(({ path }) => (/counter$/.test(path) ? [path.split('/')[4]] : [])),
      [id, id, next],
    );
    const signed = cloud.submitted.map(({ id: of, signedPayload }) => {
      const decoded = decodeSigned(signedPayload);
      return `${of} ${decoded.ok ? decoded.transaction.nonce : 'unreadable'}`;
    });
    t.deepEqual([...new Set(signed)], [`${id} ${FIRST_NONCE}`, `${next} ${FIRST_NONCE + 1}`]);
    second.kill('SIGTERM');
    t.is((await second.exited).code, 0);
  },
);

test.serial('reports keep their order over SIGKILL at any moment', async (t) => {
  const story = await begin(t);
  const options = { ...story, cloudUrl: story.cloud.url, env: { EDGE_WEBHOOK_CONCURRENCY_PER_HOST: '1' } };
  const count = 40;
  story.cloud.onAttempts = () => ({ ok: false, code: 'SERVICE_UNAVAILABLE' });
  let reached = 0;
  for (const killAt of [7, 19, 31]) {
    const edge = await startEdgeProcess(t, options);
    await eventually('the stream is up', () => story.cloud.streams === 1);
    await story.cloud.deliver(deliveriesTo(story.receiverUrl, count)).catch(() => undefined);
    await eventually(
      `${killAt} deliveries were made`,
      () => new Set(story.hits.map(({ body }) => body)).size >= killAt,
    );
    edge.kill('SIGKILL');
    await edge.exited;
    await eventually('the stream is gone', () => story.cloud.streams === 0);
    story.cloud.leaseEpoch += 1;
    reached = killAt;
  }
  t.is(reached, 31);
  story.cloud.onAttempts = () => ({ ok: true });
  await startEdgeProcess(t, options);
  await eventually('the stream is up', () => story.cloud.streams === 1);
  await story.cloud.deliver(deliveriesTo(story.receiverUrl, count));
  // A report may have left just before the cloud sent its delivery again: the cloud takes a repeated one once.
  const recorded = () => [...new Set(story.cloud.attempts.map(({ deliveryId }) => deliveryId))];
  await eventually('all are recorded', () => recorded().length === count);
  t.deepEqual(
    recorded(),
    Array.from({ length: count }, (_, index) => `dlv_${index}`),
  );
});
