/** Facts that wait for their account. */
import type { AccountId } from '../../protocol/ids.ts';
import type { AddressRow, Adoption } from '../rows/address.ts';
import type { DepositRow } from '../rows/deposit.ts';
import type { InboxRow } from '../rows/inbox.ts';
import type { CheckoutRows } from '../rows/payment.ts';
import type { WithdrawalRow } from '../rows/withdrawal.ts';

/**
 * A fact that its account could not take: kept in its place, tried again by itself, holding up its own subject only.
 */
export interface FactSetAside {
  id: string;
  accountId: AccountId;
  subject: string;
  fact: unknown;
  /** Why the last of `tries` failed. */
  trouble: string;
  tries: number;
  /** Later facts of the same subject, which wait behind it. */
  behind: number;
  recordedAtMs: number;
  retryAtMs: number;
}

export interface InboxStore {
  /**
   * Facts waiting for an account, oldest first, without those that were set aside until their next try and those behind
   * one of the same subject that was; with the rows that a decision about them needs: deposits of the same
   * credit keys, withdrawals named by the facts, the addresses paid, the account's own addresses and transactions
   * (G20), and what lent addresses were lent to.
   */
  inboxOf(
    accountId: AccountId,
    limit: number,
  ): Promise<{
    inbox: InboxRow[];
    deposits: DepositRow[];
    withdrawals: WithdrawalRow[];
    addresses: AddressRow[];
    /** One for each adopted address that is paid. */
    adoptions: Adoption[];
    /** Of the facts' transactions those that the treasury made itself. */
    ownTxids: string[];
    checkout: CheckoutRows;
  }>;
  /** Accounts with facts older than an instant that `inboxOf` would answer: lost pushes are found here. */
  /**
   * At most `limit` accounts with facts that nobody decided and that are older than an instant; the next call goes on
   * behind them.
   */
  accountsWithInbox(olderThanMs: number, limit: number): Promise<AccountId[]>;
  /**
   * Sets a fact aside: the first pause, doubled with each try up to the longest. Answers its tries, null when it was
   * taken.
   */
  setAside(
    accountId: AccountId,
    id: string,
    trouble: string,
    pause: { firstMs: number; longestMs: number },
  ): Promise<number | null>;
  /** Over all accounts, by id, after one. */
  factsSetAside(afterId: string, limit: number): Promise<FactSetAside[]>;
  countSetAside(): Promise<number>;
  /** Makes facts due that were set aside: one, all of an account, or all. Answers the accounts to wake. */
  retryFacts(which: { accountId: AccountId | null; id: string | null }): Promise<AccountId[]>;
}
