import { execFileSync } from 'node:child_process';
import { DEFAULT_FEE_SETTINGS, feeBoundsOf } from '../../../edge/signing/signers/fee-bounds.ts';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ConfigurationError, readConfig, type Environ } from '../../../edge/config.ts';
import { isMnemonic } from '../../../edge/keystore/keys.ts';
import { newDirectory } from '../../support/edge/disk.ts';

const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const KEY = 'flk_test_abcdefghijklmnopqrstuvwx';
const GOOD = { API_KEY: KEY, CLOUD_URL: 'http://127.0.0.1:8080', MNEMONIC: PHRASE };

function problemsOf(env: Environ): readonly string[] {
  try {
    readConfig(env, isMnemonic);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** Every variable whose problem must be named, with a value that has it. */
const WRONG: readonly (readonly [env: Environ, named: RegExp])[] = [
  [{ API_KEY: undefined }, /^API_KEY:/],
  [{ API_KEY_FILE: '/nowhere/key' }, /^API_KEY_FILE and API_KEY: set one/],
  [{ API_KEY: undefined, API_KEY_FILE: '/nowhere/key' }, /^API_KEY_FILE: cannot be read \(ENOENT\)/],
  [{ API_KEY: 'loc_live_abcdefghijklmnopqrstuvwx' }, /^API_KEY: a loc_ key/],
  [{ API_KEY: 'flk_prod_abcdefghijklmnopqrstuvwx' }, /^API_KEY: must begin/],
  [{ API_KEY: 'flk_live_short' }, /^API_KEY: must begin/],
  [{ API_KEY: 'sk_live_abcdefghijklmnopqrstuvwx' }, /^API_KEY: must begin/],
  [{ CLOUD_URL: undefined }, /^CLOUD_URL:/],
  [{ CLOUD_URL: 'ftp://cloud' }, /^CLOUD_URL: must be an http/],
  [{ EDGE_PORT: '65536' }, /^EDGE_PORT:/],
  [{ EDGE_PORT: '80a' }, /^EDGE_PORT:/],
  [{ EDGE_CHAINS: 'eth,doge' }, /^EDGE_CHAINS:/],
  [{ EDGE_CHAINS: ',' }, /^EDGE_CHAINS:/],
  [{ EDGE_SPEND_WINDOW: '0' }, /^EDGE_SPEND_WINDOW:/],
  [{ EDGE_OUTBOX_CAPACITY: '-1' }, /^EDGE_OUTBOX_CAPACITY:/],
  [{ EDGE_SPEND_CAP_ETH: '1.5' }, /^EDGE_SPEND_CAP_ETH: must be a whole number/],
  [{ EDGE_SPEND_CAP_ETHER: '1' }, /^EDGE_SPEND_CAP_ETHER: names no chain/],
  [{ EDGE_WITHDRAWAL_CAP_BSC: '1e18' }, /^EDGE_WITHDRAWAL_CAP_BSC:/],
  [{ EDGE_WITHDRAWAL_CAP_eth: '1' }, /^EDGE_WITHDRAWAL_CAP_eth: names no chain/],
  [{ EDGE_FEE_CAP_BASE: '0x10' }, /^EDGE_FEE_CAP_BASE:/],
  [{ EDGE_WEBHOOK_ALLOWLIST: 'app:8080,http://x' }, /^EDGE_WEBHOOK_ALLOWLIST: entry 2 /],
  [
    { EDGE_SWEEP_TREASURY_ALLOWLIST: '0x52908400098527886E0F7030069857D2E4169EE7, nonsense' },
    /^EDGE_SWEEP_TREASURY_ALLOWLIST: entry 2 /,
  ],
  [
    { EDGE_SWEEP_TREASURY_ALLOWLIST: 'xrp:0x52908400098527886E0F7030069857D2E4169EE7' },
    /^EDGE_SWEEP_TREASURY_ALLOWLIST: entry 1 is an address of no chain; an entry is ADDRESS or chain:ADDRESS/,
  ],
  [{ EDGE_REGISTRY_KEYS: `${'a'.repeat(64)}, ABC` }, /^EDGE_REGISTRY_KEYS: entry 2 must be 64 hex digits/],
  [{ EDGE_SPEND_LEDGER: 'mysql://customer:x@db/ledger' }, /^EDGE_SPEND_LEDGER: must be a postgres/],
  [{ EDGE_SPEND_LEDGER: 'relative/path' }, /^EDGE_SPEND_LEDGER: must be a postgres/],
  [{ EDGE_INSTRUCTION_TTL: '59' }, /^EDGE_INSTRUCTION_TTL:/],
  [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL:/],
  [{ MNEMONIC: undefined }, /^MNEMONIC_FILE or MNEMONIC: exactly one/],
  [{ MNEMONIC: PHRASE.replace('about', 'zebra') }, /^MNEMONIC: is no valid BIP-39 phrase/],
  [{ MNEMONIC_FILE: '/nowhere/phrase' }, /^MNEMONIC_FILE and MNEMONIC: set one/],
  [{ MNEMONIC: undefined, MNEMONIC_FILE: '/nowhere/phrase' }, /^MNEMONIC_FILE: cannot be read \(ENOENT\)/],
  [{ MNEMONIC_PASSPHRASE_FILE: '/nowhere/pass' }, /^MNEMONIC_PASSPHRASE_FILE: cannot be read/],
];

for (const [env, named] of WRONG) {
  const shown = Object.entries(env)
    .map(([name, value]) => `${name}=${value === undefined ? '(unset)' : value.slice(0, 40)}`)
    .join(' ');
  test(`§5.1 refuses to start and names the problem: ${shown}`, (t) => {
    const problems = problemsOf({ ...GOOD, ...env });
    t.is(problems.length, 1, problems.join(' | '));
    t.regex(problems[0]!, named);
  });
}

test('every problem is named at once, and no value is in them', (t) => {
  const problems = problemsOf({
    API_KEY: 'loc_live_secretsecretsecretsecret',
    CLOUD_URL: 'nonsense-url',
    EDGE_PORT: 'eleventy',
    EDGE_SPEND_CAP_ETH: 'lots',
    EDGE_FEE_CAP_DOGE: '12345678',
    MNEMONIC: 'secret words that are no phrase',
  });
  t.deepEqual(problems.map((problem) => problem.split(':')[0]).sort(), [
    'API_KEY',
    'CLOUD_URL',
    'EDGE_FEE_CAP_DOGE',
    'EDGE_PORT',
    'EDGE_SPEND_CAP_ETH',
    'MNEMONIC',
  ]);
  t.notRegex(problems.join('\n'), /secretsecret|nonsense-url|eleventy|lots|12345678|secret words/);
});

test('§5.1 the prefix of the key decides the environment', (t) => {
  t.is(readConfig(GOOD, isMnemonic).config.environment, 'sandbox');
  t.is(readConfig({ ...GOOD, API_KEY: KEY.replace('test', 'live') }, isMnemonic).config.environment, 'live');
});

test('§8.5 caps: spend caps default to zero by absence, amounts are read exactly', (t) => {
  const { config } = readConfig(
    { ...GOOD, EDGE_SPEND_CAP_ETH: '123456789012345678901234567890', EDGE_WITHDRAWAL_CAP_BASE: '7' },
    isMnemonic,
  );
  t.is(config.spendCaps.get('eth'), 123456789012345678901234567890n);
  t.is(config.spendCaps.get('bsc'), undefined);
  t.is(config.withdrawalCaps.get('base'), 7n);
  t.is(config.spendWindowMs, 86_400_000);
});

test('found F2 bounds of fees: safe ones without a setting, and each is a setting', (t) => {
  const {
    config: { fees },
  } = readConfig(GOOD, isMnemonic);
  t.deepEqual(fees, DEFAULT_FEE_SETTINGS);
  const set = readConfig(
    {
      ...GOOD,
      EDGE_FEE_CAP_ETH: '1',
      EDGE_FEE_FLOOR_ETH: '2',
      EDGE_FEE_PRICE_CAP_ETH: '3',
      EDGE_FEE_RATIO_BPS: '4',
      EDGE_SWEEP_FEE_RATIO_BPS: '5',
      EDGE_NATIVE_GAS_LIMIT: '60000',
    },
    isMnemonic,
  ).config.fees;
  t.deepEqual(feeBoundsOf('eth', set), {
    feeCap: 1n,
    feeFloor: 2n,
    feePriceCap: 3n,
    feeRatioBpsMax: 4,
    nativeGasLimit: 60_000n,
  });
  t.deepEqual(feeBoundsOf('eth', set, true), {
    feeCap: 1n,
    feeFloor: 0n,
    feePriceCap: 3n,
    feeRatioBpsMax: 5,
    nativeGasLimit: 60_000n,
  });
  t.deepEqual(
    problemsOf({ ...GOOD, EDGE_NATIVE_GAS_LIMIT: '20999', EDGE_FEE_RATIO_BPS: 'half', EDGE_FEE_FLOOR_DOGE: '1' })
      .map((problem) => problem.split(':')[0])
      .sort(),
    ['EDGE_FEE_FLOOR_DOGE', 'EDGE_FEE_RATIO_BPS', 'EDGE_NATIVE_GAS_LIMIT'],
  );
});

test('found F8 the first nonce of an address that nobody knows of has a bound, and it is a setting', (t) => {
  t.is(readConfig(GOOD, isMnemonic).config.firstNonceMax, 100_000n);
  t.is(readConfig({ ...GOOD, EDGE_FIRST_NONCE_MAX: '7' }, isMnemonic).config.firstNonceMax, 7n);
  t.deepEqual(
    problemsOf({ ...GOOD, EDGE_FIRST_NONCE_MAX: '-1' }).map((problem) => problem.split(':')[0]),
    ['EDGE_FIRST_NONCE_MAX'],
  );
});

test('the phrase may come from a file, in upper case and with line breaks; the passphrase is taken as it is', (t) => {
  const directory = newDirectory();
  const file = join(directory, 'phrase');
  writeFileSync(file, `${PHRASE.toUpperCase().replaceAll(' ', '\n')}\n`, { mode: 0o600 });
  writeFileSync(join(directory, 'pass'), ' two  spaces \n', { mode: 0o600 });
  const { MNEMONIC: _unused, ...rest } = GOOD;
  const { phrase } = readConfig(
    { ...rest, MNEMONIC_FILE: file, MNEMONIC_PASSPHRASE_FILE: join(directory, 'pass') },
    isMnemonic,
  );
  t.deepEqual(phrase, { mnemonic: PHRASE, passphrase: ' two  spaces ' });
});

test('§4.5, treasury W5: an entry of EDGE_SWEEP_TREASURY_ALLOWLIST counts on every chain that reads it, or on the one that it names, with its tag', (t) => {
  const evm = '0x52908400098527886E0F7030069857D2E4169EE7',
    other = '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
    xrp = 'rN7n7otQDd6FczFgLdSqtcsAUxDkw6fzRH';
  const allowed = (text: string) =>
    readConfig({ ...GOOD, EDGE_SWEEP_TREASURY_ALLOWLIST: text }, isMnemonic).config.sweepTreasuries;
  const anywhere = { address: evm, tag: null, isOfOneChain: false },
    onBase = { address: other, tag: null, isOfOneChain: true };
  t.deepEqual(Object.fromEntries(allowed(`${evm.toLowerCase()}, ${xrp}, base:${other}`)), {
    eth: [anywhere],
    bsc: [anywhere],
    polygon: [anywhere],
    avax: [anywhere],
    base: [anywhere, onBase],
    xrp: [{ address: xrp, tag: null, isOfOneChain: false }],
  });
  t.deepEqual(allowed('xrp:XVLhHMPHU98es4dbozjVtdWzVrDjtV18pX8yuPT7y4xaEHi').get('xrp'), [
    { address: 'rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf', tag: '4294967295', isOfOneChain: true },
  ]);
  t.is(readConfig(GOOD, isMnemonic).config.sweepTreasuries.size, 0);
});

test('a setting that names a FIFO, a device or a directory in place of a file is refused at once: it would never end', (t) => {
  const fifo = join(newDirectory(), 'fifo');
  execFileSync('mkfifo', [fifo]);
  for (const place of [fifo, '/dev/zero', newDirectory()]) {
    for (const name of [
      'MNEMONIC',
      'MNEMONIC_PASSPHRASE',
      'EDGE_KEYSTORE_PASSPHRASE',
      'EDGE_PKCS11_PIN',
      'EDGE_SPEND_LEDGER',
      'EDGE_VERIFY_RPC_ETH',
    ]) {
      const { MNEMONIC: _unused, ...rest } = GOOD;
      const problems = problemsOf({
        ...rest,
        ...(name === 'MNEMONIC' ? {} : { MNEMONIC: PHRASE }),
        API_KEY: KEY.replace('test', 'live'),
        [`${name}_FILE`]: place,
      });
      t.deepEqual(problems, [`${name}_FILE: cannot be read (no plain file)`], place);
    }
  }
  const large = join(newDirectory(), 'large');
  writeFileSync(large, 'x'.repeat(1_048_577));
  t.deepEqual(problemsOf({ ...GOOD, MNEMONIC_PASSPHRASE_FILE: large }), [
    'MNEMONIC_PASSPHRASE_FILE: cannot be read (larger than 1048576 bytes)',
  ]);
});

test('found F6 caps of tokens: by canonical contract of the registry, each once; whatever else it is, it is named', (t) => {
  const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
  const { config } = readConfig(
    {
      ...GOOD,
      EDGE_WITHDRAWAL_TOKEN_CAPS_ETH: `${usdc.toLowerCase()}=25000000, 0xdAC17F958D2ee523a2206206994597C13D831ec7=0`,
    },
    isMnemonic,
  );
  t.deepEqual(
    [...config.tokenCaps.get('eth')!],
    [
      [usdc, 25_000_000n],
      ['0xdAC17F958D2ee523a2206206994597C13D831ec7', 0n],
    ],
  );
  t.is(config.tokenCaps.size, 1);
  for (const text of [
    '1',
    `${usdc}`,
    `${usdc}=1.5`,
    `${usdc}=`,
    `=5`,
    `0x${'1'.repeat(40)}=5`,
    `${usdc}=1,${usdc.toLowerCase()}=2`,
  ]) {
    const problems = problemsOf({ ...GOOD, EDGE_WITHDRAWAL_TOKEN_CAPS_ETH: text });
    t.true(problems.length === 1 && problems[0]!.startsWith('EDGE_WITHDRAWAL_TOKEN_CAPS_ETH: entry '), text);
  }
  t.deepEqual(
    problemsOf({ ...GOOD, EDGE_WITHDRAWAL_TOKEN_CAPS_DOGE: `${usdc}=1` }).map((problem) => problem.split(':')[0]),
    ['EDGE_WITHDRAWAL_TOKEN_CAPS_DOGE'],
  );
});

test('found F13: a secret file that others may read or change is refused, whichever setting names it; mounted ones are told so', (t) => {
  const file = join(newDirectory(), 'secret');
  writeFileSync(file, PHRASE);
  const { MNEMONIC: _unused, ...rest } = GOOD;
  for (const name of [
    'MNEMONIC',
    'MNEMONIC_PASSPHRASE',
    'EDGE_KEYSTORE_PASSPHRASE',
    'EDGE_PKCS11_PIN',
    'EDGE_SPEND_LEDGER',
    'EDGE_VERIFY_RPC_ETH',
  ]) {
    const env = {
      ...rest,
      ...(name === 'MNEMONIC' ? {} : { MNEMONIC: PHRASE }),
      API_KEY: KEY.replace('test', 'live'),
      [`${name}_FILE`]: file,
    };
    for (const mode of [0o644, 0o640, 0o604, 0o444, 0o660, 0o601, 0o620]) {
      chmodSync(file, mode);
      const problems = problemsOf(env);
      t.true(
        problems.length === 1 &&
          problems[0]!.startsWith(`${name}_FILE: others than its owner`) &&
          /chmod 600.*EDGE_SECRET_FILES=mounted/.test(problems[0]!),
        `${name} ${mode.toString(8)}: ${String(problems)}`,
      );
    }
    const isRefused = (more: Record<string, string>) => {
      try {
        readConfig({ ...env, ...more }, isMnemonic);
        return false;
      } catch (error) {
        return (error as ConfigurationError).problems.some((problem) => problem.includes('others than its owner'));
      }
    };
    chmodSync(file, 0o444);
    t.false(isRefused({ EDGE_SECRET_FILES: 'mounted' }), name);
    t.true(isRefused({ EDGE_SECRET_FILES: 'private' }), name);
    for (const mode of [0o600, 0o400, 0o700]) {
      chmodSync(file, mode);
      t.false(isRefused({}), `${name} ${mode.toString(8)}`);
    }
  }
});

test('found F13: a live key goes over http to this machine alone, unless it is allowed', (t) => {
  const live = { ...GOOD, API_KEY: KEY.replace('test', 'live') };
  const away = [
    'http://cloud:8080',
    'http://cloud.example',
    'http://10.0.0.1',
    'HTTP://cloud.example',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'http://[fd00::1]:8080',
    'http://0.0.0.0',
  ];
  for (const CLOUD_URL of away) {
    const problems = problemsOf({ ...live, CLOUD_URL });
    t.true(
      problems.length === 1 &&
        problems[0]!.startsWith('CLOUD_URL: ') &&
        problems[0]!.includes('EDGE_PLAIN_HTTP=allowed'),
      CLOUD_URL,
    );
    t.notThrows(() => readConfig({ ...live, CLOUD_URL, EDGE_PLAIN_HTTP: 'allowed' }, isMnemonic), CLOUD_URL);
    t.notThrows(() => readConfig({ ...GOOD, CLOUD_URL }, isMnemonic), `${CLOUD_URL} with a test key`);
  }
  for (const CLOUD_URL of [
    'https://cloud.example',
    'http://127.0.0.1:8080',
    'http://127.8.9.1',
    'http://localhost:8080',
    'http://[::1]:8080',
    'http://LOCALHOST',
  ]) {
    t.notThrows(() => readConfig({ ...live, CLOUD_URL }, isMnemonic), CLOUD_URL);
  }
});

test('found F76: a name that is not read refuses the start, for a misspelt passphrase makes other addresses and a misspelt cap does not hold', (t) => {
  const misspelt: Record<string, string> = {
    MNEMONIC_PASSPHRAS: 'MNEMONIC_PASSPHRASE',
    MNEMONIC_PASSPHRASE_FIEL: 'MNEMONIC_PASSPHRASE_FILE',
    MNEMONIC_PASPHRASE: 'MNEMONIC_PASSPHRASE',
    MNEMONICFILE: 'MNEMONIC_FILE',
    EDGE_WEBHOOK_ALLOW_LIST: 'EDGE_WEBHOOK_ALLOWLIST',
    EDGE_DATADIR: 'EDGE_DATA_DIR',
    EDGE_SPEND_CAPS_ETH: 'EDGE_SPEND_CAP_ETH',
    EDGE_WITHDRAWL_CAP_BTC: 'EDGE_WITHDRAWAL_CAP_BTC',
    EDGE_FEE_RATIO: 'EDGE_FEE_RATIO_BPS',
    EDGE_KEYSTORE: 'EDGE_KEYSTORE_FILE',
    EDGE_VERIFY_RCP_ETH: 'EDGE_VERIFY_RPC_ETH',
    EDGE_SPEND_LEGDER: 'EDGE_SPEND_LEDGER',
  };
  for (const [name, meant] of Object.entries(misspelt)) {
    t.deepEqual(problemsOf({ ...GOOD, [name]: 'CANARY' }), [
      `${name}: is not read by this process; did you mean ${meant}?`,
    ]);
  }
  t.deepEqual(problemsOf({ ...GOOD, EDGE_SOMETHING_ELSE_ALTOGETHER: 'CANARY' }), [
    'EDGE_SOMETHING_ELSE_ALTOGETHER: is not read by this process; the settings are in docs/configuration.md',
  ]);
  // Names of other programs, of the cloud, and what an orchestrator says of services beside this one.
  const others = {
    HOME: '/',
    HOSTNAME: 'pod',
    DATABASE_URL: 'x',
    SECRET_KEY: 'x',
    ETH_RPC_URLS: 'x',
    EDGE_LEASE_TTL: '30',
    KUBERNETES_SERVICE_HOST: '10.0.0.1',
    EDGE_SERVICE_HOST: '10.0.0.1',
    EDGE_SERVICE_PORT: '80',
    EDGE_SERVICE_PORT_HTTP: '80',
    EDGE_PORT_8081_TCP: 'tcp://10.0.0.1:8081',
    EDGE_PORT_8081_TCP_ADDR: '10.0.0.1',
    EDGE_API_PORT: 'tcp://10.0.0.1:1',
  };
  t.deepEqual(problemsOf({ ...GOOD, ...others }), []);
});

test('found F76: every setting of the documents is read by the edge or by the cloud', (t) => {
  const rows = readFileSync('docs/configuration.md', 'utf8')
    .split('## Edge (')[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  const names = rows.flatMap((line) =>
    [...line.split('|')[1]!.matchAll(/`([A-Z0-9_<>]+)`/g)].map(([, name]) => name!.replace('<CHAIN>', 'ETH')),
  );
  t.true(names.length > 40, `${names.length}`);
  for (const name of names)
    t.false(
      problemsOf({ ...GOOD, [name]: 'x' }).some((problem) => problem.includes('is not read')),
      name,
    );
});

test('found F76: a value in quotes, or with white space at its ends, is told so; a passphrase and a PIN are any text', (t) => {
  for (const name of ['EDGE_DATA_DIR', 'HOST', 'POD_HINT', 'EDGE_PKCS11_TOKEN', 'MNEMONIC', 'API_KEY', 'CLOUD_URL'])
    t.deepEqual(
      problemsOf({ ...GOOD, [name]: '"CANARY"' }),
      [`${name}: is in quotes, which are a part of it here: write it without them`],
      name,
    );
  t.deepEqual(problemsOf({ ...GOOD, EDGE_DATA_DIR: '/data ' }), [
    'EDGE_DATA_DIR: begins or ends with white space: write it without',
  ]);
  t.deepEqual(problemsOf({ ...GOOD, MNEMONIC_PASSPHRASE: '"with quotes" ' }), []);
  t.deepEqual(problemsOf({ ...GOOD, MNEMONIC_PASSPHRASE: "'with quotes'" }), []);
});
