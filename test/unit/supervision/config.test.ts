import test from 'ava';
import { ConfigurationError, readConfig } from '../../../supervision/config.ts';

const GOOD = { DATABASE_URL: 'postgres://flock_app:word@127.0.0.1:5432/flock', SECRET_KEY: '11'.repeat(32) };

function problemsOf(t: { throws: (work: () => unknown, expected: { instanceOf: typeof ConfigurationError }) => ConfigurationError }, env: Record<string, string>): string[] {
  return [...t.throws(() => readConfig(env), { instanceOf: ConfigurationError }).problems];
}

test('issue 2.11 every problem of the settings is named at once, by its setting, and no value is repeated', (t) => {
  const wrong = {
    DATABASE_URL: 'mysql://CANARY@host/db', DATABASE_CONNECTIONS: '1', CLOUD_PORT: '65536', ROLES: 'gateway,CANARY', LOG_LEVEL: 'CANARY', PUBLIC_URL: 'ftp://CANARY',
    REDIS_URL: 'CANARY', DEVELOPER_MODE: 'CANARY', SMTP_URL: 'smtp://user:CANARY@mail.example', MAIL_DIR: '/CANARY', ETH_RPC_URLS: 'https://one.example,CANARY',
    ETH_CONFIRMATIONS: '0', BSC_TRACES: 'CANARY', BTC_POLL_MS: '1e9', BODY_LIMIT_BYTES: '-1', EDGE_LEASE_TTL: '6.5', BUILD_TTL: '59', WEBHOOK_LADDER_SECONDS: '0,CANARY', SECRET_KEY: 'CANARY', NODE_NAME: 'x'.repeat(61),
  };
  const problems = problemsOf(t, wrong);
  const named = [
    'DATABASE_URL', 'DATABASE_CONNECTIONS', 'CLOUD_PORT', 'ROLES', 'LOG_LEVEL', 'PUBLIC_URL', 'REDIS_URL', 'DEVELOPER_MODE', 'SMTP_URL or MAIL_DIR', 'ETH_RPC_URLS',
    'ETH_CONFIRMATIONS', 'BSC_TRACES', 'BTC_POLL_MS', 'BODY_LIMIT_BYTES', 'EDGE_LEASE_TTL', 'BUILD_TTL', 'WEBHOOK_LADDER_SECONDS', 'SECRET_KEY', 'NODE_NAME',
  ];
  for (const name of named) t.true(problems.some((problem) => problem.startsWith(name)), name);
  t.false(problems.join('\n').includes('CANARY'));
});

test('issue 2.11 what is needed is named; an empty setting is none; both forms of a secret are one too many', (t) => {
  t.deepEqual(problemsOf(t, {}).map((problem) => problem.split(':')[0]), ['DATABASE_URL', 'SECRET_KEY or SECRET_KEY_FILE']);
  t.deepEqual(problemsOf(t, { ...GOOD, SECRET_KEY: '' }).length, 1);
  t.deepEqual(problemsOf(t, { ...GOOD, SECRET_KEY_FILE: '/run/secrets/key' }).length, 1);
  t.regex(problemsOf(t, { DATABASE_URL: GOOD.DATABASE_URL, SECRET_KEY_FILE: '/nowhere/at/all' })[0]!, /^SECRET_KEY_FILE: cannot be read \(ENOENT\)$/);
  t.regex(problemsOf(t, { ...GOOD, SECRET_KEY: `${'11'.repeat(32)},${'22'.repeat(31)}` })[0]!, /^SECRET_KEY: .*32 bytes/, 'each of the keys');
  const read = readConfig({ ...GOOD, REDIS_URL: '', ETH_RPC_URLS: '', CLOUD_PORT: '' });
  t.is(read.REDIS_URL, undefined);
  t.is(read.CLOUD_PORT, 8_080);
  t.deepEqual(read.chains, {});
});

test('design 6 settings are read as their types, with the defaults of the documents, and no key is among them', (t) => {
  const read = readConfig({
    ...GOOD, SECRET_KEY: `${'11'.repeat(32)}, ${Buffer.alloc(32, 2).toString('base64')}`, ROLES: 'gateway, publisher',
    ETH_RPC_URLS: 'http://one:8545, https://two/key', ETH_CONFIRMATIONS: '7', BASE_RPC_URLS: 'http://base', BASE_TRACES: 'required', ETH_TRACES: 'auto', WEBHOOK_LADDER_SECONDS: '0,5,60',
  });
  t.deepEqual(read.sealKeys, [Buffer.alloc(32, 0x11), Buffer.alloc(32, 2)], 'the first one seals');
  t.deepEqual(read.ROLES, ['gateway', 'publisher']);
  t.deepEqual(read.chains, {
    eth: { rpcUrls: ['http://one:8545', 'https://two/key'], confirmations: 7, pollMs: null, startHeight: null, secondReadMs: null, tracesRequired: false },
    base: { rpcUrls: ['http://base'], confirmations: null, pollMs: null, startHeight: null, secondReadMs: null, tracesRequired: true },
  });
  t.like(read, { HOST: '127.0.0.1', DEVELOPER_MODE: false, BODY_LIMIT_BYTES: 1_048_576, EDGE_LEASE_TTL: 30, BUILD_TTL: 86_400, SANDBOX_REQUESTS_PER_MINUTE: 6_000, WEBHOOK_LADDER_SECONDS: [0, 5, 60] });
  t.false('SECRET_KEY' in read);
});
