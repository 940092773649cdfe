/** nact's weaknesses with messages (style.md part 3): first the raw behaviour, then the kernel's answer. */
import test from 'ava';
import * as nact from 'nact';
import { ask, tell, type Address } from '../../../actors/kernel/index.ts';
import { LEAVES_PER_PARENT_MAX } from '../../../actors/kernel/tree.ts';
import { rounds, until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test.serial(
  'weakness 2: query replies cross when temporary names collide; a reply port is a closure and cannot',
  async (t) => {
    const random = Math.random;
    t.teardown(() => {
      Math.random = random;
    });
    Math.random = () => 0.5; // Every temporary name is now the same one.

    const root = nact.start();
    const echo = nact.spawn(root, (_: unknown, message: { text: string; replyTo: nact.Ref<string> }) =>
      nact.dispatch(message.replyTo, message.text),
    );
    const ofA = nact.query(echo, (replyTo: nact.Ref<string>) => ({ text: 'A', replyTo }), 100);
    const ofB = nact.query(echo, (replyTo: nact.Ref<string>) => ({ text: 'B', replyTo }), 100);
    t.is(await ofB, 'A', 'the caller of B is given what belongs to A');
    await t.throwsAsync(ofA, { message: 'Query Timeout' });
    nact.stop(root as nact.Ref<unknown>);

    const { system } = startNode(t);
    const worker = system.spawnWorker<string, string>({ path: 'echo', receive: (text) => text });
    const replies = await Promise.all(['A', 'B', 'C'].map((text) => ask(worker, text)));
    t.deepEqual(
      replies,
      ['A', 'B', 'C'].map((reply) => ({ ok: true, reply })),
    );
  },
);

test('weakness 3: a message to a stopped actor vanishes; tell says so, ask is answered at once, both are counted', async (t) => {
  const root = nact.start();
  const seen: unknown[] = [];
  const raw = nact.spawn(root, (_: unknown, message: string) => {
    seen.push(message);
  });
  nact.stop(raw);
  t.notThrows(() => nact.dispatch(raw, 'lost'));
  await rounds(3);
  t.deepEqual(seen, []);
  nact.stop(root as nact.Ref<unknown>);

  const { system } = startNode(t);
  const worker = system.spawnWorker<string, string>({ path: 'echo', receive: (text) => text });
  await system.stopWorker('echo', 1_000);
  t.false(tell(worker, 'lost'));
  const outcome = await ask(worker, 'lost');
  t.like(outcome, { ok: false, code: 'SERVICE_UNAVAILABLE', details: { reason: 'stopping', retryAfterSeconds: 1 } });
  t.is(system.counts().deadLetters.stopped, 2);
});

test('weakness 3: the asker of an actor that crashes is answered at once, not after the whole timeout', async (t) => {
  const root = nact.start();
  const raw = nact.spawn(
    root,
    () => {
      throw new Error('crash');
    },
    'raw',
    { onCrash: (_m, _e, context) => context.resume },
  );
  await t.throwsAsync(
    nact.query(raw, () => 'x', 5),
    { message: 'Query Timeout' },
  );
  nact.stop(root as nact.Ref<unknown>);

  const { system, clock } = startNode(t);
  const worker = system.spawnWorker<string, string>({
    path: 'w',
    receive: () => {
      throw new Error('crash');
    },
  });
  const before = clock.nowMs();
  t.like(await ask(worker, 'x'), { ok: false, code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
  t.is(clock.nowMs(), before, 'no deadline had to pass');
});

test('weakness 4: nact copies the map of children for each message; kernel parents get none and are bounded', async (t) => {
  const root = nact.start();
  const contexts: Map<string, unknown>[] = [];
  const parent = nact.spawn(
    root,
    (_: unknown, _message: string, context) => {
      contexts.push(context.children);
    },
    'parent',
  );
  for (let index = 0; index < 50; index++) nact.spawn(parent, (state: unknown) => state, `child-${index}`);
  nact.dispatch(parent, 'a');
  nact.dispatch(parent, 'b');
  await until('both were handled', () => contexts.length === 2);
  t.deepEqual(
    contexts.map((children) => children.size),
    [50, 50],
  );
  t.not(contexts[0], contexts[1], 'a copy for each message');
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const { counters } = startCounters(node);
  const count = LEAVES_PER_PARENT_MAX + 5;
  await Promise.all(Array.from({ length: count }, (_, index) => ask(counters.address(`c${index}`), add(1))));
  const shards = node.system.inspect('shards', 1)!;
  const sizes = shards.children!.map(({ path, childCount }) => [path, childCount]);
  t.deepEqual(sizes, [
    ['shards/0007', 1_000],
    ['shards/0007.1', 5],
  ]);
  t.true(shards.children!.every(({ messagesHandled, mailboxDepth }) => messagesHandled === 0 && mailboxDepth === 0));
});

test('weakness 5: Ref<Ping> is a Ref<Pong> to nact; an Address takes its own commands only and cannot be forged', async (t) => {
  interface Ping {
    type: 'ping';
  }
  interface Pong {
    type: 'pong';
  }
  const pingRef: nact.Ref<Ping> = new nact.Nobody();
  const misused: nact.Ref<Pong> = pingRef; // Compiles: the reason for Address.
  t.truthy(misused);

  const { system } = startNode(t);
  const ping: Address<Ping, string> = system.spawnWorker<Ping, string>({ path: 'ping', receive: ({ type }) => type });
  // @ts-expect-error an address of Ping is no address of Pong
  const wrong: Address<Pong> = ping;
  // @ts-expect-error the command does not widen the address
  tell(ping, { type: 'pong' });
  const narrower: Address<Ping & { more: 1 }> = ping; // Contravariant: who takes any Ping takes a special one.
  t.is(wrong as unknown, narrower as unknown);
  // @ts-expect-error nobody but the kernel makes an address
  const forged: Address<Ping> = { path: 'ping' };
  t.throws(() => tell(forged, { type: 'ping' }), { instanceOf: TypeError });
  t.deepEqual(await ask(ping, { type: 'ping' }), { ok: true, reply: 'ping' });
});

test('weakness 9: a mailbox of nact is unbounded; over the limit the kernel answers at once with Retry-After', async (t) => {
  const root = nact.start();
  let go = (): void => {};
  const raw = nact.spawn(
    root,
    () =>
      new Promise<void>((resolve) => {
        go = resolve;
      }),
    'raw',
  );
  t.notThrows(() => {
    for (let index = 0; index < 20_000; index++) nact.dispatch(raw, index);
  });
  nact.stop(raw);
  nact.stop(root as nact.Ref<unknown>);
  go();

  const node = startNode(t);
  const { counters, store } = startCounters(node, { mailboxMax: 10, batchMax: 5 });
  store.hold();
  const address = counters.address('a');
  const first = ask(address, add(1));
  await until('the first append is under way', () => store.attempts === 1);
  const waiting = Array.from({ length: 10 }, () => ask(address, add(1)));
  const turnedAway = await Promise.all([ask(address, add(1)), ask(address, add(1))]);
  for (const outcome of turnedAway) {
    t.like(outcome, {
      ok: false,
      code: 'SERVICE_UNAVAILABLE',
      details: { reason: 'mailbox_full', retryAfterSeconds: 1 },
    });
  }
  t.is(node.system.inspect(address.path)!.mailboxDepth, 10);
  node.clock.advance(30);
  t.like(node.system.counts(), { waiting: 10, oldestWaitMs: 30, deadLetters: { full: 2 } }, 'ecosystem X49');
  store.release();
  t.true((await Promise.all([first, ...waiting])).every((outcome) => outcome.ok === true));
  t.is(store.stream('a')!.state.total, 11);
  t.like(node.system.counts(), { waiting: 0, oldestWaitMs: 0 });
});

test('weakness 10: an awaited call delays each message behind it; those that wait share one append, others wait for nobody', async (t) => {
  const root = nact.start();
  const order: string[] = [];
  let go = (): void => {};
  const raw = nact.spawn(
    root,
    async (_: unknown, message: string) => {
      order.push(`${message} begins`);
      if (message === 'slow')
        await new Promise<void>((resolve) => {
          go = resolve;
        });
    },
    'raw',
  );
  nact.dispatch(raw, 'slow');
  nact.dispatch(raw, 'quick');
  await rounds(20);
  t.deepEqual(order, ['slow begins']);
  go();
  await until('the quick one had its turn', () => order.length === 2);
  nact.stop(root as nact.Ref<unknown>);

  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.hold();
  const slow = ask(counters.address('busy'), add(1));
  await until('the first append is under way', () => store.attempts === 1);
  const behind = Array.from({ length: 40 }, () => ask(counters.address('busy'), add(1)));
  t.deepEqual(await ask(counters.address('other'), { type: 'read' }), { ok: true, reply: { total: 0, adds: 0 } });
  store.release();
  t.true((await Promise.all([slow, ...behind])).every((outcome) => outcome.ok === true));
  t.deepEqual(
    store.appended.map(({ events }) => events.length),
    [1, 40],
  );
});
