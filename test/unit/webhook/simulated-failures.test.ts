import test from 'ava';
import type { EndpointFailure } from '../../../model/ports/sandbox-control.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { rounds, until } from '../../support/until.ts';
import { A, answered, setup } from '../../support/publishing.ts';

const BOX = accountIdOf('org_a', 'sandbox');

/** A lever that fails the first attempt of each delivery so. */
const failing = (failure: EndpointFailure, seen: string[] = []) => ({
  simulated: {
    takeEndpointFailures: async (
      attempts: readonly { webhookId: string; deliveryId: string; attempt: number }[],
    ): Promise<ReadonlyMap<string, EndpointFailure>> => {
      seen.push(...attempts.map(({ webhookId, attempt }) => `${webhookId}/${attempt}`));
      return new Map(
        attempts.flatMap(({ deliveryId, attempt }) => (attempt === 1 ? [[deliveryId, failure] as const] : [])),
      );
    },
  },
});

test('ecosystem X76 an attempt that the endpoint seems to refuse is recorded as an edge reports it, and nothing leaves; the next one does', async (t) => {
  const seen: string[] = [];
  const { store, edges, clock, publisher } = setup(failing({ status: 503 }, seen));
  edges.leads(BOX);
  const id = store.add(BOX, { dueAtMs: clock.nowMs() });
  publisher.ring(BOX);
  await until('it is recorded', () => store.recorded.length === 1);
  t.like(store.recorded[0], { deliveryId: id, attempt: 1, statusCode: 503, error: null });
  t.is(edges.frames.length, 0);
  t.is(store.status(id).status, 'failed');
  clock.advance(120_000);
  await until('the next attempt leaves', () => edges.sent.length === 1);
  t.like(edges.sent[0], { deliveryId: id, attempt: 2 });
  t.deepEqual(seen, ['hook/1', 'hook/2']);
  await publisher.stop();
});

test('ecosystem X76 an endpoint that seems gone is disabled as by its own 410', async (t) => {
  const { store, edges, clock, publisher } = setup(failing({ status: 410 }));
  edges.leads(BOX);
  const id = store.add(BOX, { dueAtMs: clock.nowMs() });
  publisher.ring(BOX);
  await until('it is recorded', () => store.recorded.length === 1);
  t.like(store.recorded[0]!.next, { status: 'dead_lettered', disableEndpoint: true });
  t.is(store.status(id).status, 'dead_lettered');
  await publisher.stop();
});

test('ecosystem X76 a late attempt leaves when its time has come; from the limit of an attempt on it is a timeout', async (t) => {
  for (const delayMs of [3_000, 15_000]) {
    const { store, edges, clock, publisher } = setup(failing({ delayMs }));
    edges.leads(BOX);
    const id = store.add(BOX, { dueAtMs: clock.nowMs() });
    publisher.ring(BOX);
    await until('it is claimed', () => store.claims > 0);
    await rounds(20);
    clock.advance(delayMs - 1);
    await rounds(20);
    t.is(edges.frames.length + store.recorded.length, 0);
    clock.advance(1);
    if (delayMs < 15_000) {
      await until('it leaves', () => edges.sent.length === 1);
      await publisher.report(BOX, [answered(edges.sent[0]!)]);
      t.is(store.status(id).status, 'delivered');
    } else {
      await until('it is recorded', () => store.recorded.length === 1);
      t.like(store.recorded[0], { statusCode: null, error: 'timeout', durationMs: 15_000 });
      t.is(edges.frames.length, 0);
    }
    await publisher.stop();
    t.is(clock.pending, 0);
  }
});

test('ecosystem X76 nothing is simulated in live, and a lever that cannot be looked at delays what it might have failed', async (t) => {
  const seen: string[] = [];
  const live = setup(failing({ status: 500 }, seen));
  live.edges.leads(A);
  live.store.add(A);
  live.publisher.ring(A);
  await until('it leaves', () => live.edges.sent.length === 1);
  t.deepEqual(seen, []);
  await live.publisher.stop();
  let broken = true;
  const { store, edges, clock, publisher, warnings } = setup({
    simulated: {
      takeEndpointFailures: async () => {
        if (broken) throw new Error('away');
        return new Map();
      },
    },
  });
  edges.leads(BOX);
  store.add(BOX);
  publisher.ring(BOX);
  await until('it is said', () => warnings.some((line) => line.includes('levers could not be looked at')));
  t.is(edges.sent.length, 0);
  broken = false;
  clock.advance(2_000);
  await until('it leaves after all', () => edges.sent.length === 1);
  await publisher.stop();
});
