/** A webhook receiver that verifies what it gets: for `flock webhooks listen`, the demo and the tests. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly confirmations: number | null;
  readonly raw: string;
  readonly atMs: number;
  /** Null when no secret was given; a delivery whose signature is wrong is answered 401 and not recorded. */
  readonly verified: boolean | null;
}

export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly received: readonly ReceivedEvent[];
  /** Deliveries that were refused because their signature did not verify. */
  readonly refused: () => number;
  setSecret(secret: string): void;
  /** Status that the next deliveries are answered with; 200 by default. */
  setAnswer(answer: (event: ReceivedEvent) => number): void;
  /** Resolves with the first recorded event that matches, also one received before. Rejects after the time limit. */
  next(match: (event: ReceivedEvent) => boolean, timeoutMs?: number): Promise<ReceivedEvent>;
  close(): Promise<void>;
}

/** Bytes of a delivery that are read; our own events are far smaller. */
const BODY_BYTES_MAX = 1_048_576;

function verifierOf(secret: string): Webhook {
  const base64 = /^whsec_([A-Za-z0-9+/]+)=*$/.exec(secret)?.[1];
  // One that was cut short while it was copied is no whole number of bytes.
  if (base64 === undefined || secret.length % 4 !== 'whsec_'.length % 4)
    throw new RangeError('a secret begins with whsec_ and is base64 after it, whole');
  return new Webhook(secret);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new RangeError('delivery too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface ReceiverOptions {
  /** 0, the default, picks a free one. */
  readonly port?: number;
  readonly secret?: string;
  /** Sees each recorded event once per delivery. */
  readonly onEvent?: (event: ReceivedEvent) => void;
  /** Called when a delivery's signature does not verify. */
  readonly onRefused?: () => void;
}

/**
 * Starts the receiver on a loopback port. Throws: RangeError when the secret is none; the listen error of a taken port.
 */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const received: ReceivedEvent[] = [];
  const waiting = new Set<(event: ReceivedEvent) => void>();
  let verifier = options.secret === undefined ? null : verifierOf(options.secret);
  let answer: (event: ReceivedEvent) => number = () => 200;
  let refused = 0;

  const take = (raw: string, headers: IncomingMessage['headers']): number => {
    if (verifier !== null) {
      try {
        verifier.verify(raw, headers as Record<string, string>);
      } catch {
        refused += 1;
        options.onRefused?.();
        return 401;
      }
    }
    const parsed = JSON.parse(raw) as {
      id: string;
      event: string;
      confirmations: number | null;
      data: Record<string, unknown>;
    };
    const event: ReceivedEvent = {
      id: parsed.id,
      event: parsed.event,
      data: parsed.data,
      confirmations: parsed.confirmations ?? null,
      raw,
      atMs: performance.timeOrigin + performance.now(),
      verified: verifier === null ? null : true,
    };
    const status = answer(event);
    if (status >= 200 && status < 300) {
      received.push(event);
      options.onEvent?.(event);
      for (const look of [...waiting]) look(event);
    }
    return status;
  };

  const server: Server = createServer((request, response) => {
    bodyOf(request)
      .then(
        (raw) => {
          response.writeHead(request.method === 'POST' ? take(raw, request.headers) : 405).end();
        },
        () => {
          response.writeHead(413).end();
        },
      )
      .catch(() => {
        response.writeHead(400).end();
      });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/webhooks`,
    received,
    refused: () => refused,
    setSecret(secret) {
      verifier = new Webhook(secret);
    },
    setAnswer(next) {
      answer = next;
    },
    next(match, timeoutMs = 60_000) {
      const known = received.find(match);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(look);
          reject(
            new Error(
              `no such event within ${timeoutMs} ms; received: ${received.map((event) => event.event).join(', ') || 'nothing'}`,
            ),
          );
        }, timeoutMs);
        const look = (event: ReceivedEvent) => {
          if (!match(event)) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(event);
        };
        waiting.add(look);
      });
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
