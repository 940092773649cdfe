/** Passivation (design.md 2): idle entities leave, come back with the next message, and their number is bounded. */
import test from 'ava';
import { ask } from '../../../actors/kernel/index.ts';
import { round, until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test('an idle entity leaves after its time and the next message brings it back with its state', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { idleMs: 8_000 });
  const address = counters.address('a');
  await ask(address, add(3));
  await round(); // The turn ends a moment after its answer.
  node.clock.advance(7_000);
  t.is(counters.residents, 1);
  node.clock.advance(3_000);
  t.is(counters.residents, 0);
  t.is(node.system.inspect(address.path), null);
  t.deepEqual(await ask(address, add(1)), { ok: true, reply: { total: 4, adds: 2 } });
  t.is(store.loads, 2);
});

test('an entity that is used stays; one that works or pauses is not passivated', async (t) => {
  const node = startNode(t, { firstMs: 60_000, mostMs: 60_000 });
  const { counters, store } = startCounters(node, { idleMs: 8_000, storeTimeoutMs: 600_000 });
  store.failAppends('before');
  await ask(counters.address('pauses'), add(1));
  store.hold();
  const working = ask(counters.address('works'), add(1), 600_000);
  await until('the append is under way', () => store.attempts === 2);
  for (let turn = 0; turn < 10; turn++) {
    await ask(counters.address('used'), { type: 'read' });
    node.clock.advance(4_000);
  }
  t.is(counters.residents, 3);
  store.release();
  t.like(await working, { ok: true });
});

test('at the cap the entity that was used least recently makes room', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { residentsMax: 3 });
  for (const id of ['a', 'b', 'c']) {
    await ask(counters.address(id), add(1));
    node.clock.advance(2_000);
  }
  await ask(counters.address('a'), add(1));
  await ask(counters.address('d'), add(1));
  t.is(counters.residents, 3);
  t.is(node.system.inspect(counters.address('b').path), null, 'b was the oldest');
  t.deepEqual(await ask(counters.address('a'), add(1)), { ok: true, reply: { total: 3, adds: 3 } });
  t.is(store.loads, 4);
});

test('an old resident that works is passed over for a younger idle one', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { residentsMax: 2 });
  store.hold();
  const working = ask(counters.address('old'), add(1));
  await until('its append is under way', () => store.attempts === 1);
  await ask(counters.address('idle'), { type: 'read' });
  await round();
  t.like(await ask(counters.address('new'), { type: 'read' }), { ok: true });
  t.is(node.system.inspect(counters.address('idle').path), null);
  store.release();
  t.like(await working, { ok: true });
});

test('when all residents work, one more is turned away at once and nothing is dropped', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { residentsMax: 2 });
  store.hold();
  const working = ['a', 'b'].map((id) => ask(counters.address(id), add(1)));
  await until('both appends are under way', () => store.attempts === 2);
  t.like(await ask(counters.address('c'), add(1)), {
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'residents_full' },
  });
  t.is(counters.residents, 2);
  store.release();
  t.true((await Promise.all(working)).every((outcome) => outcome.ok === true));
  t.like(await ask(counters.address('c'), add(1)), { ok: true });
});

test('fifty entities through a residency of five: every command counts once', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { residentsMax: 5 });
  for (let round = 1; round <= 4; round++) {
    for (let index = 0; index < 50; index++) {
      t.like(await ask(counters.address(`e${index}`), add(1)), { ok: true, reply: { total: round } });
      if (counters.residents > 5) t.fail('more residents than allowed');
    }
  }
  t.is(store.loads, 200);
});

test('passivation frees the parent: a shard never holds more than it has room for', async (t) => {
  const node = startNode(t);
  const { counters } = startCounters(node, { residentsMax: 1_000 });
  for (let index = 0; index < 2_500; index += 500) {
    await Promise.all(
      Array.from({ length: 500 }, (_, offset) => ask(counters.address(`e${index + offset}`), { type: 'read' })),
    );
  }
  const parents = node.system.inspect('shards', 1)!.children!;
  t.deepEqual(
    parents.map(({ path, childCount }) => [path, childCount]),
    [['shards/0007', 1_000]],
  );
});

test('a thousand idle entities leave in one sweep or several, and the timers end with them', async (t) => {
  const node = startNode(t);
  const { counters } = startCounters(node, { idleMs: 1_000, shardOf: (id) => Number(id) % 8 });
  const ids = Array.from({ length: 3_000 }, (_, index) => String(index));
  for (let from = 0; from < ids.length; from += 500) {
    await Promise.all(ids.slice(from, from + 500).map((id) => ask(counters.address(id), { type: 'read' })));
  }
  t.is(counters.residents, 3_000);
  await round();
  node.clock.advance(20_000); // Also past the deadlines of the asks.
  t.is(counters.residents, 0);
  t.is(node.clock.pending, 0);
});

test('a crowd of paused entities does not keep the sweep from the idle ones behind them', async (t) => {
  const node = startNode(t, { firstMs: 60_000, mostMs: 60_000 });
  const { counters, store } = startCounters(node, { idleMs: 8_000, shardOf: (id) => Number(id) % 8 });
  store.failLoads(...Array.from({ length: 2_100 }, () => new Error('no connection')));
  await Promise.all(
    Array.from({ length: 2_100 }, (_, index) => ask(counters.address(String(index)), { type: 'read' })),
  );
  t.like(await ask(counters.address('9000'), { type: 'read' }), { ok: true });
  await round();
  node.clock.advance(20_000);
  t.is(counters.residents, 2_100);
  t.is(node.system.inspect(counters.address('9000').path), null);
});
