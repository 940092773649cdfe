import test from 'ava';
import fc from 'fast-check';
import { readConfig } from '../../../edge/config.ts';
import { classOf } from '../../../edge/webhooks/address-class.ts';
import { parseWebhookAllowlist, type WebhookTarget } from '../../../edge/webhooks/allowlist.ts';
import { createWebhookPolicy, type WebhookPolicy } from '../../../edge/webhooks/policy.ts';
import type { Environment } from '../../../protocol/slugs.ts';

const OWN_PORT = 8081;

function policy(environment: Environment, allowlist: string | null = null): WebhookPolicy {
  const parsed = allowlist === null ? null : parseWebhookAllowlist(allowlist);
  if (parsed !== null && !parsed.ok) throw new Error(parsed.problems.join());
  return createWebhookPolicy(
    { environment, allowlist: parsed === null ? null : parsed.targets, ownPort: () => OWN_PORT },
    ['10.1.1.1', 'fd00::1'],
  );
}

const verdictOf = (judge: WebhookPolicy, url: string) => {
  const verdict = judge.judgeUrl(url);
  return typeof verdict === 'string' ? verdict : 'passed';
};

/** Reliability 0.6: forms of an internal address, none of which a lookup hook ever sees. */
const LOOPBACK_FORMS = [
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.1/',
  'https://①②⑦.0.0.1/',
  'https://127。0。0。1/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://127.0.0.1./',
  'https://127.255.255.254/',
];
const FORBIDDEN_FORMS = [
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fe80::1]/',
  'https://[fd00:ec2::254]/',
  'https://100.100.100.200/',
  'https://192.0.0.192/',
  'https://0.0.0.0/',
  'https://0/',
  'https://[::]/',
  'https://224.0.0.1/',
  'https://[ff02::1]/',
  'https://255.255.255.255/',
  'https://240.0.0.1/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b::a9fe:a9fe]/',
  'https://[2002:7f00:1::]/',
  'https://[::127.0.0.1]/',
  'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'https://168.63.129.16/',
  'https://[fd20:ce::254]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[::ffff:0:a9fe:a9fe]/',
];
const PRIVATE_FORMS = [
  'https://10.0.0.1/',
  'https://172.16.0.1/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://198.18.0.1/',
  'https://192.0.2.1/',
  'https://203.0.113.9/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[2001:db8::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://167772161/',
  'https://0xa.1/',
  'https://012.0.0.1/',
];

test('reliability 3.1: unset allow-list, live: every spelling of an internal address is refused as a literal', (t) => {
  const live = policy('live');
  for (const url of LOOPBACK_FORMS) t.is(verdictOf(live, url), 'loopback', url);
  for (const url of FORBIDDEN_FORMS) t.is(verdictOf(live, url), 'forbidden', url);
  for (const url of PRIVATE_FORMS) t.is(verdictOf(live, url), 'private', url);
});

test('reliability 3.1: unset allow-list, live: public https only', (t) => {
  const live = policy('live');
  for (const url of [
    'https://1.1.1.1/hook',
    'https://8.8.8.8:8443/',
    'https://[2606:4700::1111]/',
    'https://172.32.0.1/',
    'https://hooks.example.com/x?y=z',
  ]) {
    t.is(verdictOf(live, url), 'passed', url);
  }
  t.is(verdictOf(live, 'http://1.1.1.1/'), 'plain_http');
  t.is(live.judgeAddress({ host: 'hooks.example.com', port: 80, secure: false }, '1.1.1.1'), 'plain_http');
  t.is(live.judgeAddress({ host: 'hooks.example.com', port: 443, secure: true }, '1.1.1.1'), null);
});

test('what is no http(s) URL, or carries credentials, is refused', (t) => {
  const sandbox = policy('sandbox', '127.0.0.1');
  for (const [url, verdict] of [
    ['ftp://1.1.1.1/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['gopher://1.1.1.1/', 'scheme'],
    ['data:text/plain,x', 'scheme'],
    ['https://user@1.1.1.1/', 'credentials'],
    ['https://user:pass@1.1.1.1/', 'credentials'],
    ['https://:pass@1.1.1.1/', 'credentials'],
    ['nonsense', 'not_a_url'],
    ['', 'not_a_url'],
    [`https://1.1.1.1/${'a'.repeat(2_100)}`, 'not_a_url'],
    ['https://999.1.1.1/', 'not_a_url'],
  ] as const)
    t.is(verdictOf(sandbox, url), verdict, url.slice(0, 60));
});

test('decisions 4: in sandbox loopback and plain http are allowed, metadata and private networks are not', (t) => {
  const sandbox = policy('sandbox');
  for (const url of LOOPBACK_FORMS) t.is(verdictOf(sandbox, url.replace('https:', 'http:')), 'passed', url);
  for (const url of FORBIDDEN_FORMS) t.is(verdictOf(sandbox, url), 'forbidden', url);
  for (const url of PRIVATE_FORMS) t.is(verdictOf(sandbox, url), 'private', url);
  t.is(verdictOf(sandbox, 'http://1.1.1.1/'), 'passed');
});

test("the edge's own listener is refused, in sandbox too, by any of its addresses, unless named with its port", (t) => {
  for (const host of ['127.0.0.1', '127.0.0.2', '[::1]', '10.1.1.1', '[::ffff:10.1.1.1]', '[fd00::1]']) {
    t.is(
      verdictOf(policy('sandbox', '10.0.0.0/8,fc00::/7'), `http://${host}:${OWN_PORT}/v1/edge/keys`),
      'own_listener',
      host,
    );
  }
  t.is(
    policy('sandbox').judgeAddress({ host: 'me.example.com', port: OWN_PORT, secure: false }, '127.0.0.1'),
    'own_listener',
  );
  t.is(verdictOf(policy('live', `127.0.0.1:${OWN_PORT}`), `http://127.0.0.1:${OWN_PORT}/`), 'passed');
  t.is(verdictOf(policy('live', '127.0.0.1'), `http://127.0.0.1:${OWN_PORT}/`), 'own_listener');
});

/** [allow-list, host, port, address, expected] for a live edge; `secure` is false throughout. */
const LISTED: readonly (readonly [string, string, number, string, string | null])[] = [
  ['app:8080', 'app', 8080, '10.2.3.4', null],
  ['app:8080', 'app', 8081, '172.20.0.9', 'private'],
  ['app', 'app', 9999, '172.20.0.9', null],
  ['app', 'other', 80, '172.20.0.9', 'private'],
  ['app', 'app', 80, '169.254.169.254', 'forbidden'],
  ['app', 'app', 80, '127.0.0.1', 'loopback'],
  ['localhost', 'localhost', 80, '127.0.0.1', null],
  ['localhost', 'rebound.example.com', 80, '127.0.0.1', 'loopback'],
  ['10.0.0.0/8', 'db', 80, '10.9.9.9', null],
  ['10.0.0.0/8', 'db', 80, '11.9.9.9', 'not_listed'],
  ['0.0.0.0/0', 'x', 80, '169.254.169.254', 'forbidden'],
  ['0.0.0.0/0', 'x', 80, '127.0.0.1', 'loopback'],
  ['0.0.0.0/0', 'x', 80, '10.0.0.1', null],
  ['169.254.0.0/16', 'x', 80, '169.254.169.254', 'forbidden'],
  ['169.254.169.254', 'x', 80, '169.254.169.254', null],
  ['127.0.0.1:9000', 'x', 9000, '127.0.0.1', null],
  ['127.0.0.1:9000', 'x', 9001, '127.0.0.1', 'loopback'],
  ['[::1]:9000', 'x', 9000, '::1', null],
  ['127.0.0.1', 'x', 80, '::ffff:127.0.0.1', null],
  ['HOOKS.Example.com', 'hooks.example.com', 443, '1.1.1.1', null],
  ['hooks.example.com', 'evil.example.com', 443, '1.1.1.1', 'not_listed'],
];

for (const [list, host, port, address, expected] of LISTED) {
  test(`decisions 4: EDGE_WEBHOOK_ALLOWLIST=${list}: ${host}:${port} at ${address} is ${expected ?? 'allowed'}`, (t) => {
    t.is(
      policy('live', list).judgeAddress({ host, port, secure: false }, address),
      expected as ReturnType<WebhookPolicy['judgeAddress']>,
    );
  });
}

test('an allow-list entry that is not understood is a problem, never ignored', (t) => {
  for (const entry of [
    'http://app',
    'app/path',
    '10.0.0.0/33',
    '::1/129',
    'user@app',
    'a b',
    'app:99999',
    '10.0.0.0/x',
    '*.app',
  ]) {
    t.false(parseWebhookAllowlist(`ok,${entry}`).ok, entry);
  }
  const parsed = parseWebhookAllowlist(' , ');
  t.deepEqual(parsed.ok ? parsed.targets : null, [] as WebhookTarget[]);
});

/** [allow-list, URL, expected] for a live edge, as `judgeUrl` says before anything is resolved. */
const BELOW: readonly (readonly [string, string, string])[] = [
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/hooks/', 'passed'],
  ['https://erp.internal:8443/hooks/', 'https://ERP.internal.:8443/hooks/flock?x=/../y', 'passed'],
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/hooks/a/./b/../c', 'passed'],
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/hooks', 'path_not_listed'],
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/hooks/../admin', 'path_not_listed'],
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/', 'path_not_listed'],
  ['https://erp.internal:8443/hooks/', 'https://erp.internal:8443/Hooks/x', 'path_not_listed'],
  ['https://erp.internal:8443/hooks', 'https://erp.internal:8443/hooks', 'passed'],
  ['https://erp.internal:8443/hooks', 'https://erp.internal:8443/hooks/x', 'passed'],
  ['https://erp.internal:8443/hooks', 'https://erp.internal:8443/hooksecret', 'path_not_listed'],
  ['https://erp.internal:8443/hooks/,https://erp.internal:8443/other/', 'https://erp.internal:8443/other/x', 'passed'],
  ['https://erp.internal:8443/hooks/,erp.internal', 'https://erp.internal:8443/any', 'passed'],
  ['https://erp.internal:8443/hooks/,10.0.0.0/8', 'https://erp.internal:8443/any', 'path_not_listed'],
  ['https://erp.internal:8443/hooks/,10.0.0.0/8', 'http://erp.internal:8443/hooks/x', 'path_not_listed'],
  ['https://10.1.2.3:8443/hooks/', 'https://10.1.2.3:8443/hooks/x', 'passed'],
  ['https://10.1.2.3:8443/hooks/', 'https://0xa010203:8443/admin', 'path_not_listed'],
  ['https://10.1.2.3:8443/hooks/', 'https://10.1.2.3/hooks/x', 'private'],
  ['https://10.1.2.3:8443/hooks/,10.0.0.0/8', 'https://[::ffff:10.1.2.3]:8443/admin', 'path_not_listed'],
  ['http://erp.internal/hooks/', 'http://erp.internal/hooks/x', 'passed'],
  ['http://erp.internal/hooks/', 'http://erp.internal/admin', 'path_not_listed'],
];

for (const [list, url, expected] of BELOW) {
  test(`found F14: EDGE_WEBHOOK_ALLOWLIST=${list}: ${url} is ${expected}`, (t) => {
    t.is(verdictOf(policy('live', list), url), expected);
  });
}

test('found F14: an entry with a path admits its own scheme and port, and no other name of its address', (t) => {
  const live = policy('live', 'https://erp.internal:8443/hooks/,https://10.1.2.3:9000/hooks/');
  const judge = (host: string, port: number, secure: boolean, address: string) =>
    live.judgeAddress({ host, port, secure }, address);
  t.is(judge('erp.internal', 8443, true, '10.0.0.1'), null);
  t.is(judge('erp.internal', 8443, false, '10.0.0.1'), 'private');
  t.is(judge('erp.internal', 443, true, '10.0.0.1'), 'private');
  t.is(judge('10.1.2.3', 9000, true, '10.1.2.3'), null);
  t.is(judge('another.internal', 9000, true, '10.1.2.3'), 'private', 'its path was held against no prefix');
});

const PIECES = [
  'hooks',
  'admin',
  'x',
  '/',
  '//',
  '\\',
  '.',
  '..',
  '...',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%2f',
  '%2F',
  '%5c',
  '%255c',
  '%252e',
  '%252f',
  '%c0%ae',
  '%c0%af',
  ';',
  ';x',
  '..;',
  '%3b',
  '%00',
  '%09',
  '\t',
  '\n',
  ' ',
  '%20',
  '\uff0e',
  '\uff0f',
  '\u2215',
  '%ef%bc%8f',
  '%ef%bc%8e',
  '%u002e',
  '?',
  '#',
  '@',
  ':',
  '%',
  '%2',
  '~',
  '%7e',
  '\u0000',
];

/**
 * Paths as servers of all kinds may read one: some decode twice, cut parameters off, fold letters, take a backslash for
 * a slash.
 */
function readings(path: string): Set<string> {
  const found = new Set([path]);
  const rules: ((text: string) => string)[] = [
    (text) => text.replace(/%([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    (text) => text.replace(/%u([0-9a-f]{4})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    (text) => text.replaceAll('\\', '/'),
    (text) => text.replace(/;[^/]*/g, ''),
    (text) => text.normalize('NFKC'),
    (text) => text.replace(/[\u0000-\u0020]/g, ''),
    (text) => text.replace(/\u0000.*/, ''),
    (text) => text.replaceAll('\u00c0\u00ae', '.').replaceAll('\u00c0\u00af', '/').replaceAll('\u2215', '/'),
    (text) => text.replace(/\/+/g, '/'),
    (text) =>
      text
        .split('/')
        .reduce<string[]>(
          (segments, each) => (each === '..' ? segments.slice(0, -1) : each === '.' ? segments : [...segments, each]),
          [],
        )
        .join('/'),
  ];
  for (const text of found) if (found.size < 2_000) for (const rule of rules) found.add(rule(text));
  return found;
}

test('found F14: no spelling of a path leaves the prefix, whoever reads it', (t) => {
  const live = policy('live', 'https://erp.internal:8443/hooks/');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }), fc.boolean(), (pieces, isWithin) => {
      const verdict = live.judgeUrl(`https://erp.internal:8443/${isWithin ? 'hooks/' : ''}${pieces.join('')}`);
      if (typeof verdict === 'string') return;
      for (const path of readings(verdict.url.pathname))
        t.true(path === '/hooks' || path.startsWith('/hooks/'), `${verdict.url.href} read as ${path}`);
    }),
    { numRuns: 3_000 },
  );
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[A-Za-z0-9_~@:-][A-Za-z0-9._~-]{0,8}$/), { minLength: 1, maxLength: 5 }),
      (segments) => {
        t.is(verdictOf(live, `https://erp.internal:8443/hooks/${segments.join('/')}`), 'passed', 'plain paths pass');
      },
    ),
  );
});

test('found F14: an entry with a path that a reader could take for another one does not start the edge; the setting is named', (t) => {
  for (const entry of [
    'https://app',
    'https://app/',
    'https://app//hooks/',
    'https://app/hooks/../x/',
    'https://app/%68ooks/',
    'https://app/hooks;x/',
    'https://app/hooks\\x/',
    'https://app/hooks/?x',
    'https://app/hooks/#x',
    'https://user@app/hooks/',
    'https://:p@app/hooks/',
    'ftp://app/hooks/',
    'https:///hooks/',
    'https://app/h\u00f6\u00f6ks/',
    'app:8443/hooks/',
    '10.0.0.1/hooks/',
    'https://app:99999/hooks/',
    'https://app/a b/',
    'https://*.app/hooks/',
  ])
    t.false(parseWebhookAllowlist(`ok,${entry}`).ok, entry);
  t.throws(
    () =>
      readConfig(
        {
          API_KEY: 'flk_live_aaaaaaaaaaaaaaaaaaaaaaaa',
          CLOUD_URL: 'https://cloud.example',
          MNEMONIC: 'x',
          EDGE_WEBHOOK_ALLOWLIST: 'https://app/%2e/',
        },
        () => true,
      ),
    { message: /EDGE_WEBHOOK_ALLOWLIST: entry 1 is a URL without a plain path/ },
  );
});

test('found: each shape of the allow-list that is documented is taken, and a network with a path or port, or another shape, is refused by name', (t) => {
  const shapes = [
    'app',
    'app.internal:8443',
    '10.1.2.3',
    '10.1.2.3:8443',
    '10.0.0.0/8',
    '10.1.2.3/32',
    'fd00::/8',
    '::1',
    '[fd00::2]:8443',
    'https://erp.internal/hooks/',
    'http://10.1.2.3:8080/hooks',
    'https://[fd00::2]:8443/hooks/',
    'https://10.1.2.3/8x/',
    'https://10.1.2.3/hooks/8/',
  ];
  t.true(parseWebhookAllowlist(shapes.join(',')).ok);
  for (const shape of shapes) t.true(parseWebhookAllowlist(shape).ok, shape);
  const refused: Readonly<Record<string, readonly string[]>> = {
    'is a network with more than its address and bits': [
      'http://10.0.0.0/8/hooks/',
      'https://10.0.0.0/8',
      'https://10.0.0.0:8443/8/hooks/',
      'https://[fd00::]/8/hooks/',
      '10.0.0.0/8/hooks/',
      '10.0.0.0/8:8443',
      '10.0.0.0/8:8443/hooks/',
      '[fd00::]/8',
      'fd00::/8/hooks/',
    ],
    'is a network with more bits than its address has': ['10.0.0.0/33', 'fd00::/129', '10.0.0.0/999'],
    'names a path without its scheme': ['erp.internal/hooks/', 'erp.internal:8443/hooks/', '10.1.2.3/hooks/'],
    'is a URL without a plain path': ['https://erp.internal', 'https://erp.internal/', 'https://erp.internal/%2e/'],
    'is no host': ['ftp://erp.internal/hooks/', 'erp.internal:99999', '*.internal'],
  };
  for (const [problem, entries] of Object.entries(refused))
    for (const entry of entries) {
      const parsed = parseWebhookAllowlist(`app,${entry}`);
      t.true(!parsed.ok && parsed.problems.length === 1 && parsed.problems[0]!.startsWith(`entry 2 ${problem}`), entry);
    }
});

test('an address class is total: what is no address is forbidden', (t) => {
  for (const text of ['', 'x', '1.2.3', '1.2.3.4.5', '::g']) t.is(classOf(text), 'forbidden', text);
});
