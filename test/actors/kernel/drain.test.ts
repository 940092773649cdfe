/** The ordered drain (issue 2 point 2): refuse, finish, wait, stop; and never a zombie write. */
import test from 'ava';
import { ask, tell } from '../../../actors/kernel/index.ts';
import { rounds, until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test('a drain refuses what comes, finishes what waits, and reports that all ended', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { batchMax: 3 });
  store.hold();
  const before = ['a', 'b', 'c'].flatMap((id) => Array.from({ length: 7 }, () => ask(counters.address(id), add(1))));
  await until('three appends are under way', () => store.attempts === 3);
  const stopping = node.system.stop(5_000);
  for (const id of ['a', 'new']) {
    t.like(await ask(counters.address(id), add(1)), {
      ok: false,
      code: 'SERVICE_UNAVAILABLE',
      details: { reason: 'stopping', retryAfterSeconds: 1 },
    });
  }
  t.false(tell(counters.address('a'), add(1)));
  store.release();
  t.deepEqual(await stopping, { drained: true, abandoned: [] });
  t.true((await Promise.all(before)).every((outcome) => outcome.ok === true));
  t.deepEqual(
    ['a', 'b', 'c'].map((id) => store.stream(id)!.state.total),
    [7, 7, 7],
    'every yes is durable',
  );
  t.is(node.system.counts().deadLetters.stopped, 3);
});

test('at the deadline the drain goes without those that hang: their askers are told, and they can append nothing more', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { batchMax: 1 });
  store.hold();
  store.failAppends('stale');
  const atWork = ask(counters.address('a'), add(1), 60_000);
  await until('the append is under way', () => store.attempts === 1);
  const waiting = ask(counters.address('a'), add(1), 60_000);
  const stopping = node.system.stop(5_000);
  node.clock.advance(5_000);
  t.deepEqual(await stopping, { drained: false, abandoned: ['shards/0007/counter-a'] });
  t.like(await atWork, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'abandoned' } });
  t.like(await waiting, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'stopping' } });
  // The turn wakes up now, is told `stale`, and would load and append once more if it were allowed to.
  store.release();
  await rounds(50);
  t.is(store.attempts, 1);
  t.is(store.loads, 1);
  t.deepEqual(store.appended, []);
});

test('an activation that is loading when the deadline passes appends nothing', async (t) => {
  const node = startNode(t);
  let loaded = (): void => {};
  const base = startCounters(startNode(t)).store;
  const { load, append } = base.ownedBy(1);
  const { counters } = startCounters(node, {
    store: {
      append,
      load: async (id) => {
        await new Promise<void>((go) => {
          loaded = go;
        });
        return load(id);
      },
    },
  });
  const asked = ask(counters.address('a'), add(1), 60_000);
  await rounds(5);
  const stopping = node.system.stop(1_000);
  node.clock.advance(1_000);
  t.like(await stopping, { drained: false });
  t.like(await asked, { code: 'SERVICE_UNAVAILABLE' });
  loaded();
  await rounds(50);
  t.is(base.attempts, 0);
});

test('a reload that ends after the deadline leads to no append: no zombie write', async (t) => {
  const node = startNode(t);
  const base = startCounters(startNode(t)).store;
  const { load, append } = base.ownedBy(1);
  let loads = 0,
    loaded = (): void => {};
  const { counters } = startCounters(node, {
    store: {
      append,
      load: async (id) => {
        if ((loads += 1) > 1)
          await new Promise<void>((go) => {
            loaded = go;
          });
        return load(id);
      },
    },
  });
  base.failAppends('stale');
  const asked = ask(counters.address('a'), add(1), 60_000);
  await until('it loads again', () => loads === 2);
  const stopping = node.system.stop(1_000);
  node.clock.advance(1_000);
  t.like(await stopping, { drained: false });
  t.like(await asked, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'abandoned' } });
  loaded();
  await rounds(50);
  t.is(base.attempts, 1);
});

test('an actor that pauses is at rest: what waits there is refused, not left for later', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('before');
  await ask(counters.address('a'), add(1));
  const waiting = ask(counters.address('a'), add(1));
  t.deepEqual(await node.system.stop(5_000), { drained: true, abandoned: [] });
  t.like(await waiting, { code: 'SERVICE_UNAVAILABLE', details: { reason: 'stopping' } });
  t.is(node.clock.pending, 0);
});

test('a fault while draining does not begin a pause: the rest of that mailbox may try again elsewhere', async (t) => {
  const node = startNode(t, { restartsMax: 0 });
  const { counters, store } = startCounters(node, { batchMax: 1 });
  store.hold();
  store.failAppends('before');
  const asks = [1, 2].map((by) => ask(counters.address('a'), add(by)));
  await until('the append is under way', () => store.attempts === 1);
  const stopping = node.system.stop(5_000);
  store.release();
  t.deepEqual(await stopping, { drained: true, abandoned: [] });
  t.like(await asks[0], { code: 'INTERNAL_ERROR' });
  t.like(await asks[1], { code: 'SERVICE_UNAVAILABLE' });
  t.deepEqual(node.gaveUp, [], 'and raises no alarm');
});

test('workers finish their mailbox, their waits are cut short, their timers end', async (t) => {
  const node = startNode(t);
  const seen: string[] = [];
  const worker = node.system.spawnWorker<string>({
    path: 'watchers/eth',
    recover: ({ timers }) => {
      timers.after(1_000, () => t.fail('a timer outlived the drain'));
    },
    receive: async (text, { signal, timers }) => {
      timers.after(1_000, () => t.fail('a timer armed in the last turn outlived it'));
      if (text === 'poll')
        await new Promise<void>((go) => {
          signal.addEventListener('abort', () => go());
        });
      seen.push(text);
    },
  });
  for (const text of ['poll', 'block']) tell(worker, text);
  await until('it polls', () => node.system.inspect('watchers/eth')!.mailboxDepth === 1);
  t.deepEqual(await node.system.stop(5_000), { drained: true, abandoned: [] });
  t.deepEqual(seen, ['poll', 'block']);
});

test('a stopped system is empty, answers, and stops again with the same report', async (t) => {
  const node = startNode(t);
  const { counters } = startCounters(node);
  await ask(counters.address('a'), add(1));
  const [one, two] = await Promise.all([node.system.stop(100), node.system.stop(100)]);
  t.is(one, two);
  t.deepEqual(node.system.inspect()!.childCount, 0);
  t.like(await ask(counters.address('a'), add(1)), { code: 'SERVICE_UNAVAILABLE' });
  t.throws(() => node.system.spawnWorker({ path: 'late', receive: () => {} }), { instanceOf: RangeError });
});
