import test from 'ava';
import { pathMatches, TAGS } from '../../protocol/route.ts';
import { ROUTE_LIST, type OperationId } from '../../protocol/routes.ts';
import { codesIn, documentText, sectionOf, tableRows } from '../support/documents.ts';

const SPEC = documentText('spec.md');
/** Functional areas that come with their own issues: not in the table yet. */
const LATER = /^\/v1\/(?:migration|payments|checkout)\/|^\/v1\/treasury\/(?!tokens$)|^\/v1\/sandbox\/migration\//;
/** POST because the question is long; nothing is changed, so no answer is kept. */
const QUESTIONS: readonly OperationId[] = ['detectCase', 'detectPath', 'previewSweep'];
const changes = ({ method, operationId }: (typeof ROUTE_LIST)[number]) =>
  method !== 'GET' && !QUESTIONS.includes(operationId);
const serves = (method: string, path: string) =>
  ROUTE_LIST.some((route) => route.method === method && pathMatches(route.path, path.replace(/\{[^}]+\}/g, 'x')));

function pathsOf(section: string): { method: string; path: string }[] {
  return tableRows(sectionOf(SPEC, section)).flatMap(([method, cell]) =>
    codesIn(cell!)
      .filter((code) => code.startsWith('/v1/'))
      .map((path) => ({ method: method!, path })),
  );
}

for (const section of [
  '### 4.1 Webhooks',
  '### 4.2 Addresses',
  '### 4.3 Edge',
  '### 4.4 Settings',
  '### 4.5 Treasury',
  '### 4.7 Sandbox',
]) {
  test(`§${section.slice(4)}: every path of the section is served`, (t) => {
    const paths = pathsOf(section).filter(({ path }) => !LATER.test(path));
    t.true(paths.length > 0);
    for (const { method, path } of paths) t.true(serves(method, path), `${method} ${path}`);
  });
}

test('decisions 2 and 9: the paths that the spec needs and does not give', (t) => {
  const wanted = [
    'GET /v1/webhooks',
    'GET /v1/addresses/{id}',
    'POST /v1/addresses/{id}/archive',
    'POST /v1/addresses/{id}/unarchive',
    'GET /v1/transactions/{id}',
    'GET /v1/fees/{chain}',
    'GET /v1/chains',
    'GET /v1/chains/{chain}/coverage',
    'GET /v1/openapi.json',
    'GET /metrics',
    'GET /health/live',
    'GET /health/ready',
    'POST /v1/auth/login',
    'POST /v1/auth/refresh',
    'POST /v1/auth/logout',
    'POST /v1/auth/totp/enroll',
    'POST /v1/auth/totp/confirm',
    'POST /v1/auth/switch',
    'GET /.well-known/jwks.json',
    'GET /v1/settings/api-keys',
    'POST /v1/settings/api-keys',
    'DELETE /v1/settings/api-keys/{id}',
    'GET /v1/settings/rotations',
    'GET /v1/settings/members',
    'POST /v1/edge/sync',
    'POST /v1/edge/pools',
    'GET /v1/edge/keys',
    'DELETE /v1/edge/keys/{id}',
    'POST /v1/sandbox/simulate-reorg',
    'POST /v1/sandbox/simulate-duplicate-delivery',
    'POST /v1/sandbox/simulate-chain-down',
    'POST /v1/sandbox/simulate-stuck',
    'POST /v1/sandbox/simulate-replaced',
    'POST /v1/sandbox/simulate-edge-offline',
    'POST /v1/sandbox/simulate-endpoint-failure',
    'GET /v1/admin/actors',
  ];
  for (const line of wanted) {
    const [method, path] = line.split(' ') as [string, string];
    t.true(serves(method, path), line);
  }
});

test('§1.4 and §9.1: application paths are the same on cloud and edge and carry the version', (t) => {
  for (const route of ROUTE_LIST) {
    // What an account owes, and what only the cloud has an index of.
    const isOfCloud =
      route.tag === 'Billing' ||
      ['search', 'listEvents', 'getEvent', 'openStream', 'getTimeline'].includes(route.operationId);
    if (route.credential === 'application' && route.where === 'cloud')
      t.true(isOfCloud, `${route.operationId} is for the cloud alone`);
    if (route.credential !== 'none') t.regex(route.path, /^\/v1\//, route.operationId);
    t.true(TAGS.includes(route.tag), route.operationId);
  }
});

test('§5.4 and §5.5: settings and the band take a bearer, edge paths a signature, writes at least an editor', (t) => {
  for (const route of ROUTE_LIST) {
    if (route.path.startsWith('/v1/settings/') || route.path === '/v1/billing/band')
      t.is(route.credential, 'bearer', route.operationId);
    if (/^\/v1\/edge\/(?:sync|resume|resync|heartbeat|pools|transactions)/.test(route.path))
      t.is(route.credential, 'signed', route.operationId);
    if (route.path.startsWith('/v1/admin/')) t.is(route.credential, 'admin', route.operationId);
    if (route.credential === 'application' && changes(route)) t.not(route.role, 'viewer', route.operationId);
    if (route.path.startsWith('/v1/sandbox/')) t.true(route.sandboxOnly, route.operationId);
  }
});

test('decisions 3: whatever an application can change at the cloud may be repeated under one key; an edge alone keeps no answers', (t) => {
  for (const route of ROUTE_LIST) {
    if (route.where === 'edge') t.is(route.idempotent, undefined, route.operationId);
    else if (route.credential === 'application')
      t.is(route.idempotent !== undefined, changes(route), route.operationId);
  }
});

test('no two routes answer one request', (t) => {
  const shapes = ROUTE_LIST.map((route) => `${route.method} ${route.path.replace(/\{[^}]+\}/g, '{}')}`);
  t.is(new Set(shapes).size, shapes.length);
});
