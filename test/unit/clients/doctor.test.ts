/** Each check of `flock doctor` names the fault that is planted, and no other check does. Ecosystem X34, X35, XA4. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import test from 'ava';
import { applicationChecks, testCheck } from '../../../clients/cli/doctor.ts';
import { opened } from '../../../clients/cli/session.ts';
import { lookAtCertificate, lookAtName, lookAtProxy } from '../../../protocol/node/doctor/address.ts';
import { examine, ok, worstOf, type Examination, type Verdict } from '../../../protocol/node/doctor/examine.ts';
import { VERSION } from '../../../protocol/version.ts';
import { nobodyAt } from '../../support/command.ts';
import { startSilent } from '../../support/silent-server.ts';

const CLOUD = `flk_test_${'k'.repeat(32)}`;
const EDGE = `loc_test_${'k'.repeat(32)}`;
const PATIENT_MS = 120_000;
const DAY_MS = 86_400_000;
const ago = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString();

interface Service {
  status: number;
  headers: Record<string, string>;
  /** Data by path. */
  answers: Record<string, unknown>;
}

const page = (content: readonly unknown[]) => ({ content, hasMore: false, next: null, page: 0, size: 200 });
const endpoint = (change: object = {}) => ({
  id: '01890000-0000-7000-8000-000000000001',
  url: 'https://shop.example/hook',
  events: ['deposit_confirmed'],
  status: 'enabled',
  secretPreview: 'whsec_…',
  rotating: false,
  createdAt: ago(9),
  updatedAt: ago(9),
  ...change,
});
const attempt = (statusCode: number | null, error: string | null = null) => ({
  attempt: 1,
  statusCode,
  durationMs: 5,
  error,
  at: ago(0),
});
const delivery = (change: object = {}) => ({
  id: 'dlv_1',
  webhookId: endpoint().id,
  status: 'delivered',
  heldReason: null,
  createdAt: ago(0),
  attempts: [attempt(200)],
  ...change,
});
const healthy = (): Service => ({
  status: 200,
  headers: { 'ratelimit-limit': '600', 'ratelimit-remaining': '599' },
  answers: {
    '/v1/edge/lease': { state: 'held', epoch: 4, holder: 'ses_1', expiresAt: ago(-1) },
    '/v1/edge/sessions': page([{ id: 'ses_1', edgeVersion: VERSION, endedAt: null }]),
    '/v1/edge/health': { status: 'ok' },
    '/v1/edge/keys': page([{ id: 'ek_1', prefix: 'loc_test_kkkk…', expiresAt: null, revokedAt: null }]),
    '/v1/webhooks': page([endpoint()]),
    '/v1/webhooks/deliveries': page([delivery()]),
    '/v1/webhooks/deliveries/dead-letters': page([]),
  },
});

const service = { now: healthy() };
const server: Server = createServer((request, response) => {
  const { status, headers, answers } = service.now;
  const data = answers[new URL(request.url!, 'http://x').pathname];
  const code = status === 200 && data === undefined ? 404 : status;
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  const body =
    code === 200 ? { success: true, data } : { success: false, error: { code: 'X', message: '', details: {} } };
  response.end(JSON.stringify(body));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

test.after.always(() => {
  server.closeAllConnections();
  server.close();
});

async function looked(apiKey = CLOUD, at = url, env = {}): Promise<Examination> {
  const { signal } = new AbortController();
  return examine(applicationChecks(opened({ url: at, apiKey }, null, signal), env), PATIENT_MS);
}
const noted = ({ checks }: Examination): [string, Verdict][] =>
  checks.filter(({ verdict }) => verdict !== 'ok').map(({ id, verdict }) => [id, verdict]);

test.serial('ecosystem X34 nothing is said at a healthy service, of the cloud or of an edge', async (t) => {
  service.now = healthy();
  for (const key of [CLOUD, EDGE]) {
    const examination = await looked(key);
    t.deepEqual(noted(examination), []);
    t.is(examination.verdict, 'ok');
  }
});

interface Fault {
  readonly check: string;
  readonly verdict: Verdict;
  readonly says: RegExp;
  readonly key?: string;
  plant(to: Service): void;
}
const list =
  (path: string, ...content: unknown[]): Fault['plant'] =>
  ({ answers }) => {
    answers[path] = page(content);
  };

const FAULTS: readonly Fault[] = [
  {
    check: 'leader',
    verdict: 'fail',
    says: /no edge leads/,
    plant: ({ answers }) => Object.assign(answers['/v1/edge/lease']!, { state: 'vacant', holder: null }),
  },
  {
    check: 'versions',
    verdict: 'warn',
    says: /edges are 0\.9\.4/,
    plant: list('/v1/edge/sessions', { id: 'ses_1', edgeVersion: '0.9.4', endedAt: null }),
  },
  {
    check: 'versions',
    verdict: 'unknown',
    says: /no edge is in touch/,
    plant: list('/v1/edge/sessions', { id: 'ses_1', edgeVersion: VERSION, endedAt: ago(1) }),
  },
  {
    check: 'clock',
    verdict: 'fail',
    says: /(8|9)\d s behind/,
    plant: ({ headers }) => void (headers['date'] = new Date(Date.now() + 90_000).toUTCString()),
  },
  {
    check: 'clock',
    verdict: 'warn',
    says: /ahead of/,
    plant: ({ headers }) => void (headers['date'] = new Date(Date.now() - 30_000).toUTCString()),
  },
  {
    check: 'rate',
    verdict: 'warn',
    says: /^10 of 600 requests/,
    plant: ({ headers }) => void (headers['ratelimit-remaining'] = '10'),
  },
  { check: 'rate', verdict: 'unknown', says: /does not say/, plant: (to) => void (to.headers = {}) },
  {
    check: 'endpoints',
    verdict: 'warn',
    says: /1 of 1 are switched off/,
    plant: list('/v1/webhooks', endpoint({ status: 'disabled' })),
  },
  {
    check: 'endpoints',
    verdict: 'fail',
    says: /10\.0\.0\.8:443 back: private/,
    key: EDGE,
    plant: ({ answers }) =>
      Object.assign(answers['/v1/edge/health']!, {
        webhooksBlocked: [
          {
            target: '10.0.0.8:443',
            reason: 'private',
            setting: 'EDGE_WEBHOOK_ALLOWLIST',
            next: 'add it to EDGE_WEBHOOK_ALLOWLIST',
            count: 3,
            since: ago(1),
          },
        ],
      }),
  },
  {
    check: 'secret_rotation',
    verdict: 'warn',
    says: /former secret/,
    plant: list('/v1/webhooks', endpoint({ rotating: true })),
  },
  {
    check: 'deliveries',
    verdict: 'fail',
    says: /1 of 1 endpoints failed: 500/,
    plant: list('/v1/webhooks/deliveries', delivery({ status: 'pending', attempts: [attempt(500)] }), delivery()),
  },
  {
    check: 'deliveries',
    verdict: 'fail',
    says: /a secret does not open/,
    plant: list('/v1/webhooks/deliveries', delivery({ status: 'held', heldReason: 'secret_unreadable', attempts: [] })),
  },
  {
    check: 'deliveries',
    verdict: 'warn',
    says: /given up/,
    plant: list('/v1/webhooks/deliveries/dead-letters', delivery({ status: 'dead_lettered', createdAt: ago(1) })),
  },
  {
    check: 'key_expiry',
    verdict: 'warn',
    says: /ends in 2 days/,
    key: EDGE,
    plant: list('/v1/edge/keys', { id: 'ek_1', prefix: 'loc_test_kkkk…', expiresAt: ago(-2.5), revokedAt: null }),
  },
  {
    check: 'key_expiry',
    verdict: 'unknown',
    says: /lists no such key/,
    key: EDGE,
    plant: list('/v1/edge/keys', { id: 'ek_1', prefix: 'loc_test_zzzz…', expiresAt: null, revokedAt: null }),
  },
];

for (const [at, { check, verdict, says, key, plant }] of FAULTS.entries())
  test.serial(`ecosystem X35 XA4 planted fault ${at + 1}: ${check} says ${says.source}`, async (t) => {
    service.now = healthy();
    plant(service.now);
    const examination = await looked(key);
    t.deepEqual(noted(examination), [[check, verdict]]);
    const { seen, remedy } = examination.checks.find(({ id }) => id === check)!;
    t.regex(seen, says);
    t.truthy(remedy);
  });

test.serial(
  'ecosystem X35 a key that is refused, a service that is none and nobody at all: what hangs on it is not known',
  async (t) => {
    service.now = { ...healthy(), status: 401, headers: {} };
    const refused = await looked();
    t.is(refused.verdict, 'fail');
    t.deepEqual(noted(refused).slice(0, 1), [['key', 'fail']]);
    t.true(
      noted(refused)
        .slice(1)
        .every(([, verdict]) => verdict === 'unknown'),
    );
    t.deepEqual(
      refused.checks.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id),
      ['name', 'address', 'certificate', 'proxy', 'clock', 'key_expiry'],
    );
    service.now = { ...healthy(), headers: { 'content-type': 'text/html' } };
    t.deepEqual(
      noted(await looked()).filter(([id]) => id === 'address'),
      [['address', 'fail']],
    );
    const nobody = await looked(CLOUD, await nobodyAt());
    t.like(
      nobody.checks.find(({ id }) => id === 'address'),
      { verdict: 'fail' },
    );
    t.false(JSON.stringify(nobody).includes('kkkk'));
    const known = nobody.checks.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id);
    t.deepEqual(known, ['name', 'certificate', 'proxy', 'key_expiry']);
  },
);

test('ecosystem X35 a name that no server knows, and a proxy that Node.js passes by', async (t) => {
  t.like(await lookAtName('https://nobody.invalid', 'X_URL'), { verdict: 'fail' });
  t.like(await lookAtName('https://192.0.2.1', 'X_URL'), { verdict: 'ok' });
  const at = 'https://cloud.example';
  t.regex(lookAtProxy(at, { HTTPS_PROXY: 'http://u:p@proxy:3128' }).seen, /^HTTPS_PROXY is set, and/);
  for (const env of [
    { HTTP_PROXY: 'http://proxy:3128' },
    { HTTPS_PROXY: 'http://proxy', NODE_USE_ENV_PROXY: '1' },
    { HTTPS_PROXY: 'http://proxy', NO_PROXY: 'localhost,.example' },
  ])
    t.is(lookAtProxy(at, env).verdict, 'ok', JSON.stringify(env));
});

test('ecosystem X35 a certificate that ends soon, and a live key over plain http', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flock-doctor-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const look = async (at: string, isLive = true) =>
    lookAtCertificate(at, { setting: 'X_URL', isLive, signal: AbortSignal.timeout(PATIENT_MS) });
  for (const [days, verdict] of [
    [40, 'ok'],
    [9, 'warn'],
    [1, 'fail'],
  ] as const) {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', `${days}`];
    execFileSync('openssl', ['req', ...made, '-subj', '/CN=localhost', '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => {
      socket.on('error', () => undefined).end();
    });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
    t.is((await look(`https://127.0.0.1:${(tls.address() as AddressInfo).port}`)).verdict, verdict, `${days}`);
    tls.close();
  }
  t.is((await look('http://127.0.0.1:8080')).verdict, 'ok');
  t.is((await look('http://cloud.example')).verdict, 'fail');
  t.is((await look('http://cloud.example', false)).verdict, 'warn');
});

test('ecosystem X34 what throws, or does not answer in time, is unknown; a secret is not shown', async (t) => {
  const page = 'docs/doctor.md';
  const { verdict, checks } = await examine(
    [
      { id: 'fine', page, look: () => ok('fine') },
      {
        id: 'throws',
        page,
        look: () => {
          throw Object.assign(new Error(`secret ${CLOUD}`), { code: 'EACCES' });
        },
      },
      { id: 'hangs', page, look: () => new Promise(() => undefined) },
      { id: 'tells', page, look: () => ok(`postgres://flock:hunter2@db/x and ${CLOUD}`) },
    ],
    20,
  );
  t.is(verdict, 'unknown');
  t.deepEqual(
    checks.map((one) => one.verdict),
    ['ok', 'unknown', 'unknown', 'ok'],
  );
  t.is(checks[1]!.seen, 'could not look (EACCES)');
  t.false(JSON.stringify(checks).includes('hunter2') || JSON.stringify(checks).includes('kkkk'));
  const found = (one: Verdict) => ({ verdict: one });
  t.is(worstOf([found('ok'), found('unknown'), found('warn')]), 'unknown');
  t.is(worstOf([found('unknown'), found('fail')]), 'fail');
  t.is(worstOf([found('warn')]), 'warn');
});

test.serial(
  'ecosystem X36 --send: endpoints that take a broken signature, or none, are named; many are not all tested',
  async (t) => {
    const { id } = endpoint();
    const tested = (good: number | null, broken: number | null) => {
      service.now = healthy();
      service.now.answers[`/v1/webhooks/${id}/test`] = {
        webhookId: id,
        passed: good === 204 && broken === 401,
        attempts: [
          { signature: 'good', statusCode: good, error: good === null ? 'refused' : null, passed: good === 204 },
          {
            signature: 'broken',
            statusCode: broken,
            error: broken === null ? 'refused' : null,
            passed: broken === 401,
          },
        ],
      };
    };
    const session = opened({ url, apiKey: CLOUD }, null, new AbortController().signal);
    const sent = async () => (await examine([testCheck(session)], PATIENT_MS)).checks[0]!;
    tested(204, 401);
    t.like(await sent(), { verdict: 'ok', seen: '1 take a good signature and refuse a broken one' });
    for (const [good, broken, says] of [
      [401, 401, /a good signature is answered 401/],
      [204, 200, /a broken signature is taken \(200\)/],
      [204, 500, /a broken signature is answered 500/],
      [null, null, /nothing answers \(refused\)/],
    ] as const) {
      tested(good, broken);
      const { verdict, seen, remedy } = await sent();
      t.is(verdict, 'fail');
      t.regex(seen, says);
      t.is(remedy, `mend the receiver, and look again: flock webhooks test ${id}`);
    }
    tested(204, 401);
    service.now.answers['/v1/webhooks'] = page(Array.from({ length: 11 }, () => endpoint()));
    t.like(await sent(), { verdict: 'unknown', seen: '10 of 11 endpoints pass' });
    service.now.answers['/v1/webhooks'] = page([endpoint({ status: 'disabled' })]);
    t.like(await sent(), { verdict: 'ok', seen: 'none is registered' });
    service.now = healthy();
    t.like(await sent(), { verdict: 'unknown', seen: 'the service answered X' });
  },
);

test('ecosystem X36 a check that is given up asks nothing any more: its signal ends what it asked', async (t) => {
  const silent = await startSilent(t);
  const session = opened({ url: silent.url, apiKey: EDGE }, null, new AbortController().signal);
  const { checks: seen } = await examine(applicationChecks(session, {}));
  await silent.left();
  t.true(silent.taken() > 0);
  t.deepEqual(
    seen.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id),
    ['name', 'certificate', 'proxy'],
  );
});
