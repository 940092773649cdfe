import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ConfigurationError, readConfig } from '../../../supervision/config.ts';

const GOOD = { DATABASE_URL: 'postgres://flock_app:word@127.0.0.1:5432/flock', SECRET_KEY: '11'.repeat(32) };

function problemsOf(
  t: { throws: (work: () => unknown, expected: { instanceOf: typeof ConfigurationError }) => ConfigurationError },
  env: Record<string, string>,
): string[] {
  return [...t.throws(() => readConfig(env), { instanceOf: ConfigurationError }).problems];
}

test('issue 2.11 every problem of the settings is named at once, by its setting, and no value is repeated', (t) => {
  const wrong = {
    DATABASE_URL: 'mysql://CANARY@host/db',
    DATABASE_CONNECTIONS: '1',
    CLOUD_PORT: '65536',
    ROLES: 'gateway,CANARY',
    LOG_LEVEL: 'CANARY',
    PUBLIC_URL: 'ftp://CANARY',
    REDIS_URL: 'CANARY',
    DEVELOPER_MODE: 'CANARY',
    SMTP_URL: 'smtp://user:CANARY@mail.example',
    MAIL_DIR: '/CANARY',
    ETH_RPC_URLS: 'https://one.example,CANARY',
    ETH_CONFIRMATIONS: '0',
    BSC_TRACES: 'CANARY',
    BTC_POLL_MS: '1e9',
    EDGE_LEASE_TTL: '6.5',
    BUILD_TTL: '59',
    WEBHOOK_LADDER_SECONDS: '0,CANARY',
    SECRET_KEY: 'CANARY',
    NODE_NAME: 'x'.repeat(61),
  };
  const problems = problemsOf(t, wrong);
  const named = [
    'DATABASE_URL',
    'DATABASE_CONNECTIONS',
    'CLOUD_PORT',
    'ROLES',
    'LOG_LEVEL',
    'PUBLIC_URL',
    'REDIS_URL',
    'DEVELOPER_MODE',
    'SMTP_URL or MAIL_DIR',
    'ETH_RPC_URLS',
    'ETH_CONFIRMATIONS',
    'BSC_TRACES',
    'BTC_POLL_MS',
    'EDGE_LEASE_TTL',
    'BUILD_TTL',
    'WEBHOOK_LADDER_SECONDS',
    'SECRET_KEY',
    'NODE_NAME',
  ];
  for (const name of named)
    t.true(
      problems.some((problem) => problem.startsWith(name)),
      name,
    );
  t.false(problems.join('\n').includes('CANARY'));
});

test('issue 2.11 what is needed is named; an empty setting is none; both forms of a secret are one too many', (t) => {
  t.deepEqual(
    problemsOf(t, {}).map((problem) => problem.split(':')[0]),
    ['DATABASE_URL', 'SECRET_KEY or SECRET_KEY_FILE'],
  );
  t.deepEqual(problemsOf(t, { ...GOOD, SECRET_KEY: '' }).length, 1);
  t.deepEqual(problemsOf(t, { ...GOOD, SECRET_KEY_FILE: '/run/secrets/key' }).length, 1);
  t.regex(
    problemsOf(t, { DATABASE_URL: GOOD.DATABASE_URL, SECRET_KEY_FILE: '/nowhere/at/all' })[0]!,
    /^SECRET_KEY_FILE: cannot be read \(ENOENT\); name a file that is there$/,
  );
  t.regex(
    problemsOf(t, { ...GOOD, SECRET_KEY: `${'11'.repeat(32)},${'22'.repeat(31)}` })[0]!,
    /^SECRET_KEY: .*32 bytes/,
    'each of the keys',
  );
  const read = readConfig({ ...GOOD, REDIS_URL: '', ETH_RPC_URLS: '', CLOUD_PORT: '' });
  t.is(read.REDIS_URL, undefined);
  t.is(read.CLOUD_PORT, 8_080);
  t.deepEqual(read.chains, {});
});

test('design 6 settings are read as their types, with the defaults of the documents, and no key is among them', (t) => {
  const read = readConfig({
    ...GOOD,
    SECRET_KEY: `${'11'.repeat(32)}, ${Buffer.alloc(32, 2).toString('base64')}`,
    ROLES: 'gateway, publisher',
    ETH_RPC_URLS: 'http://one:8545, https://two/key',
    ETH_CONFIRMATIONS: '7',
    BASE_RPC_URLS: 'http://base',
    BASE_TRACES: 'required',
    ETH_TRACES: 'auto',
    WEBHOOK_LADDER_SECONDS: '0,5,60',
  });
  t.deepEqual(read.sealKeys, [Buffer.alloc(32, 0x11), Buffer.alloc(32, 2)], 'the first one seals');
  t.deepEqual(read.ROLES, ['gateway', 'publisher']);
  t.deepEqual(read.chains, {
    eth: {
      rpcUrls: ['http://one:8545', 'https://two/key'],
      confirmations: 7,
      pollMs: null,
      startHeight: null,
      secondReadMs: null,
      tracesRequired: false,
    },
    base: {
      rpcUrls: ['http://base'],
      confirmations: null,
      pollMs: null,
      startHeight: null,
      secondReadMs: null,
      tracesRequired: true,
    },
  });
  t.like(read, {
    HOST: '127.0.0.1',
    DEVELOPER_MODE: false,
    EDGE_LEASE_TTL: 30,
    BUILD_TTL: 86_400,
    SANDBOX_REQUESTS_PER_MINUTE: 6_000,
    WEBHOOK_LADDER_SECONDS: [0, 5, 60],
  });
  t.false('SECRET_KEY' in read);
});

test("found F76: a name that is not read is a problem that names the setting which is meant; other programs' names are none", (t) => {
  const misspelt: Record<string, string> = {
    ETH_RPC_URL: 'ETH_RPC_URLS',
    ETH_RPC_URSL: 'ETH_RPC_URLS',
    ETH_CONFIRMATION: 'ETH_CONFIRMATIONS',
    BSC_START_HIGHT: 'BSC_START_HEIGHT',
    ETHE_RPC_URLS: 'ETH_RPC_URLS',
    POLIGON_CONFIRMATIONS: 'POLYGON_CONFIRMATIONS',
    DATABASE_CONECTIONS: 'DATABASE_CONNECTIONS',
    WEBHOOK_LADDER_SECOND: 'WEBHOOK_LADDER_SECONDS',
    NODE_LEASE_SECOND: 'NODE_LEASE_SECONDS',
  };
  for (const [name, meant] of Object.entries(misspelt)) {
    t.deepEqual(problemsOf(t, { ...GOOD, [name]: 'CANARY' }), [
      `${name}: is not read by this process; did you mean ${meant}?`,
    ]);
  }
  t.regex(
    problemsOf(t, { ...GOOD, DOGE_RPC_URLS: 'http://doge' })[0]!,
    /^DOGE_RPC_URLS: is not read by this process; /,
  );
  const others = {
    HOSTNAME: 'h',
    HOME: '/',
    PATH: '/bin',
    LOGNAME: 'a',
    MAILDIR: '/m',
    MAIL: '/m',
    NODE_OPTIONS: '',
    NODE_VERSION: '24',
    REDIS_URI: 'x',
    PUBLIC_URI: 'x',
    BASE_URL: 'http://x',
    SOL_DIR: '/',
    AVAX_HOME: '/',
    ETH_SERVICE_HOST: '10.0.0.1',
    ETH_PORT_8545_TCP_ADDR: '10.0.0.1',
    EDGE_PORT: '8081',
    EDGE_DATA_DIR: '/d',
    MNEMONIC_FILE: '/f',
    API_KEY: 'k',
    npm_lifecycle_event: 'cloud',
  };
  t.notThrows(() => readConfig({ ...GOOD, ...others }));
});

test('found F76: an entry of a list is named by its place, says what it is to be, and one endpoint is not named twice', (t) => {
  for (const wrong of ['127.0.0.1:8545', 'ws://node', 'http://one http://two', 'http://one,node-2']) {
    t.regex(
      problemsOf(t, { ...GOOD, ETH_RPC_URLS: wrong })[0]!,
      /^ETH_RPC_URLS: entry [12] is no http or https address; several are separated by commas$/,
      wrong,
    );
  }
  for (const twice of ['http://one,http://one', 'http://one/,https://two,HTTP://one:80']) {
    t.deepEqual(problemsOf(t, { ...GOOD, BTC_RPC_URLS: twice }), [
      'BTC_RPC_URLS: names an endpoint twice: its word would count as that of two',
    ]);
  }
  t.deepEqual(problemsOf(t, { ...GOOD, ETH_CONFIRMATIONS: 'many' }), [
    'ETH_CONFIRMATIONS: is a whole number from 1 to 10000',
  ]);
  t.deepEqual(problemsOf(t, { ...GOOD, ROLES: 'gateway,watcher' }), [
    'ROLES: entry 2 is one of "gateway"|"watchers"|"publisher"|"schedules"',
  ]);
});

test('a chain by another name points at that chain; none points at one by chance', (t) => {
  const named: Readonly<Record<string, string>> = {
    MATIC_RPC_URLS: 'POLYGON_RPC_URLS',
    ETHEREUM_RPC_URLS: 'ETH_RPC_URLS',
    RIPPLE_START_HEIGHT: 'XRP_START_HEIGHT',
    STELLAR_CONFIRMATIONS: 'XLM_CONFIRMATIONS',
    BITCOIN_POLL_MS: 'BTC_POLL_MS',
    TRX_RPC_URLS: 'TRON_RPC_URLS',
    EHT_RPC_URLS: 'ETH_RPC_URLS',
  };
  for (const [name, meant] of Object.entries(named)) {
    t.deepEqual(problemsOf(t, { ...GOOD, [name]: 'http://x' }), [
      `${name}: is not read by this process; did you mean ${meant}?`,
    ]);
  }
  t.deepEqual(problemsOf(t, { ...GOOD, DOGE_RPC_URLS: 'http://x' }), [
    'DOGE_RPC_URLS: is not read by this process; the chains are btc, eth, bsc, polygon, avax, base, tron, sol, xrp, xlm',
  ]);
});

test('a wrong value is answered with the form or the range, in the words of an operator', (t) => {
  const wrong: Readonly<Record<string, string>> = {
    DATABASE_CONNECTIONS: '1',
    CLOUD_PORT: '99999',
    NODE_LEASE_SECONDS: 'soon',
    REDIS_URL: 'http://redis',
    SMTP_URL: 'http://mail',
    INTERNAL_URL: 'https://node',
    OIDC_ISSUER: 'issuer',
    DATABASE_OWNER_URL: 'mysql://x',
    PUBLIC_URL: 'cloud.example',
    SECRET_KEY: 'abc',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const [problem, ...more] = problemsOf(t, { ...GOOD, [name]: value });
    t.deepEqual(more, [], name);
    t.notRegex(problem!, /Too |Invalid|expected (?:number|one)/, name);
    t.regex(
      problem!,
      new RegExp(`^${name}: (?:is a whole number from |is an? (?:address|origin) such as |must be 32 bytes)`),
    );
  }
  t.deepEqual(problemsOf(t, { ...GOOD, PUBLIC_URL: 'https://cloud.example/flock' }), [
    'PUBLIC_URL: is an origin such as https://cloud.example: no path, no query',
  ]);
  t.notThrows(() => readConfig({ ...GOOD, PUBLIC_URL: 'https://cloud.example/' }));
  t.deepEqual(problemsOf(t, { ...GOOD, OIDC_AUDIENCE: 'flock' }), [
    'OIDC_AUDIENCE: is read beside OIDC_ISSUER alone; set that too, or leave this out',
  ]);
});

test('console B17: what is said of a provider of payments is whole, or names the setting', (t) => {
  const stripe = { STRIPE_SECRET_KEY: 'rk_live_0123456789CANARY', STRIPE_WEBHOOK_SECRET: 'whsec_0123456789' };
  const both = ['STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET: both, or neither'];
  for (const [name, value] of Object.entries(stripe)) t.deepEqual(problemsOf(t, { ...GOOD, [name]: value }), both);
  t.like(readConfig({ ...GOOD, ...stripe, STRIPE_API_URL: 'http://127.0.0.1:9/' }), {
    STRIPE_WEBHOOK_SECRET: ['whsec_0123456789'],
    STRIPE_API_URL: 'http://127.0.0.1:9',
  });
  t.regex(
    problemsOf(t, { ...GOOD, ...stripe, STRIPE_SECRET_KEY: 'pk_live_0123456789' }).join(),
    /^STRIPE_SECRET_KEY: is a /,
  );
  t.regex(
    problemsOf(t, { ...GOOD, ...stripe, STRIPE_WEBHOOK_SECRET: 'whsec_0123456789,we_1' }).join(),
    /^STRIPE_WEBHOOK_SECRET: entry 2 is the signing secret/,
  );
  for (const url of ['http://stripe.example', 'https://u:CANARY@stripe.example', 'https://stripe.example/?k=CANARY']) {
    const found = problemsOf(t, { ...GOOD, ...stripe, STRIPE_API_URL: url }).join();
    t.regex(found, /^STRIPE_API_URL: is an https address /, url);
    t.false(found.includes('CANARY'));
  }
  t.is(readConfig(GOOD).STRIPE_SECRET_KEY, undefined);
});

test('found F76: each address that carries a credential may be in a file; both, an empty one and none at all are named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const fileOf = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { DATABASE_URL: url, ...rest } = GOOD;
  const files = {
    DATABASE_URL_FILE: fileOf('database', `${url}\n`),
    REDIS_URL_FILE: fileOf('redis', 'redis://:word@cache.example:6379'),
    SMTP_URL_FILE: fileOf('smtp', 'smtp://u:word@mail.example:587\n'),
    ETH_RPC_URLS_FILE: fileOf('eth', 'https://one.example/word\n\nhttps://two.example/word,https://three.example\n'),
  };
  const config = readConfig({ ...rest, ...files });
  t.is(config.DATABASE_URL, url);
  t.is(config.REDIS_URL, 'redis://:word@cache.example:6379');
  t.is(config.SMTP_URL, 'smtp://u:word@mail.example:587');
  t.deepEqual(config.chains.eth?.rpcUrls, [
    'https://one.example/word',
    'https://two.example/word',
    'https://three.example',
  ]);
  for (const [name, file] of Object.entries(files)) {
    const setting = name.replace(/_FILE$/, '');
    const read = (path: string, more = {}) => problemsOf(t, { ...rest, ...files, [name]: path, ...more });
    t.true(read(file, { [setting]: 'CANARY' }).includes(`${setting} or ${name}: at most one`));
    t.true(read(join(folder, 'none')).includes(`${name}: cannot be read (ENOENT); name a file that is there`));
    t.true(read(fileOf('empty', ' \n')).includes(`${name}: the file is empty`));
    const wrong = read(fileOf('wrong', 'CANARY'));
    t.true(wrong.some((problem) => problem.startsWith(`${setting}: `)));
    t.false(wrong.join().includes('CANARY'));
  }
});

test('found F76: a value in quotes, or with white space at its ends, is told so: as it came it is another place or name', (t) => {
  for (const name of [
    'HOST',
    'NODE_NAME',
    'MAIL_DIR',
    'PUBLIC_AUTHORITIES',
    'CLOUD_PORT',
    'DATABASE_URL',
    'SECRET_KEY',
  ]) {
    for (const quote of ['"', "'"])
      t.deepEqual(problemsOf(t, { ...GOOD, [name]: `${quote}CANARY${quote}` }), [
        `${name}: is in quotes, which are a part of it here: write it without them`,
      ]);
  }
  for (const name of ['HOST', 'NODE_NAME', 'MAIL_DIR', 'INTERNAL_HOST'])
    t.deepEqual(problemsOf(t, { ...GOOD, [name]: ' CANARY' }), [
      `${name}: begins or ends with white space: write it without`,
    ]);
  const { SECRET_KEY: _, ...rest } = GOOD;
  t.regex(
    problemsOf(t, { ...rest, SECRET_KEY_FILE: '/dev/null' }).join(),
    /^SECRET_KEY_FILE: must be 32 bytes/,
    'an empty file',
  );
  t.regex(problemsOf(t, { ...GOOD, SECRET_KEY: '   ' }).join(), /^SECRET_KEY: must be 32 bytes/);
  t.regex(problemsOf(t, { ...GOOD, SECRET_KEY: ',' }).join(), /^SECRET_KEY: must be 32 bytes/);
});

test('found F76: a secret whose file is a directory, missing or empty has one problem, which names the file and the next step', (t) => {
  const { DATABASE_URL: _url, SECRET_KEY: _key, ...rest } = GOOD;
  const files = { DATABASE_URL_FILE: '/', SECRET_KEY_FILE: '/', REDIS_URL_FILE: '/', ETH_RPC_URLS_FILE: '/nowhere' };
  t.deepEqual(problemsOf(t, { ...rest, ...files, SMTP_URL_FILE: '/dev/null' }).toSorted(), [
    'DATABASE_URL_FILE: cannot be read (EISDIR); it is a directory: name the file in it',
    'ETH_RPC_URLS_FILE: cannot be read (ENOENT); name a file that is there',
    'REDIS_URL_FILE: cannot be read (EISDIR); it is a directory: name the file in it',
    'SECRET_KEY_FILE: cannot be read (EISDIR); it is a directory: name the file in it',
    'SMTP_URL_FILE: the file is empty',
  ]);
});
