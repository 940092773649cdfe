/** Workers: a serial mailbox that may do I/O, for watchers, publisher and schedules. */
import test from 'ava';
import { ask, tell, type Address } from '../../../actors/kernel/index.ts';
import { refuse } from '../../../protocol/errors.ts';
import { until } from '../../support/until.ts';
import { startNode } from './node.ts';

test('a worker handles one message at a time, in order, however long each takes', async (t) => {
  const { system } = startNode(t);
  let running = 0;
  const order: number[] = [];
  const worker = system.spawnWorker<number, number>({
    path: 'w',
    receive: async (number) => {
      running += 1;
      t.is(running, 1);
      for (let wait = number; wait > 0; wait--)
        await new Promise((go) => {
          setImmediate(go);
        });
      order.push(number);
      running -= 1;
      return number * 2;
    },
  });
  const outcomes = await Promise.all([5, 1, 3].map((number) => ask(worker, number)));
  t.deepEqual(
    outcomes,
    [10, 2, 6].map((reply) => ({ ok: true, reply })),
  );
  t.deepEqual(order, [5, 1, 3]);
});

test('a refusal that a worker returns is the outcome of the ask', async (t) => {
  const { system } = startNode(t);
  const worker = system.spawnWorker<string, string>({
    path: 'w',
    receive: () => refuse('CHAIN_UNAVAILABLE', { chain: 'eth' }),
  });
  t.like(await ask(worker, 'x'), { ok: false, code: 'CHAIN_UNAVAILABLE', details: { chain: 'eth' } });
});

test('recover runs before the first message and after each restart, and re-arms what drives the worker', async (t) => {
  const { system, clock } = startNode(t);
  const story: string[] = [];
  system.spawnWorker<'tick'>({
    path: 'watchers/eth',
    recover: ({ timers, sendSelf }) => {
      story.push('recover');
      timers.after(1_000, () => sendSelf('tick'));
    },
    receive: () => {
      story.push('tick');
      throw new Error('the node went away');
    },
  });
  await until('it recovered without any message', () => story.length === 1);
  clock.advance(1_000);
  await until('it faulted', () => system.inspect('watchers/eth')!.phase === 'backoff');
  clock.advance(100);
  await until('it recovered', () => story.length === 3);
  clock.advance(1_000);
  await until('it works on', () => story.length === 4);
  t.deepEqual(story, ['recover', 'tick', 'recover', 'tick']);
});

test('a worker that gave up comes back by itself, since nobody sends it a message', async (t) => {
  const { system, clock, gaveUp } = startNode(t, { restartsMax: 0 });
  let recoveries = 0;
  system.spawnWorker({
    path: 'publisher',
    recover: () => {
      recoveries += 1;
      if (recoveries === 1) throw new Error('no database');
    },
    receive: () => {},
  });
  await until('it gave up', () => gaveUp.length === 1);
  clock.advance(20_000);
  await until('it recovered', () => recoveries === 2);
  t.like(system.inspect('publisher')!, { phase: 'live', kind: 'worker', restarts: 1 });
});

test('timers of a worker end with its memory; a callback that throws is noted and harms nobody', async (t) => {
  const { system, clock } = startNode(t);
  let arm = (_delayMs: number, _fire: () => void): void => {};
  const worker: Address<string> = system.spawnWorker<string>({
    path: 'w',
    recover: ({ timers }) => {
      arm = (delayMs, fire) => {
        timers.after(delayMs, fire);
      };
    },
    receive: () => {},
  });
  await ask(worker, 'x');
  arm(10, () => {
    throw new Error('in a timer');
  });
  clock.advance(10);
  t.is(system.inspect('w')!.lastFault!.message, 'in a timer');
  arm(10, () => t.fail('the worker restarted meanwhile'));
  system.restart('w');
  await ask(worker, 'x');
  clock.advance(10);
  t.throws(() => arm(Number.NaN, () => {}), { instanceOf: RangeError });
  t.throws(
    () => {
      for (let index = 0; index < 2_000; index++) arm(1, () => {});
    },
    { message: /more than 1000 timers/ },
  );
});

test('paths name a place once, and an actor is no branch', async (t) => {
  const { system } = startNode(t);
  system.spawnWorker({ path: 'watchers/eth@org_a', receive: () => {}, summarise: () => ({ head: 7 }) });
  t.throws(() => system.spawnWorker({ path: 'watchers/eth@org_a', receive: () => {} }), { instanceOf: RangeError });
  t.throws(() => system.spawnWorker({ path: 'watchers/eth@org_a/below', receive: () => {} }), {
    instanceOf: RangeError,
  });
  t.is(await system.stopWorker('watchers', 100), false);
  t.like(system.inspect('watchers')!, { childCount: 1, children: [{ kind: 'worker', summary: { head: 7 } }] });
});

test('a worker taken out frees its name; its mailbox was finished first', async (t) => {
  const { system } = startNode(t);
  const seen: number[] = [];
  const spawn = (): Address<number> =>
    system.spawnWorker<number>({
      path: 'w',
      receive: (number) => {
        seen.push(number);
      },
    });
  const first = spawn();
  for (const number of [1, 2, 3]) tell(first, number);
  t.true(await system.stopWorker('w', 1_000));
  t.deepEqual(seen, [1, 2, 3]);
  t.like(await ask(spawn(), 4), { ok: true });
  t.deepEqual(seen, [1, 2, 3, 4]);
});
