/** What is read of bridge transfers. Writes go with the account's appends. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Page, PageAsk } from '../../protocol/page.ts';
import type { BridgeTransferRow } from '../rows/bridge.ts';

export interface BridgeStore {
  transfer(accountId: AccountId, id: string): Promise<BridgeTransferRow | null>;
  /** Newest first. */
  transfers(accountId: AccountId, filter: { policyId?: string }, page: PageAsk): Promise<Page<BridgeTransferRow>>;
  /** Transfers of all accounts that are looked at by `atMs`, behind one of them. */
  dueTransfers(atMs: number, behind: DueTransfer | null, most: number): Promise<DueTransfer[]>;
}

export interface DueTransfer {
  readonly accountId: AccountId;
  readonly id: string;
}
