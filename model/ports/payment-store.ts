/** What the clock does to payments and links. payments S6, 3.2. */
import type { AccountId } from '../../protocol/ids.ts';

export interface PaymentStore {
  /** Payments without money whose time is over, oldest first; answers how many there were. */
  expire(nowMs: number, limit: number): Promise<number>;
  /** Links whose date has come, oldest first. */
  due(nowMs: number, limit: number): Promise<{ accountId: AccountId; id: string }[]>;
  /** Closed links whose addresses were reported long enough, oldest first. payments M11. */
  monitored(nowMs: number, limit: number): Promise<{ accountId: AccountId; id: string }[]>;
  /**
   * Releases a link's addresses: those that never received rest. False while one that received is not archived.
   */
  release(accountId: AccountId, linkId: string, nowMs: number): Promise<boolean>;
  /** Shared links that wait for an address of the present identity, oldest first. payments S17. */
  retired(limit: number): Promise<{ accountId: AccountId; id: string }[]>;
  /** Erases who opened payments that expired before then without money; answers how many. payments S23. */
  erase(beforeMs: number, limit: number): Promise<number>;
}
