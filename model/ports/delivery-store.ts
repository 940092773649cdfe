/** Deliveries of webhooks, as the publisher claims and records them. */
import type { AccountId } from '../../protocol/ids.ts';
import type { AttemptRow, DeliveryRow } from '../rows/webhook.ts';
import type { DeliveryStatus } from '../../protocol/slugs.ts';

export interface DueDelivery {
  delivery: DeliveryRow;
  accountId: AccountId;
  url: string;
  sealedSecrets: string[];
  body: string;
  orderKey: string;
  /** When this claim ends, as the store wrote it: only who knows it can give the claim back. */
  claimedUntil: string;
}

/** One claim on one delivery; when the delivery is claimed again, that is another one. */
export interface DeliveryClaim {
  readonly deliveryId: string;
  readonly claimedUntil: string;
}

/** A delivery that may still be sent, with its endpoint's current settings. */
export interface SendableDelivery {
  id: string;
  webhookId: string;
  url: string;
  sealedSecrets: string[];
}

export interface DeliveryStore {
  /**
   * Claims due deliveries of accounts that have a leader here, in publication order, for `claimMs`; SKIP LOCKED. Those
   * whose shard another node owns by now are left out, whatever this one believes.
   * Endpoints in `busyWebhooks` are left alone, so that a slow one keeps no other waiting. `held` are the ends of the
   * claims that are in the caller's hands: what is claimed otherwise, of an answer that was lost, holds its lane back.
   * Absent: every claim is.
   */
  claimDue(
    accountIds: readonly AccountId[],
    limit: number,
    nowMs: number,
    claimMs: number,
    busyWebhooks: readonly string[],
    held?: readonly string[],
  ): Promise<DueDelivery[]>;
  /**
   * Those of an account's claimed deliveries that may leave: their endpoint is enabled now, and no sandbox reset forgot
   * them.
   */
  standing(
    accountId: AccountId,
    deliveries: readonly Pick<SendableDelivery, 'id' | 'webhookId'>[],
  ): Promise<SendableDelivery[]>;
  /**
   * Attempts with what follows from each (next rung, delivered, dead letter, endpoint disabled by 410): one statement.
   * An edge reports them: what it says of a delivery of another account than its own is left out. `postedTo` is the URL
   * where it is known: a 410 of one that the endpoint has no more disables nothing.
   */
  recordAttempts(
    attempts: (AttemptRow & {
      accountId: AccountId;
      postedTo?: string;
      next: { status: DeliveryStatus; nextAttemptAtMs: number | null; disableEndpoint: boolean };
    })[],
  ): Promise<void>;
  /**
   * Holds claimed deliveries whose secrets do not open under any key of this node, visibly and until the secrets change
   * or are sealed again; those whose endpoint has other secrets by now are given back. Answers the ids that are held.
   */
  holdUnreadable(claimed: readonly { deliveryId: string; sealedSecrets: readonly string[] }[]): Promise<string[]>;
  /**
   * Gives claims back that were never attempted (stream closed). A delivery that was claimed again since is left alone:
   * a node that was frozen until its claims had run out takes nothing from others.
   */
  releaseClaims(claims: readonly DeliveryClaim[]): Promise<void>;
  /**
   * Releases every claim on accounts of those of the shards that `node` owns: the node that claimed is gone, or did not
   * hear of it. Returns how many.
   */
  releaseAbandoned(node: string, shards: readonly number[]): Promise<number>;
  /** `svc_event_publication_incomplete`: a query, not a counter. I14. */
  incompletePublications(): Promise<number>;
  /**
   * Removes deliveries that are done or held and older than an instant, with their attempts; answers how many. Spec §6.
   */
  purge(olderThanMs: number): Promise<number>;
}

/** What is done beside the publisher, a page at a time. */
export interface DeliveryUpkeep {
  /**
   * Removes the bodies of publications that are older than an instant and of which nothing is delivered any more;
   * answers how many.
   */
  purgeBodies(olderThanMs: number): Promise<number>;
  /**
   * A page of deliveries whose endpoint was disabled or deleted, or got another secret: held, or due. Answers how many,
   * null when no endpoint has any left.
   */
  workBacklog(): Promise<number | null>;
}
