/** What of the Bitcoin family needs no node and no SDK; `index.ts` adds the rest. */
import type { ChainModule } from '../chain.ts';
import { bytesOf, checkDestination, parseAddress, parseToken } from './address.ts';
import { deriveAddress } from './derive.ts';
import { bitcoin } from './network.ts';
import { outcomesIn, transfersIn } from './transfers.ts';

export const btcFacts = {
  family: 'btc',
  networks: [bitcoin],
  derivation: { kind: 'xpub', deriveAddress },
  parseAddress,
  bytesOf,
  checkDestination,
  parseToken,
  transfersIn,
  outcomesIn,
} as const satisfies Partial<ChainModule>;
