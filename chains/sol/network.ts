/** The facts of the Solana network. */
import type { Network } from '../chain.ts';

/** Lamports per SOL as a power of ten. */
export const SOL_DECIMALS = 9;

export const solana: Network = {
  slug: 'sol',
  family: 'sol',
  nativeSymbol: 'SOL',
  nativeDecimals: SOL_DECIMALS,
  threshold: 32, // chains.md part 2: `finalized` is reported as 32
  gate: { kind: 'finalized', stallDepth: null },
  reorgWindow: 1_024, // G15, in slots
  blockTimeMs: 400,
  accountPath: "m/44'/501'/{index}'/0'",
  identity: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', // genesis hash
  explorer: { tx: 'https://explorer.solana.com/tx/{id}', address: 'https://explorer.solana.com/address/{id}' },
  feeCap: 10_000_000n,
};
