/** Calls between nodes: forged, altered, replayed and late ones are refused and counted; a repetition is done once. */
import { Readable } from 'node:stream';
import test from 'ava';
import { request } from 'undici';
import { CALL_HEADER, type CallFault } from '../../../cluster/call-signature.ts';
import { CallTrust } from '../../../cluster/call-trust.ts';
import { Listener, MOVED, type Operation } from '../../../cluster/listener.ts';
import { Peers } from '../../../cluster/peers.ts';
import type { Member } from '../../../model/ports/cluster-store.ts';

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

/** The owner says that it takes calls which name it. */
const OWNERS = (url: string, id = 'owner'): Member => ({
  id,
  url,
  about: { version: '1', protocol: 1, protocolsTaken: [1, 2], roles: [], chains: [] },
  sinceMs: 1,
});
const older = (url: string): Member => ({ ...OWNERS(url, 'older'), about: null });
/** Signs calls of a version to the owner. */
function signing(version: 1 | 2, trust = trustOf('x')): CallTrust {
  trust.know([(version === 1 ? older : OWNERS)('http://owner')]);
  return trust;
}
const sign = (trust: CallTrust, path: string, body: string) => trust.sign('http://owner', path, body);

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

type Forged = (version: 1 | 2, path: string, body: string) => { header: string; body: string };
const FORGED: Readonly<Record<string, readonly [forge: Forged, reason: string]>> = {
  'another secret': [
    (version, path, body) => ({ header: sign(signing(version, trustOf('x', [OTHER])), path, body), body }),
    'secret',
  ],
  'an altered body': [
    (version, path, body) => ({ header: sign(signing(version), path, body), body: body.replace('1', '2') }),
    'secret',
  ],
  'another path': [(version, _path, body) => ({ header: sign(signing(version), '/other', body), body }), 'secret'],
  'a clock that is ahead': [
    (version, path, body) => ({ header: sign(signing(version, trustOf('x', [SECRET], 6_000)), path, body), body }),
    'clock',
  ],
  'a clock that is behind': [
    (version, path, body) => ({ header: sign(signing(version, trustOf('x', [SECRET], -6_000)), path, body), body }),
    'clock',
  ],
  'no header': [(_version, _path, body) => ({ header: '', body }), 'malformed'],
  'an unknown version': [
    (version, path, body) => ({ header: sign(signing(version), path, body).replace(/^\d/, '3'), body }),
    'protocol',
  ],
  'the other version': [
    (version, path, body) => ({
      header: sign(signing(version), path, body).replace(/^\d/, (digit) => (digit === '1' ? '2' : '1')),
      body,
    }),
    'malformed',
  ],
};
for (const version of [1, 2] as const)
  for (const [name, [forge, reason]] of Object.entries(FORGED)) {
    test(`a call of version ${version} is refused and counted: ${name}`, async (t) => {
      let done = 0;
      const { url, trust } = await listening(t, { '/do': async () => (done += 1) });
      const { header, body } = forge(version, '/do', '{"n":1}');
      const answer = await request(`${url}/do`, { method: 'POST', body, headers: { [CALL_HEADER]: header } });
      await answer.body.dump();
      t.is(answer.statusCode, reason === 'protocol' ? 426 : 401);
      t.deepEqual([...trust.refused], [[reason, 1]]);
      t.is(done, 0);
    });
  }

for (const version of [1, 2] as const)
  test(`a call of version ${version} that is replayed is refused, however good it was`, async (t) => {
    let done = 0;
    const { url, trust } = await listening(t, { '/do': async () => (done += 1) });
    const header = sign(signing(version), '/do', '{}');
    const send = async () => {
      const answer = await request(`${url}/do`, { method: 'POST', body: '{}', headers: { [CALL_HEADER]: header } });
      await answer.body.dump();
      return answer.statusCode;
    };
    t.deepEqual([await send(), await send()], [200, 401]);
    t.deepEqual([...trust.refused], [['replayed', 1]]);
    t.is(done, 1);
  });

function judged(trust: CallTrust, header: string): { nonce: string } | CallFault {
  const call = trust.read(header, '/do');
  return typeof call === 'string' ? call : trust.judge(call, '/do', '{}');
}

test('a captured call is good at its receiver alone, and at none that began at the same place', (t) => {
  const caller = trustOf('caller'),
    url = 'http://owner';
  caller.know([OWNERS(url)]);
  const header = caller.sign(url, '/do', '{}');
  for (const other of ['other', 'owner/of-the-next-start']) t.is(judged(trustOf(other), header), 'receiver');
  t.truthy((judged(trustOf('owner'), header) as { nonce: string }).nonce);
  caller.know([{ ...OWNERS(url, 'owner/of-the-next-start'), sinceMs: 2 }, OWNERS(url)]);
  t.truthy((judged(trustOf('owner/of-the-next-start'), caller.sign(url, '/do', '{}')) as object) ?? null);
  t.is(judged(trustOf('owner'), caller.sign(url, '/do', '{}')), 'receiver');
});

test('a node of the release before is called in its version; where none is left that version is not taken', (t) => {
  const caller = trustOf('caller'),
    owner = trustOf('owner');
  caller.know([OWNERS('http://owner'), older('http://older')]);
  const header = caller.sign('http://older', '/do', '{}');
  t.regex(header, /^1;/);
  t.regex(caller.sign('http://owner', '/do', '{}'), /^2;/);
  owner.know([OWNERS('http://owner'), older('http://older')]);
  t.is(typeof judged(owner, header), 'object');
  owner.know([OWNERS('http://owner')]);
  t.is(judged(owner, caller.sign('http://older', '/do', '{}')), 'protocol');
});

test('of a call that is not authenticated no body is read', async (t) => {
  const { url, trust } = await listening(t, { '/do': async () => 'done' });
  trust.know([OWNERS(url)]);
  let sent = 0;
  const endless = Readable.from(
    (async function* () {
      for (; sent < 64; sent += 1) {
        yield Buffer.alloc(64 * 1_024, 32);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await new Promise(() => undefined); // the answer comes before the end of the body
    })(),
  );
  const header = sign(signing(2, trustOf('x', [OTHER])), '/do', '{}');
  const answer = await request(`${url}/do`, { method: 'POST', body: endless, headers: { [CALL_HEADER]: header } });
  t.is(answer.statusCode, 401);
  await answer.body.dump().catch(() => undefined);
  endless.destroy();
  t.deepEqual([...trust.refused], [['secret', 1]]);
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
