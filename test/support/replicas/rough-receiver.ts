/** A webhook receiver that answers, refuses, hangs and breaks off, and remembers everything that it got. */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Arrival {
  readonly eventId: string;
  readonly event: string;
  readonly raw: string;
  readonly txid: string | null;
  readonly atMs: number;
  /** The receiver means to say 2xx. */ readonly taken: boolean;
}

/** 500, a redirect, a broken connection, or a slow answer that is a good one. */
const SLOW = 3;
const SLOW_MS = 700;

export class RoughReceiver {
  readonly arrivals: Arrival[] = [];
  /** Deliveries whose signature did not verify. */
  forged = 0;
  /** Below this share a delivery is treated badly. */
  roughness = 0;
  #verifier: Webhook | null = null;
  readonly #server: Server;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () =>
        this.#take(Buffer.concat(chunks).toString('utf8'), request.headers as Record<string, string>, response),
      );
      request.on('error', () => undefined);
      response.on('error', () => undefined);
    });
  }

  static async start(random: () => number): Promise<RoughReceiver> {
    const receiver = new RoughReceiver(random);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/webhooks`;
  }

  setSecret(secret: string): void {
    this.#verifier = new Webhook(secret);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #take(raw: string, headers: Record<string, string>, response: ServerResponse): void {
    try {
      this.#verifier?.verify(raw, headers);
    } catch {
      this.forged += 1;
      return void response.writeHead(401).end();
    }
    const { id, event, data } = JSON.parse(raw) as { id: string; event: string; data: { txid?: string } };
    const kind = this.#random() < this.roughness ? Math.floor(this.#random() * 4) : null;
    this.arrivals.push({
      eventId: id,
      event,
      raw,
      txid: data.txid ?? null,
      atMs: performance.now(),
      taken: kind === null || kind === SLOW,
    });
    if (kind === null) return void response.writeHead(204).end();
    if (kind === 0) return void response.writeHead(500).end();
    if (kind === 1) return void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    if (kind === 2) return void response.destroy();
    setTimeout(() => response.writeHead(200).end(), SLOW_MS);
  }
}
