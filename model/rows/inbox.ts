/** Facts of the chain that wait for their account. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';

/**
 * What a watcher reports to an account about one transfer or transaction; read again from the inbox until it is taken.
 */
export type Fact =
  | { kind: 'seen' | 'matured' | 'orphaned' | 'moved'; deposit: SeenTransfer }
  | {
      kind: 'withdrawal_included' | 'withdrawal_matured' | 'withdrawal_orphaned' | 'withdrawal_dead';
      withdrawalId: string;
      txid: string;
      height: number;
      blockHash: string;
      success: boolean;
      reason: string | null;
      fee: string | null;
      /** As `Outcome.taken`, decimal digits. */
      taken?: string;
    };

export interface SeenTransfer {
  ledger: LedgerId;
  chain: Chain;
  txid: string;
  outputIndex: number;
  addressId: string;
  address: string;
  amount: string;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  chainTag: string | null;
  from: string[];
  activates: boolean;
  threshold: number;
  height: number;
  blockHash: string;
  /** Confirmations when the fact was recorded: 1 for `seen`, the threshold or more for `matured`. */
  confirmations: number;
}

export interface InboxRow {
  id: string;
  accountId: AccountId;
  fact: Fact;
}
