/** Wipes of accounts as rows: what they wait for, and how far the deletion is. Console A48, A49. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { WipeRowWrite } from '../account/wipe.ts';

export interface WipeRow {
  readonly id: string;
  readonly accountId: AccountId;
  readonly status: WipeRowWrite['status'];
  readonly userId: string;
  readonly askedAtMs: number;
  readonly forMs: number;
  readonly beganAtMs: number | null;
  readonly endedAtMs: number | null;
  /** What is deleted now; null where nothing is. */
  readonly step: string | null;
  /** Addresses that are watched no more. */
  readonly addresses: number;
  /** What lay on addresses by the ledger, digits of the smallest unit; null until all of it is counted. */
  readonly holdings:
    readonly { readonly chain: Chain; readonly token: string | null; readonly amount: string }[] | null;
}

export interface WipeStore {
  /** The newest of an account, whatever became of it; null for none. */
  newest(accountId: AccountId): Promise<WipeRow | null>;
  /** Wipes that have something to do, by account, after one: their time has come, or holdings are not counted. */
  due(nowMs: number, after: string, limit: number): Promise<Pick<WipeRow, 'accountId' | 'status' | 'forMs'>[]>;
  /**
   * Counts or deletes up to `rows` rows, and notes how far it is, in one statement. False where nothing is left, null
   * where somebody else is at it, or nodes may still know keys that are gone.
   */
  step(accountId: AccountId, rows: number): Promise<boolean | null>;
  /** To all owners, a day before: once each. Answers how many were written. */
  writeLetters(nowMs: number): Promise<number>;
}
