/** Webhooks of an account. */
import type { PublicationRow, WebhookRow } from '../rows/webhook.ts';

export interface WebhookState {
  /** Ids of the webhooks that are not deleted. */
  webhooks: string[];
  /** Marks of the secrets of webhooks whose secrets changed, so that a decision on older ones is refused. */
  webhookSeals: Record<string, string>;
}

export type WebhookCommand =
  | { type: 'create_webhook'; row: WebhookRow }
  /** `known` is the row that `row` was made of. */
  | { type: 'replace_webhook'; row: WebhookRow; known: WebhookRow }
  | { type: 'delete_webhook'; known: WebhookRow }
  | { type: 'replay_delivery'; deliveryId: string; newDeliveryId: string; eventAtMs: number };

export type WebhookEvent =
  | { type: 'webhook_created' | 'webhook_deleted'; id: string }
  /** `seal` marks the new secrets; null where they stayed. */
  | { type: 'webhook_replaced'; id: string; seal: string | null }
  | { type: 'delivery_replayed'; deliveryId: string };

export interface WebhookReplies {
  create_webhook: WebhookRow;
  replace_webhook: WebhookRow;
  delete_webhook: WebhookRow;
  replay_delivery: { deliveryId: string };
}

/** Rows that it writes; every capability may publish. */
export type WebhookWrite =
  | { table: 'webhook'; row: WebhookRow } // insert or update by id
  | { table: 'publication'; row: PublicationRow }
  | { table: 'replay'; deliveryId: string; newDeliveryId: string; nowMs: number };

export const WEBHOOK_INITIAL: WebhookState = { webhooks: [], webhookSeals: {} };
