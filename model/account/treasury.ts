/** Treasury of an account: where its sweeps go. Spec §2.10. */
import type { Chain, WalletWarning } from '../../protocol/slugs.ts';
import {
  BRIDGE_INITIAL,
  type BridgeCommand,
  type BridgeEvent,
  type BridgeReplies,
  type BridgeState,
} from './bridge.ts';
export type { BridgeWrite as HomeWrite } from './bridge.ts';

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
  /** As it was when the wallet was registered; absent where there was none. Treasury W3. */
  readonly warnings?: readonly WalletWarning[];
  readonly createdAtMs: number;
}

/** A gas tank that its owner looks after: `M/1/0` of the pinned identity, whichever that is. */
export interface FundingWallet {
  readonly id: string;
  readonly chain: Chain;
  readonly label: string | null;
  /** Digits of the smallest native unit below which it is low; null: twenty sweeps at today's fees. */
  readonly lowBalance: string | null;
  readonly createdAtMs: number;
  /** When it was announced as low; absent before that, and after it was filled. Treasury W10. */
  readonly lowSinceMs?: number;
}

export interface TreasuryState {
  /** At most WALLETS_MAX, oldest first. */
  treasuryWallets: TreasuryWallet[];
  /** One for a chain at most, oldest first. */
  fundingWallets: FundingWallet[];
}

export type TreasuryCommand =
  | { type: 'create_treasury_wallet'; wallet: Omit<TreasuryWallet, 'createdAtMs'> }
  | { type: 'create_funding_wallet'; wallet: Omit<FundingWallet, 'createdAtMs' | 'lowSinceMs'> }
  /** What a tank holds now. Amounts are digits of the smallest native unit. */
  | {
      type: 'note_funding_level';
      id: string;
      address: string;
      available: string;
      lowBalance: string;
      sweepsRemaining: string | null;
    };

export type TreasuryEvent =
  | { type: 'treasury_wallet_created'; wallet: TreasuryWallet }
  | { type: 'funding_wallet_created'; wallet: FundingWallet }
  /** Null: it was filled. */
  | { type: 'funding_wallet_low_since'; id: string; atMs: number | null };

export interface TreasuryReplies {
  create_treasury_wallet: TreasuryWallet;
  create_funding_wallet: FundingWallet;
  note_funding_level: Record<string, never>;
}

export const TREASURY_INITIAL: TreasuryState = { treasuryWallets: [], fundingWallets: [] };

/** Wallets, and the bridges between them: two capabilities, one part of the account's lists. */
export interface HomeState extends TreasuryState, BridgeState {}
export type HomeCommand = TreasuryCommand | BridgeCommand;
export type HomeEvent = TreasuryEvent | BridgeEvent;
export interface HomeReplies extends TreasuryReplies, BridgeReplies {}
export const HOME_INITIAL: HomeState = { ...TREASURY_INITIAL, ...BRIDGE_INITIAL };
