/** found F80: what a request costs before it is known to be within its limit. */
import test from 'ava';
import { createAdmission } from '../../../gateway/http/admission.ts';
import type { Listed } from '../../../gateway/http/head.ts';
import { createTurns, OF_BODIES } from '../../../gateway/http/large-bodies.ts';
import { createMemoryRateLimiter, WINDOW_MS } from '../../../gateway/http/rate-limit.ts';
import { Refused } from '../../../protocol/errors.ts';
import { bodyBytesOf } from '../../../protocol/route.ts';
import { ROUTE_LIST } from '../../../protocol/routes.ts';
import { unknownPath } from '../../../protocol/unknown-path.ts';

const MIB = 1_048_576;
const ACCOUNT = `org_${'a'.repeat(26)}_sandbox` as const;
const CALLER = { accountId: ACCOUNT, bearer: null };
const routeOf = (operationId: string): Listed => ROUTE_LIST.find((route) => route.operationId === operationId)!;

function admission() {
  let nowMs = 1_000_000;
  const admit = createAdmission({
    accounts: { ask: () => Promise.reject(new Error('a sandbox is asked for no plan')) } as never,
    config: {} as never,
    rateLimiter: createMemoryRateLimiter(),
    nowMs: () => nowMs,
  });
  const told: Record<string, unknown>[] = [];
  const reply = { headers: (values: Record<string, unknown>) => told.push(values) } as never;
  return {
    told,
    minute: () => {
      nowMs += WINDOW_MS;
    },
    of: (operationId: string, headers: Record<string, string> = {}, isPinned = false) =>
      admit(routeOf(operationId), { headers }, reply, CALLER, isPinned),
  };
}

test('found F80: large bodies have a window of bytes, by what their heads say; one that says nothing counts whole', async (t) => {
  for (const headers of [{ 'content-length': String(2 * MIB) }, { 'transfer-encoding': 'chunked' }] as const) {
    const { of, minute } = admission();
    const bytes = 'transfer-encoding' in headers ? bodyBytesOf(routeOf('discover')) : 2 * MIB;
    for (let taken = bytes; taken <= 32 * MIB; taken += bytes) t.is(await of('discover', headers), null, `${taken}`);
    t.like(await of('discover', headers), {
      code: 'RATE_LIMIT_EXCEEDED',
      details: { limit: 32 * MIB, of: 'bytes of large bodies', windowSeconds: 60, retryAfterSeconds: 60 },
    });
    t.is(await of('createAddress', { 'content-length': '16384' }), null, 'small ones go on');
    minute();
    t.is(await of('discover', headers), null, 'a minute later');
  }
});

test('found F80: the enrolled edge has windows of its own; who signs with a key of their own making counts as the API key', async (t) => {
  const { of, told } = admission();
  const body = { 'content-length': String(2 * MIB) };
  for (let taken = 0; taken < 32 * MIB; taken += 2 * MIB) t.is(await of('syncEdge', body), null);
  t.like(await of('syncEdge', body), { details: { limit: 32 * MIB } });
  t.is(told.at(-1)!['ratelimit-remaining'], 6_000 - 17);
  t.is(await of('syncEdge', body, true), null, 'the edge');
  t.is(told.at(-1)!['ratelimit-remaining'], 5_999);
});

test('found F80: large bodies come one after the other, with three times their work for everybody else between', async (t) => {
  let nowMs = 0;
  const rests: { ms: number; end: () => void }[] = [];
  const inTurn = createTurns(
    OF_BODIES,
    (ms) => new Promise((end) => rests.push({ ms, end })),
    () => nowMs,
  );
  const done: string[] = [];
  const work = (name: string, ms: number) => () => {
    nowMs += ms;
    done.push(name);
    return name;
  };
  const turns = () => new Promise(setImmediate);
  const first = inTurn(work('first', 100)),
    failing = inTurn(() => {
      nowMs += 10;
      throw new Error('no JSON');
    }),
    third = inTurn(work('third', 1));
  const failed = t.throwsAsync(failing, { message: 'no JSON' });
  t.is(await first, 'first');
  await turns();
  t.deepEqual([done, rests.map(({ ms }) => ms)], [['first'], [300]]);
  rests[0]!.end();
  await failed;
  t.deepEqual(
    rests.map(({ ms }) => ms),
    [300, 30],
    'what fails rests too',
  );
  rests[1]!.end();
  t.is(await third, 'third');
  const crowd = Array.from({ length: 64 }, (_, at) => inTurn(work(`waits ${at}`, 0)));
  const more = await t.throwsAsync(inTurn(work('one too many', 0)), { instanceOf: Refused });
  t.like(more.refusal, { code: 'SERVICE_UNAVAILABLE', details: { retryAfterSeconds: 1 } });
  for (const each of crowd) {
    rests.at(-1)!.end();
    await each;
  }
  t.is(done.length, 66);
});

test('found F80: a path of more parts than any route has is compared with none', (t) => {
  const served = [
    Object.defineProperty({ method: 'GET' as const, path: '' }, 'path', {
      get: () => {
        throw new Error('compared');
      },
    }),
  ] as never;
  const path = `/v1${'/addresses'.repeat(700)}`;
  const { refusal, allow } = unknownPath('GET', path, served, 'edge');
  t.like(refusal, { code: 'NOT_FOUND', details: { path: path.slice(0, 200) } });
  t.false('nearest' in refusal.details);
  t.is(allow, null);
});
