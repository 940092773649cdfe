/**
 * Who may call what: the table of console 2.1 as data. A row is methods, paths (`**` stands for the rest), the lowest
 * role of a bearer, whether keys are taken and from which role, whether the same path is served at an edge, and what
 * proves the person anew. The first row that fits counts, so that exceptions stand above their area. Console A1.
 *
 *   To add a route: nothing, where a row below fits it already. Else one line in its area.
 */
import { codesOf, type Route } from '../../protocol/route.ts';
import type { OrgRole } from '../../protocol/slugs.ts';

/** `any`: whoever is signed in. `signed`: the edge with key and signature. `open`: nobody has to say who they are. */
export type Bearer = OrgRole | 'any' | 'admin' | 'signed' | 'open';
/**
 * `fresh`: a second factor of the last five minutes. `own`: one in the body, made for this. `some`: where the input
 * asks for more than usual.
 */
export type Proof = 'fresh' | 'own' | 'some';

export interface Row {
  readonly methods: string;
  readonly paths: string;
  readonly bearer: Bearer;
  readonly key: 'viewer' | 'editor' | null;
  readonly edge: boolean;
  readonly proof?: Proof;
}

const row = (methods: string, paths: string, bearer: Bearer, key: Row['key'], edge: boolean, proof?: Proof): Row => ({
  methods,
  paths,
  bearer,
  key,
  edge,
  ...(proof === undefined ? {} : { proof }),
});
/** Viewers read, bearers and keys, at the cloud and at the edge. */
const reads = (paths: string, methods = 'GET') => row(methods, paths, 'viewer', 'viewer', true);
/** Editors write, bearers and keys, at the cloud and at the edge. */
const writes = (paths: string) => row('POST PUT PATCH DELETE', paths, 'editor', 'editor', true);
/** People alone, at the cloud alone. */
const people = (methods: string, paths: string, role: Bearer, proof?: Proof) =>
  row(methods, paths, role, null, false, proof);
const open = (methods: string, paths: string) => row(methods, paths, 'open', null, false);

const ALL = 'GET POST PUT PATCH DELETE';

export const ROWS: readonly Row[] = [
  // The customer's data.
  reads('/v1/addresses/**'),
  writes('/v1/addresses/**'),
  reads('/v1/balances/**'),
  reads('/v1/fees/**'),
  row('GET', '/v1/transactions/{id}/timeline', 'viewer', 'viewer', false),
  reads('/v1/transactions/**'),
  writes('/v1/transactions/**'),
  reads('/v1/chains/**'),
  reads('/v1/webhooks/**'),
  writes('/v1/webhooks/**'),
  row('GET', '/v1/stream', 'viewer', 'viewer', false),
  row('GET', '/v1/search', 'viewer', 'viewer', false),
  row('GET', '/v1/events', 'viewer', 'viewer', false),
  row('GET', '/v1/events/{id}', 'viewer', 'viewer', false),
  reads('/v1/sandbox/clock'),
  writes('/v1/sandbox/**'),
  // Treasury.
  reads('/v1/treasury/sweeps/preview', 'POST'),
  reads('/v1/treasury/**'),
  writes('/v1/treasury/**'),
  reads('/v1/routes/**'),
  // Payments.
  reads('/v1/payments/**'),
  writes('/v1/payments/**'),
  people('GET', '/v1/settings/payments', 'viewer'),
  people('PUT', '/v1/settings/payments', 'owner', 'fresh'),
  open('GET POST', '/v1/checkout/**'),
  // Migration.
  reads('/v1/migration/detect-case', 'POST'),
  row('POST', '/v1/migration/key-sources', 'signed', 'editor', false),
  row('POST', '/v1/migration/key-sources/{id}/purge', 'signed', 'editor', false),
  people('POST', '/v1/migration/projects/{projectId}/activate', 'owner', 'fresh'),
  people('POST', '/v1/migration/projects/{projectId}/deactivate', 'editor'),
  open('PUT', '/v1/migration/uploads/{uploadId}/content'),
  row('GET', '/v1/migration/projects/{projectId}/export', 'viewer', 'viewer', true, 'some'),
  reads('/v1/migration/**'),
  writes('/v1/migration/**'),
  // The edge.
  row('GET', '/v1/edge/health', 'open', null, true),
  reads('/v1/edge/keys/**'),
  writes('/v1/edge/keys/**'),
  reads('/v1/edge/**'),
  row('POST PUT', '/v1/edge/**', 'signed', 'editor', false),
  // Billing.
  row('GET', '/v1/billing/usage', 'viewer', 'viewer', false),
  row('GET', '/v1/billing/plans', 'viewer', 'viewer', false),
  people('GET', '/v1/billing/**', 'viewer'),
  people('POST', '/v1/billing/**', 'owner'),
  // The organization.
  people('GET', '/v1/settings/audit-log/export', 'owner', 'fresh'),
  people('GET POST', '/v1/settings/audit-log/**', 'owner'),
  people('GET', '/v1/settings/invitations/**', 'owner'),
  people('GET', '/v1/settings/sso/**', 'owner'),
  people('GET', '/v1/settings/domains/**', 'owner'),
  people('GET', '/v1/settings/**', 'viewer'),
  people('POST', '/v1/settings/api-keys', 'owner', 'fresh'),
  people('POST', '/v1/settings/rotations/{id}/approve', 'owner', 'own'),
  people('POST', '/v1/settings/rotations/{id}/reject', 'owner', 'own'),
  people('POST', '/v1/settings/wipe', 'owner', 'own'),
  people('POST', '/v1/settings/invitations/{id}/resend', 'owner'),
  people('POST', '/v1/settings/invitations', 'owner', 'some'),
  people('POST', '/v1/settings/members', 'owner', 'some'),
  people('PATCH', '/v1/settings/members/{userId}', 'owner', 'some'),
  people('DELETE', '/v1/settings/members/{userId}', 'viewer'), // oneself; an owner also others
  people('PUT', '/v1/settings/sso/{id}/enforcement', 'owner', 'own'),
  people('POST PUT PATCH DELETE', '/v1/settings/sso/**', 'owner', 'some'),
  people('POST PUT PATCH DELETE', '/v1/settings/domains/**', 'owner', 'fresh'),
  people('POST PUT PATCH DELETE', '/v1/settings/**', 'owner'),
  people('POST', '/v1/organizations/{id}/transfer', 'owner', 'own'),
  people('PATCH', '/v1/organizations/{id}', 'owner'),
  people('GET POST', '/v1/organizations', 'any'),
  // Oneself.
  open('POST', '/v1/auth/login'),
  open('POST', '/v1/auth/refresh'),
  open('POST', '/v1/auth/logout'),
  open('GET', '/.well-known/jwks.json'),
  open('POST', '/v1/auth/register'),
  open('POST', '/v1/auth/verify'),
  open('POST', '/v1/auth/password/forgot'),
  open('POST', '/v1/auth/password/reset'),
  open('POST', '/v1/auth/email/confirm'),
  open('POST', '/v1/auth/factor-reset/cancel'),
  open('POST', '/v1/auth/device'),
  open('POST', '/v1/auth/device/token'),
  people('POST', '/v1/auth/device/approve', 'viewer', 'some'),
  open('POST', '/v1/auth/invitations/look'),
  open('POST', '/v1/auth/invitations/join'),
  open('POST', '/v1/auth/sso/**'),
  open('POST', '/v1/auth/passkeys/login'),
  open('POST', '/v1/auth/passkeys/login/options'),
  people('POST DELETE', '/v1/auth/passkeys/**', 'any', 'some'),
  people('POST', '/v1/auth/email', 'any', 'own'),
  people('POST', '/v1/auth/password', 'any', 'some'),
  people('POST', '/v1/auth/step-up', 'any', 'some'),
  people('POST', '/v1/auth/totp/**', 'any', 'some'),
  people('POST', '/v1/auth/recovery-codes', 'any', 'fresh'),
  people(ALL, '/v1/auth/**', 'any'),
  // Staff and machines.
  people('GET', '/v1/admin/**', 'admin'),
  people('POST PUT PATCH DELETE', '/v1/admin/**', 'admin', 'fresh'),
  row('GET', '/health/**', 'open', null, true),
  row('GET', '/metrics', 'open', null, true),
  open('GET', '/v1/openapi.json'),
];

/** The column of support sessions: what they do not read; they write nothing at all. Console A45. */
const NOT_FOR_SUPPORT = [
  '/v1/admin/**',
  '/v1/auth/**',
  '/v1/settings/audit-log/**',
  '/v1/settings/sso/**',
  '/v1/settings/domains/**',
  '/v1/settings/invitations/**',
  '/v1/migration/projects/{projectId}/export',
];

/** What a support session is answered, whatever its input; null where it reads. */
export const supportAnswer = ({ method, path }: Pick<Route, 'method' | 'path'>): string | null =>
  method !== 'GET'
    ? 'IMPERSONATION_READ_ONLY'
    : path !== '/v1/auth/me' && NOT_FOR_SUPPORT.some((area) => isWithin(path, area))
      ? 'IMPERSONATION_FORBIDDEN'
      : null;

/** The row of an operation; undefined where the table has none. */
export function rowOf({ method, path }: Pick<Route, 'method' | 'path'>): Row | undefined {
  return ROWS.find(({ methods, paths }) => methods.split(' ').includes(method) && isWithin(path, paths));
}

function isWithin(path: string, paths: string): boolean {
  if (!paths.endsWith('/**')) return path === paths;
  const area = paths.slice(0, -'/**'.length);
  return path === area || path.startsWith(`${area}/`);
}

const CREDENTIAL = { admin: 'admin', signed: 'signed', open: 'none' } as const;

/** In what the declaration of a route differs from its row; empty where they agree. */
export function disagreements(route: Route, { bearer, key, edge, proof }: Row): string[] {
  const isRole = bearer !== 'admin' && bearer !== 'signed' && bearer !== 'open';
  const credential = isRole ? (key === null ? 'bearer' : 'application') : CREDENTIAL[bearer];
  const role = isRole && bearer !== 'any' ? bearer : null;
  const asksProof = codesOf(route).includes('TOTP_REQUIRED');
  return [
    ...(route.credential === credential ? [] : [`credential ${route.credential}, the row has ${credential}`]),
    ...(route.role === role ? [] : [`role ${route.role}, the row has ${role}`]),
    ...((route.where !== 'cloud') === edge
      ? []
      : [`where ${route.where}, the row has ${edge ? 'edge' : 'cloud alone'}`]),
    ...(proof === undefined && asksProof && route.credential !== 'none'
      ? ['a proof that the row does not ask for']
      : []),
    ...((proof === 'fresh' || proof === 'own') && !asksProof ? [`no TOTP_REQUIRED, the row has proof ${proof}`] : []),
  ];
}
