/**
 * Stellar servers for the demo and the tests: RPC and Horizon in front of one ledger, in the process and over HTTP.
 * Each server can be made to lag, to lose its history, to limit its callers, to time out, to lie, to go silent and to
 * die.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NoAnswer, type InProcess, type InProcessReply } from '../in-process.ts';
import { getHorizon, postHorizon, problem, type HorizonReply, type HorizonView } from './horizon.ts';
import { ledgerRecord, type Json } from './horizon-records.ts';
import type { StellarLedger } from './ledger.ts';
import { answerRpc, RpcFailure, type RpcView } from './rpc.ts';

/** Sees an honest answer and gives another one. `what` is a method, or a path of Horizon without its query. */
export type Lie = (what: string, honest: unknown) => unknown;

export class StellarServer implements RpcView, HorizonView {
  readonly name: string;
  readonly kind: 'rpc' | 'horizon';
  readonly ledger: StellarLedger;
  /** Ledgers by which it is behind. */
  lag = 0;
  /** Ledgers that it keeps; null: all. */
  retention: number | null = null;
  passphrase: string;
  illness: string | null = null;
  nullEntries = false;
  hasAsync = true;
  closesOnSubmit = true;
  /** Calls that are still answered before each further one gets 429; null: no limit. */
  callsLeft: number | null = null;
  /** The next submission is applied and answered with a 504. */
  timesOutOnce = false;
  lie: Lie | null = null;
  /** Connections are cut without an answer. */
  dead = false;
  /** Streams stay open and send nothing. */
  silent = false;
  /** What was asked, in order. */
  readonly asked: string[] = [];
  #server: Server | null = null;
  readonly #streams = new Set<ServerResponse>();

  constructor(ledger: StellarLedger, kind: 'rpc' | 'horizon', name: string = kind) {
    this.ledger = ledger;
    this.kind = kind;
    this.name = name;
    this.passphrase = ledger.passphrase;
  }

  get newest(): number {
    return Math.max(this.ledger.first, this.ledger.newest.height - this.lag);
  }

  get oldest(): number {
    return this.retention === null ? this.ledger.first : Math.max(this.ledger.first, this.newest - this.retention + 1);
  }

  /** The server without a socket. */
  get endpoint(): InProcess {
    return {
      name: this.name,
      request: async ({ method, path, body = '' }) => this.#reply(method, path === '' ? '/' : path, body),
    };
  }

  #reply(method: string, target: string, body: string): InProcessReply {
    if (this.dead) throw new NoAnswer('connection failed: ECONNRESET');
    const { status, headers = {}, body: value } = this.#limited() ?? this.#answer(method, target, body);
    // What the transport makes of statuses that say nothing about the request.
    if (status === 429 || status === 503 || status === 504)
      throw new NoAnswer(status === 429 ? 'rate limited' : `http ${status}`);
    return { status, headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(value) };
  }

  #limited(): HorizonReply | null {
    if (this.callsLeft === null) return null;
    if (this.callsLeft <= 0) return problem(429, 'rate_limit_exceeded', 'Rate Limit Exceeded');
    this.callsLeft -= 1;
    return null;
  }

  #answer(method: string, target: string, body: string): HorizonReply {
    return this.kind === 'rpc' ? this.#answerRpc(method, body) : this.#answerHorizon(method, target, body);
  }

  #answerRpc(http: string, body: string): HorizonReply {
    if (http !== 'POST') return { status: 405, body: { error: 'method not allowed' } };
    const { id = null, method = '', params } = parsed(body);
    this.asked.push(String(method));
    const fail = (code: number, message: string): HorizonReply => ({
      status: 200,
      body: { jsonrpc: '2.0', id, error: { code, message } },
    });
    try {
      const honest = answerRpc(this, String(method), params);
      if (method === 'sendTransaction' && this.#timesOut()) return problem(504, 'timeout', 'Timeout');
      return {
        status: 200,
        body: { jsonrpc: '2.0', id, result: this.lie === null ? honest : this.lie(String(method), honest) },
      };
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return fail(error.code, error.message);
    }
  }

  #answerHorizon(http: string, target: string, body: string): HorizonReply {
    const { pathname, searchParams } = new URL(target, 'http://horizon');
    this.asked.push(`${http} ${pathname}`);
    if (http === 'POST' && pathname === '/') return problem(405, 'method_not_allowed', 'Method Not Allowed');
    const reply =
      http === 'POST'
        ? postHorizon(this, pathname, new URLSearchParams(body))
        : getHorizon(this, pathname, searchParams);
    if (http === 'POST' && this.#timesOut()) return problem(504, 'timeout', 'Timeout');
    return this.lie === null ? reply : { ...reply, body: this.lie(pathname, reply.body) as Json };
  }

  #timesOut(): boolean {
    if (!this.timesOutOnce) return false;
    this.timesOutOnce = false;
    this.ledger.close();
    return true;
  }

  /** Base URL, after `listen`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    const server = createServer((request, response) => {
      if (this.dead) {
        request.socket.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#respond(request, response, Buffer.concat(chunks).toString('utf8')));
    });
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  #respond(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { method = 'GET', url = '/', headers } = request;
    if (this.kind === 'horizon' && headers.accept === 'text/event-stream') {
      this.#open(response);
      return;
    }
    const { status, headers: own = {}, body: value } = this.#limited() ?? this.#answer(method, url, body);
    const retry = status === 429 ? { 'retry-after': '1' } : {};
    response.writeHead(status, { 'content-type': 'application/json', ...own, ...retry }).end(JSON.stringify(value));
  }

  /** A stream of ledgers: one event for each that closes while it is open. */
  #open(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write('retry: 1000\nevent: open\ndata: "hello"\n\n');
    this.#streams.add(response);
    response.on('close', () => this.#streams.delete(response));
  }

  /** Sends the newest ledger to the streams, unless the server has gone silent. */
  tell(): void {
    if (this.silent) return;
    const record = ledgerRecord(this.ledger.at(this.newest)!);
    for (const stream of this.#streams)
      stream.write(`id: ${String(record['paging_token'])}\ndata: ${JSON.stringify(record)}\n\n`);
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    for (const stream of this.#streams) stream.end();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

function parsed(body: string): { readonly id?: unknown; readonly method?: unknown; readonly params?: unknown } {
  try {
    return (JSON.parse(body) ?? {}) as Json;
  } catch {
    return {};
  }
}
