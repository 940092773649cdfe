/** A stream that a door passes on to the owner of its account: what an edge may send through it. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Socket as OwnersEnd } from 'socket.io';
import { io, type Socket } from 'socket.io-client';
import { FRAMES_AT_ONCE } from '../../../gateway/edge-stream/frame-rate.ts';
import { HANDSHAKE_BYTES_MAX } from '../../../gateway/edge-stream/handshake-size.ts';
import { attachRelay } from '../../../gateway/edge-stream/relay.ts';
import { attachEdgeStream } from '../../../gateway/edge-stream/server.ts';
import { EDGE_VERSION, STREAM_PATH } from '../../../protocol/frames.ts';
import { accountIdOf } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { signRequest } from '../../../protocol/node/http-signature.ts';
import { newSigner } from '../../support/gateway.ts';
import { Rooms } from '../../support/edge-rooms.ts';
import { eventually } from '../../support/edge/edges.ts';
import { ses } from '../../support/account.ts';

/** Levels that a parser takes and no encoder goes down. */
const LEVELS = 100_000;
const DEEP = '['.repeat(LEVELS) + ']'.repeat(LEVELS);

interface Streams {
  readonly edge: Socket;
  readonly owner: OwnersEnd;
  readonly frames: unknown[][];
  readonly doorUrl: string;
}

/** An edge's stream through a door; frames are what its owner was passed. */
async function relayed(t: ExecutionContext): Promise<Streams> {
  const ownersServer = await listening(t),
    doorsServer = await listening(t);
  const frames: unknown[][] = [];
  let owner: OwnersEnd | null = null;
  const relay = attachRelay({
    httpServer: ownersServer,
    trust: { verify: () => null },
    options: { transports: ['websocket'], maxHttpBufferSize: 2 * 1_024 * 1_024 },
    async join(_admitted, socket) {
      return {
        left: () => undefined,
        serve() {
          socket.onAny((...frame: unknown[]) => {
            frames.push(frame);
            const acknowledge = frame.at(-1);
            if (typeof acknowledge === 'function') (acknowledge as (answer: object) => void)({ ok: true });
          });
          owner = socket;
          socket.emit('welcome', {});
        },
      };
    },
  });
  const accountId = accountIdOf(newId('org', 0), 'live'),
    signer = newSigner(),
    doorUrl = urlOf(doorsServer);
  const headers = signRequest({ method: 'GET', url: doorUrl + STREAM_PATH, body: '' }, signer, 'n'.repeat(32), 0);
  const door = attachEdgeStream({
    httpServer: doorsServer,
    rooms: new Rooms().rooms, // asked for nothing: the account lives elsewhere
    accounts: { ask: async () => ({ ok: true, reply: null }) as never },
    log: { info: () => undefined, warn: () => undefined },
    apiKeys: {
      authenticate: async () => ({ accountId }) as never,
      authenticateNow: async () => ({ accountId }) as never,
      leftMs: () => null,
    },
    signatures: {
      verify: async () => ({ contentDigest: headers['content-digest'], publicKey: signer.keyId }) as never,
    },
    elsewhere: {
      urlOf: async () => urlOf(ownersServer),
      trust: { sign: () => 'call', verify: () => null },
      httpServer: await listening(t),
    },
  });
  const edge = io(doorUrl, {
    path: STREAM_PATH,
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    auth: {
      headers: { 'x-api-key': 'flk_live_x', ...headers },
      sessionId: ses(),
      edgeVersion: EDGE_VERSION,
      podHint: null,
    },
  });
  t.teardown(async () => {
    edge.disconnect();
    await door.close();
    relay.close();
  });
  await new Promise((resolve, reject) => {
    edge.once('welcome', resolve);
    edge.once('connect_error', reject);
  });
  return { edge, owner: owner!, frames, doorUrl };
}

async function listening(t: ExecutionContext): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  return server;
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Writes a packet as it stands: the client's own encoder would break on it first. */
const write = (edge: Socket, text: string): void =>
  (edge.io.engine as unknown as { transport: { ws: { send(text: string): void } } }).transport.ws.send(text);

test('frames and acknowledgements of any depth leave the door standing, and those of ours pass', async (t) => {
  const { edge, owner, frames } = await relayed(t);
  for (const body of [DEEP, `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`, `{"records":[{"x":${DEEP}}]}`]) {
    write(edge, `42["instructions",${body}]`);
    write(edge, `42["of_no_name",1,${body}]`);
  }
  const refused = new Promise((resolve) =>
    edge.io.engine.on('message', (text: unknown) => {
      if (String(text).startsWith('3900')) resolve(String(text));
    }),
  );
  write(edge, `42900["attempts",${DEEP}]`);
  t.regex(String(await refused), /INVALID_INPUT/);

  let asked = 0;
  edge.io.engine.on('message', (text: unknown) => {
    const ask = /^2(\d+)\["sign"/.exec(String(text));
    if (ask === null) return;
    asked += 1;
    write(edge, asked === 1 ? `43${ask[1]}[${DEEP}]` : `43${ask[1]}[{"ok":true}]`);
  });
  await t.throwsAsync(owner.timeout(300).emitWithAck('sign', {}), undefined, 'no answer reaches the owner');
  t.deepEqual(await owner.timeout(60_000).emitWithAck('sign', {}), { ok: true });

  const answer: unknown = await edge.timeout(60_000).emitWithAck('heartbeat', { deep: { enough: [[{ a: [1] }]] } });
  t.deepEqual(answer, { ok: true });
  t.deepEqual(
    frames.map(([name]) => name),
    ['heartbeat'],
  );
  t.deepEqual(frames[0]![1], { deep: { enough: [[{ a: [1] }]] } });
});

test('the owner is passed no frame that was refused for its rate', async (t) => {
  const { edge, frames } = await relayed(t);
  let passed = 0,
    refused = 0;
  const all = Array.from({ length: FRAMES_AT_ONCE + 500 }, async (_, at) => {
    const answer = (await edge.timeout(60_000).emitWithAck('heartbeat', { at })) as { ok: boolean; code?: string };
    if (answer.ok) passed += 1;
    else if (answer.code === 'RATE_LIMIT_EXCEEDED') refused += 1;
  });
  await Promise.all(all);
  await eventually('each was answered once', () => passed + refused === all.length);
  t.true(passed >= FRAMES_AT_ONCE);
  t.is(frames.length, passed);
});

test('found F14: a handshake above its limit is cut before it is parsed; a full one within it is answered', async (t) => {
  const { doorUrl } = await relayed(t);
  const knock = (bytes: number): Promise<string> =>
    new Promise((resolve) => {
      const socket = io(doorUrl, {
        path: STREAM_PATH,
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        auth: { headers: { 'x-api-key': 'k'.repeat(bytes) } },
      });
      t.teardown(() => void socket.disconnect());
      socket.once('connect_error', ({ message }) => resolve(message));
      // Of a connection that ends before its handshake the client says nothing by itself.
      socket.io.once('close', (reason) => reason.startsWith('transport') && resolve('cut'));
    });
  t.is(await knock(HANDSHAKE_BYTES_MAX / 2), 'INVALID_INPUT');
  t.is(await knock(2 * HANDSHAKE_BYTES_MAX), 'cut');
});
