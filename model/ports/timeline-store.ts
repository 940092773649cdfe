/** What happened to one transaction, and what was published of it. Console C17. */
import type { AccountId } from '../../protocol/ids.ts';
import type { DeliveryStatus, EventName } from '../../protocol/slugs.ts';
import type { AccountEvent } from '../account/capabilities.ts';

export interface TransactionEvent {
  /** Its place in the stream of the account. */
  readonly version: number;
  readonly type: AccountEvent['type'];
  readonly txid: string | null;
  readonly height: number | null;
  readonly reason: string | null;
  readonly atMs: number;
}

/** What the ledger has of a deposit. */
export interface TransactionEntry {
  readonly incarnation: number;
  readonly kind: 'detected' | 'credit' | 'reversal';
  /** Null where nothing was published. */
  readonly eventId: string | null;
  readonly atMs: number;
}

export interface PublishedStep {
  readonly id: string;
  readonly event: EventName;
  readonly createdAtMs: number;
  readonly deliveries: readonly {
    readonly id: string;
    readonly webhookId: string;
    readonly status: DeliveryStatus;
    readonly attempts: number;
    readonly createdAtMs: number;
  }[];
}

export interface TimelineStore {
  /** Of a withdrawal, and the moves of a deposit between blocks; oldest first, at most `limit`. */
  events(accountId: AccountId, id: string, limit: number): Promise<TransactionEvent[]>;
  /** Of a deposit, oldest first. */
  entries(accountId: AccountId, id: string, limit: number): Promise<TransactionEntry[]>;
  /** Those of the events that were published, oldest first, each with at most `limit` of its newest deliveries. */
  published(accountId: AccountId, eventIds: readonly string[], limit: number): Promise<PublishedStep[]>;
}
