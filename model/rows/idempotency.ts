/** Answers that are kept for a repeated request. */

export interface IdempotencyRow {
  key: string;
  method: string;
  path: string;
  /** SHA-256 hex of the raw body. */
  bodyHash: string;
  status: number;
  /** `data` of a success, or the failure's `error`. */
  body: unknown;
}
