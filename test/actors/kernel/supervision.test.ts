/** Supervision (style.md 2(c)): restart with backoff, intensity, giving up, and what an administrator sees and does. */
import test from 'ava';
import { ask, withoutSecrets } from '../../../actors/kernel/index.ts';
import { until } from '../../support/until.ts';
import { add } from './counter.ts';
import { startCounters, startNode } from './node.ts';

test('a fault restarts the actor after a pause that doubles; what waits meanwhile is kept', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const address = counters.address('a');
  for (const pauseMs of [100, 200, 400]) {
    store.failAppends('before');
    t.like(await ask(address, add(1), 60_000), { code: 'INTERNAL_ERROR' });
    const waiting = ask(address, { type: 'read' }, 60_000);
    node.clock.advance(pauseMs - 1);
    t.is(node.system.inspect(address.path)!.phase, 'backoff');
    node.clock.advance(1);
    t.like(await waiting, { ok: true });
  }
  t.is(node.system.inspect(address.path)!.restarts, 3);
});

test('more faults than allowed in the window: given up, INTERNAL_ERROR at once, an alarm, and the rest live on', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const address = counters.address('a');
  for (let fault = 1; fault <= 4; fault++) {
    store.failAppends('before');
    t.like(await ask(address, add(1)), { code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
    if (fault < 4) node.clock.advance(node.clock.nextInMs!);
  }
  t.deepEqual(
    node.gaveUp.map(({ path }) => path),
    [address.path],
  );
  t.like(await ask(address, add(1)), { ok: false, code: 'INTERNAL_ERROR', details: { reason: 'given_up' } });
  t.is(node.system.counts().deadLetters.givenUp, 1);
  t.like(await ask(counters.address('b'), add(1)), { ok: true });
  t.like(node.system.inspect(address.path)!, { phase: 'given_up', lastFault: { code: 'Error' } });
});

test('a given-up actor gets one new chance after a while, without an operator', async (t) => {
  const node = startNode(t, { restartsMax: 0 });
  const { counters, store } = startCounters(node);
  const address = counters.address('a');
  store.failAppends('before');
  await ask(address, add(1));
  t.is(node.system.inspect(address.path)!.phase, 'given_up');
  node.clock.advance(19_999);
  t.like(await ask(address, add(1)), { code: 'INTERNAL_ERROR' });
  node.clock.advance(1);
  t.like(await ask(address, add(1)), { ok: true });
});

test('what waits when an actor is given up is answered, not left', async (t) => {
  const node = startNode(t, { restartsMax: 0 });
  const { counters, store } = startCounters(node, { batchMax: 1 });
  store.failAppends('before');
  const outcomes = await Promise.all([1, 2, 3].map((by) => ask(counters.address('a'), add(by))));
  t.deepEqual(
    outcomes.map((outcome) => 'details' in outcome && outcome.details['reason']),
    ['crashed', 'given_up', 'given_up'],
  );
  t.is(node.system.counts().waiting, 0);
});

test('a load that fails: askers may try again, the entity pauses, and comes back by itself', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failLoads(new Error('no connection'));
  t.like(await ask(counters.address('a'), add(1)), {
    ok: false,
    code: 'SERVICE_UNAVAILABLE',
    details: { reason: 'load_failed', retryAfterSeconds: 1 },
  });
  const waiting = ask(counters.address('a'), add(1));
  node.clock.advance(100);
  t.like(await waiting, { ok: true });
});

test('restart(path) forgets memory and history of one actor or of a branch, after the running turn', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  await Promise.all(['a', 'b'].map((id) => ask(counters.address(id), add(1))));
  t.is(store.loads, 2);
  t.true(node.system.restart(counters.address('a').path));
  await Promise.all(['a', 'b'].map((id) => ask(counters.address(id), add(1))));
  t.is(store.loads, 3);
  t.true(node.system.restart('shards'));
  await Promise.all(['a', 'b'].map((id) => ask(counters.address(id), add(1))));
  t.is(store.loads, 5);
  t.false(node.system.restart('shards/0007/counter-nobody'));
});

test('a load that fails later in life tells those who wait just the same', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  await ask(counters.address('a'), add(1));
  node.system.restart(counters.address('a').path);
  store.failLoads(new Error('no connection'));
  t.like(await ask(counters.address('a'), add(1)), { code: 'SERVICE_UNAVAILABLE', details: { reason: 'load_failed' } });
});

test('restart(path) forgets the faults: the next one is the first of a new window', async (t) => {
  const node = startNode(t, { restartsMax: 1 });
  const { counters, store } = startCounters(node);
  for (let fault = 1; fault <= 3; fault++) {
    store.failAppends('before');
    await ask(counters.address('a'), add(1));
    t.is(node.system.inspect(counters.address('a').path)!.phase, 'backoff');
    node.system.restart(counters.address('a').path);
  }
  t.deepEqual(node.gaveUp, []);
});

test('restart(path) ends a pause at once', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  store.failAppends('before');
  await ask(counters.address('a'), add(1));
  const waiting = ask(counters.address('a'), add(1));
  node.system.restart(counters.address('a').path);
  t.like(await waiting, { ok: true });
  t.is(node.clock.pending > 0 && node.system.inspect(counters.address('a').path)!.phase, 'live');
});

test('inspect shows kind, id, path, mailbox, messages, restarts, last fault and a summary; null for nothing', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node);
  const address = counters.address('eth@org_a');
  await ask(address, add(4));
  await ask(address, { type: 'explode' });
  t.is(address.path, 'shards/0007/counter-eth$0040org_a');
  t.deepEqual(node.system.inspect(address.path), {
    path: address.path,
    kind: 'counter',
    id: 'eth@org_a',
    phase: 'live',
    mailboxDepth: 0,
    messagesHandled: 2,
    restarts: 0,
    lastFault: { code: 'Error', message: 'decide has a defect', atMs: node.clock.nowMs() },
    summary: { total: 4, version: 1, ownerEpoch: 1 },
    childCount: 0,
  });
  t.is(node.system.inspect('shards/9'), null);
  t.is(node.system.inspect(`${address.path}/below`), null);
  const root = node.system.inspect('', 1)!;
  t.like(root, { kind: 'root', childCount: 1, children: [{ path: 'shards', kind: 'branch', phase: 'parent' }] });
  t.false('children' in root.children![0]!);
  t.is(node.system.inspect()!.children![0]!.children![0]!.children![0]!.id, 'eth@org_a');
  t.is(store.loads, 1, 'looking loads nothing');
});

test('a log that throws costs the actor its life, not the node its own; restart brings it back', async (t) => {
  let broken = true;
  const write = (): void => {
    if (broken) {
      broken = false;
      throw new Error('disk full');
    }
  };
  const node = startNode(t, {}, { log: { warn: write, error: () => {} } });
  const { counters, store } = startCounters(node);
  store.failAppends('before');
  const address = counters.address('a');
  const asks = [ask(address, add(1)), ask(counters.address('b'), add(1))];
  t.like(await asks[0], { code: 'INTERNAL_ERROR', details: { reason: 'crashed' } });
  t.like(await asks[1], { ok: true });
  t.like(node.system.inspect(address.path)!, { phase: 'given_up', lastFault: { message: 'disk full' } });
  node.system.restart(address.path);
  t.like(await ask(address, add(1)), { ok: true });
});

test('a summary that throws is logged and shows nothing; it does not touch the actor', async (t) => {
  const node = startNode(t);
  const { counters } = startCounters(node, {
    summarise: () => {
      throw new Error('summary');
    },
  });
  await ask(counters.address('a'), add(4));
  t.deepEqual(node.system.inspect(counters.address('a').path)!.summary, { version: 1, ownerEpoch: 1 });
  t.is(node.logged.at(-1)!.message, 'actor callback threw');
  t.like(await ask(counters.address('a'), add(1)), { ok: true });
});

test('a fault text keeps its words and loses what looks like a key, a credential or a phrase', (t) => {
  const phrase = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
  t.is(
    withoutSecrets('duplicate key violates unique constraint "events_stream_version_key"'),
    'duplicate key violates unique constraint "events_stream_version_key"',
  );
  t.is(withoutSecrets(`no use of ${phrase}.`), 'no use of ….');
  for (const secret of [
    'flk_live_8chars1234567890abcdefghijklmnop',
    'whsec_C2FVsBQIhrscChlQIMV0b5Zx',
    'JBSWY3DPEHPK3PXPJBSWY3DP',
    'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi',
    'e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35',
    phrase
      .split(' ')
      .map((word, index) => `${index + 1}. ${word}`)
      .join('\n'),
    JSON.stringify(phrase.split(' ')),
    phrase.toUpperCase(),
  ]) {
    const shown = withoutSecrets(`cannot read ${secret} here`);
    t.false(shown.includes(secret.slice(4, 16)), shown);
  }
  t.is(withoutSecrets('x '.repeat(5_000)).length, 201);
});

test('a fault of one entity is invisible to a thousand others', async (t) => {
  const node = startNode(t);
  const { counters, store } = startCounters(node, { shardOf: (id) => Number(id) % 16 });
  const ids = Array.from({ length: 1_000 }, (_, index) => String(index));
  store.failAppends('before');
  const outcomes = await Promise.all(ids.map((id) => ask(counters.address(id), add(1))));
  t.is(outcomes.filter((outcome) => outcome.ok !== true).length, 1);
  await until('nothing waits', () => node.system.counts().waiting === 0);
  t.is(counters.residents, 1_000);
});
