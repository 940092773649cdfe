/**
 * The cloud over REST. Every request carries the API key and the signature of the edge's identity (spec §5.3), the
 * forwarded ones too. Nothing is retried here: whoever asks knows whether asking twice is safe.
 */
import { randomBytes } from 'node:crypto';
import { Agent, fetch as fetchOver, type Dispatcher } from 'undici';
import { refuse, type Refusal } from '../protocol/errors.ts';
import { createClient, type Client } from '../protocol/client.ts';
import { STREAM_PATH } from '../protocol/frames.ts';
import { signRequest } from '../protocol/http-signature.ts';
import type { Identity } from './identity.ts';

const CONNECTIONS = 64;
const ANSWER_TIMEOUT_MS = 30_000;
/** Larger answers are cut: the largest page of the service is below a hundredth of this. */
const ANSWER_BYTES_MAX = 32 * 1_024 * 1_024;
const NONCE_BYTES = 16;

export interface ForwardedRequest {
  readonly method: string;
  /** Raw path with query, as the caller sent it. */
  readonly pathAndQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}
export interface ForwardedAnswer { readonly status: number; readonly headers: Dispatcher.ResponseData['headers']; readonly body: Buffer }

export interface Upstream {
  /** Signed calls of the route table. */
  readonly signed: Client;
  /** Calls with the API key alone: they work while another identity waits for the owner's approval. */
  readonly unsigned: Client;
  /** Passes a caller's request on, signed. Refuses: UPSTREAM_UNAVAILABLE. */
  forward(request: ForwardedRequest): Promise<ForwardedAnswer | Refusal>;
  /** Headers of the stream's handshake. protocol/frames.ts. */
  handshakeHeaders(): Record<string, string>;
  close(): Promise<void>;
}

export interface UpstreamSettings {
  readonly cloudUrl: string;
  readonly apiKey: string;
  readonly identity: Identity;
  readonly nowMs: () => number;
}

export function createUpstream({ cloudUrl, apiKey, identity, nowMs }: UpstreamSettings): Upstream {
  const agent = new Agent({
    connections: CONNECTIONS, allowH2: false, headersTimeout: ANSWER_TIMEOUT_MS, bodyTimeout: ANSWER_TIMEOUT_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
  });
  const signer = { keyId: identity.publicKey, sign: (message: Uint8Array) => identity.sign(message) };
  const sign = (method: string, url: string, body: string | Buffer) =>
    signRequest({ method, url, body }, signer, randomBytes(NONCE_BYTES).toString('hex'), nowMs());
  // One pool of connections, closed with the edge. The fetch of this package takes its own agents only.
  const overAgent = ((url: string, init: object) => fetchOver(url, { ...init, dispatcher: agent })) as unknown as typeof fetch;
  const options = { baseUrl: cloudUrl, apiKey, timeoutMs: ANSWER_TIMEOUT_MS, fetch: overAgent };
  return {
    signed: createClient({ ...options, sign: ({ method, url, body }) => sign(method, url, body) }),
    unsigned: createClient(options),
    handshakeHeaders: () => ({ 'x-api-key': apiKey, ...sign('GET', cloudUrl + STREAM_PATH, '') }),
    async forward({ method, pathAndQuery, headers, body }) {
      const url = cloudUrl + pathAndQuery;
      try {
        const answer = await agent.request({
          origin: new URL(cloudUrl).origin, path: new URL(url).pathname + new URL(url).search, method: method as Dispatcher.HttpMethod,
          headers: { ...headers, 'x-api-key': apiKey, ...sign(method, url, body) }, body: body.length === 0 ? null : body,
        });
        return { status: answer.statusCode, headers: answer.headers, body: await bytesOf(answer.body) };
      } catch (error) {
        return refuse('UPSTREAM_UNAVAILABLE', { reason: (error as { code?: string }).code ?? 'no_answer' });
      }
    },
    close: () => agent.destroy(),
  };
}

async function bytesOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) throw Object.assign(new Error('the answer is too large'), { code: 'ANSWER_TOO_LARGE' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
