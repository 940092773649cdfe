/**
 * One TCP connection between an edge and the cloud. Each end is open or closed by itself: what an end does not know
 * yet, it goes on believing. Frames of one direction arrive in order unless their link is in disorder.
 */
import type { Connection } from '../../gateway/edge-stream/sessions.ts';
import type { Joined } from '../../gateway/edge-stream/rooms.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { HandshakeAuth } from '../../protocol/frames.ts';
import { type CloudEnd, type Network, PING_TIMEOUT_MS, copied } from './network.ts';
import type { Process } from './machine.ts';
import type { SimulatedSocket } from './socket.ts';

/** The cloud's side of a new stream. */
export interface Accepts {
  admit(auth: HandshakeAuth, connection: Connection): Promise<Joined | Refusal>;
  /** A frame of the edge; what it is answered, and whether the stream is closed then. */
  frame(joined: Joined, name: string, frame: unknown): Promise<{ ok: boolean; code?: string | undefined }>;
}

type End = 'edge' | 'cloud';
type Direction = 'up' | 'down';

/** A frame that is late comes up to this much after its turn. Milliseconds. */
const LATE_MS_MAX = 1_500;

export class Wire {
  readonly edge: Process;
  readonly cloud: CloudEnd;
  thaws = 0;
  readonly #network: Network;
  readonly #socket: SimulatedSocket;
  readonly #onGone: () => void;
  readonly #open = { edge: true, cloud: true };
  readonly #lastMs = { up: 0, down: 0 };
  #held: (() => void)[] = [];
  #joined: Joined | null = null;
  /** Why the cloud's end closed before it had joined. */
  #leftBy: boolean | null = null;

  constructor(network: Network, socket: SimulatedSocket, edge: Process, cloud: CloudEnd, onGone: () => void) {
    this.#network = network;
    this.#socket = socket;
    this.edge = edge;
    this.cloud = cloud;
    this.#onGone = onGone;
  }

  /** The handshake, and then the frames of the edge. */
  open(auth: HandshakeAuth): void {
    const { process, accepts } = this.cloud;
    this.#send(
      'up',
      () =>
        void accepts.admit(auth, this.#connection()).then((joined) => {
          if (isRefusal(joined)) {
            this.#send('down', () => this.#socket.refused(this, { code: joined.code }));
            this.#open.cloud = false;
            return;
          }
          this.#joined = joined;
          if (!this.#open.cloud) return joined.left(this.#leftBy ?? true);
          this.#send('down', () => this.#socket.accepted(this));
          this.#send('down', () => this.#socket.receive(this, 'welcome', copied(joined.welcome), null));
          joined.begun();
        }),
      process,
    );
  }

  /** A frame of the edge. `acknowledge` is called in the edge. */
  emit(name: string, frame: object, acknowledge: (answer: unknown) => void): void {
    const sent = copied(frame);
    this.#send('up', () => {
      const joined = this.#joined;
      if (joined === null) return;
      void this.cloud.accepts.frame(joined, name, sent).then((answer) => {
        this.#send('down', () => acknowledge(copied(answer)));
        if (answer.code === 'LEASE_EPOCH_STALE') this.close('cloud');
      });
    });
  }

  /** One end closes; the other one is told in order. */
  close(end: End): void {
    if (!this.#open[end]) return;
    this.#send(end === 'edge' ? 'up' : 'down', () => this.#ended(end === 'edge' ? 'cloud' : 'edge', true), null, true);
    this.#ended(end, true, false);
  }

  cut(told: 'both' | 'cloud'): void {
    this.#held = [];
    const { machine } = this.#network;
    machine.after(1, () => this.#ended('cloud', true));
    machine.after(told === 'both' ? 1 : PING_TIMEOUT_MS, () => this.#ended('edge', true));
  }

  /** Neither end has heard of the other for too long. */
  timeOut(): void {
    this.#held = [];
    this.#ended('cloud', false);
    this.#ended('edge', true);
  }

  /** The link is back: what was held arrives. */
  flush(): void {
    for (const arrive of this.#held.splice(0)) this.#network.machine.after(1, arrive);
  }

  #connection(): Connection {
    return {
      send: (frame, body) => {
        const sent = copied(body);
        this.#send('down', () => this.#socket.receive(this, frame, sent, null));
      },
      ask: (frame, body, timeoutMs) =>
        new Promise((resolve) => {
          const { machine } = this.#network,
            { process } = this.cloud,
            sent = copied(body);
          machine.after(timeoutMs, () => process.run(() => resolve(null)));
          this.#send('down', () =>
            this.#socket.receive(this, frame, sent, (answer) => {
              const answered = copied(answer);
              this.#send('up', () => resolve(answered));
            }),
          );
        }),
      close: (code) => {
        this.#send('down', () => this.#socket.receive(this, 'closing', { code }, null));
        this.close('cloud');
      },
    };
  }

  /** Sends one thing; `isControl` is never doubled or late. */
  #send(direction: Direction, arrive: () => void, _to: Process | null = null, isControl = false): void {
    const from: End = direction === 'up' ? 'edge' : 'cloud',
      to: End = direction === 'up' ? 'cloud' : 'edge';
    if (!this.#open[from]) return;
    const { machine } = this.#network,
      host = this.edge.host.name,
      { disorder } = this.#network.link(host);
    const receiver = direction === 'up' ? this.cloud.process : this.edge;
    const land = () => {
      if (!this.#open[to]) return;
      if (this.#network.link(host).isSilent) return void this.#held.push(land);
      receiver.run(() => {
        if (this.#open[to]) arrive();
      });
    };
    const atMs = Math.max(this.#lastMs[direction], machine.nowMs + this.#network.latencyMs(host));
    const isLate = !isControl && machine.chance(disorder);
    if (!isLate) this.#lastMs[direction] = atMs;
    machine.after(atMs - machine.nowMs + (isLate ? machine.random() * LATE_MS_MAX : 0), land);
    if (!isControl && this.#joined !== null && machine.chance(disorder)) {
      machine.after(atMs - machine.nowMs + machine.random() * LATE_MS_MAX, land);
    }
  }

  /** One end is closed; its process is told unless it closed it itself. */
  #ended(end: End, byPeer: boolean, isTold = true): void {
    if (!this.#open[end]) return;
    this.#open[end] = false;
    if (!this.#open.edge && !this.#open.cloud) this.#onGone();
    if (end === 'edge') {
      if (isTold) this.edge.run(() => this.#socket.ended(this, byPeer ? 'transport close' : 'ping timeout'));
      return;
    }
    this.#leftBy = byPeer;
    this.cloud.process.run(() => this.#joined?.left(byPeer));
  }
}
