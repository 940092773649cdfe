/** How people know the networks: the pay page says on which one to send. payments H3, F31. */
import type { Chain } from './slugs.ts';

export const NETWORK_NAMES: Readonly<Record<Chain, string>> = {
  btc: 'Bitcoin',
  eth: 'Ethereum',
  bsc: 'BNB Smart Chain',
  polygon: 'Polygon',
  avax: 'Avalanche C-Chain',
  base: 'Base',
  tron: 'TRON',
  sol: 'Solana',
  xrp: 'XRP Ledger',
  xlm: 'Stellar',
};
