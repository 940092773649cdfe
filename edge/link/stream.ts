/**
 * The Socket.IO stream to the cloud: connects, comes back after a pause, hands parsed frames on. It decides nothing.
 * Socket.IO's own reconnection is off: each handshake needs a fresh signature, and a refused one is not retried by it.
 */
import { io } from 'socket.io-client';
import type { z } from 'zod';
import {
  acknowledgement,
  deliverFrame,
  FRAME_BYTES_TO_EDGE_MAX,
  instructionsFrame,
  keySetFrame,
  leaseFrame,
  localKeysFrame,
  operateFrame,
  registryFrame,
  replenishFrame,
  revokeKeysFrame,
  rotationFrame,
  signFrame,
  STREAM_PATH,
  welcomeFrame,
  type Acknowledgement,
  type HandshakeAuth,
} from '../../protocol/frames.ts';
import { backoffMs, type Backoff } from '../../protocol/backoff.ts';
import type { Timers } from '../process/timers.ts';

const RECONNECT: Backoff = { firstMs: 250, mostMs: 15_000, jitterPercent: 50 };
const CONNECT_TIMEOUT_MS = 10_000;
const ACKNOWLEDGEMENT_TIMEOUT_MS = 10_000;
/** A stream that lived this long was a good one: the next pause is the first again. */
const STABLE_MS = 5_000;

/** How the WebSocket calls a frame above the limit that it read, and the close frame of the other side (RFC 6455). */
const WS_TOO_LARGE = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  CLOSED_TOO_LARGE = 1009;

const FRAMES = {
  welcome: welcomeFrame,
  lease: leaseFrame,
  deliver: deliverFrame,
  sign: signFrame,
  operate: operateFrame,
  registry: registryFrame,
  replenish: replenishFrame,
  keys: localKeysFrame,
  key_set: keySetFrame,
  revoke_keys: revokeKeysFrame,
  instructions: instructionsFrame,
  rotation: rotationFrame,
} as const;
type Frames = typeof FRAMES;
export type FrameName = keyof Frames;

/** What is answered to a frame that asked for an acknowledgement. */
export type FrameHandlers = {
  readonly [N in FrameName]: (
    frame: z.infer<Frames[N]>,
    connectStartedAtMs: number,
  ) => Acknowledgement | void | Promise<Acknowledgement | void>;
};

/** The part of a Socket.IO client that is used here. */
export interface StreamSocket {
  readonly connected: boolean;
  connect(): unknown;
  disconnect(): unknown;
  on(name: string, listener: (...values: never[]) => void): unknown;
  timeout(ms: number): { emitWithAck(name: string, frame: object): Promise<unknown> };
}

/** Opens a socket that does not connect by itself; `auth` is asked at each handshake. */
export type OpenSocket = (cloudUrl: string, auth: (give: (auth: object) => void) => void) => StreamSocket;

/**
 * Passed on to the WebSocket, which closes with 1009; the types of Socket.IO do not have it. Without it a frame may
 * have 100 MiB.
 */
const FRAME_LIMIT = { maxPayload: FRAME_BYTES_TO_EDGE_MAX };

const openSocketIo: OpenSocket = (cloudUrl, auth) =>
  io(cloudUrl, {
    path: STREAM_PATH,
    transports: ['websocket'],
    autoConnect: false,
    reconnection: false,
    forceNew: true,
    timeout: CONNECT_TIMEOUT_MS,
    auth,
    ...FRAME_LIMIT,
  });

export interface StreamSettings {
  readonly cloudUrl: string;
  /** The wire; Socket.IO when absent. */
  readonly openSocket?: OpenSocket;
  readonly auth: () => HandshakeAuth;
  readonly timers: Timers;
  readonly monotonicMs: () => number;
  readonly handlers: FrameHandlers;
  readonly onUp: () => void;
  readonly onDown: (reason: string) => void;
  /** A frame above the limit closed the stream: the cloud's, or one that this edge sent. */
  readonly onTooLarge: (whose: 'received' | 'sent') => void;
  /** The handshake was refused, or the cloud closed the stream, with this code. */
  readonly onRefused: (code: string) => void;
  /** A frame that is not in the form of protocol/frames.ts: dropped. */
  readonly onMalformed: (name: string) => void;
  readonly onFault: (error: unknown) => void;
}

export class EdgeStream {
  readonly #settings: StreamSettings;
  readonly #socket: StreamSocket;
  #tries = 0;
  #connectStartedAtMs = 0;
  #upAtMs = 0;
  #wanted = false;
  #cancelRetry: () => void = () => undefined;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
    const { openSocket = openSocketIo } = settings;
    this.#socket = openSocket(settings.cloudUrl, (give) => give(settings.auth()));
    this.#socket.on('connect', () => {
      this.#upAtMs = settings.monotonicMs();
      settings.onUp();
    });
    this.#socket.on('connect_error', (error: Error) => {
      const code = (error as { data?: { code?: unknown } }).data?.code;
      if (typeof code === 'string') settings.onRefused(code);
      this.#retry();
    });
    this.#socket.on('disconnect', (reason: string, details: unknown) => {
      const tooLarge = tooLargeIn(details);
      if (tooLarge !== null) settings.onTooLarge(tooLarge);
      if (settings.monotonicMs() - this.#upAtMs > STABLE_MS) this.#tries = 0;
      settings.onDown(reason);
      this.#retry();
    });
    this.#socket.on('closing', (frame: unknown) => {
      const code = (frame as { code?: unknown } | null)?.code;
      if (typeof code === 'string') settings.onRefused(code);
    });
    for (const name of Object.keys(FRAMES) as FrameName[]) this.#listen(name);
  }

  get up(): boolean {
    return this.#socket.connected;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    this.#connect();
  }

  /** Ends the stream and does not come back before `start`. */
  stop(): void {
    this.#wanted = false;
    this.#cancelRetry();
    this.#socket.disconnect();
  }

  /** Drops a connection that answers nothing any more; it is opened anew after a pause. */
  cut(): void {
    this.#socket.disconnect();
  }

  /** Sends a frame; its acknowledgement in the given form, or null when none came in time. */
  async ask<S extends z.ZodType>(name: string, frame: object, reply: S): Promise<z.infer<S> | null> {
    if (!this.#socket.connected) return null;
    try {
      const answer: unknown = await this.#socket.timeout(ACKNOWLEDGEMENT_TIMEOUT_MS).emitWithAck(name, frame);
      const parsed = reply.safeParse(answer);
      if (parsed.success) return parsed.data;
      this.#settings.onMalformed(`${name} acknowledgement`);
    } catch {
      // No answer in time, or the stream broke: unknown, and the caller keeps what it sent.
    }
    return null;
  }

  report(name: string, frame: object): Promise<Acknowledgement | null> {
    return this.ask(name, frame, acknowledgement);
  }

  #connect(): void {
    this.#connectStartedAtMs = this.#settings.monotonicMs();
    this.#socket.connect();
  }

  #retry(): void {
    if (!this.#wanted) return;
    this.#cancelRetry();
    this.#cancelRetry = this.#settings.timers.after(backoffMs(this.#tries, RECONNECT, Math.random()), () => {
      if (this.#wanted && !this.#socket.connected) this.#connect();
    });
    this.#tries += 1;
  }

  #listen<N extends FrameName>(name: N): void {
    const handle = this.#settings.handlers[name] as (
      frame: unknown,
      connectStartedAtMs: number,
    ) => Acknowledgement | void | Promise<Acknowledgement | void>;
    this.#socket.on(name as string, (raw: unknown, acknowledge: unknown) => {
      const parsed = FRAMES[name].safeParse(raw);
      const answer = (reply: Acknowledgement) => {
        if (typeof acknowledge === 'function') (acknowledge as (reply: Acknowledgement) => void)(reply);
      };
      if (!parsed.success) {
        this.#settings.onMalformed(name);
        return answer({ ok: false, code: 'INVALID_INPUT' });
      }
      void (async () => answer((await handle(parsed.data, this.#connectStartedAtMs)) ?? { ok: true }))().catch(
        (error: unknown) => {
          this.#settings.onFault(error);
          answer({ ok: false, code: 'INTERNAL_ERROR' });
        },
      );
    });
  }
}

/** In what Socket.IO hands over with a disconnect: this side's error of the WebSocket, or the other's close frame. */
function tooLargeIn(details: unknown): 'received' | 'sent' | null {
  const { description, context } = (details ?? {}) as {
    readonly description?: { readonly error?: { readonly code?: unknown } };
    readonly context?: { readonly code?: unknown };
  };
  if (description?.error?.code === WS_TOO_LARGE) return 'received';
  return context?.code === CLOSED_TOO_LARGE ? 'sent' : null;
}
