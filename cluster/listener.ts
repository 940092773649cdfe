/**
 * The internal door of a node: a port of its own, for other nodes alone. Every call is authenticated, taken once, and
 * answered with a code of its own.
 *
 *   200  what was asked for was done; the answer says what came of it
 *   401  refused: not authenticated, for another node, replayed, or of a clock that is off. Counted by reason.
 *   421  this node does not own it: nothing was done
 *   426  a version of the messages that this node does not know
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, messageText } from '../protocol/bigint-json.ts';
import { CALL_HEADER, type CallFault } from './call-signature.ts';
import type { CallTrust } from './call-trust.ts';
import type { Logger } from 'pino';

/** A command with its rows; a snapshot of one account is the largest answer. */
const BODY_BYTES_MAX = 8 * 1_024 * 1_024;
const KEEP_ALIVE_MS = 60_000;
/** A call that was answered is remembered so long: the caller repeats what it heard nothing of. */
const ANSWERS_KEPT_MS = 60_000;
const ANSWERS_KEPT_MAX = 50_000;

/** This node does not own what a call is for. */
export const MOVED = Symbol('moved');

/** It may have been done, and its caller may ask for it again: what was asked was at work when the account left. */
export const UNKNOWN = Symbol('unknown');

/** Does what a message asks for. `MOVED` when it is another node's; may reject: the caller then knows nothing. */
export type Operation = (message: never) => Promise<unknown>;

export interface ListenerDeps {
  readonly trust: CallTrust;
  readonly elapsedMs: () => number;
  readonly log: Pick<Logger, 'warn'>;
  /** By path. */
  readonly operations: Readonly<Record<string, Operation>>;
}

interface Kept {
  readonly atMs: number;
  readonly answer: Promise<unknown>;
}

export class Listener {
  readonly server: Server;
  readonly #deps: ListenerDeps;
  /** By the caller's key, in order of age: a call that is repeated gets the first answer. */
  readonly #answers = new Map<string, Kept>();

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.server = createServer((request, response) => {
      void this.#serve(request, response).catch((error: unknown) => {
        deps.log.warn({ err: error, path: request.url }, 'a call of another node broke; its caller asks again');
        response.destroy();
      });
    });
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve((this.server.address() as AddressInfo).port);
      });
    });
  }

  /** Waits for the calls at work. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { trust, operations } = this.#deps;
    const path = request.url ?? '',
      header = request.headers[CALL_HEADER]?.toString();
    // A body that nobody reads ends the connection.
    const refuse = (status: number) => void response.writeHead(status, { connection: 'close' }).end();
    const call = trust.read(header, path);
    if (typeof call === 'string') return refuse(statusOf(call));
    const body = await bodyOf(request);
    if (body === null) return refuse(413);
    const judged = trust.judge(call, path, body);
    if (typeof judged === 'string') return refuse(statusOf(judged));
    const send = (status: number, text: string) => {
      response.writeHead(status, {
        'content-type': 'application/json',
        [CALL_HEADER]: trust.answerCode(judged.nonce, status, text),
      });
      response.end(text);
    };
    const operation = operations[path];
    if (operation === undefined) return send(404, '"no such operation"');
    const { key, ...message } = messageOf(body) as { key?: string };
    const answer = await this.#once(key, () => operation(message as never));
    if (answer === MOVED) return send(421, '');
    send(200, messageText(answer ?? null));
  }

  /** The first answer under a key. `MOVED` is not kept, nor one that broke: the caller asks again. */
  #once(key: string | undefined, act: () => Promise<unknown>): Promise<unknown> {
    if (key === undefined) return act();
    const known = this.#answers.get(key);
    if (known !== undefined) return known.answer;
    const atMs = this.#deps.elapsedMs();
    const answer = act();
    this.#answers.set(key, { atMs, answer });
    answer.then(
      (value) => value === MOVED && this.#answers.delete(key),
      () => this.#answers.delete(key),
    );
    for (const [old, { atMs: since }] of this.#answers) {
      if (atMs - since < ANSWERS_KEPT_MS && this.#answers.size <= ANSWERS_KEPT_MAX) break;
      this.#answers.delete(old);
    }
    return answer;
  }
}

const statusOf = (fault: CallFault): number => (fault === 'protocol' ? 426 : 401);

/** Null when it is longer than any call. */
function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > BODY_BYTES_MAX) resolve(null);
      else chunks.push(chunk);
    });
    request.once('end', () =>
      resolve(chunks.length === 1 ? chunks[0]!.toString('utf8') : Buffer.concat(chunks).toString('utf8')),
    );
    request.once('error', reject);
    request.once('close', () => reject(new Error('the caller went before its call was read')));
  });
}
