/** The service that the behaviour suite is run against: it answers each request of a run as its case says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bodyOf, type Case, type Reply, type SeenRequest } from './suite.ts';

export interface ScriptedServer {
  /** Address of a new run of a case; requests to it are answered by the case's replies in turn. */
  add(one: Case): { readonly n: number; readonly base: string };
  requestsOf(n: number): readonly SeenRequest[];
  close(): Promise<void>;
}

const HANG_MS = 1_000;

interface Script {
  readonly case: Case;
  readonly seen: SeenRequest[];
}

export async function openScriptedServer(): Promise<ScriptedServer> {
  const scripts: Script[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const [, n, rest] = /^\/(\d+)(.*)$/.exec(request.url!) ?? [];
      const script = scripts[Number(n)];
      if (script === undefined) return void response.writeHead(500).end('no such run');
      script.seen.push(seenOf(request, rest!, Buffer.concat(chunks).toString('utf8')));
      answer(request, response, replyOf(script));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    add(one) {
      const n = scripts.push({ case: one, seen: [] }) - 1;
      return { n, base: `http://127.0.0.1:${port}/${n}` };
    },
    requestsOf: (n) => scripts[n]!.seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function seenOf(request: IncomingMessage, url: string, body: string): SeenRequest {
  const [path, query = ''] = url.split('?') as [string, string?];
  return {
    method: request.method!,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers: request.headers as Readonly<Record<string, string>>,
    body,
  };
}

function replyOf({ case: one, seen }: Script): Reply {
  if (one.endless === true) return { data: { content: [{ id: `adr_${seen.length}` }], next: `c${seen.length}` } };
  return one.replies?.[seen.length - 1] ?? { status: 599, text: 'one request too many', type: 'text/plain' };
}

function answer(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const { socket } = request;
  if (reply.reset === true) return void socket.resetAndDestroy();
  // A client without a limit finds out in the end, and so does its test.
  if (reply.hang !== undefined) response.setTimeout(HANG_MS, () => socket.destroy());
  if (reply.hang === 'head') return;
  const body = Buffer.from(bodyOf(reply));
  const type = reply.type ?? 'application/json';
  if (reply.unframed === true) {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n${body.toString()}`);
    return reply.hang === undefined ? void socket.end() : undefined;
  }
  response.writeHead(reply.status ?? 200, { 'content-type': type, 'content-length': body.length, ...reply.headers });
  if (reply.hang === 'body') return void response.write(body.subarray(0, body.length >> 1));
  if (reply.cut === undefined) return void response.end(body);
  // What was written has to leave before the connection breaks.
  if (reply.cut === 0) response.flushHeaders();
  else response.write(body.subarray(0, reply.cut));
  setImmediate(() => socket.destroySoon());
}
