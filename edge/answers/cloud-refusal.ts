/**
 * The cloud's refusals, written anew as its successes are: a code of the table, `details` by the schema of that code,
 * and texts that carry no address, key or txid except the caller's own. Pure.
 */
import { ERRORS, readRefusal, refuse, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import { everyNameIn } from '../../protocol/input-problems.ts';
import type { Route } from '../../protocol/route.ts';
import { ROUTES } from '../../protocol/routes.ts';
import { DETAILS } from '../../protocol/schema/details.ts';

/** `details.reason` of a refusal whose code this edge does not know. */
export const UNKNOWN_CODE = 'unknown_code';

/**
 * Codes that say who asks, or that nothing can be answered now. They say nothing of a payment, and are handed on in the
 * edge's own words, so that a cloud that restarts denies nothing.
 */
export const SAYS_NOTHING: ReadonlySet<ErrorCode> = new Set([
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'UNAUTHORIZED',
  'EDGE_SIGNATURE_SKEW',
  'EDGE_SIGNATURE_INVALID',
  'EDGE_NONCE_REPLAY',
  'KEY_MATERIAL_REJECTED',
  'RATE_LIMIT_EXCEEDED',
  'EDGE_VERSION_UNSUPPORTED',
  'IDENTITY_ROTATION_PENDING',
  'CROSS_ENVIRONMENT_IDENTITY',
  'ACCOUNT_SUSPENDED',
  'FORBIDDEN',
  'RESYNC_REQUIRED',
  'LEASE_HELD',
  'LEASE_EPOCH_STALE',
  'EDGE_OFFLINE',
  'EDGE_NO_LEADER',
  'EDGE_NOT_SYNCED',
  'UPSTREAM_UNAVAILABLE',
  'CHAIN_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'EDGE_OUTBOX_FULL',
  'INTERNAL_ERROR',
]);

export interface CloudError {
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

const TEXT_CHARACTERS_MAX = 600;
const SLUG = /^[A-Za-z0-9_.-]{1,48}$/;
const IDS = /\b[a-z]{3}_[a-z2-7]{26}\b/g;
/** Shorter runs are words; the shortest address of a chain has 25 characters. */
const RUN = /[\p{L}\p{N}]{16,}/gu;
const JOINED_CHARACTERS_MIN = 20,
  JOINED_OF_EACH_MIN = 4;

/** `isKnown`: whether the caller wrote this text itself, or the edge knows it as its own (a txid). */
export function cloudRefusal({ code, message, details }: CloudError, isKnown: (text: string) => boolean): Refusal {
  if (!Object.hasOwn(ERRORS, code)) {
    return refuse(
      'UPSTREAM_UNAVAILABLE',
      { reason: UNKNOWN_CODE },
      'the cloud refused with a code that this edge does not know: run the current version of the edge',
    );
  }
  const known = code as ErrorCode,
    isFixed = SAYS_NOTHING.has(known);
  const holds = (text: string) => isPlain(text, isKnown) && (!isFixed || SLUG.test(text));
  const read = readRefusal(known, detailsOf(known, details, holds));
  return isFixed || message === read.message || !isPlain(message, isKnown)
    ? read
    : { ...read, message: `the cloud says: ${message}` };
}

function detailsOf(
  code: ErrorCode,
  details: CloudError['details'],
  holds: (text: string) => boolean,
): Record<string, unknown> {
  const { shape } = DETAILS[code] as { readonly shape: Readonly<Record<string, Field>> };
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(shape)) {
    const read = !Object.hasOwn(details, name)
      ? undefined
      : code === 'NOT_FOUND'
        ? scalarOf(details[name])
        : shape[name]!.safeParse(details[name]).data;
    const value = cleaned(read, holds);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

interface Field {
  safeParse(value: unknown): { readonly data?: unknown };
}

const scalarOf = (value: unknown): unknown => (typeof value === 'object' ? undefined : value);

/** The value without the texts that do not hold; undefined where nothing is left. */
function cleaned(value: unknown, holds: (text: string) => boolean): unknown {
  if (typeof value === 'string') return holds(value) ? value : undefined;
  if (Array.isArray(value)) {
    const kept = value.map((one) => cleaned(one, holds)).filter((one) => one !== undefined);
    return kept.length === 0 && value.length > 0 ? undefined : kept; // an empty list would say that there are none
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const kept = holds(name) ? cleaned(inner, holds) : undefined;
      return kept === undefined ? [] : [[name, kept]];
    }),
  );
}

/**
 * Names of the fields that a caller may send: a refusal names one that was left out, or a limit that was set in one.
 * They are long, and words of this release; no address is one.
 */
const FIELD_NAMES: ReadonlySet<string> = new Set(
  Object.values<Route>(ROUTES)
    .flatMap(({ body, query, params }) => [body, query, params])
    .flatMap((schema) => (schema === undefined ? [] : [...everyNameIn(schema)])),
);

/** Whether nothing in a text could be an address, a key or a txid that its reader does not have already. */
function isPlain(text: string, isKnown: (text: string) => boolean): boolean {
  if (text.length > TEXT_CHARACTERS_MAX) return false;
  const rest = text.replace(IDS, '');
  // A word that is the reader's own hides nothing: CODE:ISSUER of a Stellar asset, say.
  const words = rest.split(/\s+/).filter((word) => !isKnown(word));
  const runs = [...(rest.match(RUN) ?? []), ...words.map(joined)];
  return runs.every((run) => run === '' || /^[0-9]+$/.test(run) || FIELD_NAMES.has(run) || isKnown(run));
}

/** A word of digits and letters that other characters divide; empty for one that is short or of one kind. */
function joined(word: string): string {
  const run = word.replace(/[^\p{L}\p{N}]/gu, ''),
    digits = run.replace(/\P{N}/gu, '').length;
  const isMixed = digits >= JOINED_OF_EACH_MIN && run.length - digits >= JOINED_OF_EACH_MIN;
  return run.length >= JOINED_CHARACTERS_MIN && isMixed ? run : '';
}
