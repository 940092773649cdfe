/** `flock-client/webhooks`: verifies deliveries. Standard Webhooks: `v1,` and base64 of HMAC-SHA256. X15, X16. */
import { fromBase64 } from './base64.ts';
import type { EventData } from './generated/events.ts';

export type * from './generated/events.ts';

export type FlockEvent = {
  [E in keyof EventData]: {
    /** A newer service may send others: let them pass. */
    readonly event: E;
    /** `evt_…`, the same at each delivery: take it once. */
    readonly id: string;
    readonly environment: 'live' | 'sandbox';
    readonly confirmations: number | null;
    readonly threshold: number | null;
    /** When it happened, ISO 8601. */
    readonly timestamp: string;
    readonly data: EventData[E];
  };
}[keyof EventData];

export type Reason = 'headers' | 'too_old' | 'too_new' | 'signature' | 'body' | 'parsed_body';
export type Verdict =
  | { readonly ok: true; readonly event: FlockEvent }
  | { readonly ok: false; readonly reason: Reason; readonly message: string };

export interface VerifyOptions {
  /** How far the time of a delivery may be from now. 300 where absent. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: number | undefined;
  /** For recordings: their time is not looked at. */
  readonly ignoreTimestamp?: boolean | undefined;
}
type HeadersLike =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 300;
/** Two are sent while a secret is rotated. */
const SIGNATURES_MAX = 8;

const MEANS: Readonly<Record<Reason, string>> = {
  headers: 'a webhook- header is missing or malformed',
  too_old: 'too old, or this clock is ahead',
  too_new: 'too new, or this clock is behind',
  signature: 'of another secret, or altered',
  body: 'not an event',
  parsed_body: 'give the raw body. Express: express.raw({type:"*/*"}); Fastify: parseAs "buffer"; Next.js: the Request',
};
const no = (reason: Reason): Verdict => ({ ok: false, reason, message: MEANS[reason] });

/**
 * The event of a delivery, or why it is none. `body` as it came: text, bytes, or the `Request` (its headers are read
 * where `headers` is null). `secrets`: one, or all that are in use while one is rotated.
 */
export async function verifyWebhook(
  body: unknown,
  headers: HeadersLike | null,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now(), ignoreTimestamp = false }: VerifyOptions = {},
): Promise<Verdict> {
  const request = body as { headers?: HeadersLike; arrayBuffer?: () => Promise<ArrayBuffer> } | null | undefined;
  const bytes = bytesOf(typeof request?.arrayBuffer === 'function' ? await request.arrayBuffer() : body);
  if (bytes === null) return no('parsed_body');
  const from = headers ?? request?.headers ?? {};
  const [id, time, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(from, `webhook-${name}`));
  const given = signatures?.split(' ');
  // A dot in the id would let a part of one field be read as another.
  if (!id || id.includes('.') || !time || !/^\d{1,12}$/.test(time) || !given || given[SIGNATURES_MAX])
    return no('headers');
  const age = ignoreTimestamp ? 0 : now / 1_000 - Number(time);
  // So that a tolerance that is no number lets nothing pass.
  if (!(age <= toleranceSeconds)) return no('too_old');
  if (-age > toleranceSeconds) return no('too_new');
  const head = new TextEncoder().encode(`${id}.${time}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  if (!(await isSigned(signed, given, [secrets].flat()))) return no('signature');
  const event = eventOf(bytes);
  return event?.id === id ? { ok: true, event } : no('body');
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> | null {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return body instanceof Uint8Array ? new Uint8Array(body) : null;
}

function headerOf(headers: HeadersLike, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name);
  const value = (headers as Readonly<Record<string, unknown>>)[key ?? ''];
  return typeof value === 'string' ? value : null;
}

/** `verify` of WebCrypto compares in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, given: readonly string[], secrets: readonly string[]) {
  const { subtle } = crypto;
  for (const secret of secrets) {
    const raw = fromBase64(secret.replace(/^whsec_/, ''));
    if (!raw?.length) continue;
    const key = await subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const one of given) {
      const claimed = one.startsWith('v1,') ? fromBase64(one.slice(3)) : null;
      if (claimed !== null && (await subtle.verify('HMAC', key, claimed, signed))) return true;
    }
  }
  return false;
}

function eventOf(bytes: Uint8Array): FlockEvent | null {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as FlockEvent | null;
    return typeof event?.event === 'string' && event.data && typeof event.data === 'object' ? event : null;
  } catch {
    return null;
  }
}

/**
 * What a deposit is credited by: unique in your table. A later `deposit_confirmed` of the same key, with a higher
 * `incarnation`, is the same money again and credits nothing.
 */
export const creditKey = ({
  data: { chain, txid, outputIndex },
}: {
  readonly data: { readonly chain: string; readonly txid: string; readonly outputIndex: number };
}): string => `${chain}:${txid}:${outputIndex}`;
