/** The chains as the account actor sees them: facts of all of them, modules of those that this node runs. */
import type { ChainModule, Network } from '../../chains/chain.ts';
import { factsOf, networkOf } from '../../chains/registry.ts';
import { sandboxOf } from '../../chains/sandbox-networks.ts';
import { FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import type { ChainBook } from './decision.ts';

/** `networks` replaces the registry's facts of a chain where a deployment runs another network of it. */
export function createChainBook(
  modules: readonly ChainModule[],
  networks: ReadonlyMap<Chain, Network> = new Map(),
): ChainBook {
  const byFamily = new Map<Family, ChainModule>(modules.map((module) => [module.family, module]));
  return {
    facts: (chain) => byFamily.get(FAMILY_OF[chain]) ?? factsOf(chain),
    network: (chain) => networks.get(chain) ?? networkOf(chain),
    module: (chain) => byFamily.get(FAMILY_OF[chain]) ?? null,
  };
}

/** The book of sandbox accounts: the same chains, under ids that no real network has. found F10. */
export function sandboxBook(book: ChainBook): ChainBook {
  return { ...book, network: (chain) => sandboxOf(book.network(chain)) };
}
