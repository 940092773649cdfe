/** THE error table. Spec §7 and decisions 2–3. When several refusals apply, the earlier one in this table wins. */

import type { Details } from './schema/details.ts';

type Row = readonly [status: number, meaning: string];

export const ERRORS = {
  // Who is asking.
  METHOD_NOT_ALLOWED: [405, 'the path exists, the method does not'],
  PAYLOAD_TOO_LARGE: [413, 'the body is larger than the limit'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'the body is not JSON'],
  UNAUTHORIZED: [401, 'missing, invalid or revoked key'],
  EDGE_SIGNATURE_SKEW: [401, 'timestamp outside 300 seconds'],
  EDGE_SIGNATURE_INVALID: [401, 'Ed25519 verification failed'],
  EDGE_NONCE_REPLAY: [401, 'nonce seen before'],
  KEY_MATERIAL_REJECTED: [400, 'request looked like a phrase or private key; refused before reading'],
  RATE_LIMIT_EXCEEDED: [429, 'band request limit'],
  EDGE_VERSION_UNSUPPORTED: [400, "the edge's version is below the accepted range"],
  IDENTITY_ROTATION_PENDING: [409, 'identity changed, awaiting owner'],
  CROSS_ENVIRONMENT_IDENTITY: [409, 'one identity in live and sandbox'],
  ACCOUNT_SUSPENDED: [403, 'suspended by an administrator'],
  SANDBOX_ONLY: [403, 'a live key on a sandbox path'],
  FORBIDDEN: [403, 'the role does not allow it'],
  TOTP_REQUIRED: [403, 'no recent second factor'],
  // What is asked.
  INVALID_INPUT: [400, 'malformed or missing field'],
  INVALID_CHAIN: [400, 'unsupported chain slug'],
  INVALID_ADDRESS: [400, 'fails chain format validation'],
  INVALID_AMOUNT: [400, 'zero, negative or malformed amount'],
  TOKEN_NOT_SUPPORTED: [400, 'not in the catalogue'],
  TOKEN_NOT_ON_CHAIN: [400, 'catalogued, but not on that chain'],
  TOKEN_NOT_SWEEPABLE: [400, 'the catalogue does not allow sweeping it'],
  TOKEN_NOT_BRIDGEABLE: [400, 'the catalogue does not allow bridging it'],
  NOT_FOUND: [404, 'no such resource for this account'],
  IDEMPOTENCY_CONFLICT: [409, 'key reused with a different body'],
  // Whether it may be.
  NO_SUBSCRIPTION: [403, 'no active subscription'],
  TIER_FEATURE_LOCKED: [403, 'feature needs a higher tier'],
  MERCHANT_NOT_ACTIVE: [403, 'payments are not switched on'],
  ORIGIN_NOT_REGISTERED: [403, 'embedded checkout from an unregistered origin'],
  PAYMENT_SESSION_LIMIT_EXCEEDED: [403, 'too many open sessions on a link'],
  CHAIN_NOT_READY: [403, 'readiness red or amber'],
  ADDRESS_LIMIT_EXCEEDED: [403, 'band capacity reached'],
  AMOUNT_CAP_EXCEEDED: [403, 'a spend or bridge cap'],
  COMPLIANCE_REJECTED: [403, 'the operator allows no payment to this address'],
  IMPERSONATION_FORBIDDEN: [403, 'no owner allows staff to read this now, or staff never reads it'],
  IMPERSONATION_READ_ONLY: [403, 'a support session only reads'],
  MERCHANT_SCOPE_VIOLATION: [403, 'the page names another merchant than the link is of'],
  KEY_SOURCE_MISMATCH: [400, 'pushed addresses do not derive from the sent extended key; nothing written'],
  SIGNED_BATCH_REJECTED: [400, 'a signed payload does not match the built transaction, or the edge refused to sign'],
  ALREADY_ENROLLED: [409, 'full sync would register nothing new'],
  RESYNC_REQUIRED: [409, 'cloud has no enrolment for this edge'],
  LEASE_HELD: [409, 'another session holds the leader lease'],
  LEASE_EPOCH_STALE: [409, 'frame epoch below current; stream closed'],
  DRY_RUN_STALE: [409, 'commit quoted a superseded dry run'],
  IMPORT_NOT_READY: [409, 'batch state does not allow the operation'],
  ADDRESS_CONFLICT: [409, 'another account claims an address'],
  ROLLBACK_WINDOW_CLOSED: [409, 'past 72 hours or a transaction landed'],
  KEY_SOURCE_PURGED: [409, 'key material gone; addresses watch-only'],
  CONFLICT: [409, 'the state does not allow it'],
  // The project first: it ends at the cutover, what comes behind it may last.
  ADDRESS_IN_OBSERVE_MODE: [423, 'address in a project not yet cut over'],
  ADDRESS_WATCH_ONLY: [422, 'no key can sign; monitored, withdrawals refused'],
  IMPORT_TOO_LARGE: [422, 'above self-service ceiling; handled by staff'],
  INSUFFICIENT_FUNDS: [422, 'the asset does not cover the amount'],
  INSUFFICIENT_GAS: [422, 'the native fee currency does not cover the fee'],
  INSUFFICIENT_RESERVE: [422, 'send would breach a locked reserve'],
  DESTINATION_OPT_IN_REQUIRED: [422, 'the destination has no trustline for the asset'],
  CHAIN_REJECTED: [422, 'node refused; reason in details'],
  // Whether it can be now.
  EDGE_OFFLINE: [423, 'needs a live edge'],
  EDGE_NO_LEADER: [423, 'replicas live, none holds the lease'],
  EDGE_NOT_SYNCED: [503, 'edge up, registration unconfirmed'],
  UPSTREAM_UNAVAILABLE: [503, 'cloud unreachable from edge'],
  CHAIN_UNAVAILABLE: [503, 'chain unreachable, or not enabled for the account'],
  SERVICE_UNAVAILABLE: [503, 'overloaded or stopping; try again after Retry-After'],
  EDGE_OUTBOX_FULL: [507, 'local queue at capacity'],
  INTERNAL_ERROR: [500, 'unhandled; quote meta.requestId'],
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof ERRORS;

/** An expected "no": a value with a stable code, never thrown across a port. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** A refusal with the details of its code, which `protocol/schema/details.ts` lists. */
export function refuse<C extends ErrorCode>(code: C, details?: Details[C], message?: string): Refusal {
  return readRefusal(code, { ...details }, message);
}

/** A refusal as another process or a store has it: a newer release may give details that this one has no name for. */
export function readRefusal(code: ErrorCode, details: Readonly<Record<string, unknown>>, message?: string): Refusal {
  return { ok: false, code, message: message ?? wordsOf(code, details), details };
}

/** A field that is wrong, and why something is in conflict, are in the text as well as in the details. */
function wordsOf(code: ErrorCode, { field, reason, limit }: Record<string, unknown>): string {
  const words = ERRORS[code][1],
    why = typeof reason === 'string' ? reason : null;
  if (code === 'INVALID_INPUT' && typeof field === 'string') return `${field}: ${why ?? words}`;
  if (code !== 'CONFLICT' || why === null) return words;
  return `${words}: ${why.replaceAll('_', ' ')}${typeof limit === 'number' ? ` (${limit})` : ''}`;
}

/** The refusal of an id that names nothing here: what was looked for, where, and what to do. */
export function notFound(what: string, id: string, more: Record<string, unknown> = {}): Refusal {
  const shown = id.slice(0, ID_CHARS_MAX),
    { environment } = more;
  return refuse(
    'NOT_FOUND',
    { what, id: shown, ...more },
    `no ${what} ${shown} ${typeof environment === 'string' ? `in this account (${environment})` : 'here'}`,
  );
}
const ID_CHARS_MAX = 128;

/**
 * The refusal of a key that was used with another body. A key is one key per method and path, so nothing else can
 * differ.
 */
export function otherBodyOfKey({ key, method, path }: { key: string; method: string; path: string }): Refusal {
  return refuse(
    'IDEMPOTENCY_CONFLICT',
    {
      key,
      method,
      path,
      differs: 'body',
      next: 'send the first body again for its answer, or a new Idempotency-Key for another request',
    },
    `Idempotency-Key "${key}" was used for ${method} ${path} with another body`,
  );
}

export function isRefusal(value: unknown): value is Refusal {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value as { ok?: unknown }).ok === false &&
    typeof (value as { code?: unknown }).code === 'string'
  );
}

export function statusOf(code: ErrorCode): number {
  return ERRORS[code][0];
}

/** Position in the table; the smaller one wins when several refusals apply. */
export function precedenceOf(code: ErrorCode): number {
  return Object.keys(ERRORS).indexOf(code);
}

/** Carries a refusal through code that can only throw (a Fastify hook, a client). */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`${refusal.code}: ${refusal.message}`);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}

/**
 * `details.reason` of a SERVICE_UNAVAILABLE: rows of an EVM address changed after they were read, so it is decided
 * again.
 */
export const PAIRS_CHANGED = 'pairs_changed';

/** The same of a link, a payment, or the holder of an address. */
export const PAYMENTS_MOVED = 'payments_moved';
