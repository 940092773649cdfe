/** Webhook receivers that behave as badly as real ones do. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import type { ExecutionContext } from 'ava';

export interface Hit {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
export interface TestReceiver {
  readonly url: string;
  readonly port: number;
  readonly hits: Hit[];
  readonly close: () => Promise<void>;
}

type Answer = (response: ServerResponse, hit: Hit) => void;

/** An HTTP receiver on a loopback port that answers as told. */
export async function startReceiver(
  t: ExecutionContext,
  answer: Answer = (response) => response.end('ok'),
): Promise<TestReceiver> {
  const hits: Hit[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const hit = {
        method: request.method!,
        url: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      };
      hits.push(hit);
      answer(response, hit);
    });
    response.on('error', () => undefined);
  });
  return { hits, ...(await listen(t, server, () => server.closeAllConnections())) };
}

/** A TCP listener that does with a connection what it is told, for what is no HTTP at all. */
export async function startTcp(
  t: ExecutionContext,
  onConnection: (socket: import('node:net').Socket) => void,
): Promise<{ url: string; port: number; close: () => Promise<void> }> {
  const sockets = new Set<import('node:net').Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  return listen(t, server, () => sockets.forEach((socket) => socket.destroy()));
}

async function listen(
  t: ExecutionContext,
  server: Server,
  cut: () => void,
): Promise<{ url: string; port: number; close: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      cut();
    });
  t.teardown(close);
  return { port, url: `http://127.0.0.1:${port}`, close };
}
