/** Webhooks, publications, deliveries and attempts. */
import type { AccountId } from '../../protocol/ids.ts';
import type { DeliveryStatus, EventName } from '../../protocol/slugs.ts';

export interface WebhookRow {
  id: string;
  accountId: AccountId;
  url: string;
  events: EventName[];
  /** AES-256-GCM envelope of `whsec_…`; with two entries while a secret is being rotated. */
  sealedSecrets: string[];
  secretPreview: string;
  status: 'enabled' | 'disabled' | 'deleted';
  createdAtMs: number;
  updatedAtMs: number;
}

/** A recorded event that must reach its subscribers. Completed when every delivery row of it exists. */
export interface PublicationRow {
  eventId: string;
  accountId: AccountId;
  event: EventName;
  /** The exact bytes that are signed and sent, serialised once. */
  body: string;
  /** Partition of order: per (order key, endpoint) first attempts leave in publication order. The address, or ''. */
  orderKey: string;
  /** `identity_rotation_detected` goes to every endpoint whatever its subscription. */
  toAll: boolean;
  createdAtMs: number;
}

/** One row per (event, endpoint, replay number). Decisions 4. */
export interface DeliveryRow {
  id: string;
  eventId: string;
  webhookId: string;
  replay: number;
  status: DeliveryStatus;
  attempts: number;
  nextAttemptAtMs: number | null;
}

export interface AttemptRow {
  deliveryId: string;
  attempt: number;
  /** Null when no answer came (timeout, refused connection). */
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  atMs: number;
}
