/** One webhook attempt: the bytes of the cloud, posted unchanged, judged by status only. Decisions 4. */
import { Agent, errors } from 'undici';
import { EDGE_VERSION, type AttemptsFrame, type DeliverFrame } from '../../protocol/frames.ts';
import { BlockedByPolicy, createGuardedConnector, type Resolve } from './connector.ts';
import type { WebhookPolicy } from './policy.ts';

export type Delivery = DeliverFrame['deliveries'][number];
export type Attempt = AttemptsFrame['attempts'][number];

/** From the first byte to the answer's head, in milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** Of an answer this many bytes are read and thrown away, so that the connection can be used again. */
const ANSWER_BYTES_MAX = 64 * 1_024;
/** And for this long: the status has been said by then. */
const ANSWER_DRAIN_MS = 2_000;
const KEEP_ALIVE_MS = 10_000;
const RETRY_AFTER_SECONDS_MAX = 7 * 86_400;
/** The only headers of a frame that are sent on: a caller-chosen header could make the edge speak for somebody else. */
const SIGNATURE_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
/** What a delivery says that came without a signature: its receiver can recognise, and refuse, every webhook. */
const UNSIGNED = 'unsigned';

export interface WebhookPoster {
  /** Never throws; null when the process stopped before an answer came (it is no attempt then). */
  post(delivery: Delivery): Promise<Attempt | null>;
  /** Ends what is in flight and closes every connection. */
  close(): Promise<void>;
}

export interface PosterSettings {
  readonly policy: WebhookPolicy;
  /** Connections to one host. */
  readonly connections: number;
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
  readonly resolve?: Resolve;
  /** Why a destination was refused, or that its name has no address, for the edge's own log. */
  readonly onBlocked: (delivery: Pick<Delivery, 'deliveryId' | 'url'>, reason: string) => void;
}

export function createWebhookPoster(settings: PosterSettings): WebhookPoster {
  const { policy, monotonicMs } = settings;
  const agent = new Agent({
    connect: createGuardedConnector(policy, settings.resolve),
    connections: settings.connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    allowH2: false,
  });
  const running = new Set<AbortController>();
  let stopping = false;

  const attempt = async (delivery: Delivery, url: URL, startedAtMs: number): Promise<Attempt | null> => {
    // One controller for both ends of an attempt: a composite signal costs more than the request around it.
    const cut = new AbortController();
    const timer = setTimeout(() => cut.abort(), Math.min(ATTEMPT_TIMEOUT_MS, delivery.timeoutMs));
    running.add(cut);
    const took = () => Math.round(monotonicMs() - startedAtMs);
    try {
      const { statusCode, headers, body } = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        body: delivery.body,
        headers: headersOf(delivery),
        signal: cut.signal,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const answered = answerOf(
        delivery,
        statusCode,
        took(),
        retryAfterSeconds(headers['retry-after'], settings.wallMs()),
      );
      dropBody(body);
      return answered;
    } catch (error) {
      if (stopping) return null;
      const why = cut.signal.aborted ? null : whyNoConnection(error);
      if (why?.shown === true) settings.onBlocked(delivery, why.reason);
      if (why !== null) return noConnection(delivery);
      // `failed`: the connection broke, or what answers speaks no HTTP or TLS.
      const outcome = cut.signal.aborted || error instanceof errors.ConnectTimeoutError ? 'timeout' : 'failed';
      return {
        deliveryId: delivery.deliveryId,
        attempt: delivery.attempt,
        statusCode: null,
        durationMs: took(),
        retryAfterSeconds: null,
        outcome,
      };
    } finally {
      clearTimeout(timer);
      running.delete(cut);
    }
  };

  return {
    async post(delivery) {
      const startedAtMs = monotonicMs();
      const destination = policy.judgeUrl(delivery.url);
      if (typeof destination !== 'string') return attempt(delivery, destination.url, startedAtMs);
      settings.onBlocked(delivery, destination);
      return noConnection(delivery);
    },
    async close() {
      stopping = true;
      for (const cut of running) cut.abort();
      await agent.destroy();
    },
  };
}

function headersOf({ headers }: Delivery): Record<string, string> {
  const sent: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': `Flock-Webhooks/${EDGE_VERSION}`,
    'webhook-signature': UNSIGNED,
  };
  for (const [name, value] of Object.entries(headers)) {
    const known = SIGNATURE_HEADERS.find((header) => header === name.toLowerCase());
    if (known !== undefined) sent[known] = value;
  }
  return sent;
}

function answerOf(
  { deliveryId, attempt }: Delivery,
  statusCode: number,
  durationMs: number,
  retryAfter: number | null,
): Attempt {
  return { deliveryId, attempt, statusCode, durationMs, retryAfterSeconds: retryAfter, outcome: 'answered' };
}

/**
 * No connection: the policy forbids the place, its name has no address, or nobody listens. To the cloud all of them are
 * one attempt, equal in every field, so that who chooses URLs does not learn which names exist in this network.
 */
function noConnection({ deliveryId, attempt }: Delivery): Attempt {
  return { deliveryId, attempt, statusCode: null, durationMs: 0, retryAfterSeconds: null, outcome: 'refused' };
}

const NO_NAME: ReadonlySet<string> = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_NODATA',
  'EAI_NONAME',
  'EAI_FAIL',
  'ENODATA',
  'ESERVFAIL',
]);
const NO_LISTENER: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);

/**
 * Why nothing was connected to: `shown` where an operator has to know it. Null where a connection was made, or waited
 * for.
 */
function whyNoConnection(error: unknown): { reason: string; shown: boolean } | null {
  if (error instanceof BlockedByPolicy) return { reason: error.reason, shown: true };
  // Several addresses that were tried in vain come as one error with theirs beside it.
  const { code, errors: each = [] } = error as { code?: unknown; errors?: readonly unknown[] };
  if (NO_NAME.has(String(code))) return { reason: String(code), shown: true };
  const refused =
    NO_LISTENER.has(String(code)) ||
    (each.length > 0 && each.every((one) => NO_LISTENER.has(String((one as { code?: unknown }).code))));
  return refused ? { reason: String(code), shown: false } : null;
}

/** Reads and drops a bounded part of the answer in the background, then cuts it. */
function dropBody(body: NodeJS.ReadableStream & { destroy(error?: Error): unknown }): void {
  let bytes = 0;
  const cut = () => body.destroy();
  const timer = setTimeout(cut, ANSWER_DRAIN_MS);
  timer.unref();
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) cut();
  });
  body.on('error', () => undefined); // The status was said; what the body does is nobody's business.
  body.on('close', () => clearTimeout(timer));
}

/** Seconds from a `Retry-After` of either form, bounded; null when there is none that can be read. */
export function retryAfterSeconds(header: string | string[] | undefined, nowMs: number): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^[0-9]{1,9}$/.test(text)) return Math.min(Number(text), RETRY_AFTER_SECONDS_MAX);
  // The one date form that RFC 9110 §5.6.7 lets a server send; the parser alone would take nearly anything.
  const atMs = /^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT$/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, Math.ceil((atMs - nowMs) / 1_000)), RETRY_AFTER_SECONDS_MAX);
}
