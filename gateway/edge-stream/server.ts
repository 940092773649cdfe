/**
 * Socket.IO on the node's HTTP server, as thin as it gets: a handshake is admitted or refused, frames are parsed and
 * handed to the room, acknowledgements go back. WebSocket only; no connection state recovery (it sends every emit
 * through the adapter and stalls with it): what was missed is found in the database.
 */
import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import type { z } from 'zod';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import {
  attemptsFrame,
  FRAME_BYTES_TO_CLOUD_MAX,
  heartbeatFrame,
  instructionsFrame,
  keySetFrame,
  localKeysFrame,
  releaseFrame,
  STREAM_PATH,
} from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { RegistryFollower } from '../../model/ports/registry-follower.ts';
import type { Serving } from '../../model/ports/serving.ts';
import { notServing } from '../http/faults.ts';
import { connectionOf } from './connection.ts';
import { FrameRate } from './frame-rate.ts';
import { endHandshake, limitHandshakes } from './handshake-size.ts';
import { admit, edgeIsAway, keyHolds, type HandshakeDeps } from './handshake.ts';
import { accountMoved, type EdgeRooms, type Joined } from './rooms.ts';
import type { Admitted, StreamLog } from './ports.ts';
import { attachRelay, relayTo, type RelayTrust } from './relay.ts';

/** What is left of the WebSocket's error where Engine.IO hands it over. */
const TOO_LARGE = /Max payload size exceeded/;
const PING_EVERY_MS = 10_000;
/** A frozen edge keeps its lease for the TTL; its stream may go a little earlier. */
const PING_TIMEOUT_MS = 15_000;
const CONNECT_TIMEOUT_MS = 10_000;

/** Streams of accounts that live on other nodes. */
export interface Elsewhere {
  /** Where the account lives: null when it is here; asks until somebody owns it. Refuses: SERVICE_UNAVAILABLE. */
  urlOf(accountId: AccountId): Promise<string | null | Refusal>;
  readonly trust: RelayTrust;
  /** Takes what other nodes pass on. */
  readonly httpServer: HttpServer;
}

export interface StreamServerDeps extends HandshakeDeps {
  readonly httpServer: HttpServer;
  readonly rooms: EdgeRooms;
  readonly log: StreamLog;
  readonly serving?: Serving;
  /** The token registry in force here, for edges as they come and as it changes. Treasury K14. */
  readonly registry?: Pick<RegistryFollower, 'inForce' | 'listen'>;
  /** Absent on a node that serves alone. */
  readonly elsewhere?: Elsewhere;
}

export interface StreamServer {
  close(): Promise<void>;
}

/** Opens the stream on STREAM_PATH of a running HTTP server. */
export function attachEdgeStream(deps: StreamServerDeps): StreamServer {
  const options = {
    transports: ['websocket' as const],
    serveClient: false,
    maxHttpBufferSize: FRAME_BYTES_TO_CLOUD_MAX,
    pingInterval: PING_EVERY_MS,
    pingTimeout: PING_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    perMessageDeflate: false,
  };
  const io = new Server(deps.httpServer, { ...options, path: STREAM_PATH });
  limitHandshakes(io);
  const relay =
    deps.elsewhere === undefined ? null : attachRelay({ ...deps.elsewhere, options, join: relayedJoin(deps) });
  io.use((socket, next) => {
    const trouble = deps.serving?.trouble() ?? null;
    if (trouble !== null)
      return next(Object.assign(new Error('SERVICE_UNAVAILABLE'), { data: dataOf(notServing(trouble)) }));
    join(deps, socket).then(
      (joined) => {
        if (isRefusal(joined)) return next(Object.assign(new Error(joined.code), { data: dataOf(joined) }));
        (socket.data as { member?: Member }).member = joined;
        next();
      },
      (error: unknown) => {
        deps.log.warn({ err: error }, 'a handshake failed');
        const refusal = deps.serving?.isAway(error) === true ? notServing('database') : refuse('INTERNAL_ERROR');
        next(Object.assign(new Error(refusal.code), { data: dataOf(refusal) }));
      },
    );
  });
  io.on('connection', (socket) => {
    endHandshake(socket);
    limitFrames(socket);
    (socket.data as { member: Member }).member.open(socket);
    const registry = deps.registry?.inForce() ?? null;
    if (registry !== null) socket.emit('registry', registry);
  });
  deps.registry?.listen((registry) => io.emit('registry', registry));
  // Closing the HTTP server is its owner's business: only the streams and the path are given up here.
  return {
    close: () =>
      new Promise((resolve) => {
        io.disconnectSockets(true);
        io.engine.close();
        relay?.close();
        resolve();
      }),
  };
}

/** A stream that was let in, wherever its room is. */
interface Member {
  open(socket: Socket): void;
  left(byPeer: boolean): void;
}

async function join(deps: StreamServerDeps, socket: Socket): Promise<Member | Refusal> {
  const admitted = await admit(deps, socket.handshake.auth, socket.handshake.headers.host ?? '');
  if (isRefusal(admitted)) return admitted;
  const joined = await memberOf(deps, admitted, socket);
  if (!isRefusal(joined)) {
    socket.conn.once('close', (reason: string, error: unknown) => {
      if (error instanceof Error && TOO_LARGE.test(error.message))
        deps.log.warn(
          { accountId: admitted.accountId, code: 'PAYLOAD_TOO_LARGE', limitBytes: FRAME_BYTES_TO_CLOUD_MAX },
          'a frame above the limit closed the stream of an edge',
        );
      joined.left(reason !== 'ping timeout');
    });
    if (socket.conn.readyState !== 'open') joined.left(true); // It went while it was being verified.
    // Revoking a key closes the streams that exist: one that came since must not stay.
    const holds = await keyHolds(deps, socket.handshake.auth).catch((error: unknown) => {
      joined.left(true);
      throw error;
    });
    if (holds === null) {
      joined.left(true);
      return refuse('UNAUTHORIZED');
    }
    if (holds.leftMs !== null) endAfter(socket, holds.leftMs);
    const away = await edgeIsAway(deps.outages, admitted.accountId, Date.now());
    if (away !== null) {
      joined.left(true);
      return away;
    }
  }
  return joined;
}

async function memberOf(deps: StreamServerDeps, admitted: Admitted, socket: Socket): Promise<Member | Refusal> {
  const { elsewhere } = deps;
  const url = elsewhere === undefined ? null : await elsewhere.urlOf(admitted.accountId);
  if (isRefusal(url)) return url;
  return url === null ? memberHere(deps, admitted, socket) : relayTo(url, admitted, elsewhere!.trust);
}

async function memberHere(
  { rooms, log }: Pick<StreamServerDeps, 'rooms' | 'log'>,
  admitted: Admitted,
  socket: Socket,
): Promise<Member | Refusal> {
  const joined = await rooms.join(admitted, connectionOf(socket));
  return isRefusal(joined)
    ? joined
    : { open: (opened) => serve(opened, joined, log), left: (byPeer) => joined.left(byPeer) };
}

/** A stream that another node passes on: it admitted the edge, and knows when a key is revoked meanwhile. */
const relayedJoin =
  (deps: StreamServerDeps) =>
  async (admitted: Admitted, socket: Socket): Promise<Refusal | { left(byPeer: boolean): void; serve(): void }> => {
    if ((await deps.elsewhere!.urlOf(admitted.accountId)) !== null) return accountMoved();
    const member = await memberHere(deps, admitted, socket);
    return isRefusal(member) ? member : { left: (byPeer) => member.left(byPeer), serve: () => member.open(socket) };
  };

/** A timer is no longer than this. */
const TIMER_MS_MAX = 2_147_483_647;

/** Ends a stream when its key does. */
function endAfter(socket: Socket, leftMs: number): void {
  const waitMs = Math.min(leftMs, TIMER_MS_MAX);
  const timer = setTimeout(() => {
    if (leftMs > waitMs) return endAfter(socket, leftMs - waitMs);
    socket.emit('closing', { code: 'UNAUTHORIZED' });
    socket.disconnect(true);
  }, waitMs);
  socket.conn.once('close', () => clearTimeout(timer));
}

/** Every frame counts, those without a name that is known too. */
function limitFrames(socket: Socket): void {
  const rate = new FrameRate(performance.now());
  socket.use((frame, next) => {
    const verdict = rate.take(performance.now());
    if (verdict === 'taken') return next();
    if (verdict === 'flood') return void socket.disconnect(true);
    const acknowledge: unknown = frame.at(-1);
    if (typeof acknowledge === 'function')
      (acknowledge as (answer: object) => void)({ ok: false, code: 'RATE_LIMIT_EXCEEDED' });
  });
}

function serve(socket: Socket, joined: Joined, log: StreamLog): void {
  on(socket, 'heartbeat', heartbeatFrame, async (frame) => joined.heartbeat(frame));
  on(socket, 'attempts', attemptsFrame, (frame) => joined.attempts(frame));
  on(socket, 'local_keys', localKeysFrame, ({ records }) => joined.localKeys(records));
  on(socket, 'key_set', keySetFrame, ({ set }) => joined.keySet(set));
  on(socket, 'instructions', instructionsFrame, ({ records }) => joined.instructions(records));
  on(socket, 'release', releaseFrame, ({ leaseEpoch }) => joined.release(leaseEpoch));
  socket.emit('welcome', joined.welcome);
  joined.begun();

  function on<S extends z.ZodType>(
    from: Socket,
    name: string,
    schema: S,
    handle: (frame: z.infer<S>) => Promise<{ ok: boolean; code?: string | undefined } | null>,
  ): void {
    from.on(name, (raw: unknown, acknowledge: unknown) => {
      const reply = (answer: object) => {
        if (typeof acknowledge === 'function') (acknowledge as (answer: object) => void)(answer);
      };
      const parsed = schema.safeParse(raw);
      if (!parsed.success) return reply({ ok: false, code: 'INVALID_INPUT' });
      handle(parsed.data).then(
        (answer) => {
          if (answer === null) return;
          reply(answer);
          // Spec §7: "frame epoch below current; stream closed"
          if (answer.code === 'LEASE_EPOCH_STALE') from.disconnect(true);
        },
        (error: unknown) => {
          log.warn({ err: error, frame: name }, 'a frame failed');
          reply({ ok: false, code: 'INTERNAL_ERROR' });
        },
      );
    });
  }
}

function dataOf({ code, message, details }: Refusal): object {
  return { code, message, details };
}
