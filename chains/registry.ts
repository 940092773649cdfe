/**
 * Slug → network and module; the only place that lists all families. Networks and facts are here at once; a module
 * with its SDK is loaded when its chain is enabled (all SDKs together take seconds and 259 MB).
 */
import { FAMILY_OF, type Chain, type Family } from '../protocol/slugs.ts';
import { ChainUnavailable, type ChainModule, type Network } from './chain.ts';
import { btcFacts } from './btc/facts.ts';
import { evmFacts } from './evm/facts.ts';
import { solFacts } from './sol/facts.ts';
import { tronFacts } from './tron/facts.ts';
import { xlmFacts } from './xlm/facts.ts';
import { xrpFacts } from './xrp/facts.ts';

/** The part of a module that needs no node and no SDK: what issues, validates and names addresses. */
export type ChainFacts = Pick<
  ChainModule,
  'family' | 'networks' | 'derivation' | 'parseAddress' | 'checkDestination' | 'parseToken'
>;

interface FamilyEntry {
  readonly facts: ChainFacts;
  /** Null while the family can only be described; its chains then answer CHAIN_UNAVAILABLE. */
  readonly load: (() => Promise<ChainModule>) | null;
}

// The modules' own types are narrower (their network, their raw block); a caller always hands back what it was given.
const FAMILIES: Readonly<Record<Family, FamilyEntry>> = {
  btc: { facts: btcFacts as ChainFacts, load: async () => (await import('./btc/index.ts')).btc as ChainModule },
  evm: { facts: evmFacts, load: async () => (await import('./evm/index.ts')).evm as ChainModule },
  tron: { facts: tronFacts, load: async () => (await import('./tron/index.ts')).tron as ChainModule },
  sol: { facts: solFacts, load: async () => (await import('./sol/index.ts')).sol as ChainModule },
  xrp: { facts: xrpFacts, load: async () => (await import('./xrp/index.ts')).xrp as ChainModule },
  xlm: { facts: xlmFacts, load: async () => (await import('./xlm/index.ts')).xlm as ChainModule },
};

const NETWORKS = new Map<Chain, Network>(
  Object.values(FAMILIES).flatMap(({ facts }) => facts.networks.map((network) => [network.slug, network] as const)),
);

/** The facts of a chain's network; every slug has one, enabled or not. */
export function networkOf(chain: Chain): Network {
  return NETWORKS.get(chain)!;
}

/** Addresses, paths and token texts of a chain, without its SDK. */
export function factsOf(chain: Chain): ChainFacts {
  return FAMILIES[FAMILY_OF[chain]].facts;
}

/** True when the chain's module can be loaded. */
export function isEnabled(chain: Chain): boolean {
  return FAMILIES[FAMILY_OF[chain]].load !== null;
}

/**
 * The chain's module; loaded once, shared by the chains of its family. Throws: ChainUnavailable for one not enabled.
 */
export async function loadModule(chain: Chain): Promise<ChainModule> {
  const { load } = FAMILIES[FAMILY_OF[chain]];
  if (load === null) throw new ChainUnavailable(chain, 'not enabled');
  return load();
}
