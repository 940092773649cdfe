/** nact's weaknesses with persistence and distribution (style.md part 3; reliability.md finding 2). */
import test from 'ava';
import * as nact from 'nact';
import { ask } from '../../../actors/kernel/index.ts';
import { actorName } from '../../../actors/kernel/scheduler.ts';
import { until } from '../../support/until.ts';
import { add, counter, counterStore } from './counter.ts';
import { startCounters, startNode } from './node.ts';

interface Stored {
  data: unknown;
  sequenceNumber: number;
  key: string;
}

/** The least of a nact persistence engine; the writes that `fails` names are refused. */
function rawEngine(fails: (event: Stored) => boolean) {
  const stored: Stored[] = [];
  const engine = {
    events: () => ({
      reduce: async <T>(fold: (all: T, event: Stored, index: number) => T, first: T) => stored.reduce(fold, first),
    }),
    latestSnapshot: async () => undefined,
    takeSnapshot: async () => {},
    persist: async (event: Stored) => {
      if (fails(event)) throw new Error('disk full');
      stored.push(event);
    },
  };
  return { stored, plugin: nact.configurePersistence(engine as never) };
}

test('weakness 6: a replayed nact handler mints other ids and a failed write leaves a gap; an entity folds facts', async (t) => {
  const { stored, plugin } = rawEngine(({ sequenceNumber }) => sequenceNumber === 1);
  const root = nact.start(plugin);
  let minted = 0;
  let ids: string[] = [];
  const handle = async (state: string[] = [], message: string, context: never) => {
    const { recovering, persist } = context as { recovering?: boolean; persist(message: string): Promise<void> };
    if (!recovering) await persist(message);
    minted += 1; // Stands for the uuid() of the official lesson.
    ids = [...state, `id-${minted}`];
    return ids;
  };
  const onCrash = (_m: unknown, _e: unknown, context: { resume: symbol }): symbol => context.resume;
  const raw = nact.spawnPersistent(root, handle as never, 'key', 'raw', { onCrash: onCrash as never });
  nact.dispatch(raw, 'a' as never);
  nact.dispatch(raw, 'b' as never);
  await until('the second was stored', () => ids.length === 1);
  t.deepEqual(
    stored.map(({ sequenceNumber }) => sequenceNumber),
    [2],
    'the refused write consumed number 1',
  );
  const before = ids;
  nact.stop(raw);
  nact.spawnPersistent(root, handle as never, 'key', 'raw', { onCrash: onCrash as never });
  await until('it recovered', () => ids !== before);
  t.notDeepEqual(ids, before, 'the same history, other ids');
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('before');
  t.like(await ask(counters.address('a'), add(1)), { ok: false, code: 'INTERNAL_ERROR' });
  node.clock.advance(100);
  t.deepEqual(await ask(counters.address('a'), add(2)), { ok: true, reply: { total: 2, adds: 1 } });
  t.is(store.stream('a')!.version, 1, 'the failed write consumed no version');
  node.system.restart(counters.address('a').path);
  t.deepEqual(await ask(counters.address('a'), { type: 'read' }), { ok: true, reply: { total: 2, adds: 1 } });
  t.deepEqual(store.stream('a')!.events.reduce(counter.evolve, { total: 0, adds: 0 }), store.stream('a')!.state);
});

test('weakness 12: nact refuses names with @ / or :; the kernel writes any id as a name, and no two alike', async (t) => {
  const root = nact.start();
  for (const name of ['eth@org_a_sandbox', 'a/b', 'a:b']) {
    t.throws(() => nact.spawn(root, (state: unknown) => state, name), { message: /may only contain/ });
  }
  nact.stop(root as nact.Ref<unknown>);

  const ids = ['eth@org_a_sandbox', 'a/b', 'a:b', 'a$003ab', 'a$b', 'ä', '💧', 'plain-1.x_Y'];
  t.is(new Set(ids.map(actorName)).size, ids.length);
  t.is(actorName('plain-1.x_Y'), 'plain-1.x_Y');
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  for (const id of ids) t.like(await ask(counters.address(id), add(1)), { ok: true });
  t.deepEqual(
    ids.map((id) => store.stream(id)!.state.total),
    ids.map(() => 1),
  );
  for (const id of ids) t.is(node.system.inspect(counters.address(id).path)!.id, id);
});

test('weakness 12: nact knows one process only; of two nodes with the same entity the store lets one write', async (t) => {
  const store = counterStore();
  const old = startCounters(startNode(t), {}, store).counters.address('a');
  t.like(await ask(old, add(1)), { ok: true });
  const next = startCounters(startNode(t), { store: store.ownedBy(2) }, store).counters.address('a');
  t.deepEqual(await ask(next, add(1)), { ok: true, reply: { total: 2, adds: 2 } });
  // The frozen owner wakes up: its append is stale, and its reload is refused because a higher epoch owns the entity.
  t.like(await ask(old, add(100)), { ok: false, code: 'SERVICE_UNAVAILABLE', details: { reason: 'load_failed' } });
  t.deepEqual(await ask(next, { type: 'read' }), { ok: true, reply: { total: 2, adds: 2 } });
});

test('reliability finding 2: a respawned nact actor runs beside its predecessor; in the kernel the running turn ends first', async (t) => {
  const root = nact.start();
  const trace: string[] = [];
  const writes: (() => void)[] = [];
  const slowly = (who: string) => async () => {
    trace.push(`${who}:start`);
    await new Promise<void>((go) => writes.push(go));
    trace.push(`${who}:WRITE`);
  };
  const old = nact.spawn(root, slowly('old'), 'account');
  nact.dispatch(old, 'x' as never);
  await until('the old one runs', () => trace.length === 1);
  nact.stop(old);
  const next = nact.spawn(root, slowly('new'), 'account');
  nact.dispatch(next, 'x' as never);
  await until('the new one runs', () => trace.length === 2);
  for (const write of writes) write();
  await until('both wrote', () => trace.length === 4);
  t.deepEqual(trace, ['old:start', 'new:start', 'old:WRITE', 'new:WRITE'], 'two writers of one account in one process');
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const address = counters.address('a');
  store.hold();
  const first = ask(address, add(1));
  await until('an append is under way', () => store.attempts === 1);
  t.true(node.system.restart(address.path));
  const second = ask(address, add(1));
  t.is(store.loads, 1, 'nobody else loads while a turn runs');
  store.release();
  const replies = [1, 2].map((turn) => ({ ok: true, reply: { total: turn, adds: turn } }));
  t.deepEqual(await Promise.all([first, second]), replies as never);
  t.is(store.loads, 2);
});

test('reliability finding 2: two incarnations over one store cost a reload, never an update', async (t) => {
  const store = counterStore();
  const one = startCounters(startNode(t), {}, store).counters.address('a');
  const two = startCounters(startNode(t), {}, store).counters.address('a');
  for (let turn = 1; turn <= 10; turn++) {
    t.deepEqual(await ask(turn % 2 === 0 ? one : two, add(1)), { ok: true, reply: { total: turn, adds: turn } });
  }
  t.is(store.stream('a')!.version, 10);
  t.is(store.loads, 10, 'each owned the entity once per turn of the other');
});
