/** The facts of the Solana network. */
import type { Network } from '../chain.ts';

/** Lamports per SOL as a power of ten. */
export const SOL_DECIMALS = 9;

export interface SolNetwork extends Network {
  /** Bounds of the price of compute, micro-lamports per unit. L27. */
  readonly unitPrice: { readonly floor: bigint; readonly ceiling: bigint };
  /** Blocks for which a transaction may name a block's hash, this one included. L25. */
  readonly blockhashLifetime: number;
}

export const solana: SolNetwork = {
  slug: 'sol',
  family: 'sol',
  nativeSymbol: 'SOL',
  nativeDecimals: SOL_DECIMALS,
  threshold: 32, // chains.md part 2: `finalized` is reported as 32
  gate: { kind: 'finalized', stallDepth: null },
  reorgWindow: 1_024, // G15, in slots
  blockTimeMs: 400,
  resubmitMs: 2_000, // L31: the bytes live for about a minute, and nodes do not send them again by themselves
  accountPath: "m/44'/501'/{index}'/0'",
  identity: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d', // genesis hash
  explorer: { tx: 'https://explorer.solana.com/tx/{id}', address: 'https://explorer.solana.com/address/{id}' },
  feeCap: 10_000_000n,
  unitPrice: { floor: 1_000n, ceiling: 5_000_000n },
  blockhashLifetime: 151,
};

/** The family's view of a network. Throws: TypeError for a network of another family. */
export function solOf(network: Network): SolNetwork {
  if (network.family !== 'sol' || !('unitPrice' in network)) {
    throw new TypeError(`${network.slug} is not of the Solana family`);
  }
  return network as SolNetwork;
}
