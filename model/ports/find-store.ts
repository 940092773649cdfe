/** What is found by a text, and one event as it was signed. Console C16, C17. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';

/** What a text may be, in every form that a chain has for it. */
export interface Wanted {
  /** Canonical texts of addresses. */
  readonly addresses: readonly string[];
  readonly txids: readonly string[];
  readonly userRef: string;
  /** How a label begins. */
  readonly label: string;
}

export interface Found {
  readonly kind: 'address' | 'deposit' | 'withdrawal';
  readonly id: string;
  readonly chain: Chain;
  readonly status: string;
  /** The address, or the txid. */
  readonly text: string;
  readonly userRef: string | null;
  readonly label: string | null;
  readonly createdAtMs: number;
}

/** An event that was published. */
export interface PublishedEvent {
  readonly id: string;
  readonly event: string;
  /** The bytes that are signed; null once they are past their time. */
  readonly body: string | null;
  readonly createdAtMs: number;
}

export interface FindStore {
  /** At most `limit` of each kind, what is exactly so before what begins so, newest first. */
  find(accountId: AccountId, wanted: Wanted, limit: number): Promise<Found[]>;
  event(accountId: AccountId, id: string): Promise<PublishedEvent | null>;
  /**
   * At most `limit` events in the order of their publication: behind `since`, from the first one where that is null,
   * and the newest ones without it. Null where the account has no event `since`.
   */
  events(accountId: AccountId, limit: number, since?: string | null): Promise<PublishedEvent[] | null>;
}
