/** The shape of one entry of THE route table, and how its paths are read. */
import type { z } from 'zod';
import { precedenceOf, type ErrorCode } from './errors.ts';
import type { OrgRole } from './slugs.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Functional areas. Spec §1.5, and those that the service needs beside it. */
export const TAGS = [
  'Addresses',
  'Balances',
  'Transactions',
  'Webhooks',
  'Edge',
  'Edge settings',
  'Sandbox',
  'Chains',
  'Payments',
  'Checkout',
  'Treasury',
  'Migration',
  'Authentication',
  'Organizations',
  'Settings',
  'Billing',
  'Administration',
  'Health',
] as const;
export type Tag = (typeof TAGS)[number];

/**
 * Who may call. Decisions 2.
 *   none         nobody has to say who they are
 *   application  `X-API-Key` (flk_ at the cloud, loc_ at the edge), or a bearer with `X-Environment`
 *   bearer       console users only; the role is the token's `org_role`
 *   signed       `X-API-Key` and the edge's Ed25519 signature
 *   admin        a bearer with `platform_role: admin`
 */
export type Credential = 'none' | 'application' | 'bearer' | 'signed' | 'admin';

export interface Route {
  readonly method: Method;
  /** With `{name}` for a parameter. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  /** Which deployment serves it. */
  readonly where: 'cloud' | 'edge' | 'both';
  readonly credential: Credential;
  /** Least role of a bearer; an API key counts as editor. Null: any signed-in user. */
  readonly role: OrgRole | null;
  /** A live key gets SANDBOX_ONLY. */
  readonly sandboxOnly?: true;
  /** A person without a second factor of the last five minutes gets TOTP_REQUIRED, whatever the input is. */
  readonly fresh?: true;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly reply: z.ZodType;
  readonly status: 200 | 201 | 202;
  /** Status where what is asked for was there already; `status` where absent. */
  readonly again?: 200;
  /** Codes beside those that every route of its credential can answer. */
  readonly refusals: readonly ErrorCode[];
  /**
   * How an `Idempotency-Key` is kept: `actor` with the effect, in the account's own append; `statement` with the
   * effect, in the statement that writes it; `store` after an effect that is the same twice; `claimed` after one that
   * is not, which one node at a time makes. Absent where a repetition changes nothing.
   */
  readonly idempotent?: 'actor' | 'statement' | 'store' | 'claimed';
  /** Bytes that a body may have; `BODY_BYTES_MAX` where absent. Not above twice what its schema can carry. */
  readonly bodyLimitBytes?: number;
  /** The answer is the document itself, without an envelope. */
  readonly bare?: string;
}

/**
 * A larger body carries nothing that a path reads, and each byte is looked through for keys: what has no limit of its
 * own, also a path that nobody serves, has this one.
 */
export const BODY_BYTES_MAX = 16 * 1_024;

/** Bytes that a body of a path may have. */
export const bodyBytesOf = ({ bodyLimitBytes = BODY_BYTES_MAX }: Pick<Route, 'bodyLimitBytes'>): number =>
  bodyLimitBytes;

/** One spelling of a path: `/v1/%61ddresses` is served as `/v1/addresses`, so a key is one key under both. */
export function plainPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // no route has it
  }
}

/** True when a path has the shape of a template, whatever its parameters hold. */
export function pathMatches(template: string, path: string): boolean {
  const wanted = template.split('/');
  const given = path.split('/');
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (part.startsWith('{') ? given[at] !== '' : part === given[at]))
  );
}

/** Where staff reads nothing: about oneself, other owners' and administrators' business, and what holds whole keys. */
const CLOSED_TO_SUPPORT = [
  '/v1/auth',
  '/v1/admin',
  '/v1/settings/audit-log',
  '/v1/settings/sso',
  '/v1/settings/domains',
  '/v1/settings/invitations',
];
const WHOLE_KEYS = '/v1/migration/projects/{projectId}/export';

/** The code that a support session gets on a route, whatever its input is; null where it may read. Console A45. */
export function supportCode({
  method,
  path,
}: Pick<Route, 'method' | 'path'>): 'IMPERSONATION_READ_ONLY' | 'IMPERSONATION_FORBIDDEN' | null {
  if (method !== 'GET') return 'IMPERSONATION_READ_ONLY';
  const isClosed =
    path === WHOLE_KEYS || CLOSED_TO_SUPPORT.some((area) => path === area || path.startsWith(`${area}/`));
  return isClosed && path !== '/v1/auth/me' ? 'IMPERSONATION_FORBIDDEN' : null;
}

const EVERY: readonly ErrorCode[] = ['INVALID_INPUT', 'KEY_MATERIAL_REJECTED', 'SERVICE_UNAVAILABLE', 'INTERNAL_ERROR'];
const SIGNATURE: readonly ErrorCode[] = [
  'EDGE_SIGNATURE_SKEW',
  'EDGE_SIGNATURE_INVALID',
  'EDGE_NONCE_REPLAY',
  'IDENTITY_ROTATION_PENDING',
];
const BY_CREDENTIAL: Readonly<Record<Credential, readonly ErrorCode[]>> = {
  none: [],
  application: ['UNAUTHORIZED', ...SIGNATURE, 'RATE_LIMIT_EXCEEDED', 'FORBIDDEN'],
  bearer: ['UNAUTHORIZED', ...SIGNATURE, 'RATE_LIMIT_EXCEEDED', 'FORBIDDEN'],
  signed: ['UNAUTHORIZED', ...SIGNATURE, 'RATE_LIMIT_EXCEEDED', 'FORBIDDEN'],
  admin: ['UNAUTHORIZED', ...SIGNATURE, 'RATE_LIMIT_EXCEEDED', 'FORBIDDEN'],
};
/** An edge between application and cloud can add these. */
const BY_EDGE: readonly ErrorCode[] = ['EDGE_NOT_SYNCED', 'UPSTREAM_UNAVAILABLE', 'EDGE_OUTBOX_FULL'];

/** The environment of a session is the one that it was begun in. */
const supportCodes = (route: Route): readonly ErrorCode[] => [supportCode(route) ?? 'IMPERSONATION_FORBIDDEN'];

/** Every code that a route can answer, in the order of the error table. */
export function codesOf(route: Route): ErrorCode[] {
  const codes = new Set<ErrorCode>([
    ...EVERY,
    ...BY_CREDENTIAL[route.credential],
    ...route.refusals,
    ...(route.method === 'GET' ? [] : (['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const)),
    ...(route.idempotent === undefined ? [] : (['IDEMPOTENCY_CONFLICT'] as const)),
    ...(route.fresh === true ? (['TOTP_REQUIRED'] as const) : []),
    ...(route.sandboxOnly === true ? (['SANDBOX_ONLY'] as const) : []),
    ...(route.where === 'cloud' ? [] : BY_EDGE),
    ...(route.params === undefined ? [] : (['NOT_FOUND'] as const)),
    ...(route.credential === 'none' || route.credential === 'signed' || route.where === 'edge'
      ? []
      : supportCodes(route)),
  ]);
  return [...codes].toSorted((left, right) => precedenceOf(left) - precedenceOf(right));
}
