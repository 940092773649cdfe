/** What falls due for sandbox accounts by their own time. Ecosystem X75. */
import type { AccountId } from '../../protocol/ids.ts';
import type { DueKind } from '../../protocol/schema/platform.ts';

export interface DueItem {
  /** By the account's time. */
  readonly atMs: number;
  readonly what: DueKind;
  /** Of the transaction, payment, link, policy or delivery. */
  readonly id: string;
  /** The timer of a confirmation; the firings of a policy. */
  readonly work: string;
}

export interface ClockStore {
  /** What falls due until an instant of the account's time, the earliest first. */
  due(accountId: AccountId, untilMs: number, limit: number): Promise<DueItem[]>;
  /** Whether a delivery of the account is due and was not tried. */
  isDelivering(accountId: AccountId, untilMs: number): Promise<boolean>;
  expirePayment(accountId: AccountId, paymentId: string, nowMs: number): Promise<boolean>;
  /** Accounts whose clock was moved, those first that nobody looked at for longest; each once a second. */
  claim(limit: number): Promise<AccountId[]>;
}
