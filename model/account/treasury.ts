/** Treasury of an account: where its sweeps go. Spec §2.10. */
import type { Chain } from '../../protocol/slugs.ts';

/**
 * A wallet that money is brought home to. A derived one is at `M/1/1` of the pinned identity, whichever that is: its
 * address follows from the enrolment and is not kept.
 */
export interface TreasuryWallet {
  readonly id: string;
  readonly chain: Chain;
  readonly source: 'derived' | 'external';
  /** Canonical text of an external one; null of a derived one. */
  readonly address: string | null;
  /** The tag that is a part of an external address (X-address, muxed account); null for none. */
  readonly tag: string | null;
  readonly label: string | null;
  readonly createdAtMs: number;
}

export interface TreasuryState {
  /** At most WALLETS_MAX, oldest first. */
  treasuryWallets: TreasuryWallet[];
}

export type TreasuryCommand = { type: 'create_treasury_wallet'; wallet: Omit<TreasuryWallet, 'createdAtMs'> };

export type TreasuryEvent = { type: 'treasury_wallet_created'; wallet: TreasuryWallet };

export interface TreasuryReplies {
  create_treasury_wallet: TreasuryWallet;
}

export const TREASURY_INITIAL: TreasuryState = { treasuryWallets: [] };
