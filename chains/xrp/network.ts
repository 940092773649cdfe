/** The facts of the XRP Ledger. */
import type { Network } from '../chain.ts';

/** Drops per XRP as a power of ten. */
export const XRP_DECIMALS = 6;

/**
 * Every issued currency counts in 10^-15: the ledger keeps 15 significant digits and fixes no unit. Spec: chains.md
 * R11.
 */
export const ISSUED_DECIMALS = 15;

export interface XrpNetwork extends Network {
  /**
   * `NetworkID` in the signed bytes; absent up to 1,024, where the ledger refuses the field. Source: xrpl.org,
   * NetworkID.
   */
  readonly networkId?: number;
}

export const xrp: XrpNetwork = {
  slug: 'xrp',
  family: 'xrp',
  nativeSymbol: 'XRP',
  nativeDecimals: XRP_DECIMALS,
  threshold: 1, // chains.md part 2: a validated ledger is final
  gate: { kind: 'finalized', stallDepth: null },
  reorgWindow: 256, // G15
  blockTimeMs: 4_000,
  accountPath: "m/44'/144'/0'",
  identity: '0', // network_id; the main network may leave it out (chains.md 8.2)
  explorer: { tx: 'https://livenet.xrpl.org/transactions/{id}', address: 'https://livenet.xrpl.org/accounts/{id}' },
  feeCap: 5_000n, // R18
};

/** The id of a network in the signed bytes; null where they hold none. */
export function networkIdOf(network: Network): number | null {
  return (network as XrpNetwork).networkId ?? null;
}
