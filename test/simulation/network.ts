/**
 * The network between edges and the cloud: streams (as Socket.IO carries them) and single requests. Each edge has a
 * link that can be slow, silent (nothing passes and nobody is told) or cut (both ends are told, or the cloud alone, as
 * behind a proxy that died on one side). On a link that misbehaves frames also arrive twice, or later than ones sent
 * after.
 */
import type { OpenSocket } from '../../edge/link/stream.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { SimulatedSocket } from './socket.ts';
import type { Machine, Process } from './machine.ts';
import { Wire, type Accepts } from './wire.ts';

/** A client gives a request up after this, as edge/link/upstream.ts does. Milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Socket.IO: ping interval and timeout of gateway/edge-stream/server.ts together. */
export const PING_TIMEOUT_MS = 25_000;
const LATENCY_MS = { least: 1, below: 12 } as const;

export interface Link {
  /** Nothing passes; TCP sends it again when the link is back. */
  isSilent: boolean;
  slowMs: number;
  /** Share of frames that arrive twice, or late. */
  disorder: number;
  /** Counts silences, so that an old one ends no new stream. */
  silence: number;
}

/** The cloud as the network sees it. */
export interface CloudEnd {
  readonly process: Process;
  readonly accepts: Accepts;
  request(operation: string, call: { params?: Record<string, string>; body?: unknown }): Promise<unknown>;
}

export class Network {
  readonly machine: Machine;
  readonly #links = new Map<string, Link>();
  readonly #wires = new Set<Wire>();
  #cloud: CloudEnd | null = null;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  get cloud(): CloudEnd | null {
    return this.#cloud?.process.dead === false ? this.#cloud : null;
  }

  set cloud(cloud: CloudEnd | null) {
    this.#cloud = cloud;
  }

  /** The link of a host; it stays when its process ends. */
  link(host: string): Link {
    const known = this.#links.get(host);
    if (known !== undefined) return known;
    const link = { isSilent: false, slowMs: 0, disorder: 0, silence: 0 };
    this.#links.set(host, link);
    return link;
  }

  latencyMs(host: string): number {
    const { least, below } = LATENCY_MS;
    return this.machine.between(least, below) + this.machine.random() * this.link(host).slowMs;
  }

  /** The wire port of an edge's stream. */
  opens(process: Process): OpenSocket {
    return (_cloudUrl, auth) => new SimulatedSocket(this, process, auth);
  }

  wire(socket: SimulatedSocket, edge: Process, cloud: CloudEnd): Wire {
    const wire = new Wire(this, socket, edge, cloud, () => this.#wires.delete(wire));
    this.#wires.add(wire);
    return wire;
  }

  silence(host: string): void {
    const link = this.link(host);
    if (link.isSilent) return;
    link.isSilent = true;
    this.#expectPings((wire) => wire.edge.host.name === host);
  }

  restore(host: string): void {
    const link = this.link(host);
    link.isSilent = false;
    link.silence += 1;
    for (const wire of this.#wires) if (wire.edge.host.name === host) wire.flush();
  }

  /** Streams of a host end; with `told` only the cloud learns of it at once. */
  cut(host: string, told: 'both' | 'cloud'): void {
    for (const wire of [...this.#wires]) if (wire.edge.host.name === host) wire.cut(told);
  }

  /** A process that does not run answers no pings. */
  froze(process: Process): void {
    this.#expectPings((wire) => wire.edge === process || wire.cloud.process === process);
  }

  /** The kernel closes what a dead process had open. */
  died(process: Process): void {
    for (const wire of [...this.#wires]) {
      if (wire.edge === process) wire.close('edge');
      else if (wire.cloud.process === process) wire.close('cloud');
    }
  }

  /** A request of an edge; UPSTREAM_UNAVAILABLE when no answer comes, whatever the cloud did. */
  request(
    edge: Process,
    operation: string,
    call: { params?: Record<string, string>; body?: unknown },
  ): Promise<unknown | Refusal> {
    const host = edge.host.name,
      { machine } = this,
      cloud = this.cloud;
    return new Promise((resolve) => {
      const answer = (value: unknown) => edge.run(() => resolve(value));
      const none = () => answer(refuse('UPSTREAM_UNAVAILABLE', { reason: 'no_answer' }));
      const timeout = machine.after(REQUEST_TIMEOUT_MS, none);
      const soon = (value: () => void) => {
        machine.cancel(timeout);
        machine.after(this.latencyMs(host), value);
      };
      if (this.link(host).isSilent) return;
      if (cloud === null) return soon(none);
      machine.after(this.latencyMs(host), () => {
        if (cloud.process.dead) return soon(none);
        if (this.link(host).isSilent) return;
        cloud.process.run(
          () =>
            void cloud.request(operation, copied(call)).then((value) => {
              if (!this.link(host).isSilent) soon(() => answer(copied(value)));
            }),
        );
      });
    });
  }

  #expectPings(concerns: (wire: Wire) => boolean): void {
    for (const wire of this.#wires) {
      if (!concerns(wire)) continue;
      const { silence } = this.link(wire.edge.host.name),
        thaws = wire.thaws;
      this.machine.after(PING_TIMEOUT_MS, () => {
        const link = this.link(wire.edge.host.name);
        const isQuiet =
          (link.isSilent && link.silence === silence) ||
          ((wire.edge.frozen || wire.cloud.process.frozen) && wire.thaws === thaws);
        if (isQuiet) wire.timeOut();
      });
    }
  }

  /** A process that was frozen is back: a silence that began before has ended. */
  thawed(process: Process): void {
    for (const wire of this.#wires) if (wire.edge === process || wire.cloud.process === process) wire.thaws += 1;
  }
}

/** What arrives is never the sender's own object. */
export function copied<T>(value: T): T {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as T);
}
