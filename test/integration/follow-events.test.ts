/** What `flock listen` does with its connection, against a service that cuts it, is silent or forgets. X29, X30. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { follow } from '../../clients/cli/follow.ts';
import { createFlock, isFlockError } from '../../clients/typescript/src/index.ts';
import { patiently } from '../support/patience.ts';

const KEY = `flk_test_${'k'.repeat(32)}`;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const idOf = (n: number): string => `evt_${'a'.repeat(24)}${LETTERS[Math.floor(n / 32)]}${LETTERS[n % 32]}`;

/** A cloud with a list of events and a stream; each part of it can fail. */
async function scripted(t: ExecutionContext) {
  const events: string[] = [];
  const streams = new Set<ServerResponse>();
  const cloud = {
    /** Status of the list and of the stream. */
    list: 200,
    stream: 200,
    opened: 0,
    isMute: false,
    /** Publishes, and says so to those who listen unless nobody is told. */
    publish(n: number, isTold = true) {
      events.push(idOf(n));
      if (isTold) for (const one of streams) one.write('id: 1-0-0\nevent: deposit\ndata: {"id":null,"status":"x"}\n\n');
    },
    forget: () => events.splice(0),
    cut() {
      for (const one of streams) one.destroy();
    },
    url: '',
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://x');
    if (url.pathname === '/v1/stream') {
      cloud.opened += 1;
      if (cloud.stream !== 200) return void response.writeHead(cloud.stream).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (!cloud.isMute) response.write('id: 0-0-0\nevent: open\ndata: {"id":null,"status":"open"}\n\n');
      else response.flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    const refuse = (status: number, code: string) =>
      response
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ success: false, error: { code, message: 'no', details: {} } }));
    if (cloud.list !== 200) return void refuse(cloud.list, cloud.list === 401 ? 'UNAUTHORIZED' : 'SERVICE_UNAVAILABLE');
    const since = url.searchParams.get('since'),
      size = Number(url.searchParams.get('size'));
    const at = since === 'start' ? 0 : since === null ? Math.max(0, events.length - size) : events.indexOf(since) + 1;
    if (since !== null && since !== 'start' && at === 0) return void refuse(404, 'NOT_FOUND');
    const content = events
      .slice(at, at + size)
      .map((id) => ({ id, event: 'deposit_detected', createdAt: '2026-01-01T00:00:00.000Z', body: `{"id":"${id}"}` }));
    const data = { content, hasMore: since !== null && at + size < events.length };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ success: true, data }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  cloud.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return cloud;
}

function following(t: ExecutionContext, url: string, { last = null as string | null, silenceMs = 30_000 } = {}) {
  const handled: string[] = [],
    states: string[] = [];
  const stop = new AbortController();
  const ended = follow({
    url,
    apiKey: KEY,
    flock: createFlock({ baseUrl: url, apiKey: KEY, retries: 0 }),
    signal: stop.signal,
    last,
    silenceMs,
    handle: async ({ id }) => {
      handled.push(id);
      return true;
    },
    state: (state, { caughtUp = 0 }) => states.push(caughtUp === 0 ? state : `${state} ${caughtUp}`),
  });
  const settled = ended.then(
    () => null,
    (error: unknown) => error,
  );
  t.teardown(async () => {
    stop.abort();
    await settled;
  });
  const is = (what: string, good: () => boolean) => patiently(`${what}: ${states}`, async () => good(), Boolean);
  return {
    handled,
    states,
    stop,
    settled,
    ready: (times: number) =>
      is(`ready ${times} times`, () => states.filter((state) => state.startsWith('ready')).length >= times),
    has: (count: number) => is(`${count} events`, () => handled.length >= count),
  };
}
const ids = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => idOf(from + n));

test('ecosystem X30 fault 24: what was published before is not handled, all of what comes is, in order, over pages', async (t) => {
  const cloud = await scripted(t);
  for (let n = 0; n < 3; n += 1) cloud.publish(n);
  const one = following(t, cloud.url);
  await one.ready(1);
  for (let n = 3; n < 253; n += 1) cloud.publish(n, n === 252); // told of once
  await one.has(250);
  t.deepEqual(one.handled, ids(3, 253));
  t.deepEqual(one.states, ['ready']);
});

test('ecosystem X30: a cut and a refusing connection lose nothing, and it is never ready meanwhile', async (t) => {
  const cloud = await scripted(t);
  const one = following(t, cloud.url);
  await one.ready(1);
  cloud.publish(0);
  await one.has(1);
  cloud.stream = 503;
  cloud.cut();
  cloud.publish(1, false);
  const before = cloud.opened;
  await patiently('it comes again', async () => cloud.opened > before + 1, Boolean);
  t.deepEqual(one.states.slice(0, 2), ['ready', 'reconnecting']);
  t.false(
    one.states.slice(1).some((state) => state.startsWith('ready')),
    'a list alone is no connection',
  );
  cloud.stream = 200;
  await one.ready(2);
  await one.has(2);
  t.deepEqual(one.handled, ids(0, 2));
});

test('ecosystem X30 fault 23: a connection without a byte and without an end, as after a sleep, is opened again', async (t) => {
  const cloud = await scripted(t);
  cloud.isMute = true;
  const one = following(t, cloud.url, { last: 'start', silenceMs: 300 });
  cloud.publish(0, false);
  await patiently('it comes again', async () => cloud.opened > 2, Boolean);
  t.true(one.states.length > 1);
  t.true(one.states.every((state) => state === 'reconnecting'));
  cloud.isMute = false;
  await one.ready(1);
  t.deepEqual(one.handled, ids(0, 1));
});

test('ecosystem X30: it goes on behind the last one, and says what it caught up', async (t) => {
  const cloud = await scripted(t);
  for (let n = 0; n < 120; n += 1) cloud.publish(n);
  const one = following(t, cloud.url, { last: idOf(3) });
  await one.ready(1);
  t.deepEqual(one.handled, ids(4, 120));
  t.deepEqual(one.states, ['ready 116']);
});

test('ecosystem X30: a place that the service does not know is a gap, which is said', async (t) => {
  const cloud = await scripted(t);
  cloud.publish(7);
  const one = following(t, cloud.url, { last: idOf(90) });
  await one.ready(1);
  t.deepEqual(one.states, ['gap', 'ready']);
  cloud.forget();
  cloud.publish(8);
  cloud.publish(9);
  cloud.publish(10);
  await one.has(3);
  t.deepEqual(one.handled, ids(8, 11), 'a reset while it listens loses nothing');
  t.deepEqual(one.states, ['gap', 'ready', 'gap']);
});

test('ecosystem X24: an account that has no event yet is followed from the first; a key that is not taken ends it', async (t) => {
  const cloud = await scripted(t);
  const one = following(t, cloud.url);
  await one.ready(1);
  for (let n = 0; n < 3; n += 1) cloud.publish(n);
  await one.has(3);
  t.deepEqual(one.handled, ids(0, 3));
  cloud.list = 503;
  cloud.publish(3);
  await patiently('it is not ready', async () => one.states.at(-1) === 'reconnecting', Boolean);
  cloud.list = 200;
  await one.has(4);
  cloud.list = 401;
  cloud.publish(4);
  const error = await one.settled;
  t.true(isFlockError(error, 'UNAUTHORIZED'));
});
