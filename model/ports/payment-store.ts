/** What the clock does to payments and links. payments S6, 3.2. */
import type { AccountId } from '../../protocol/ids.ts';

export interface PaymentStore {
  /** Payments without money whose time is over, oldest first; answers how many there were. */
  expire(nowMs: number, limit: number): Promise<number>;
  /** Links whose date has come, oldest first. */
  due(nowMs: number, limit: number): Promise<{ accountId: AccountId; id: string }[]>;
}
