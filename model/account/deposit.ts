/** Deposits of an account: facts of the chain that wait in its inbox. They leave no trace in its state. */
import type { AddressRow, Adoption } from '../rows/address.ts';
import type { DepositRow, LedgerEntryRow } from '../rows/deposit.ts';
import type { InboxRow } from '../rows/inbox.ts';
import type { CheckoutRows } from '../rows/payment.ts';
import type { WithdrawalRow } from '../rows/withdrawal.ts';
import type { EventName } from '../../protocol/slugs.ts';

export type FactCommand = {
  type: 'apply_facts';
  inbox: InboxRow[];
  deposits: DepositRow[];
  withdrawals: WithdrawalRow[];
  addresses: AddressRow[];
  /** One for each adopted address that is paid; absent where none is. */
  adoptions?: Adoption[];
  /** Of the facts' transactions those that the treasury made itself; absent where there is none. Treasury S24. */
  ownTxids?: string[];
  depositIds: string[];
  /** Absent where no address was ever lent. */
  checkout?: CheckoutRows;
};

export type DepositEvent = {
  type: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'deposit_moved';
  id: string;
  incarnation: number;
  amount: string;
  height: number;
  blockHash: string;
};

export interface FactReplies {
  /** `deferred` facts wait in the inbox: a row that they need changed after it was read. */
  apply_facts: { applied: number; deferred: number; events: EventName[] };
}

/** Rows that it writes. */
export type FactWrite =
  | { table: 'deposit'; row: DepositRow } // insert or update by id
  | { table: 'ledger_entry'; row: LedgerEntryRow }
  // Every id must still be there, else the entry is stale: no fact is decided twice.
  | { table: 'inbox_taken'; ids: string[] };
