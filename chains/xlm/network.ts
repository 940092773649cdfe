/** The facts of the Stellar network. */
import type { Network } from '../chain.ts';

/** Stroops per lumen, and units per issued asset, as a power of ten. */
export const STELLAR_DECIMALS = 7;

export const stellar: Network = {
  slug: 'xlm',
  family: 'xlm',
  nativeSymbol: 'XLM',
  nativeDecimals: STELLAR_DECIMALS,
  threshold: 1, // chains.md part 2: no reorganisation
  gate: { kind: 'depth' },
  reorgWindow: 256, // G15
  blockTimeMs: 5_000,
  accountPath: "m/44'/148'/{index}'",
  identity: 'Public Global Stellar Network ; September 2015', // passphrase
  explorer: {
    tx: 'https://stellar.expert/explorer/public/tx/{id}',
    address: 'https://stellar.expert/explorer/public/account/{id}',
  },
  feeCap: 10_000n, // M21, per operation
  // Spec §2.3: "the published minimum first deposit"; what the ledger itself asks for is read from it.
  firstDepositMin: 10_000_000n,
};
