/**
 * The cloud over REST. Every request carries the API key and the signature of the edge's identity (spec §5.3), the
 * forwarded ones too. Nothing is retried here: the caller knows whether asking twice is safe.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Agent, fetch as fetchOver, type Dispatcher } from 'undici';
import { isShortWork } from '../answers/answer-size.ts';
import { ERRORS, refuse, type Refusal } from '../../protocol/errors.ts';
import { createClient, type Client } from '../../protocol/client.ts';
import { STREAM_PATH } from '../../protocol/frames.ts';
import { signRequest } from '../../protocol/node/http-signature.ts';
import { AnswerTooLarge, boundedAnswer, bytesOf, OWN_ANSWER_BYTES_MAX } from './bounded-answer.ts';
import type { Identity } from './identity.ts';

const CONNECTIONS = 64;
const ANSWER_TIMEOUT_MS = 30_000;
const NONCE_BYTES = 16;

export interface ForwardedRequest {
  readonly method: string;
  /** Raw path with query, as the caller sent it. */
  readonly pathAndQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Larger answers are cut, before any of it is parsed; answers/answer-size.ts. */
  readonly bytesMax: number;
}
export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Buffer;
}

/** A file as it begins. */
export interface FileAnswer {
  readonly type: string;
  readonly file: Readable;
}

export interface Upstream {
  /** Signed calls of the route table. */
  readonly signed: Client;
  /** Calls with the API key alone: they work while another identity waits for the owner's approval. */
  readonly unsigned: Client;
  /**
   * Passes a caller's request on, signed. Refuses: UPSTREAM_UNAVAILABLE, of a larger answer with `ANSWER_TOO_LARGE`.
   */
  forward(request: ForwardedRequest): Promise<ForwardedAnswer | Refusal>;
  /** A signed request without a body that is answered with a file. Refuses: UPSTREAM_UNAVAILABLE. */
  stream(
    method: string,
    pathAndQuery: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<FileAnswer | ForwardedAnswer | Refusal>;
  /** A file to a URL that the cloud gave: the URL is its credential. Refuses: UPSTREAM_UNAVAILABLE. */
  put(
    pathAndQuery: string,
    headers: Readonly<Record<string, string>>,
    body: AsyncIterable<Buffer>,
  ): Promise<ForwardedAnswer | Refusal>;
  /** Headers of the stream's handshake. protocol/frames.ts. */
  handshakeHeaders(): Record<string, string>;
  /** This clock less the cloud's, by the `Date` of its newest answer; null before the first. */
  clockOffsetSeconds(): number | null;
  close(): Promise<void>;
}

export interface UpstreamSettings {
  readonly cloudUrl: string;
  readonly apiKey: string;
  readonly identity: Identity;
  readonly nowMs: () => number;
}

export function createUpstream({ cloudUrl, apiKey, identity, nowMs }: UpstreamSettings): Upstream {
  const limits = {
    connections: CONNECTIONS,
    allowH2: false,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  };
  // Two, since the bound of an answer is the agent's for own calls, and each request's for those that are passed on.
  const agent = new Agent(limits),
    ownAgent = new Agent({ ...limits, maxResponseSize: OWN_ANSWER_BYTES_MAX });
  const signer = { keyId: identity.publicKey, sign: (message: Uint8Array) => identity.sign(message) };
  const sign = (method: string, url: string, body: string | Buffer) =>
    signRequest({ method, url, body }, signer, randomBytes(NONCE_BYTES).toString('hex'), nowMs());
  // Closed with the edge. The fetch of this package takes its own agents only.
  const clock = createOffset(nowMs);
  const overAgent = (async (url: string, init: object) => {
    const askedMs = nowMs();
    const answer = await fetchOver(url, { ...init, dispatcher: ownAgent });
    clock.note(askedMs, answer.headers.get('date'));
    return boundedAnswer(answer);
  }) as unknown as typeof fetch;
  const options = {
    baseUrl: cloudUrl,
    apiKey,
    timeoutMs: ANSWER_TIMEOUT_MS,
    knownCodes: new Set(Object.keys(ERRORS)),
    fetch: overAgent,
  };
  const request = (
    method: string,
    pathAndQuery: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | Readable | null,
  ) =>
    agent.request({
      origin: new URL(cloudUrl).origin,
      path: new URL(cloudUrl + pathAndQuery).pathname + new URL(cloudUrl + pathAndQuery).search,
      method: method as Dispatcher.HttpMethod,
      headers,
      body,
    });
  return {
    signed: createClient({ ...options, sign: ({ method, url, body }) => sign(method, url, body) }),
    unsigned: createClient(options),
    handshakeHeaders: () => ({ 'x-api-key': apiKey, ...sign('GET', cloudUrl + STREAM_PATH, '') }),
    forward: ({ method, pathAndQuery, headers, body, bytesMax }) =>
      answered(async () =>
        wholeOf(
          await request(
            method,
            pathAndQuery,
            { ...headers, 'x-api-key': apiKey, ...sign(method, cloudUrl + pathAndQuery, body) },
            body.length === 0 ? null : body,
          ),
          bytesMax,
        ),
      ),
    stream: (method, pathAndQuery, headers) =>
      answered(async () => {
        const answer = await request(
          method,
          pathAndQuery,
          { ...headers, 'x-api-key': apiKey, ...sign(method, cloudUrl + pathAndQuery, '') },
          null,
        );
        return answer.statusCode === 200
          ? { type: String(answer.headers['content-type'] ?? ''), file: answer.body }
          : wholeOf(answer, OWN_ANSWER_BYTES_MAX);
      }),
    put: (pathAndQuery, headers, body) =>
      answered(async () =>
        wholeOf(await request('PUT', pathAndQuery, headers, Readable.from(body)), OWN_ANSWER_BYTES_MAX),
      ),
    clockOffsetSeconds: clock.read,
    close: async () => void (await Promise.all([agent.destroy(), ownAgent.destroy()])),
  };
}

/** All of an answer. Throws: AnswerTooLarge. */
async function wholeOf(answer: Dispatcher.ResponseData, bytesMax: number): Promise<ForwardedAnswer> {
  const body = await bytesOf(answer.body, bytesMax);
  if (!isShortWork(body)) throw new AnswerTooLarge(bytesMax);
  return { status: answer.statusCode, headers: answer.headers, body };
}

/** An answer, or why there is none. Refuses: UPSTREAM_UNAVAILABLE. */
async function answered<T>(ask: () => Promise<T>): Promise<T | Refusal> {
  try {
    return await ask();
  } catch (error) {
    return error instanceof AnswerTooLarge
      ? refuse('UPSTREAM_UNAVAILABLE', {
          reason: 'ANSWER_TOO_LARGE',
          limitBytes: error.bytesMax,
          next: 'of a list ask for fewer rows: size',
        })
      : refuse('UPSTREAM_UNAVAILABLE', { reason: (error as { code?: string }).code ?? 'no_answer' });
  }
}

/** A `Date` is cut to the second: half of one is added. */
function createOffset(nowMs: () => number) {
  let seconds: number | null = null;
  return {
    read: () => seconds,
    note(askedMs: number, date: string | null): void {
      const saidMs = Date.parse(date ?? '');
      if (Number.isFinite(saidMs)) seconds = ((askedMs + nowMs()) / 2 - saidMs - 500) / 1_000;
    },
  };
}
