/** Calls between nodes: forged, altered, replayed and late ones are refused and counted; a repetition is done once. */
import test from 'ava';
import { request } from 'undici';
import { CALL_HEADER } from '../../../cluster/call-signature.ts';
import { CallTrust } from '../../../cluster/call-trust.ts';
import { Listener, MOVED, type Operation } from '../../../cluster/listener.ts';
import { Peers } from '../../../cluster/peers.ts';

const SECRET = 's'.repeat(32),
  OTHER = 'o'.repeat(32);

const trustOf = (nodeId: string, secrets: readonly string[] = [SECRET], offMs = 0): CallTrust =>
  new CallTrust({ nodeId, secrets, nowMs: () => Date.now() + offMs, elapsedMs: () => performance.now() });

async function listening(
  t: { teardown(work: () => Promise<void>): void },
  operations: Record<string, Operation>,
  secrets?: readonly string[],
) {
  const trust = trustOf('owner', secrets);
  const listener = new Listener({
    trust,
    operations,
    elapsedMs: () => performance.now(),
    log: { warn: () => undefined },
  });
  const port = await listener.listen('127.0.0.1', 0);
  t.teardown(() => listener.close());
  return { url: `http://127.0.0.1:${port}`, trust };
}

const callerOf = (t: { teardown(work: () => Promise<void>): void }, trust = trustOf('caller')): Peers => {
  const peers = new Peers({ trust });
  t.teardown(() => peers.close());
  return peers;
};

test('a call is answered; a bigint and what has no value arrive as they were', async (t) => {
  const { url } = await listening(t, { '/echo': async (message: object) => message });
  const called = await callerOf(t).call(url, '/echo', { amount: 2n ** 200n, none: null, nested: [{ a: 1n }] }, 5_000);
  t.deepEqual(called, { kind: 'answered', reply: { amount: 2n ** 200n, none: null, nested: [{ a: 1n }] } });
});

test('what is not the node’s is MOVED, what nobody listens for is not taken, what hangs is unknown', async (t) => {
  const { url } = await listening(t, {
    '/moved': async () => MOVED,
    '/hangs': () => new Promise(() => undefined),
    '/breaks': () => Promise.reject(new Error('broke')),
  });
  const peers = callerOf(t);
  t.deepEqual(await peers.call(url, '/moved', {}, 5_000), { kind: 'moved' });
  t.like(await peers.call(url, '/other', {}, 5_000), { kind: 'not_taken' });
  t.like(await peers.call(url, '/hangs', {}, 50), { kind: 'unknown' });
  t.like(await peers.call(url, '/breaks', {}, 5_000), { kind: 'unknown' });
  t.like(await peers.call('http://127.0.0.1:9', '/moved', {}, 5_000), { kind: 'not_taken' });
});

test('work under one key is done once, also when the caller heard nothing the first time; MOVED is not kept', async (t) => {
  let done = 0,
    here = false;
  const { url } = await listening(t, {
    '/count': async () => (here ? { done: (done += 1) } : MOVED),
  });
  const peers = callerOf(t);
  t.deepEqual(await peers.call(url, '/count', { key: 'k1' }, 5_000), { kind: 'moved' });
  here = true;
  const both = await Promise.all([1, 2].map(() => peers.call(url, '/count', { key: 'k1' }, 5_000)));
  t.deepEqual(both, [
    { kind: 'answered', reply: { done: 1 } },
    { kind: 'answered', reply: { done: 1 } },
  ]);
  t.deepEqual(await peers.call(url, '/count', { key: 'k2' }, 5_000), { kind: 'answered', reply: { done: 2 } });
});

for (const [name, forged, reason] of [
  [
    'another secret',
    (path: string, body: string) => ({ header: trustOf('x', [OTHER]).sign(path, body), body }),
    'secret',
  ],
  [
    'an altered body',
    (path: string, body: string) => ({ header: trustOf('x').sign(path, body), body: body.replace('1', '2') }),
    'secret',
  ],
  ['another path', (_path: string, body: string) => ({ header: trustOf('x').sign('/other', body), body }), 'secret'],
  [
    'a clock that is ahead',
    (path: string, body: string) => ({ header: trustOf('x', [SECRET], 6_000).sign(path, body), body }),
    'clock',
  ],
  [
    'a clock that is behind',
    (path: string, body: string) => ({ header: trustOf('x', [SECRET], -6_000).sign(path, body), body }),
    'clock',
  ],
  ['no header', (_path: string, body: string) => ({ header: '', body }), 'malformed'],
  [
    'an unknown version',
    (path: string, body: string) => ({ header: trustOf('x').sign(path, body).replace(/^1;/, '2;'), body }),
    'protocol',
  ],
] as const) {
  test(`a call is refused and counted: ${name}`, async (t) => {
    let done = 0;
    const { url, trust } = await listening(t, { '/do': async () => (done += 1) });
    const { header, body } = forged('/do', '{"n":1}');
    const answer = await request(`${url}/do`, { method: 'POST', body, headers: { [CALL_HEADER]: header } });
    await answer.body.dump();
    t.is(answer.statusCode, reason === 'protocol' ? 426 : 401);
    t.deepEqual([...trust.refused], [[reason, 1]]);
    t.is(done, 0);
  });
}

test('a call that is replayed is refused, however good it was', async (t) => {
  let done = 0;
  const { url, trust } = await listening(t, { '/do': async () => (done += 1) });
  const header = trustOf('x').sign('/do', '{}');
  const send = async () => {
    const answer = await request(`${url}/do`, { method: 'POST', body: '{}', headers: { [CALL_HEADER]: header } });
    await answer.body.dump();
    return answer.statusCode;
  };
  t.deepEqual([await send(), await send()], [200, 401]);
  t.deepEqual([...trust.refused], [['replayed', 1]]);
  t.is(done, 1);
});

test('an answer that is not the owner’s is no answer', async (t) => {
  const { url } = await listening(t, { '/do': async () => 'done' }, [OTHER, SECRET]);
  // The owner takes our secret and signs with another one.
  t.like(await callerOf(t).call(url, '/do', {}, 5_000), { kind: 'unknown' });
});

test('a secret is replaced while calls go on: new and old are taken', async (t) => {
  const { url } = await listening(t, { '/do': async () => 'done' }, [OTHER, SECRET]);
  t.like(await callerOf(t, trustOf('caller', [SECRET, OTHER])).call(url, '/do', {}, 5_000), { kind: 'answered' });
});
