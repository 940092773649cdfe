/**
 * One node over HTTP: bounded in time and in answer size, connections kept open, answers compressed where the node
 * can. What is no answer of the node (timeout, refusal, 429, gateway errors) is an `EndpointFailure`; an HTTP error
 * that carries the node's own JSON (Bitcoin Core answers 500, Horizon 400 and 404) is returned for the client to read.
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Pool, type Dispatcher } from 'undici';
import { ChainUnavailable, type Endpoint, type HttpReply } from '../chain.ts';
import type { Chain } from '../../protocol/slugs.ts';

/** Whole exchange, milliseconds. Choice: a full block of a busy chain on a slow node takes seconds. */
export const TIMEOUT_MS = 20_000;
/** Largest answer, bytes, before and after decompression. chains.md 10: blocks of tens of MB. */
export const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
/** Connections to one node. Choice: read-ahead of a watcher and the requests of a gateway beside it. */
const CONNECTIONS = 16;

/** A node that gave no answer of its own. `retryAfterMs` is what it asked for, if it did. */
export class EndpointFailure extends ChainUnavailable {
  readonly retryAfterMs: number | null;
  constructor(chain: Chain, reason: string, retryAfterMs: number | null = null, options?: ErrorOptions) {
    super(chain, reason, options);
    this.name = 'EndpointFailure';
    this.retryAfterMs = retryAfterMs;
  }
}

export interface HttpEndpointOptions {
  readonly chain: Chain;
  /** Shown in logs and metrics in place of the URL, which may carry a key. */
  readonly name: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly answerBytesMax?: number;
}

export interface HttpEndpoint extends Endpoint {
  /** Closes the connections; requests in flight fail. */
  close(): Promise<void>;
}

/** Statuses that say nothing about the request: a proxy or a rate limit before the node answered. */
const NO_ANSWER = new Set([408, 425, 429, 502, 503, 504]);

/**
 * An endpoint for a node's base URL; user name and password of the URL become basic authentication. Throws: TypeError.
 */
export function createHttpEndpoint(options: HttpEndpointOptions): HttpEndpoint {
  const { chain, name, timeoutMs: ownTimeoutMs = TIMEOUT_MS, answerBytesMax = ANSWER_BYTES_MAX } = options;
  const url = new URL(options.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`${name}: expected an http or https URL`);
  }
  // The signal of each request bounds it; the pool's own limits would cut off the long ones.
  const pool = new Pool(url.origin, { connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
  const headers = { 'accept-encoding': 'gzip, deflate, br', ...authorization(url), ...options.headers };
  const base = url.pathname.replace(/\/$/, '');

  const request: Endpoint['request'] = async ({ method, path, body, headers: more, timeoutMs = ownTimeoutMs }) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const reply = await pool.request({
        method,
        signal,
        path: pathOf(base, path, url.search),
        body: body ?? null,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
      });
      return await read(chain, reply, answerBytesMax);
    } catch (error) {
      if (error instanceof ChainUnavailable) throw error;
      const reason = signal.aborted ? `no answer within ${timeoutMs} ms` : connectionReason(error);
      throw new EndpointFailure(chain, reason, null, { cause: error });
    }
  };
  return { name, request, close: () => pool.destroy() };
}

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function pathOf(base: string, path: string, search: string): string {
  const joined = `${base}${path === '' || path.startsWith('/') ? path : `/${path}`}` || '/';
  return search === '' ? joined : `${joined}${joined.includes('?') ? '&' : '?'}${search.slice(1)}`;
}

/** The system's code (`ECONNREFUSED`, `UND_ERR_SOCKET`), never the message, which may name the URL. */
function connectionReason(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' ? `connection failed: ${code}` : 'connection failed';
}

async function read(chain: Chain, reply: Dispatcher.ResponseData, bytesMax: number): Promise<HttpReply> {
  const { statusCode: status } = reply;
  const headers = Object.fromEntries(Object.entries(reply.headers).map(([name, value]) => [name, String(value)]));
  if (NO_ANSWER.has(status) || (status >= 300 && status < 400)) {
    await discard(reply);
    const reason = status === 429 ? 'rate limited' : `http ${status}`;
    throw new EndpointFailure(chain, reason, retryAfterMs(headers['retry-after']));
  }
  const body = await collect(chain, reply, bytesMax);
  const text = (await decompress(headers['content-encoding'], body, bytesMax)).toString('utf8');
  if (status >= 500 && !/json/.test(headers['content-type'] ?? '')) throw new EndpointFailure(chain, `http ${status}`);
  return { status, headers, text };
}

/** A body that is not wanted is drained up to a little, so that the connection can be used again. */
async function discard(reply: Dispatcher.ResponseData): Promise<void> {
  await reply.body.dump({ limit: 64 * 1024 });
}

async function collect(chain: Chain, reply: Dispatcher.ResponseData, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of reply.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bytesMax) throw new EndpointFailure(chain, `answer larger than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length);
}

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECOMPRESSORS: Readonly<Record<string, Decompress>> = {
  gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
  deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
  br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
};

async function decompress(encoding: string | undefined, body: Buffer, maxOutputLength: number): Promise<Buffer> {
  const run = DECOMPRESSORS[encoding ?? ''];
  return run === undefined ? body : run(body, { maxOutputLength });
}

/** Limit of what a node may ask us to wait, milliseconds. */
const RETRY_AFTER_MS_MAX = 300_000;

/** Seconds of a Retry-After header; its date form is not used by nodes. */
function retryAfterMs(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Math.min(Number(text) * 1_000, RETRY_AFTER_MS_MAX) : null;
}
