/**
 * The token catalogue: which contract is which token on which chain. A published contract and its decimals never
 * change; a correction is a new registry version. Spec §2.5; facts and sources: chains.md part 11, rules K1–K5.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../protocol/canonical-json.ts';
import { refuse, type Refusal } from '../protocol/errors.ts';
import { CHAINS, HAZARDS, type Chain } from '../protocol/slugs.ts';
import registry1 from './catalogue/registry-1.json' with { type: 'json' };
import type { Catalogue, Token, TokenFacts } from './chain.ts';

const deployment = z.strictObject({
  chain: z.enum(CHAINS),
  /** Canonical text of the chain: EIP-55 contract, base58 mint, `CURRENCY:ISSUER`, `CODE:ISSUER`. */
  contract: z.string().min(1).max(120),
  decimals: z.int().min(0).max(36),
  /** `native`: redeemable with its issuer on this chain; `bridged` and `pegged` are not. */
  kind: z.enum(['native', 'bridged', 'pegged']),
  monitored: z.boolean(),
  /** Superseded, and still monitored and credited. K3. */
  deprecated: z.boolean(),
  bridgeable: z.boolean(),
  sweepable: z.boolean(),
  source: z.string(),
  feeOnTransfer: z.literal(true).optional(),
  /** Solana: the program that owns the mint decides the token account's address. */
  tokenProgram: z.enum(['token', 'token-2022']).optional(),
  /** Stellar: contract through which the asset moves in contract calls. */
  sac: z.string().optional(),
  hazards: z.array(z.enum(HAZARDS)).optional(),
});

/** A way of a token between two chains whose contracts are pinned. Treasury H1. */
const route = z.strictObject({
  symbol: z.string().min(1).max(20),
  from: z.enum(CHAINS),
  to: z.enum(CHAINS),
  protocol: z.literal('cctp_v2'),
  fromDomain: z.int().min(0),
  toDomain: z.int().min(0),
  messenger: z.string().min(1).max(120),
  transmitter: z.string().min(1).max(120),
  /** Typical time to the attestation. */
  seconds: z.int().min(1),
  /** Most that one burn may move, smallest unit. */
  burnMax: z.string().regex(/^[1-9][0-9]{0,77}$/),
});

const registry = z.strictObject({
  version: z.int().positive(),
  publishedAt: z.iso.datetime(),
  tokens: z.array(
    z.strictObject({
      symbol: z.string().min(1).max(20),
      name: z.string(),
      deployments: z.array(deployment),
      unsupportedChains: z.array(z.strictObject({ chain: z.enum(CHAINS), reason: z.string().min(1) })),
    }),
  ),
  routes: z.array(route),
});

export type Deployment = z.infer<typeof deployment>;
export const FIELDS_OF_DEPLOYMENTS = Object.keys(deployment.shape) as readonly (keyof Deployment)[];
export type Registry = z.infer<typeof registry>;
export type CatalogueEntry = Registry['tokens'][number];

/** A registry from outside, e.g. a newer version. Refuses: INVALID_INPUT for a broken or incomplete one. */
export function parseRegistry(value: unknown): Registry | Refusal {
  const broken = (reason: string, more: Record<string, unknown> = {}) => refuse('INVALID_INPUT', { reason, ...more });
  const parsed = registry.safeParse(value);
  if (!parsed.success) return broken('registry shape', { problems: z.prettifyError(parsed.error).slice(0, 500) });
  const seen = new Set<string>();
  for (const { symbol, deployments, unsupportedChains } of parsed.data.tokens) {
    // Spec §2.5: a chain/token pair is either a deployment or listed as unsupported, once, never unknown.
    const named = [...deployments, ...unsupportedChains].map(({ chain }) => chain).sort();
    if (named.join() !== [...CHAINS].sort().join()) return broken('a chain is missing or named twice', { symbol });
    for (const { chain, contract, kind, bridgeable } of deployments) {
      if (seen.has(`${chain} ${contract}`)) return broken('a contract is listed twice', { chain, contract });
      seen.add(`${chain} ${contract}`);
      if (bridgeable && kind !== 'native') return broken('bridgeable and not redeemable', { chain, symbol });
    }
  }
  return parsed.data;
}

/** The registry that everything began with: its tokens are watched at every height. */
export const FIRST_VERSION = 1;

/** The registry that ships with this version of the code. */
export const shippedRegistry: Registry = (() => {
  const parsed = parseRegistry(registry1);
  if ('ok' in parsed) throw new Error(`the shipped registry is broken: ${JSON.stringify(parsed.details)}`);
  return parsed;
})();

/** The bytes of a version: JSON with keys in order and no spaces; every number in it is whole. Treasury K6. */
export function registryText(from: Registry): string {
  return canonicalJson(from);
}

/** SHA-256 of these bytes, 64 hex digits: what is signed, and what an edge keeps beside the version. */
export function registryHash(from: Registry): string {
  return createHash('sha256').update(registryText(from)).digest('hex');
}

/** The hash of before publication dates and routes: an edge's record in that form is compared once and rewritten. */
export function formerRegistryHash({ version, tokens }: Registry): string {
  return createHash('sha256').update(JSON.stringify({ version, tokens })).digest('hex');
}

/** What no later version may change of a deployment: it decides what was credited, and to which account. */
const FIXED = ['decimals', 'kind', 'tokenProgram', 'sac'] as const;

/**
 * Whether a registry may replace the one that was kept. Refuses: SIGNED_BATCH_REJECTED for a lower version, for the
 * same version with other content, and for a published contract that disappeared or of which something fixed changed.
 */
export function checkSuccession(kept: Registry, offered: Registry): Refusal | null {
  const no = (reason: string, more: Record<string, unknown> = {}) =>
    refuse('SIGNED_BATCH_REJECTED', { reason, kept: kept.version, offered: offered.version, ...more });
  if (offered.version < kept.version) return no('registry_older');
  if (offered.version === kept.version) {
    return registryHash(kept) === registryHash(offered) ? null : no('registry_changed_in_place');
  }
  const next = new Map(deploymentsOf(offered).map((one) => [`${one.chain} ${one.contract}`, one]));
  for (const one of deploymentsOf(kept)) {
    const { chain, contract } = one,
      successor = next.get(`${chain} ${contract}`);
    if (successor === undefined) return no('registry_drops_a_token', { chain, contract });
    const changed = FIXED.find((field) => successor[field] !== one[field]);
    if (changed === 'decimals') return no('registry_changes_decimals', { chain, contract });
    if (changed !== undefined) return no('registry_changes_a_token', { chain, contract });
  }
  return null;
}

/** Every deployment of a registry, in its order. */
export function deploymentsOf(from: Registry): Deployment[] {
  return from.tokens.flatMap(({ deployments }) => deployments);
}

/** Monitored tokens of one chain by contract, deprecated ones too (K3). G23: whatever is not in here is not seen. */
export function catalogueOf(chain: Chain, from: Registry = shippedRegistry): Catalogue {
  const tokens = new Map<string, Token>();
  for (const { symbol, deployments } of from.tokens) {
    for (const one of deployments) {
      if (one.chain !== chain || !one.monitored) continue;
      tokens.set(one.contract, {
        chain,
        contract: one.contract,
        symbol,
        decimals: one.decimals,
        ...(one.feeOnTransfer === true ? { feeOnTransfer: true } : {}),
      });
    }
  }
  return tokens;
}

const NOT_LISTED =
  'GET /v1/treasury/tokens lists the tokens; another one is added with a release, and what is paid in it until then is not credited';

/**
 * A deployment by contract, never by symbol. Refuses: TOKEN_NOT_ON_CHAIN (another chain's contract),
 * TOKEN_NOT_SUPPORTED.
 */
export function findDeployment(chain: Chain, contract: string, from: Registry = shippedRegistry): Deployment | Refusal {
  const all = deploymentsOf(from).filter((one) => one.contract === contract);
  const here = all.find((one) => one.chain === chain);
  if (here !== undefined) return here;
  const elsewhere = all.map((one) => one.chain);
  return elsewhere.length > 0
    ? refuse('TOKEN_NOT_ON_CHAIN', { chain, tokenContract: contract, deployedOn: elsewhere })
    : refuse('TOKEN_NOT_SUPPORTED', { chain, tokenContract: contract.slice(0, 120), next: NOT_LISTED });
}

/**
 * K4: what the chain says of a deployment against the catalogue. Refuses: CONFLICT; the token's intake then stays off.
 */
export function checkAgainstChain(token: Token, facts: TokenFacts): Refusal | null {
  if (facts.decimals === token.decimals) return null;
  const { chain, contract, decimals } = token;
  return refuse('CONFLICT', {
    reason: 'decimals differ',
    chain,
    tokenContract: contract,
    catalogue: decimals,
    onChain: facts.decimals,
  });
}
