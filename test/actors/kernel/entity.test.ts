/** The entity shell: design.md 2, batched intake and append-then-answer. */
import test from 'ava';
import { ask, PoisonousEvent, type Outcome } from '../../../actors/kernel/index.ts';
import { rounds, until } from '../../support/until.ts';
import { add, counter, counterStore, type Count } from './counter.ts';
import { startCounters, startNode } from './node.ts';

const ok = (total: number, adds: number): Outcome<Count> => ({ ok: true, reply: { total, adds } });

test('design 2 an entity takes all that waits, decides on the evolving state, appends once, then answers each', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const asks = [add(5), add(-3), add(-3), { type: 'read' } as const].map((command) =>
    ask(counters.address('a'), command),
  );
  const outcomes = await Promise.all(asks);
  t.deepEqual([outcomes[0], outcomes[1], outcomes[3]], [ok(5, 1), ok(2, 2), ok(2, 2)]);
  t.like(outcomes[2], { ok: false, code: 'INSUFFICIENT_FUNDS', details: { total: 2 } });
  t.is(store.attempts, 1);
  t.like(store.appended[0], { entityId: 'a', expectedVersion: 0, state: { total: 2, adds: 2 } });
  t.deepEqual(
    store.appended[0]!.events.map((event) => (event as { by: number }).by),
    [5, -3],
  );
  t.deepEqual(node.batches, [4]);
});

test('design 2 nobody of a batch is answered before the append, not even a refusal or a query that rests on it', async (t) => {
  const { counters, store } = startCounters(startNode(t));
  store.hold();
  let answered = 0;
  const asks = [add(1), add(-9), { type: 'read' } as const].map((command) =>
    ask(counters.address('a'), command).finally(() => {
      answered += 1;
    }),
  );
  await until('the append is under way', () => store.attempts === 1);
  await rounds(20);
  t.is(answered, 0);
  store.release();
  await Promise.all(asks);
  t.is(answered, 3);
});

test('design 2 a batch is at most its limit; the rest is the next batch', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { batchMax: 4 });
  await Promise.all(Array.from({ length: 10 }, () => ask(counters.address('a'), add(1))));
  t.deepEqual(node.batches, [4, 4, 2]);
  t.is(store.stream('a')!.version, 10);
});

test('queries and refusals alone cost no append, and rows alone do', async (t) => {
  const { counters, store } = startCounters(startNode(t), {
    entity: {
      ...counter,
      decide: (state, command, nowMs) =>
        command.type === 'poison'
          ? { ok: true, events: [], rows: [{ key: 'only-a-row', by: 0 }], reply: state }
          : counter.decide(state, command, nowMs),
    },
  });
  t.deepEqual(await ask(counters.address('a'), { type: 'read' }), ok(0, 0));
  t.like(await ask(counters.address('a'), add(-1)), { code: 'INSUFFICIENT_FUNDS' });
  t.is(store.attempts, 0);
  t.deepEqual(await ask(counters.address('a'), { type: 'poison' }), ok(0, 0));
  t.deepEqual(store.stream('a')!.rows, [{ key: 'only-a-row', by: 0 }]);
});

test('the entity is loaded and fenced before its first message, once', async (t) => {
  const store = counterStore();
  const { counters } = startCounters(startNode(t), { store: store.ownedBy(3) }, store);
  const address = counters.address('a');
  t.is(store.loads, 0, 'an address alone loads nothing');
  await ask(address, add(1));
  await ask(address, add(1));
  t.is(store.loads, 1);
  t.is(store.stream('a')!.ownerEpoch, 3);
});

test('an append that throws faults every asker of the batch and the state is read again', async (t) => {
  for (const failure of ['before', 'after'] as const) {
    const node = startNode(t);
    const { counters, store } = startCounters(node);
    store.failAppends(failure);
    const commands = [add(1), add(2), { type: 'read' } as const];
    const outcomes = await Promise.all(commands.map((command) => ask(counters.address('a'), command)));
    for (const outcome of outcomes)
      t.like(outcome, { ok: false, code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
    node.clock.advance(100);
    t.deepEqual(await ask(counters.address('a'), { type: 'read' }), failure === 'before' ? ok(0, 0) : ok(3, 2));
    t.is(store.loads, 2);
  }
});

test('a stale append throws the incarnation away, loads once and decides again', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  await ask(counters.address('a'), add(1));
  store.failAppends('stale');
  t.deepEqual(await Promise.all([ask(counters.address('a'), add(1)), ask(counters.address('a'), add(1))]), [
    ok(2, 2),
    ok(3, 3),
  ]);
  t.is(store.loads, 2);
  t.is(node.system.inspect(counters.address('a').path)!.restarts, 0, 'another writer is no fault');
});

test('two stale appends in a row: nothing was written, the askers may try again, the entity pauses', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('stale', 'stale');
  t.like(await ask(counters.address('a'), add(1)), {
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'stale_owner' },
  });
  t.like(node.system.inspect(counters.address('a').path)!, { phase: 'backoff', lastFault: { code: 'stale_owner' } });
  node.clock.advance(100);
  t.deepEqual(await ask(counters.address('a'), add(1)), ok(1, 1));
});

test('stale, then a load that throws: those of the batch may try again too', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  await ask(counters.address('a'), add(1));
  store.failAppends('stale');
  store.failLoads(new Error('no connection'));
  const outcomes = await Promise.all([ask(counters.address('a'), add(1)), ask(counters.address('a'), add(1))]);
  for (const outcome of outcomes)
    t.like(outcome, { ok: false, code: 'SERVICE_UNAVAILABLE', details: { reason: 'load_failed' } });
});

test('I23 a duplicate key in a batch: only that member is told so, the others are durable', async (t) => {
  const { counters, store } = startCounters(startNode(t));
  t.deepEqual(await ask(counters.address('a'), add(1, 'k1')), ok(1, 1));
  const outcomes = await Promise.all(
    [add(2, 'k2'), add(1, 'k1'), { type: 'read' } as const, add(3, 'k3')].map((command) =>
      ask(counters.address('a'), command),
    ),
  );
  t.deepEqual(outcomes, [ok(3, 2), { ok: 'duplicate' }, ok(3, 2), ok(6, 3)]);
  t.deepEqual(
    store.stream('a')!.rows.map(({ key }) => key),
    ['k1', 'k2', 'k3'],
  );
});

test('I23 fifty asks with one key at once: one effect, forty-nine duplicates', async (t) => {
  const { counters, store } = startCounters(startNode(t));
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => ask(counters.address('a'), add(7, 'same'))));
  t.deepEqual(
    outcomes.filter(({ ok: answer }) => answer === true),
    [ok(7, 1)],
  );
  t.is(outcomes.filter(({ ok: answer }) => answer === 'duplicate').length, 49);
  t.is(store.stream('a')!.state.total, 7);
});

test('a refusal of the schema is told to the member that caused it; the others are durable', async (t) => {
  const { counters, store } = startCounters(startNode(t));
  store.failAppends('refused', 'refused');
  const outcomes = await Promise.all([1, 2, 4].map((by) => ask(counters.address('a'), add(by))));
  t.like(outcomes[0], { ok: false, code: 'ADDRESS_CONFLICT' });
  t.deepEqual(outcomes.slice(1), [ok(2, 1), ok(6, 2)]);
  t.is(store.loads, 1);
});

test('what the schema must never hold faults the member that asked for it; the others are durable and nobody restarts', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('unstorable', 'unstorable'); // the whole batch, then its first member alone
  const outcomes = await Promise.all([1, 2, 4].map((by) => ask(counters.address('a'), add(by))));
  t.like(outcomes[0], {
    ok: false,
    code: 'INTERNAL_ERROR',
    details: { reason: 'unstorable', fault: 'append refused: 23514 amount_positive' },
  });
  t.deepEqual(outcomes.slice(1), [ok(2, 1), ok(6, 2)]);
  t.is(store.loads, 1);
  t.like(node.system.inspect(counters.address('a').path)!, {
    phase: 'live',
    restarts: 0,
    lastFault: { code: 'append_refused' },
  });
  t.is(node.logged.filter(({ message }) => message === 'actor fault').length, 1, 'the batch as a whole is no fault');
});

test('an append that throws while a batch runs member by member faults that member and those behind it only', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('duplicate');
  store.hold();
  const asks = [1, 2, 3].map((by) => ask(counters.address('a'), add(by)));
  await until('the batch is under way', () => store.attempts === 1);
  store.release();
  t.deepEqual(await asks[0], ok(1, 1));
  const again = startCounters(startNode(t));
  again.store.failAppends('duplicate', 'before');
  const outcomes = await Promise.all([1, 2, 3].map((by) => ask(again.counters.address('a'), add(by))));
  for (const outcome of outcomes) t.like(outcome, { code: 'INTERNAL_ERROR' });
  t.is(again.store.stream('a')!.version, 0);
  t.deepEqual(await Promise.all(asks.slice(1)), [ok(3, 2), ok(6, 3)]);
});

test('a decide that throws is a fault of that member; the others of the batch go on and nobody restarts', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const commands = [add(1), { type: 'explode' } as const, add(1)];
  const outcomes = await Promise.all(commands.map((command) => ask(counters.address('a'), command)));
  t.deepEqual([outcomes[0], outcomes[2]], [ok(1, 1), ok(2, 2)]);
  t.like(outcomes[1], {
    ok: false,
    code: 'INTERNAL_ERROR',
    details: { reason: 'undecidable', fault: 'decide has a defect' },
  });
  t.is(store.loads, 1);
  t.like(node.system.inspect(counters.address('a').path)!, {
    phase: 'live',
    restarts: 0,
    lastFault: { message: 'decide has a defect' },
  });
});

test('an event that cannot be folded is poison: nothing of the batch is written, given up at once and for good', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const address = counters.address('a');
  const outcomes = await Promise.all([ask(address, add(1)), ask(address, { type: 'poison' })]);
  for (const outcome of outcomes) t.like(outcome, { code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
  t.is(store.attempts, 0);
  t.deepEqual(
    node.gaveUp.map(({ path, fault }) => [path, fault.code]),
    [['shards/0007/counter-a', 'poisonous_event']],
  );
  node.clock.advance(24 * 3_600_000);
  t.like(await ask(address, add(1)), { code: 'INTERNAL_ERROR', details: { reason: 'given_up' } });
  t.true(node.system.restart(address.path));
  t.deepEqual(await ask(address, add(1)), ok(1, 1), 'someone mended it');
});

test('a store that meets a poisonous event while loading gives the entity up at once', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failLoads(new PoisonousEvent('counter', new Error('version 12')));
  t.like(await ask(counters.address('a'), add(1)), { code: 'INTERNAL_ERROR', details: { reason: 'given_up' } });
  t.is(node.gaveUp.length, 1);
});

test('an entity that does not exist refuses NOT_FOUND and does not stay resident', async (t) => {
  const { counters, store } = startCounters(startNode(t));
  t.like(await ask(counters.address('no-one'), add(1)), { ok: false, code: 'NOT_FOUND' });
  await until('it left', () => counters.residents === 0);
  t.like(await ask(counters.address('no-one'), add(1)), { ok: false, code: 'NOT_FOUND' });
  t.is(store.loads, 2, 'it is looked for each time');
});

test('an entity that vanishes between a stale append and the load refuses NOT_FOUND to the whole batch', async (t) => {
  const { load } = counterStore().ownedBy(1);
  let loads = 0;
  const store = {
    append: async () => ({ kind: 'stale' as const }),
    load: async (id: string) => ((loads += 1) > 1 ? null : load(id)),
  };
  const { counters } = startCounters(startNode(t), { store });
  const outcomes = await Promise.all([1, 2].map((by) => ask(counters.address('a'), add(by))));
  for (const outcome of outcomes) t.like(outcome, { ok: false, code: 'NOT_FOUND' });
});

test('a store that does not answer in time is a fault; a write that lands late is fenced by version', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { storeTimeoutMs: 3_000 });
  store.failAppends('hang_after');
  const lost = ask(counters.address('a'), add(1));
  await until('the append is under way', () => store.attempts === 1);
  node.clock.advance(3_100);
  t.like(await lost, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'store_away' } });
  t.is(node.system.inspect(counters.address('a').path)!.lastFault!.code, 'store_timed_out');
  node.clock.advance(250);
  t.deepEqual(await ask(counters.address('a'), add(1)), ok(2, 2));
});

test('the commands of a batch see one instant, the wall clock at its decision', async (t) => {
  const node = startNode(t);
  const instants: number[] = [];
  const { counters } = startCounters(node, {
    entity: {
      ...counter,
      decide: (state, command, nowMs) => {
        instants.push(nowMs);
        return counter.decide(state, command, nowMs);
      },
    },
  });
  await Promise.all([ask(counters.address('a'), add(1)), ask(counters.address('a'), add(1))]);
  t.deepEqual(instants, [node.clock.nowMs(), node.clock.nowMs()]);
});
