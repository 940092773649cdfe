/** What of the EVM family needs no node and no SDK; `index.ts` adds the rest. */
import type { ChainModule } from '../chain.ts';
import { bytesOf, checkDestination, parseAddress, parseToken } from './address.ts';
import { deriveAddress } from './derive.ts';
import { evmNetworks } from './network.ts';

export const evmFacts = {
  family: 'evm',
  networks: evmNetworks,
  derivation: { kind: 'xpub', deriveAddress },
  parseAddress,
  bytesOf,
  checkDestination,
  parseToken,
} as const satisfies Partial<ChainModule>;
