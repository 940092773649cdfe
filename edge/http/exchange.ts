/** What a path of the edge gets and gives: the same envelope as the cloud's, with the edge's own request id. */
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Scrape } from '../../protocol/node/metrics-access.ts';
import { fail } from '../../protocol/envelope.ts';
import { parsedBody } from '../../protocol/json-body.ts';
import { statusOf, type Refusal } from '../../protocol/errors.ts';
import type { Route } from '../../protocol/route.ts';
import type { OperationId } from '../../protocol/routes.ts';
import type { CloudError } from '../answers/cloud-refusal.ts';
import type { ForwardedAnswer } from '../link/upstream.ts';

/** A route of the table, with its name there. */
export type EdgeRoute = Route & { readonly operationId: OperationId };

export interface EdgeCall {
  readonly requestId: string;
  /** Id of the local key by which it came; null for a path without a credential. */
  readonly keyId: string | null;
  readonly route: EdgeRoute;
  readonly params: Readonly<Record<string, string>>;
  /** The caller's name for this edge; empty where it gave none. */
  readonly host: string;
  /** Raw path with query, as the caller sent it. */
  readonly pathAndQuery: string;
  /** Headers that may be passed on to the cloud. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Who asks to read the metrics. */
  readonly scrape: Scrape;
  /** Whether the caller has closed its connection: no answer reaches it any more. */
  readonly isGone: () => boolean;
}

/**
 * `about`: the withdrawal that a refusal concerns although the path does not name it (a build under its key).
 * `unsaid`: withdrawals that the cloud called unsigned after it took their signed bytes.
 */
export type EdgeAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly data: unknown;
      readonly unsaid?: readonly string[];
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly about?: string }
  /** The cloud's own answer, written anew as it was read; `code` is that of a refusal as the cloud wrote it. */
  | {
      readonly kind: 'passed';
      readonly answer: ForwardedAnswer;
      readonly code?: string;
      readonly refusal?: Refusal;
      readonly about?: string;
      readonly unsaid?: readonly string[];
    }
  | {
      readonly kind: 'bare';
      readonly contentType: string;
      readonly text: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A file as it streams in; it breaks off where it is not what this edge knows. */
  | {
      readonly kind: 'streamed';
      readonly contentType: string;
      readonly body: Readable;
      readonly headers: Readonly<Record<string, string>>;
    };

export type EdgePath = (call: EdgeCall) => Promise<EdgeAnswer> | EdgeAnswer;

export const refused = (refusal: Refusal): EdgeAnswer => ({ kind: 'refused', refusal });
export const answered = (data: unknown, status = 200): EdgeAnswer => ({ kind: 'answered', status, data });

/** The JSON value of a body, or undefined when it is none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return parsedBody(body);
  } catch {
    return undefined;
  }
}

/** Parameters by name; one that is given twice is an array, which no schema takes. */
export function queryOf(pathAndQuery: string): Record<string, string | string[]> {
  const { searchParams } = new URL(pathAndQuery, 'http://edge');
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** The envelope of an answer (spec §2.1), read once; `error` is null for a success. */
export interface PlainEnvelope {
  readonly data: unknown;
  readonly error: CloudError | null;
  readonly meta: { readonly requestId: string; readonly timestamp: string };
}

const meta = z.object({
  requestId: z.string().regex(/^req_[a-z2-7]{26}$/),
  timestamp: z.iso.datetime({ offset: true }),
});
const success = z.object({ success: z.literal(true), data: z.unknown(), meta });
const failure = z.object({
  success: z.literal(false),
  data: z.null(),
  meta,
  error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()) }),
});

/**
 * The envelope that an answer is, and the plain text of; null for anything else. What was checked here must be what the
 * caller reads: with a byte order mark, another encoding or a name twice those would be two things.
 */
export function envelopeOf({ status, body }: Pick<ForwardedAnswer, 'status' | 'body'>): PlainEnvelope | null {
  const envelope = jsonOf(body);
  if (typeof envelope !== 'object' || envelope === null || !body.equals(textOf(envelope))) return null;
  const isSuccess = status >= 200 && status < 300;
  if (!isSuccess) {
    const read = failure.safeParse(envelope);
    return read.success ? { data: null, error: read.data.error, meta: read.data.meta } : null;
  }
  const read = success.safeParse(envelope);
  return read.success && read.data.data !== undefined
    ? { data: read.data.data, error: null, meta: read.data.meta }
    : null;
}

/** The answer of the cloud with this refusal in it. */
export function withRefusal(
  answer: ForwardedAnswer,
  refusal: Refusal,
  envelopeMeta: PlainEnvelope['meta'],
): ForwardedAnswer {
  return { ...answer, status: statusOf(refusal.code), body: Buffer.from(JSON.stringify(fail(refusal, envelopeMeta))) };
}

/** The one text of a JSON value as the cloud writes it; empty for one that is nested too deeply to be written. */
function textOf(value: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch {
    return Buffer.alloc(0);
  }
}
