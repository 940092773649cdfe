/**
 * Every setting of docs/configuration.md with values that nobody means (found F76): each is refused at the start, under
 * the setting's own name, or stands here as one that the setting takes. A setting without a row fails.
 */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { ConfigurationError as EdgeProblems, readConfig as readEdge } from '../../edge/config.ts';
import { isMnemonic } from '../../edge/keystore/keys.ts';
import { ConfigurationError as CloudProblems, readConfig as readCloud } from '../../supervision/config.ts';

const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const GOOD_EDGE: Readonly<Record<string, string>> = {
  API_KEY: 'flk_live_abcdefghijklmnopqrstuvwx',
  CLOUD_URL: 'https://cloud.example',
  MNEMONIC: PHRASE,
};
const GOOD_CLOUD: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgres://flock_app:word@127.0.0.1:5432/flock',
  SECRET_KEY: '11'.repeat(32),
};

const NONSENSE = {
  space: ' ',
  url: 'https://host.example/path',
  zero: '0',
  beyond: '70000',
  negative: '-1',
  fraction: '1.5',
  unicode: '☃',
  control: 'a\u0007b',
  line: 'a\nb',
  twice: 'gateway,gateway',
  long: 'x'.repeat(5_000),
} as const;
type Kind = keyof typeof NONSENSE;

const ALL = Object.keys(NONSENSE) as Kind[];
const NUMBERS: readonly Kind[] = ['zero', 'beyond'];
const PATHS: readonly Kind[] = ['zero', 'beyond', 'negative', 'fraction', 'unicode', 'twice'];
/** Nonsense that is none there: a number within the range, a name that anybody may give, a secret of any text. */
const LAWFUL: Readonly<Record<string, readonly Kind[]>> = {
  // cloud
  NODE_NAME: ['zero', 'beyond', 'negative', 'fraction'],
  CLOUD_PORT: ['zero'],
  INTERNAL_PORT: ['zero'],
  CHECKOUT_ADDRESS_REST: ['beyond'],
  CHECKOUT_STREAMS_MAX: NUMBERS,
  CHECKOUT_UNPAID_MAX: ['beyond'],
  ...Object.fromEntries(
    ['ETH', 'BSC', 'POLYGON', 'AVAX', 'BASE', 'TRON'].map((chain) => [
      `CHECKOUT_TOKEN_MINIMUM_${chain}`,
      ['zero', 'beyond', 'fraction'],
    ]),
  ),
  CLUSTER_SECRET: ['long'],
  OIDC_ISSUER: ['url'],
  BANK_DETAILS: ALL.filter((kind) => kind !== 'space' && kind !== 'control' && kind !== 'line' && kind !== 'long'),
  STRIPE_API_URL: ['url'],
  WEBHOOK_LADDER_SECONDS: NUMBERS,
  MAIL_DIR: PATHS,
  SANDBOX_REQUESTS_PER_MINUTE: ['beyond'],
  POOL_WAIT_MS: ['zero'],
  BUILD_TTL: ['beyond'],
  SWEEP_DEBOUNCE: ['zero'],
  RESIDENT_ACCOUNTS_MAX: ['beyond'],
  // Fault tests alone read it; `migrate` alone reads the three after it, as it needs them.
  FLOCK_FAILPOINTS: ALL,
  DATABASE_OWNER_URL_FILE: ALL,
  DATABASE_APP_PASSWORD: ALL,
  DATABASE_APP_PASSWORD_FILE: ALL,
  // Of blanks nobody is allowed, which is the strict case.
  METRICS_ALLOW: ['space'],
  SECURITY_CONTACT: ['url'],
  // edge
  MNEMONIC_PASSPHRASE: ALL,
  EDGE_KEYSTORE_PASSPHRASE: ALL,
  EDGE_PKCS11_PIN: ALL,
  // What they name is opened, and refused by its name, once the rest is sound: test/unit/edge/keystore.
  EDGE_KEYSTORE_FILE: ALL,
  EDGE_PKCS11_MODULE: ALL,
  // Labels that the maker of a token chose.
  EDGE_PKCS11_TOKEN: ALL.filter((kind) => kind !== 'space'),
  EDGE_PKCS11_KEY: ALL.filter((kind) => kind !== 'space' && kind !== 'long'),
  EDGE_PORT: ['zero'],
  EDGE_DATA_DIR: PATHS,
  EDGE_SPEND_CAP_ETH: NUMBERS,
  EDGE_WITHDRAWAL_CAP_ETH: NUMBERS,
  EDGE_BRIDGE_CAP_ETH: NUMBERS,
  EDGE_FEE_CAP_ETH: NUMBERS,
  EDGE_FEE_PRICE_CAP_ETH: NUMBERS,
  EDGE_FEE_FLOOR_ETH: NUMBERS,
  EDGE_FEE_RATIO_BPS: NUMBERS,
  EDGE_SWEEP_FEE_RATIO_BPS: NUMBERS,
  EDGE_FIRST_NONCE_MAX: NUMBERS,
  EDGE_NATIVE_GAS_LIMIT: ['beyond'],
  EDGE_ADDRESS_GAP: ['beyond'],
  EDGE_SPEND_WINDOW: ['beyond'],
  EDGE_INSTRUCTION_TTL: ['beyond'],
  EDGE_KEY_SET_TTL: ['beyond'],
  EDGE_OUTBOX_CAPACITY: ['beyond'],
  EDGE_ROTATION_CHECK: ['beyond'],
  EDGE_VERIFY_RPC_ETH: ['url'],
  EDGE_WEBHOOK_ALLOWLIST: ['url', 'unicode', 'twice'],
  POD_HINT: ALL.filter((kind) => !['space', 'control', 'line', 'long'].includes(kind)),
};

function problemsOf(read: (env: Record<string, string>) => unknown, env: Record<string, string>): readonly string[] {
  try {
    read(env);
    return [];
  } catch (error) {
    if (error instanceof EdgeProblems || error instanceof CloudProblems) return error.problems;
    throw error;
  }
}
const edge = (env: Record<string, string>) => readEdge(env, isMnemonic);

/** Names in the first column of the tables of a part of the page. */
function settingsOf(from: string, to: string): string[] {
  const rows = readFileSync('docs/configuration.md', 'utf8').split(from)[1]!.split(to)[0]!.split('\n');
  return rows
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...line.split('|')[1]!.matchAll(/`([A-Z][A-Z0-9_<>]+)`/g)])
    .map(([, name]) => name!.replace('<CHAIN>', 'ETH'));
}

for (const [who, read, good, names] of [
  ['cloud', readCloud, GOOD_CLOUD, settingsOf('## Cloud node (', '\n## Edge')],
  ['edge', edge, GOOD_EDGE, settingsOf('## Edge (', '\n### ')],
] as const) {
  test(`found F76: nonsense in any setting of the ${who} is refused by the setting's name`, (t) => {
    t.deepEqual(problemsOf(read, good), []);
    t.true(names.length > 30, `${names.length}`);
    for (const name of new Set(names)) {
      for (const kind of ALL) {
        const without = { ...good };
        if (name.endsWith('_FILE')) delete without[name.slice(0, -'_FILE'.length)];
        const problems = problemsOf(read, { ...without, [name]: NONSENSE[kind] });
        const [named] = problems.filter((problem) => problem.startsWith(name));
        const isTaken = LAWFUL[name]?.includes(kind) ?? false;
        t.is(named === undefined, isTaken, `${name} ${kind}: ${named ?? problems.join()}`);
        // What was wrong or what is right, in words; never the value.
        if (named !== undefined && NONSENSE[kind].trim().length > 3) {
          t.true(named.length > name.length + 8, named);
          t.false(named.includes(NONSENSE[kind]), named);
        }
      }
    }
  });
}

test('found F76: every exception is of a setting that the page has', (t) => {
  const known = new Set([...settingsOf('## Cloud node (', '\n## Edge'), ...settingsOf('## Edge (', '\n### ')]);
  t.deepEqual(
    Object.keys(LAWFUL).filter((name) => !known.has(name)),
    [],
  );
});
