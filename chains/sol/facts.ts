/** What of the Solana family needs no node and no SDK; `index.ts` adds the rest. */
import type { ChainModule } from '../chain.ts';
import { bytesOf, checkDestination, parseAddress, parseToken } from './address.ts';
import { depositPath, gasTankPath } from './derive.ts';
import { solana } from './network.ts';
import { outcomesIn, transfersIn } from './transfers.ts';

export const solFacts = {
  family: 'sol',
  networks: [solana],
  derivation: { kind: 'pool', depositPath, gasTankPath },
  parseAddress,
  bytesOf,
  checkDestination,
  parseToken,
  transfersIn,
  outcomesIn,
} as const satisfies Partial<ChainModule>;
