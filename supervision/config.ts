/** A cloud node's settings: by environment, checked at boot, every problem named at once. docs/configuration.md. */
import { areScreened, SCREENED_FORM } from '../actors/outgoing/screening.ts';
import { z } from 'zod';
import {
  CHAIN_SETTINGS,
  chainAdvice,
  isLikeChainSetting,
  readChainSettings,
  type ChainConfigs,
} from '../chain-watchers/settings.ts';
import { readClusterSecrets } from '../cluster/secrets.ts';
import { CONTACT } from '../gateway/pages/security-txt.ts';
import { BILLING_SETTINGS, billingProblems } from '../gateway/billing-provider/settings.ts';
import { isAuthority, isOrigin } from '../gateway/http/auth/authorities.ts';
import { NAME_SERVER } from '../gateway/http/client-address.ts';
import { CHECKOUT_SETTINGS } from '../gateway/http/payment/checkout-settings.ts';
import { ratesFileSetting } from '../gateway/http/treasury/rates-file.ts';
import { METRICS_SETTINGS, readMetricsAccess, type MetricsAccess } from '../protocol/node/metrics-access.ts';
import { isNetwork } from '../protocol/node/networks.ts';
import { wholeNumber } from '../protocol/node/setting-shapes.ts';
import {
  hostSetting,
  lineSetting,
  listOf,
  listSetting,
  pathSetting,
  problemOf,
  listOfRegistryKeys,
} from '../protocol/node/setting-forms.ts';
import { withFiles } from '../protocol/node/settings-in-files.ts';
import { CLOUD_SECRETS_IN_FILES, unreadSettings, withWrapped } from '../protocol/setting-names.ts';
import { CHAINS } from '../protocol/slugs.ts';
import { readSealKeys } from '../persistence/secret-box.ts';

export const ROLES = ['gateway', 'watchers', 'publisher', 'schedules'] as const;
export type Role = (typeof ROLES)[number];

const port = wholeNumber(0, 65_535);
const flag = z.enum(['on', 'off']).transform((text) => text === 'on');

const origin = z
  .url({ protocol: /^https?$/, error: 'is an origin such as https://cloud.example' })
  .refine(isOrigin, 'is an origin such as https://cloud.example: no path, no query');
const listOfHosts = listOf(z.string().refine(isAuthority, 'is a host, or a host and a port such as cloud:8080'), 100);

const schema = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'is needed: postgres://flock_app:PASSWORD@HOST/DATABASE' }),
  DATABASE_OWNER_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'is an address such as postgres://OWNER:PASSWORD@HOST/DATABASE' })
    .optional(),
  /** Whether the node serves on a database that may forget what it acknowledged: says so, or refuses. */
  DATABASE_DURABILITY: z.enum(['checked', 'required']).default('checked'),
  DATABASE_CONNECTIONS: wholeNumber(2, 200).default(10),
  /** Connections that lists have for themselves, and how long one statement of a list may take. */
  LIST_CONNECTIONS: wholeNumber(1, 100).default(4),
  LIST_TIMEOUT_MS: wholeNumber(100, 10_000).default(2_000),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'is an address such as redis://HOST:6379, or rediss://…' })
    .optional(),
  /** What the nodes of one cluster know and nobody else; several are separated by commas, the first one signs. */
  CLUSTER_SECRET: z.string().optional(),
  CLUSTER_SECRET_FILE: z.string().optional(),
  /** Where other nodes reach this one; never the public port. */
  INTERNAL_HOST: hostSetting.default('127.0.0.1'),
  INTERNAL_PORT: port.default(8090),
  INTERNAL_URL: z
    .url({ protocol: /^http$/, error: 'is an address such as http://HOST:8090; calls are signed, not encrypted' })
    .optional(),
  NODE_NAME: z
    .string()
    .regex(/^[A-Za-z0-9._:@-]{1,60}$/, 'is 1 to 60 letters, digits and . _ : @ -')
    .default(`node-${process.pid}`),
  /** How long a node that says nothing keeps its accounts, in seconds; then another one that waits takes them. */
  NODE_LEASE_SECONDS: wholeNumber(3, 600).default(10),
  ROLES: listOf(z.enum(ROLES), ROLES.length, 1).default([...ROLES]),
  HOST: hostSetting.default('127.0.0.1'),
  CLOUD_PORT: port.default(8080),
  PUBLIC_URL: origin.optional(),
  /** Where payers find the pay page; PUBLIC_URL where it is not set. payments P7. */
  PAY_URL: origin.optional(),
  /** How long a closed link's addresses are reported. payments M11. */
  LINK_MONITOR_DAYS: wholeNumber(1, 365).default(30),
  ...CHECKOUT_SETTINGS,
  /** Other hosts under which edges reach this cloud: an edge's signature is for one host. */
  PUBLIC_AUTHORITIES: listOfHosts.default([]),
  TRUSTED_PROXIES: listOf(z.string().refine(isNetwork, 'is an address or a network such as 10.0.0.0/8'), 100).default(
    [],
  ),
  /** Where those who found a fault write to: /.well-known/security.txt. */
  SECURITY_CONTACT: z
    .string()
    .regex(CONTACT, 'is an address such as mailto:security@example.com, or an https page')
    .optional(),
  SECRET_KEY: z.string().optional(),
  SECRET_KEY_FILE: z.string().optional(),
  OIDC_ISSUER: z.url({ protocol: /^https?$/, error: 'is an address such as https://issuer.example' }).optional(),
  OIDC_AUDIENCE: lineSetting.optional(),
  /** Whether organizations have people sign in by providers of their own, and which of those are in an own network. */
  SSO_OIDC: z.enum(['on', 'off']).default('on'),
  SSO_OIDC_ALLOW: listOfHosts.default([]),
  /** Who is asked for the TXT records of domains. */
  DNS_SERVERS: listOf(z.string().regex(NAME_SERVER, 'is an address such as 192.0.2.1:53'), 10).default([]),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info'),
  /** Loopback webhook targets, relaxed cookies: developer machines only. */
  DEVELOPER_MODE: flag.default(false),
  SMTP_URL: z
    .url({ protocol: /^smtps?$/, error: 'is an address such as smtp://USER:PASSWORD@HOST:587, or smtps://…' })
    .optional(),
  MAIL_DIR: pathSetting.optional(),
  MAIL_FROM: z
    .string()
    .regex(/^[^\p{Cc}]{0,200}[^\s<>@]+@[^\s<>@]+>?$/u, 'is an address, or a name and an address in <>')
    .default('Flock <flock@localhost>'),
  /** What native coins are worth in tokens, by a program of the operator's. */
  RATES_FILE: ratesFileSetting.optional(),
  /** Public halves of the registry keys: two of them sign each version of the token registry. */
  REGISTRY_KEYS: listOfRegistryKeys,
  /** Destinations that nothing is built for: `chain:address:rule` each. */
  SCREENED_ADDRESSES: listSetting.refine(areScreened, SCREENED_FORM).default([]),
  ...BILLING_SETTINGS,
  SIGN_UP: z.enum(['invite', 'open', 'closed']).default('invite'),
  WEBHOOK_LADDER_SECONDS: listSetting.pipe(z.array(wholeNumber(0, 604_800)).min(1).max(20)).optional(),
  SANDBOX_REQUESTS_PER_MINUTE: wholeNumber(60, 100_000_000).default(6_000),
  /** How long a request that finds a pool empty waits for the refill that is under way. */
  POOL_WAIT_MS: wholeNumber(0, 60_000).default(5_000),
  /** How long a question of a customer waits for one endpoint of a chain while another one has answered. */
  RPC_HEDGE_MS: wholeNumber(100, 20_000).default(2_500),
  RESIDENT_ACCOUNTS_MAX: wholeNumber(100, 10_000_000).default(100_000),
  /** How long the leader edge keeps its lease without renewing it, in seconds; takeovers are as quick, or as slow. */
  EDGE_LEASE_TTL: wholeNumber(6, 600).default(30),
  /** How long a build that nobody signs is one, in seconds; then it is `expired`. */
  BUILD_TTL: wholeNumber(60, 604_800).default(86_400),
  /** How long a sweep waits for more deposits after the one that fired it, in seconds. */
  SWEEP_DEBOUNCE: wholeNumber(0, 3_600).default(30),
  /** Circle's attestation service, by which bridges mint. */
  CCTP_API_URL: origin.default('https://iris-api.circle.com'),
});

/** Settings that carry a credential, beside those that have a file of their own form: each may be in a file. */
const IN_FILES = [...CLOUD_SECRETS_IN_FILES, ...CHAINS.map((chain) => `${chain.toUpperCase()}_RPC_URLS`)];
const NAMES = {
  known: [
    ...Object.keys(schema.shape),
    ...METRICS_SETTINGS,
    ...IN_FILES.map((name) => `${name}_FILE`),
    ...CHAIN_SETTINGS,
    'FLOCK_FAILPOINTS',
    'DATABASE_APP_PASSWORD',
  ],
  advice: chainAdvice,
  own: isLikeChainSetting,
};

type Secret = 'SECRET_KEY' | 'SECRET_KEY_FILE' | 'CLUSTER_SECRET' | 'CLUSTER_SECRET_FILE';

export interface CloudConfig extends Omit<z.infer<typeof schema>, Secret> {
  sealKeys: Buffer[];
  mayScrape: MetricsAccess;
  /** Of a node that serves alone: none. */
  clusterSecrets: string[];
  chains: ChainConfigs;
}

export class ConfigurationError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/**
 * The configuration of an environment. Throws: ConfigurationError with every problem at once; values are never echoed.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): CloudConfig {
  const problems: string[] = [];
  const present = withFiles(env, IN_FILES, problems);
  const base = schema.safeParse(present);
  if (!base.success) problems.push(...base.error.issues.map((issue) => problemOf(issue)));
  if (present.OIDC_AUDIENCE !== undefined && present.OIDC_ISSUER === undefined)
    problems.push('OIDC_AUDIENCE: is read beside OIDC_ISSUER alone; set that too, or leave this out');
  if (present.SMTP_URL !== undefined && present.MAIL_DIR !== undefined)
    problems.push('SMTP_URL or MAIL_DIR: at most one');
  if (present.SIGN_UP === 'open' && present.SMTP_URL === undefined && present.MAIL_DIR === undefined)
    problems.push('SIGN_UP: open needs a way for letters: SMTP_URL, or MAIL_DIR');
  problems.push(...billingProblems(present));
  const chains = readChainSettings(present, problems);
  problems.push(...unreadSettings(present, NAMES));
  const sealKeys = readSealKeys(present, problems);
  const clusterSecrets = readClusterSecrets(present, problems);
  const mayScrape = readMetricsAccess(present, problems);
  const named = withWrapped(problems, present, NAMES.known);
  if (!base.success || named.length > 0) throw new ConfigurationError(named);
  const {
    SECRET_KEY: _key,
    SECRET_KEY_FILE: _file,
    CLUSTER_SECRET: _secret,
    CLUSTER_SECRET_FILE: _secretFile,
    ...rest
  } = base.data;
  return { ...rest, sealKeys, mayScrape, clusterSecrets, chains };
}
