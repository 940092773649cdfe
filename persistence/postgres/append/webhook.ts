/** Rows of an append: webhooks, what is published to them, and replays of deliveries. */
import type { WebhookWrite } from '../../../model/account/webhook.ts';
import { newId } from '../../../protocol/node/ids.ts';
import { encoded, instant, type AppendOf, type Row, type Writes } from './rows.ts';

export const webhook: AppendOf<WebhookWrite> = {
  webhook: ({ row }) => [encoded('webhooks', webhookRow(row), row.id)],
  publication: ({ row: { eventId, event, body, orderKey, toAll, createdAtMs } }, { nowMs }) => [
    encoded('publications', {
      event_id: eventId,
      event,
      body,
      order_key: orderKey,
      to_all: toAll,
      created_at: instant(createdAtMs),
      delivery_id: newId('dlv', nowMs),
    }),
  ],
  replay: ({ deliveryId, newDeliveryId, nowMs }) => [
    encoded('replays', { delivery_id: deliveryId, new_delivery_id: newDeliveryId, now: instant(nowMs) }),
  ],
};

function webhookRow(row: Writes['webhook']['row']): Row {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    sealed_secrets: row.sealedSecrets,
    secret_preview: row.secretPreview,
    status: row.status,
    created_at: instant(row.createdAtMs),
    updated_at: instant(row.updatedAtMs),
  };
}
