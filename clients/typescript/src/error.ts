/** The one error of the client. */
import type { Details } from './generated/api.ts';

/** What the client says by itself. The service's own codes are in `Details`; a newer service may have others. */
export type ClientCode = 'CLIENT_NETWORK' | 'CLIENT_TIMEOUT' | 'CLIENT_ABORTED' | 'CLIENT_INVALID';
export type ErrorCode = keyof Details | ClientCode;
type DetailsOf<C> = C extends keyof Details ? Details[C] : Readonly<Record<string, unknown>>;

export interface ErrorFields<C extends string = string> {
  /** Branch on it. */
  readonly code: C;
  /** HTTP status; 0 where there was no answer. */
  readonly status: number;
  /** For people; may be reworded. */
  readonly message: string;
  readonly details: DetailsOf<C>;
  readonly requestId: string | null;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | null;
  /** Requests that were sent. */
  readonly attempts: number;
  /** The key of the write: sent again with the same body it has the same effect, once. */
  readonly idempotencyKey: string | null;
  /** The operation at a cloud's `/docs`; null at an edge, which has no such page. */
  readonly docUrl: string | null;
}

const MARK = Symbol.for('flock-client.error');

export class FlockError<C extends string = string> extends Error implements ErrorFields<C> {
  override readonly name = 'FlockError';
  declare readonly code: C;
  declare readonly status: number;
  declare readonly details: DetailsOf<C>;
  declare readonly requestId: string | null;
  declare readonly retryAfter: number | null;
  declare readonly attempts: number;
  declare readonly idempotencyKey: string | null;
  declare readonly docUrl: string | null;

  constructor(fields: ErrorFields<C>) {
    super(`${fields.code}: ${fields.message}`);
    const { message: _message, ...rest } = fields;
    Object.assign(this, rest);
    Object.defineProperty(this, MARK, { value: true });
  }

  /** The fields, for logs. Nothing of a request is in them but the idempotency key. */
  toJSON(): Record<string, unknown> {
    return { ...(this as object), name: this.name, message: this.message };
  }
}

/** True for an error of any copy of this package; with `code`, for that code alone. */
export function isFlockError<C extends ErrorCode | (string & {}) = ErrorCode>(
  error: unknown,
  code?: C,
): error is FlockError<C> {
  const marked = error as { [MARK]?: unknown; code?: unknown } | null | undefined;
  return marked?.[MARK] === true && (code === undefined || marked.code === code);
}
