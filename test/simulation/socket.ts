/**
 * The edge's end of a stream, with the manners of a Socket.IO client: one wire at a time, buffered until it is let in.
 */
import type { StreamSocket } from '../../edge/link/stream.ts';
import type { HandshakeAuth } from '../../protocol/frames.ts';
import type { Process } from './machine.ts';
import { copied, type Network } from './network.ts';
import type { Wire } from './wire.ts';

const CONNECT_TIMEOUT_MS = 10_000;

type Acknowledge = ((answer: unknown) => void) | null;
type Asked = { reject: (error: Error) => void };

export class SimulatedSocket implements StreamSocket {
  connected = false;
  readonly #network: Network;
  readonly #process: Process;
  readonly #auth: (give: (auth: object) => void) => void;
  readonly #listeners = new Map<string, (...values: never[]) => void>();
  readonly #asked = new Set<Asked>();
  #wire: Wire | null = null;
  #buffer: [name: string, frame: unknown, acknowledge: Acknowledge][] = [];

  constructor(network: Network, process: Process, auth: (give: (auth: object) => void) => void) {
    this.#network = network;
    this.#process = process;
    this.#auth = auth;
  }

  on(name: string, listener: (...values: never[]) => void): void {
    this.#listeners.set(name, listener);
  }

  connect(): void {
    if (this.#wire !== null) return;
    const { cloud, machine } = this.#network,
      host = this.#process.host.name;
    if (cloud === null) {
      machine.after(this.#network.latencyMs(host), () => this.#process.run(() => this.#failed({})));
      return;
    }
    const wire = this.#network.wire(this, this.#process, cloud);
    this.#wire = wire;
    this.#auth((auth) => wire.open(copied(auth) as HandshakeAuth));
    machine.after(CONNECT_TIMEOUT_MS, () =>
      this.#process.run(() => {
        if (this.#wire !== wire || this.connected) return;
        this.#drop(wire);
        this.#failed({});
      }),
    );
  }

  disconnect(): void {
    const wire = this.#wire;
    if (wire === null) return;
    const wasConnected = this.connected;
    this.#drop(wire);
    if (wasConnected) this.#tell('disconnect', 'io client disconnect');
  }

  timeout(ms: number): { emitWithAck(name: string, frame: object): Promise<unknown> } {
    return {
      emitWithAck: (name, frame) =>
        new Promise((resolve, reject) => {
          const wire = this.#wire;
          const asked = { reject };
          this.#asked.add(asked);
          this.#network.machine.after(ms, () =>
            this.#process.run(() => reject(new Error('no acknowledgement in time'))),
          );
          wire?.emit(name, frame, (answer) => {
            this.#asked.delete(asked);
            resolve(answer);
          });
        }),
    };
  }

  accepted(wire: Wire): void {
    if (wire !== this.#wire || this.connected) return;
    this.connected = true;
    for (const [name, frame, acknowledge] of this.#buffer.splice(0)) this.#tell(name, frame, acknowledge);
    this.#tell('connect');
  }

  refused(wire: Wire, details: { code: string }): void {
    if (wire !== this.#wire) return;
    this.#drop(wire);
    this.#failed(details);
  }

  receive(wire: Wire, name: string, frame: unknown, acknowledge: Acknowledge): void {
    if (wire !== this.#wire) return;
    if (this.connected) this.#tell(name, frame, acknowledge);
    else this.#buffer.push([name, frame, acknowledge]);
  }

  ended(wire: Wire, reason: string): void {
    if (wire !== this.#wire) return;
    const wasConnected = this.connected;
    this.#drop(wire);
    if (wasConnected) this.#tell('disconnect', reason);
    else this.#failed({});
  }

  #drop(wire: Wire): void {
    this.#wire = null;
    this.connected = false;
    this.#buffer = [];
    wire.close('edge');
    for (const { reject } of this.#asked) reject(new Error('the socket was closed'));
    this.#asked.clear();
  }

  #failed(details: { code?: string }): void {
    this.#tell('connect_error', Object.assign(new Error('connect_error'), { data: details }));
  }

  #tell(name: string, ...values: unknown[]): void {
    this.#listeners.get(name)?.(...(values as never[]));
  }
}
