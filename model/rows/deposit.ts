/** Deposits and the entries of the ledger. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Chain, DepositStatus } from '../../protocol/slugs.ts';

export type Silence = 'historical' | 'observed';

/** One deposit per (ledger, txid, output index). Orphaned deposits are marked `reversed`, never deleted. */
export interface DepositRow {
  id: string;
  accountId: AccountId;
  ledger: LedgerId;
  chain: Chain;
  txid: string;
  outputIndex: number;
  addressId: string;
  address: string;
  amount: bigint;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  /** Destination tag or memo of the chain, recorded only. */
  chainTag: string | null;
  status: DepositStatus;
  /** Rises by one when a reversed deposit comes back. Decisions 5. */
  incarnation: number;
  /** Whether its events are published: its address was active when one of them arose. */
  announced: boolean;
  /**
   * Why it is never announced: paid to an adopted address in a block up to the height that its commit recorded, or
   * later but before the cutover. Decided when its key is first seen paying that address; null where it is announced.
   */
  silence: Silence | null;
  height: number;
  blockHash: string;
  threshold: number;
  createdAtMs: number;
  updatedAtMs: number;
}

/** Append-only money facts of an account: `credit` at confirmation, `reversal` exactly its negative. */
export interface LedgerEntryRow {
  depositId: string;
  accountId: AccountId;
  incarnation: number;
  kind: 'detected' | 'credit' | 'reversal';
  amount: bigint;
  /** The publication of it. Null where there is none: an archived address, a deposit that was detected again. */
  eventId: string | null;
}
