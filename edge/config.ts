/** The edge's settings: by environment, checked at boot, every problem named at once, no value ever echoed. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { catalogueOf } from '../chains/catalogue.ts';
import { factsOf, networkOf } from '../chains/registry.ts';
import { isRefusal } from '../protocol/errors.ts';
import { wholeNumber as wholeNumberOf } from '../protocol/node/setting-shapes.ts';
import { METRICS_SETTINGS, readMetricsAccess, type MetricsAccess } from '../protocol/node/metrics-access.ts';
import {
  hostSetting,
  isLine,
  isNamed,
  isOnceEach,
  LINE_FORM,
  listSetting,
  listOfRegistryKeys,
  NAMED_FORM,
  ONCE_FORM,
  pathSetting,
  problemOf,
} from '../protocol/node/setting-forms.ts';
import { unreadSettings, withWrapped } from '../protocol/setting-names.ts';
import { CHAINS, type Chain, type Environment } from '../protocol/slugs.ts';
import {
  KEYSTORE_NAMES,
  KEYSTORE_SECRETS,
  readUnattendedKeystore,
  type KeystoreSettings,
} from './keystore/settings.ts';
import { readSecret } from './process/secret-setting.ts';
import type { FeeSettings } from './signing/signers/fee-bounds.ts';
import { FIRST_NONCE_MAX } from './signing/signers/lying-in-wait.ts';
import { spendLedgerPlace, type SpendLedgerPlace } from './spend/shared-spend.ts';
import { readTreasuries, type AllowedTreasury } from './sweeps/treasuries.ts';
import { parseWebhookAllowlist, type WebhookTarget } from './webhooks/allowlist.ts';

const DIGITS_MAX = 78;

const wholeNumber = (min: number, max: number) => wholeNumberOf(min, max, 'must be');
const port = wholeNumber(0, 65_535);
const smallestUnits = z
  .string()
  .regex(/^[0-9]+$/, 'must be a whole number of the smallest native unit')
  .max(DIGITS_MAX)
  .transform(BigInt);
const confirmations = wholeNumber(1, 10_000).transform(BigInt);

/** `<NAME>_<CHAIN>`: one setting for each chain slug. */
const CHAIN_SETTINGS = [
  'EDGE_SPEND_CAP',
  'EDGE_WITHDRAWAL_CAP',
  'EDGE_BRIDGE_CAP',
  'EDGE_FEE_CAP',
  'EDGE_FEE_FLOOR',
  'EDGE_FEE_PRICE_CAP',
  'EDGE_VERIFY_CONFIRMATIONS',
] as const;
type ChainSetting = (typeof CHAIN_SETTINGS)[number];

const isOriginOf = (text: string): boolean => {
  const url = URL.parse(text);
  return url === null || (/^\/+$/.test(url.pathname) && url.search + url.hash + url.username + url.password === '');
};

const schema = z.object({
  /** The key of the cloud. Spec §5.1: its prefix fixes the environment for the life of the process. */
  API_KEY: z.string({ error: 'is needed: flk_live_… or flk_test_…' }),
  CLOUD_URL: z
    .url({ protocol: /^https?$/, message: 'must be an http or https address' })
    .refine(isOriginOf, 'must be an origin such as https://cloud.example: no path, query or user'),
  /** Whether a live key may go over plain http to another machine. */
  EDGE_PLAIN_HTTP: z.enum(['refused', 'allowed']).default('refused'),
  /** Whether files of secrets must be their owner's alone; secret-setting.ts. */
  EDGE_SECRET_FILES: z.enum(['private', 'mounted']).default('private'),
  /** Where callers reach this edge, for URLs that it gives; unset: as each caller did, over http. */
  EDGE_PUBLIC_URL: z
    .url({ protocol: /^https?$/, message: 'must be an http or https address' })
    .refine(isOriginOf, 'must be an origin such as https://edge.example: no path, query or user')
    .optional(),
  HOST: hostSetting.default('127.0.0.1'),
  EDGE_PORT: port.default(8081),
  EDGE_DATA_DIR: pathSetting.default('.data/edge'),
  EDGE_CHAINS: listSetting.pipe(z.array(z.enum(CHAINS)).min(1).refine(isOnceEach, ONCE_FORM)).default([...CHAINS]),
  /** Rolling window of both caps, in seconds. */
  EDGE_SPEND_WINDOW: wholeNumber(1, 366 * 86_400).default(86_400),
  /** How far above the highest index that was issued here a new address may lie. */
  EDGE_ADDRESS_GAP: wholeNumber(1, 2_147_483_647).default(100_000),
  /** Highest fee as a share of a native amount that moves, in basis points: of a withdrawal, and of a sweep. */
  EDGE_FEE_RATIO_BPS: wholeNumber(0, 1_000_000).default(5_000),
  EDGE_SWEEP_FEE_RATIO_BPS: wholeNumber(0, 1_000_000).default(1_000),
  /** Highest gas limit of a native payment; below that of a plain transfer nothing could be paid. */
  EDGE_NATIVE_GAS_LIMIT: wholeNumber(21_000, 16_777_216).default(100_000),
  /** Highest nonce of an EVM address that neither this edge nor an own node knows anything of. */
  EDGE_FIRST_NONCE_MAX: wholeNumber(0, 999_999_999_999).default(Number(FIRST_NONCE_MAX)),
  /** Writes to the cloud that may wait; above it EDGE_OUTBOX_FULL. */
  EDGE_OUTBOX_CAPACITY: wholeNumber(1, 10_000_000).default(100_000),
  /** How often the readiness is read while an identity waits for the owner's decision, in seconds. */
  EDGE_ROTATION_CHECK: wholeNumber(1, 86_400).default(60),
  /** How long the cloud may ask for a signature after an own caller did, in seconds. */
  EDGE_INSTRUCTION_TTL: wholeNumber(60, 30 * 86_400).default(3_600),
  /** How long a local key of another replica is good after somebody vouched for it, in seconds. */
  EDGE_KEY_SET_TTL: wholeNumber(600, 30 * 86_400).default(86_400),
  /** Addresses beside the derived treasury that a sweep may go to. Spec §4.5. */
  EDGE_SWEEP_TREASURY_ALLOWLIST: listSetting.refine(isOnceEach, ONCE_FORM).default([]),
  /** Whether coins of Bitcoin are swept. Treasury 5.4. */
  EDGE_BTC_SWEEPS: z.enum(['on', 'off']).default('off'),
  /** Public halves of the registry keys: two of them sign each version of the token registry. */
  EDGE_REGISTRY_KEYS: listOfRegistryKeys,
  EDGE_WEBHOOK_ALLOWLIST: z.string().optional(),
  EDGE_WEBHOOK_CONCURRENCY: wholeNumber(1, 4_096).default(256),
  EDGE_WEBHOOK_CONCURRENCY_PER_HOST: wholeNumber(1, 1_024).default(32),
  POD_HINT: z.string().max(120).refine(isLine, LINE_FORM).default(hostname().slice(0, 120)),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
});

export interface EdgeConfig {
  readonly apiKey: string;
  readonly environment: Environment;
  /** Origin of the cloud, without a trailing slash. */
  readonly cloudUrl: string;
  /** Where callers reach this edge, without a trailing slash; null: as each caller did. */
  readonly publicUrl: string | null;
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly chains: readonly Chain[];
  /** What the cloud may start (sweeps and their gas) per window, smallest native unit. Default zero. Spec §8.5. */
  readonly spendCaps: ReadonlyMap<Chain, bigint>;
  /** What bridges may burn per window, smallest unit of the token. Default zero. Treasury E4. */
  readonly bridgeCaps: ReadonlyMap<Chain, bigint>;
  /** Optional bound of withdrawals that a holder of a local key requested; absent: unbounded. Decisions 3. */
  readonly withdrawalCaps: ReadonlyMap<Chain, bigint>;
  /**
   * The same for tokens, smallest units by canonical contract; with a native cap a token without an entry is refused.
   * Decisions 3.
   */
  readonly tokenCaps: ReadonlyMap<Chain, ReadonlyMap<string, bigint>>;
  /** Bounds of fees. G29. */
  readonly fees: FeeSettings;
  readonly firstNonceMax: bigint;
  readonly addressGap: number;
  readonly spendWindowMs: number;
  /** Where all replicas count together; null: each counts for itself. */
  readonly spendLedger: SpendLedgerPlace | null;
  /** Where sweeps may go beside the derived treasury. Spec §4.5. */
  readonly sweepTreasuries: ReadonlyMap<Chain, readonly AllowedTreasury[]>;
  /** EDGE_BTC_SWEEPS. */
  readonly btcSweeps: boolean;
  /** Keys of which two must have signed a version of the token registry; none: only the shipped one is used. */
  readonly registryKeys: ReadonlySet<string>;
  readonly instructionTtlMs: number;
  readonly keySetTtlMs: number;
  readonly outboxCapacity: number;
  readonly rotationCheckMs: number;
  /** Null: public https only, and loopback in sandbox. Decisions 4. */
  readonly webhookAllowlist: readonly WebhookTarget[] | null;
  /** The customer's own nodes, by which deposits are confirmed before their event leaves. Decisions 6. */
  readonly verifyNodes: ReadonlyMap<Chain, readonly string[]>;
  /** Confirmations at those nodes; absent: the network's own threshold. */
  readonly verifyConfirmations: ReadonlyMap<Chain, number>;
  readonly webhookConcurrency: number;
  readonly webhookConcurrencyPerHost: number;
  readonly podHint: string;
  readonly logLevel: string;
  /** Who reads /metrics. */
  readonly mayScrape: MetricsAccess;
}

/** The phrase and its optional BIP-39 passphrase, as read; forgotten as soon as the seed is made. */
export interface Phrase {
  readonly mnemonic: string;
  readonly passphrase: string;
}

export class ConfigurationError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`the edge does not start:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

const asProblem = (issue: z.core.$ZodIssue): string => problemOf(issue, 'must be one of');

export type Environ = Readonly<Record<string, string | undefined>>;

const isSet = ([, value]: readonly [string, unknown]): boolean => value !== undefined && value !== '';

/**
 * The configuration and the phrase of an environment; without a phrase the keystore has the edge's own one.
 * `isPhrase` says whether a text is a BIP-39 phrase.
 * Throws: ConfigurationError with every problem at once; no value is in it.
 */
export function readConfig(
  env: Environ,
  isPhrase: (text: string) => boolean,
): { config: EdgeConfig; phrase: Phrase | null; keystore: KeystoreSettings | null } {
  const problems: string[] = [];
  const present = Object.fromEntries(Object.entries(env).filter(isSet)) as Record<string, string>;
  const environment = readApiKey(present, problems);
  const base = schema.safeParse(present);
  // A key that cannot be read was named already.
  if (!base.success) problems.push(...base.error.issues.filter(({ path }) => path[0] !== 'API_KEY').map(asProblem));
  if (base.success && environment === 'live' && base.data.EDGE_PLAIN_HTTP === 'refused')
    checkWay(base.data.CLOUD_URL, problems);
  problems.push(...unreadSettings(present, NAMES));
  const caps = readChainSettings(present, problems),
    tokenCaps = readTokenCaps(present, problems);
  const allowlist = readAllowlist(present['EDGE_WEBHOOK_ALLOWLIST'], problems);
  const spendLedger = readSpendLedger(present, problems);
  const sweepTreasuries = readTreasuries(base.success ? base.data.EDGE_SWEEP_TREASURY_ALLOWLIST : [], problems);
  const verifyNodes = readVerifyNodes(present, environment, problems);
  const keystore = readUnattendedKeystore(present, problems),
    phrase = readPhrase(present, isPhrase, keystore !== null, problems);
  const mayScrape = readMetricsAccess(present, problems),
    named = withWrapped(problems, present, NAMES.known);
  if (!base.success || environment === null || named.length > 0) throw new ConfigurationError(named);
  const { data: settings } = base;
  return {
    phrase,
    keystore,
    config: {
      apiKey: settings.API_KEY,
      environment,
      cloudUrl: settings.CLOUD_URL.replace(/\/+$/, ''),
      publicUrl: settings.EDGE_PUBLIC_URL?.replace(/\/+$/, '') ?? null,
      host: settings.HOST,
      port: settings.EDGE_PORT,
      dataDir: settings.EDGE_DATA_DIR,
      chains: settings.EDGE_CHAINS,
      spendCaps: caps.EDGE_SPEND_CAP,
      withdrawalCaps: caps.EDGE_WITHDRAWAL_CAP,
      bridgeCaps: caps.EDGE_BRIDGE_CAP,
      tokenCaps,
      fees: feesOf(settings, caps),
      firstNonceMax: BigInt(settings.EDGE_FIRST_NONCE_MAX),
      addressGap: settings.EDGE_ADDRESS_GAP,
      spendWindowMs: settings.EDGE_SPEND_WINDOW * 1_000,
      outboxCapacity: settings.EDGE_OUTBOX_CAPACITY,
      spendLedger,
      sweepTreasuries,
      btcSweeps: settings.EDGE_BTC_SWEEPS === 'on',
      registryKeys: new Set(settings.EDGE_REGISTRY_KEYS),
      instructionTtlMs: settings.EDGE_INSTRUCTION_TTL * 1_000,
      keySetTtlMs: settings.EDGE_KEY_SET_TTL * 1_000,
      rotationCheckMs: settings.EDGE_ROTATION_CHECK * 1_000,
      webhookAllowlist: allowlist,
      verifyNodes,
      verifyConfirmations: new Map([...caps.EDGE_VERIFY_CONFIRMATIONS].map(([chain, count]) => [chain, Number(count)])),
      webhookConcurrency: settings.EDGE_WEBHOOK_CONCURRENCY,
      webhookConcurrencyPerHost: settings.EDGE_WEBHOOK_CONCURRENCY_PER_HOST,
      podHint: settings.POD_HINT,
      logLevel: settings.LOG_LEVEL,
      mayScrape,
    },
  };
}

function feesOf(settings: z.output<typeof schema>, caps: ReturnType<typeof readChainSettings>): FeeSettings {
  return {
    feeCaps: caps.EDGE_FEE_CAP,
    feeFloors: caps.EDGE_FEE_FLOOR,
    feePriceCaps: caps.EDGE_FEE_PRICE_CAP,
    feeRatioBps: settings.EDGE_FEE_RATIO_BPS,
    sweepFeeRatioBps: settings.EDGE_SWEEP_FEE_RATIO_BPS,
    nativeGasLimit: BigInt(settings.EDGE_NATIVE_GAS_LIMIT),
  };
}

/** The environment of the key of `API_KEY`, or of `API_KEY_FILE`, which it becomes; null when a problem was named. */
function readApiKey(present: Record<string, string>, problems: string[]): Environment | null {
  const apiKey = readSecret(present, 'API_KEY', problems)?.trim();
  if (apiKey === undefined) {
    if (!problems.some((problem) => problem.startsWith('API_KEY')))
      problems.push('API_KEY: is needed: flk_live_… or flk_test_…');
    return null;
  }
  present['API_KEY'] = apiKey;
  return environmentOfKey(apiKey, problems);
}

/**
 * Spec §5.1: "An edge refuses to start if API_KEY lacks a recognised cloud prefix; a loc_* key is not a cloud
 * credential."
 */
export function environmentOfKey(apiKey: string | undefined, problems: string[]): Environment | null {
  if (apiKey === undefined) return null; // Named by the schema already.
  if (/^loc_/.test(apiKey)) {
    problems.push(
      'API_KEY: a loc_ key is issued by an edge and is no credential of the cloud; use flk_live_… or flk_test_…',
    );
    return null;
  }
  const prefix = /^flk_(live|test)_[A-Za-z0-9_-]{16,200}$/.exec(apiKey)?.[1];
  if (prefix === undefined) {
    problems.push('API_KEY: must begin with flk_live_ or flk_test_');
    return null;
  }
  return prefix === 'live' ? 'live' : 'sandbox';
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Over http anybody on the way reads the key and every answer, and changes what is not signed. */
export function checkWay(cloudUrl: string, problems: string[]): void {
  const { protocol, hostname } = new URL(cloudUrl);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return;
  problems.push(
    'CLOUD_URL: a live key does not go over http to another machine; use https, or set EDGE_PLAIN_HTTP=allowed where the network on the way is yours alone',
  );
}

function readChainSettings(env: Record<string, string>, problems: string[]): Record<ChainSetting, Map<Chain, bigint>> {
  const caps = Object.fromEntries(CHAIN_SETTINGS.map((setting) => [setting, new Map()])) as unknown as Record<
    ChainSetting,
    Map<Chain, bigint>
  >;
  for (const [name, text] of Object.entries(env)) {
    const setting = CHAIN_SETTINGS.find((known) => name.startsWith(`${known}_`));
    if (setting === undefined) continue;
    const chain = CHAINS.find((slug) => name === `${setting}_${slug.toUpperCase()}`);
    // A cap with a misspelt chain would silently not hold.
    if (chain === undefined) {
      problems.push(`${name}: names no chain; the chains are ${CHAINS.map((slug) => slug.toUpperCase()).join(', ')}`);
      continue;
    }
    const amount = (setting === 'EDGE_VERIFY_CONFIRMATIONS' ? confirmations : smallestUnits).safeParse(text);
    if (amount.success) caps[setting].set(chain, amount.data);
    else problems.push(`${name}: ${amount.error.issues[0]!.message}`);
  }
  return caps;
}

const CHAIN_TOKEN_CAPS = 'EDGE_WITHDRAWAL_TOKEN_CAPS';

/**
 * `EDGE_WITHDRAWAL_TOKEN_CAPS_<CHAIN>`: `contract=units`, separated by commas; a contract that is not in the registry
 * would bound nothing.
 */
function readTokenCaps(env: Record<string, string>, problems: string[]): Map<Chain, ReadonlyMap<string, bigint>> {
  const caps = new Map<Chain, ReadonlyMap<string, bigint>>();
  for (const [name, text] of Object.entries(env).filter(([each]) => each.startsWith(`${CHAIN_TOKEN_CAPS}_`))) {
    const chain = CHAINS.find((slug) => name === `${CHAIN_TOKEN_CAPS}_${slug.toUpperCase()}`);
    if (chain === undefined) {
      problems.push(`${name}: names no chain; the chains are ${CHAINS.map((slug) => slug.toUpperCase()).join(', ')}`);
      continue;
    }
    const entries = new Map<string, bigint>();
    if (!isNamed(text)) problems.push(`${name}: ${NAMED_FORM}`);
    for (const [index, entry] of (listSetting.safeParse(text).data ?? []).entries()) {
      const at = entry.lastIndexOf('='),
        contract = factsOf(chain).parseToken(networkOf(chain), entry.slice(0, Math.max(at, 0)).trim());
      const units = smallestUnits.safeParse(entry.slice(at + 1).trim());
      const isSound =
        at > 0 && !isRefusal(contract) && catalogueOf(chain).has(contract) && units.success && !entries.has(contract);
      if (isSound) entries.set(contract, units.data);
      else
        problems.push(
          `${name}: entry ${index + 1} is no contract of the registry with a whole number of its smallest unit (contract=units), or is there twice`,
        );
    }
    caps.set(chain, entries);
  }
  return caps;
}

function readSpendLedger(env: Record<string, string>, problems: string[]): SpendLedgerPlace | null {
  const text = readSecret(env, 'EDGE_SPEND_LEDGER', problems);
  if (text == null) return null;
  const place = spendLedgerPlace(text);
  if (place === null)
    problems.push('EDGE_SPEND_LEDGER: must be a postgres:// address or the absolute path of a directory');
  return place;
}

const CHAIN_SECRET = 'EDGE_VERIFY_RPC';
const SECRETS: readonly string[] = [
  'MNEMONIC',
  'MNEMONIC_PASSPHRASE',
  'API_KEY',
  'EDGE_SPEND_LEDGER',
  ...KEYSTORE_SECRETS,
];

const ofEachChain = (setting: string): string[] => CHAINS.map((chain) => `${setting}_${chain.toUpperCase()}`);
/** Of these a misspelt chain is named where they are read. */
const CHAIN_PREFIXES = [...CHAIN_SETTINGS, CHAIN_TOKEN_CAPS, CHAIN_SECRET] as const;
const NAMES = {
  known: [
    ...Object.keys(schema.shape),
    ...METRICS_SETTINGS,
    ...KEYSTORE_NAMES,
    ...SECRETS.flatMap((name) => [name, `${name}_FILE`]),
    ...CHAIN_PREFIXES.flatMap(ofEachChain),
    ...ofEachChain(CHAIN_SECRET).map((name) => `${name}_FILE`),
  ],
  own: (name: string) => /^(?:EDGE_|MNEMONIC)/.test(name),
  // The cloud's; judged where they are read.
  others: (name: string) => name === 'EDGE_LEASE_TTL' || CHAIN_PREFIXES.some((prefix) => name.startsWith(`${prefix}_`)),
};

/** Takes what is, or may carry, a credential out of an environment: children, crash reports and inspectors read it. */
export function forgetSecrets(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(env))
    if (SECRETS.includes(name) || name.startsWith(`${CHAIN_SECRET}_`)) delete env[name];
}

/**
 * `EDGE_VERIFY_RPC_<CHAIN>`, or `…_FILE` where the address carries a key: one address or several, separated by commas.
 */
function readVerifyNodes(
  env: Record<string, string>,
  environment: Environment | null,
  problems: string[],
): Map<Chain, readonly string[]> {
  const nodes = new Map<Chain, readonly string[]>();
  const names = new Set(
    Object.keys(env)
      .filter((name) => name.startsWith(`${CHAIN_SECRET}_`))
      .map((name) => name.replace(/_FILE$/, '')),
  );
  for (const name of names) {
    const chain = CHAINS.find((slug) => name === `${CHAIN_SECRET}_${slug.toUpperCase()}`);
    if (chain === undefined) {
      problems.push(`${name}: names no chain; the chains are ${CHAINS.map((slug) => slug.toUpperCase()).join(', ')}`);
      continue;
    }
    if (environment === 'sandbox') problems.push(`${name}: deposits of the sandbox are on no node; leave it out`);
    const text = readSecret(env, name, problems);
    if (text == null) continue;
    const urls = listSetting.safeParse(text).data ?? [];
    const isSound = (url: string) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
    if (urls.length === 0 || !urls.every(isSound))
      problems.push(`${name}: must be http or https addresses, separated by commas`);
    else nodes.set(chain, urls);
  }
  return nodes;
}

function readAllowlist(text: string | undefined, problems: string[]): readonly WebhookTarget[] | null {
  if (text === undefined) return null;
  if (!isNamed(text)) problems.push(`EDGE_WEBHOOK_ALLOWLIST: ${NAMED_FORM}`);
  const parsed = parseWebhookAllowlist(text);
  if (parsed.ok) return parsed.targets;
  problems.push(...parsed.problems.map((problem) => `EDGE_WEBHOOK_ALLOWLIST: ${problem}`));
  return null;
}

function readPhrase(
  env: Record<string, string>,
  isPhrase: (text: string) => boolean,
  inKeystore: boolean,
  problems: string[],
): Phrase | null {
  const mnemonic = readSecret(env, 'MNEMONIC', problems);
  const passphrase = readSecret(env, 'MNEMONIC_PASSPHRASE', problems);
  if (mnemonic === undefined) {
    if (inKeystore) return null;
    problems.push('MNEMONIC_FILE or MNEMONIC: exactly one is needed');
    return null;
  }
  if (mnemonic === null || passphrase === null) return null;
  const words = mnemonic.normalize('NFKD').trim().toLowerCase().split(/\s+/).join(' ');
  if (!isPhrase(words)) {
    problems.push(
      `MNEMONIC${env['MNEMONIC'] === undefined ? '_FILE' : ''}: is no valid BIP-39 phrase (words or checksum)`,
    );
    return null;
  }
  return { mnemonic: words, passphrase: passphrase ?? '' };
}
