/** Tokens of a test: the shipped registry with catalogues of its own. */
import { shippedRegistry } from '../../chains/catalogue.ts';
import type { Catalogue } from '../../chains/chain.ts';
import { TokensInForce, type Tokens } from '../../chains/tokens.ts';
import type { Chain } from '../../protocol/slugs.ts';

export function tokensWith(catalogueOf: (chain: Chain) => Catalogue): Tokens {
  return { current: shippedRegistry, catalogueOf, find: new TokensInForce().find };
}
