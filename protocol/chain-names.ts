/** What people call chains beside their slugs: for hints, never for what a request or a setting means. */
import { nearestOf } from './nearest.ts';
import { CHAINS, type Chain } from './slugs.ts';

const OTHER_NAMES: Readonly<Record<Chain, readonly string[]>> = {
  btc: ['bitcoin', 'xbt'],
  eth: ['ethereum', 'ether', 'mainnet'],
  bsc: ['bnb', 'binance', 'bnbchain', 'smartchain'],
  polygon: ['matic', 'pol', 'poly'],
  avax: ['avalanche', 'cchain'],
  base: ['basechain'],
  tron: ['trx', 'trc20'],
  sol: ['solana'],
  xrp: ['ripple', 'xrpl'],
  xlm: ['stellar', 'lumens'],
};

/** The chain that a text probably means: one of its other names, or its slug misspelt; null where none is near. */
export function chainMeant(text: string): Chain | null {
  const asked = text.toLowerCase().replace(/[^a-z0-9]/g, '');
  return CHAINS.find((chain) => OTHER_NAMES[chain].includes(asked)) ?? (nearestOf(text, CHAINS) as Chain | null);
}

/**
 * What to do about `<CHAIN>_<SUFFIX>` of a chain that is none: `MATIC_RPC_URLS` means POLYGON_RPC_URLS, although its
 * letters are nearer to another chain's. Null for a name without such a suffix.
 */
export function chainSettingAdvice(
  suffixes: readonly string[],
  has: (chain: Chain, suffix: string) => boolean,
): (name: string) => string | null {
  return (name) => {
    const suffix = suffixes.find((each) => name.endsWith(`_${each}`));
    if (suffix === undefined) return null;
    const having = CHAINS.filter((chain) => has(chain, suffix)),
      chain = chainMeant(name.slice(0, -suffix.length - 1));
    return chain === null || !having.includes(chain)
      ? `the chains are ${having.join(', ')}`
      : `did you mean ${chain.toUpperCase()}_${suffix}?`;
  };
}
