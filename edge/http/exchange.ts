/** What a path of the edge gets and gives: the same envelope as the cloud's, with the edge's own request id. */
import type { Refusal } from '../../protocol/errors.ts';
import type { Route } from '../../protocol/route.ts';
import type { ForwardedAnswer } from '../upstream.ts';

export interface EdgeCall {
  readonly requestId: string;
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** Raw path with query, as the caller sent it. */
  readonly pathAndQuery: string;
  /** Headers that may be passed on to the cloud. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the caller has closed its connection: no answer reaches it any more. */
  readonly isGone: () => boolean;
}

export type EdgeAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly data: unknown }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The cloud's own answer, byte for byte. */
  | { readonly kind: 'passed'; readonly answer: ForwardedAnswer }
  | { readonly kind: 'bare'; readonly contentType: string; readonly text: string; readonly headers?: Readonly<Record<string, string>> };

export type EdgePath = (call: EdgeCall) => Promise<EdgeAnswer> | EdgeAnswer;

export const refused = (refusal: Refusal): EdgeAnswer => ({ kind: 'refused', refusal });
export const answered = (data: unknown, status = 200): EdgeAnswer => ({ kind: 'answered', status, data });

/** The JSON value of a body, or undefined when it is none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

const isSuccess = ({ status }: ForwardedAnswer): boolean => status >= 200 && status < 300;

/** `data` of a successful answer of the cloud; undefined when the answer is no such envelope. */
export function dataOf(answer: ForwardedAnswer): unknown {
  const envelope = jsonOf(answer.body) as { success?: unknown; data?: unknown } | null | undefined;
  return isSuccess(answer) && typeof envelope === 'object' && envelope?.success === true ? envelope.data : undefined;
}

/**
 * Whether an answer is the envelope of its status (spec §2.1) and the plain text of what it says. What was checked here
 * must be what the caller reads: with a byte order mark, another encoding or a name twice those would be two things.
 */
export function isPlainEnvelope(answer: ForwardedAnswer): boolean {
  const envelope = jsonOf(answer.body) as { success?: unknown; data?: unknown } | null | undefined;
  if (typeof envelope !== 'object' || envelope === null) return false;
  const { success, data } = envelope;
  const isOfStatus = isSuccess(answer) ? success === true && data !== undefined : success === false && data === null;
  return isOfStatus && answer.body.equals(textOf(envelope));
}

/** The one text of a JSON value as the cloud writes it; empty for one that is nested too deeply to be written. */
function textOf(value: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    return Buffer.alloc(0);
  }
}
