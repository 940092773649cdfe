/** nact's weaknesses with the life of actors (style.md part 3): first the raw behaviour, then the kernel's answer. */
import test from 'ava';
import * as nact from 'nact';
import { ask, OwnedTimers } from '../../../actors/kernel/index.ts';
import { HandClock } from '../../support/clock.ts';
import { rounds, until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test('weakness 1: children of a stopped nact parent run on as zombies; the kernel stops leaf-first and waits', async (t) => {
  const root = nact.start();
  const handled: number[] = [];
  let afterStop = 0;
  const parent = nact.spawn(root, (state: unknown) => state, 'parent');
  const child = nact.spawn(
    parent,
    (_: unknown, message: number) => {
      handled.push(message);
    },
    'child',
    {
      afterStop: () => {
        afterStop += 1;
      },
    },
  );
  for (let index = 0; index < 50; index++) nact.dispatch(child, index);
  nact.stop(parent);
  await until('the zombie has handled all', () => handled.length === 50);
  t.is(afterStop, 0);
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const { counters, store } = startCounters(node, { batchMax: 1 });
  store.hold();
  const asks = Array.from({ length: 5 }, () => ask(counters.address('a'), add(1)));
  await until('the first append is under way', () => store.attempts === 1);
  let stopped = false;
  const stopping = node.system.stop(1_000).then((report) => {
    stopped = true;
    return report;
  });
  await rounds(20);
  t.false(stopped, 'a running turn is waited for');
  store.release();
  t.deepEqual(await stopping, { drained: true, abandoned: [] });
  t.true(
    (await Promise.all(asks)).every((outcome) => outcome.ok === true),
    'what waited had its turn',
  );
  const appends = store.attempts;
  await rounds(20);
  t.is(store.attempts, appends, 'and nothing is written after the stop');
});

test('weakness 7: spawnStateless swallows errors and ignores onCrash; a kernel fault is answered, recorded and restarted', async (t) => {
  const root = nact.start();
  let crashes = 0,
    calls = 0;
  const raw = nact.spawnStateless(
    root,
    () => {
      calls += 1;
      throw new Error('lost');
    },
    'raw',
    {
      onCrash: (_m, _e, context) => {
        crashes += 1;
        return context.resume;
      },
    },
  );
  nact.dispatch(raw, 'x');
  await until('it was called', () => calls === 1);
  await rounds(5);
  t.is(crashes, 0);
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const worker = node.system.spawnWorker<string>({
    path: 'w',
    receive: () => {
      throw new RangeError('seen');
    },
  });
  t.like(await ask(worker, 'x'), { ok: false, code: 'INTERNAL_ERROR' });
  t.like(node.system.inspect('w')!, {
    phase: 'backoff',
    messagesHandled: 1,
    lastFault: { code: 'RangeError', message: 'seen' },
  });
  node.clock.advance(100);
  t.like(node.system.inspect('w')!, { phase: 'live', restarts: 1 });
});

test.serial(
  'weakness 8: by default nact stops a crashed actor and drops its mailbox; the kernel restarts it and keeps it',
  async (t) => {
    const restore = silenceConsole(t);
    const root = nact.start();
    const handled: string[] = [];
    const raw = nact.spawn(
      root,
      (_: unknown, message: string) => {
        if (message === 'bad') throw new Error('bad');
        handled.push(message);
      },
      'raw',
    );
    for (const message of ['bad', 'good', 'good']) nact.dispatch(raw, message);
    await rounds(20);
    t.deepEqual(handled, [], 'two good messages are gone');
    nact.stop(root as nact.Ref<unknown>);
    restore();

    const node = startNode(t);
    const worker = node.system.spawnWorker<string, string>({
      path: 'w',
      receive: (text) => {
        if (text === 'bad') throw new Error('bad');
        return text;
      },
    });
    const asks = ['bad', 'good', 'good'].map((text) => ask(worker, text));
    t.like(await asks[0], { ok: false, code: 'INTERNAL_ERROR' });
    node.clock.advance(100);
    t.deepEqual(await Promise.all(asks.slice(1)), [
      { ok: true, reply: 'good' },
      { ok: true, reply: 'good' },
    ]);
  },
);

test.serial(
  'weakness 8: a throwing onCrash leaves a nact actor stuck for good; a throwing policy or hook gives one up',
  async (t) => {
    const unhandled: unknown[] = [];
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    process.on('unhandledRejection', (reason) => unhandled.push(reason));
    t.teardown(() => {
      process.removeAllListeners('unhandledRejection');
      for (const listener of others) process.on('unhandledRejection', listener);
    });
    const root = nact.start();
    let handled = 0;
    const raw = nact.spawn(
      root,
      (_: unknown, message: string) => {
        if (message === 'bad') throw new Error('bad');
        handled += 1;
      },
      'raw',
      {
        onCrash: () => {
          throw new Error('policy');
        },
      },
    );
    nact.dispatch(raw, 'bad');
    nact.dispatch(raw, 'good');
    await until('the rejection surfaced', () => unhandled.length === 1);
    await rounds(20);
    t.is(handled, 0, 'the actor is busy for ever');
    nact.stop(root as nact.Ref<unknown>);

    const throwing = (): never => {
      throw new Error('policy');
    };
    const policies = { entity: throwing, worker: throwing },
      hooks = { onGiveUp: throwing, onBatch: throwing };
    const node = startNode(t, {}, { policies, hooks });
    const worker = node.system.spawnWorker<string, string>({
      path: 'w',
      receive: () => {
        throw new Error('bad');
      },
    });
    const asks = [ask(worker, 'bad'), ask(worker, 'good')];
    t.like(await asks[0], { code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
    t.like(await asks[1], { code: 'INTERNAL_ERROR', details: { reason: 'given_up' } });
    const { counters } = startCounters(node);
    t.like(await ask(counters.address('a'), add(1)), { ok: true }, 'and the rest live on');
    t.true(node.system.restart('w'));
    t.is(node.system.inspect('w')!.phase, 'live');
    t.is(unhandled.length, 1);
  },
);

test('weakness 8: reset of a nact actor whose initialStateFunc throws spins without end; the kernel pauses between tries', async (t) => {
  const root = nact.start();
  let tries = 0;
  nact.spawn(root, (state: unknown) => state, 'raw', {
    initialStateFunc: () => {
      throw new Error('no state');
    },
    onCrash: (_m, _e, context) => {
      tries += 1;
      return tries < 1_000 ? context.reset : context.stop;
    },
  });
  let timers = 0;
  const timer = setTimeout(() => {
    timers += 1;
  }, 0);
  await Promise.resolve();
  for (let turn = 0; turn < 10_000 && tries < 1_000; turn++) await Promise.resolve();
  t.is(tries, 1_000);
  t.is(timers, 0, 'a thousand tries and no timer ran');
  clearTimeout(timer);
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  let recoveries = 0;
  node.system.spawnWorker({
    path: 'w',
    recover: () => {
      recoveries += 1;
      throw new Error('no state');
    },
    receive: () => {},
  });
  await until('it tried once', () => recoveries === 1);
  await rounds(50);
  t.is(recoveries, 1);
  t.is(node.clock.nextInMs, 100);
  node.clock.advance(100);
  await until('it tried again', () => recoveries === 2);
  t.is(node.clock.nextInMs, 200, 'and waits twice as long');
});

test('weakness 11: shutdownAfter beyond 2^31 ms stops a nact actor at once; owned timers fire when due and die with their owner', async (t) => {
  const root = nact.start();
  let stopped = 0;
  nact.spawn(root, (state: unknown) => state, 'raw', {
    shutdownAfter: 2 ** 31 + 1_000,
    afterStop: () => {
      stopped += 1;
    },
  });
  await until('it stopped weeks too early', () => stopped === 1);
  nact.stop(root as nact.Ref<unknown>);

  const clock = new HandClock();
  const timers = new OwnedTimers(clock, (error) => t.fail(String(error)));
  const longMs = 2 ** 31 + 1_000;
  let fired = 0;
  timers.after(longMs, () => {
    fired += 1;
  });
  const cancel = timers.after(10, () => t.fail('was cancelled'));
  cancel();
  clock.advance(longMs - 1);
  t.is(fired, 0);
  clock.advance(1);
  t.is(fired, 1);
  timers.after(1, () => t.fail('its owner stopped'));
  timers.cancelAll();
  clock.advance(10);
  t.is(timers.count, 0);

  const node = startNode(t);
  node.system.spawnWorker({
    path: 'w',
    recover: (context) => {
      context.timers.after(5_000, () => t.fail('stopped'));
    },
    receive: () => {},
  });
  await until('the timer is armed', () => node.clock.pending === 1);
  t.true(await node.system.stopWorker('w', 1_000));
  t.is(node.clock.pending, 0);
});

test.serial(
  'weakness 13: nact prints the message of a fault; the kernel prints nothing and logs without secrets',
  async (t) => {
    const phrase = 'abandon ability able about above absent absorb abstract absurd abuse access accident';
    const secrets = ['whsec_C2FVsBQIhrscChlQIMV0b5Zx', 'sn3nxiW7v8KXzPzAqzyHXbSSKNuN9', phrase];
    const printed: unknown[] = [];
    const restore = silenceConsole(t, printed);
    const root = nact.start();
    const raw = nact.spawn(
      root,
      () => {
        throw new Error('bad');
      },
      'raw',
    );
    nact.dispatch(raw, secrets[0]);
    await until('it printed', () => printed.length > 0);
    t.true(JSON.stringify(printed).includes(secrets[0]!));
    nact.stop(root as nact.Ref<unknown>);
    printed.length = 0;

    const node = startNode(t);
    const { counters } = startCounters(node);
    for (const secret of secrets) {
      const text = `cannot use ${secret} at postgres://flock:hunter2@db/flock`;
      t.like(await ask(counters.address('a'), { type: 'explode', text }), { ok: false, code: 'INTERNAL_ERROR' });
      const shown = JSON.stringify([node.logged, node.system.inspect()]);
      for (const word of [secret, 'hunter2', 'abstract']) t.false(shown.includes(word), word);
      t.true(shown.includes('cannot use …'));
    }
    restore();
    t.deepEqual(printed, []);
  },
);

function silenceConsole(t: { teardown(fn: () => void): void }, printed: unknown[] = []): () => void {
  const { log } = console;
  const restore = (): void => {
    console.log = log;
  };
  console.log = (...words: unknown[]) => {
    printed.push(words);
  };
  t.teardown(restore);
  return restore;
}
