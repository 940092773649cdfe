/**
 * Streams of accounts that live on another node. The node that an edge reached admits it, then passes its frames on as
 * they come, in both directions, over one stream of its own to the owner. The owner serves it as one of its own.
 *
 *   edge ══frames══ door (admits: key, signature, nonce, rate of frames) ══frames══ owner (room, lease, deliveries)
 *
 * When either end goes, so does the other: the edge comes back, to whichever node, and from there to the owner of then.
 *
 * What an edge sends is written anew here, and the encoder of Socket.IO goes down every level by itself: a frame or an
 * acknowledgement with more levels than any of ours has is not passed on.
 */
import type { Server as HttpServer } from 'node:http';
import { Server, type Socket } from 'socket.io';
import { io as connect, type Socket as Upstream } from 'socket.io-client';
import { isRefusal, readRefusal, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import { isAccountId } from '../../protocol/ids.ts';
import { endHandshake, limitHandshakes } from './handshake-size.ts';
import type { Admitted } from './ports.ts';

/** On the internal port of a node. */
export const RELAY_PATH = '/edges/stream';
const JOIN_MS = 8_000;
/** Frames of the owner while the edge's own stream is being opened: the welcome and what follows it. */
const HELD_FRAMES_MAX = 10_000;
/** Levels of arrays and objects in a frame; ours have six, and what a refusal says of itself a few more. */
const LEVELS_MAX = 64;
/** Not a frame of an edge: how its stream ended. */
const LEFT = 'door:left';

/** Signs and verifies what a door says of an edge. */
export interface RelayTrust {
  sign(url: string, path: string, body: string): string;
  /** Null when it is good and new; else what is wrong. */
  verify(header: string, path: string, body: string): string | null;
}

/** The other end of a relayed stream. */
export interface Relayed {
  /** The edge's stream is open: what waited follows, then everything as it comes. */
  open(socket: Socket): void;
  left(byPeer: boolean): void;
}

/** Opens the stream to the owner. Refuses: what the owner refuses, SERVICE_UNAVAILABLE when it cannot be reached. */
export async function relayTo(url: string, admitted: Admitted, trust: RelayTrust): Promise<Relayed | Refusal> {
  const body = JSON.stringify(admitted);
  const upstream = connect(url, {
    path: RELAY_PATH,
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    timeout: JOIN_MS,
    auth: { call: trust.sign(url, RELAY_PATH, body), body },
  });
  const held: unknown[][] = [];
  const hold = (...frame: unknown[]): void => {
    if (held.length < HELD_FRAMES_MAX) held.push(frame);
  };
  upstream.onAny(hold);
  const refusal = await joined(upstream);
  if (refusal !== null) {
    upstream.disconnect();
    return refusal;
  }
  return {
    open(socket) {
      upstream.offAny(hold);
      const down = (...frame: unknown[]): void =>
        void socket.emit(...(frame.map(onlyWritable) as [string, ...unknown[]]));
      for (const frame of held.splice(0)) down(...frame);
      upstream.onAny(down);
      // Behind the middleware that counts frames: `onAny` would hear of those above the rate too.
      socket.use(([name, ...given]: [string, ...unknown[]]) => {
        if (name === LEFT) return;
        const acknowledge = given.at(-1);
        if (isWritable(given)) upstream.emit(name, ...given);
        else if (typeof acknowledge === 'function')
          (acknowledge as (answer: object) => void)({ ok: false, code: 'INVALID_INPUT' });
      });
      upstream.on('disconnect', () => socket.disconnect(true));
      if (!upstream.connected) socket.disconnect(true);
    },
    left(byPeer) {
      if (upstream.connected) upstream.emit(LEFT, byPeer);
      upstream.disconnect();
    },
  };
}

/** Whether a value has no more than `LEVELS_MAX` levels; what else JSON gives can be written. */
function isWritable(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > LEVELS_MAX) return false;
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null && !isBytes(one) ? Object.values(one) : [],
    );
  }
  return true;
}

const isBytes = (value: object): boolean => ArrayBuffer.isView(value) || value instanceof ArrayBuffer;

/** An acknowledgement that the edge is asked for: one that cannot be written is none, and the owner waits in vain. */
function onlyWritable(given: unknown): unknown {
  if (typeof given !== 'function') return given;
  return (...answer: unknown[]) => {
    if (isWritable(answer)) (given as (...all: unknown[]) => void)(...answer);
  };
}

function joined(upstream: Upstream): Promise<Refusal | null> {
  return new Promise((resolve) => {
    upstream.once('connect', () => resolve(null));
    upstream.once('disconnect', () => resolve(unreached()));
    upstream.once('connect_error', (error) => {
      const { data } = error as Error & { data?: { code?: ErrorCode; message?: string; details?: object } };
      resolve(
        data?.code === undefined ? unreached() : readRefusal(data.code, { ...data.details }, data.message ?? data.code),
      );
    });
  });
}

const unreached = (): Refusal =>
  refuse('SERVICE_UNAVAILABLE', { reason: 'the node of this account did not answer', retryAfterSeconds: 1 });

export interface RelayServerDeps {
  readonly httpServer: HttpServer;
  readonly trust: Pick<RelayTrust, 'verify'>;
  readonly options: ConstructorParameters<typeof Server>[1];
  /** Joins the room as a stream of this node does. `left` ends it. */
  join(admitted: Admitted, socket: Socket): Promise<Refusal | { left(byPeer: boolean): void; serve(): void }>;
}

/** Takes the streams that other nodes pass on. */
export function attachRelay({ httpServer, trust, options, join }: RelayServerDeps): { close(): void } {
  const io = new Server(httpServer, { ...options, path: RELAY_PATH });
  limitHandshakes(io);
  io.use((socket, next) => {
    const admitted = admittedOf(socket.handshake.auth, trust);
    const refuseWith = ({ code, message, details }: Refusal) =>
      next(Object.assign(new Error(code), { data: { code, message, details } }));
    if (isRefusal(admitted)) return refuseWith(admitted);
    join(admitted, socket).then(
      (member) => {
        if ('code' in member) return refuseWith(member);
        let byPeer: boolean | null = null;
        socket.on(LEFT, (said: unknown) => {
          byPeer = said === true;
        });
        // A door that is gone says nothing of the edge, which may be well: it comes back through another one.
        socket.conn.once('close', () => member.left(byPeer ?? false));
        if (socket.conn.readyState !== 'open') member.left(false);
        (socket.data as { serve?: () => void }).serve = () => member.serve();
        next();
      },
      () => refuseWith(refuse('INTERNAL_ERROR')),
    );
  });
  io.on('connection', (socket) => {
    endHandshake(socket);
    (socket.data as { serve(): void }).serve();
  });
  return {
    close() {
      io.disconnectSockets(true);
      io.engine.close();
    },
  };
}

function admittedOf(auth: Readonly<Record<string, unknown>>, trust: Pick<RelayTrust, 'verify'>): Admitted | Refusal {
  const { call, body } = auth;
  if (typeof call !== 'string' || typeof body !== 'string') return refuse('UNAUTHORIZED');
  const fault = trust.verify(call, RELAY_PATH, body);
  // The node that was there before at this place: its successor may own nothing yet.
  if (fault === 'receiver') return unreached();
  const admitted = fault === null ? (JSON.parse(body) as Admitted) : null;
  return admitted !== null && isAccountId(admitted.accountId) ? admitted : refuse('UNAUTHORIZED');
}
