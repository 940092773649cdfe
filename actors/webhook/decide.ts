/** Webhook endpoints as the account owns them. Secrets come in sealed. Spec §2.7, §4.1, §8.2. */
import { notFound, type Refusal, refuse } from '../../protocol/errors.ts';
import { TIER_TERMS } from '../../protocol/plans.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { tierLimit } from '../plan/limits.ts';
import type { WebhookRow } from '../../model/rows/webhook.ts';
import type { WebhookSees } from '../../model/account/capabilities.ts';

/** Ceiling of "unlimited" and of sandbox: the ids are part of the snapshot, 36 characters each. */
const WEBHOOKS_MAX = 1_000;

/** Events can be replayed for this long. Spec §6: "Replay is possible for 7 days" */
export const REPLAY_WINDOW_DAYS = 7;
/** `details.reason` of a decision on an endpoint whose secrets changed after it was read. */
export const CHANGED_MEANWHILE = 'changed_meanwhile';
const SEAL_CHARACTERS = 16;
const REPLAY_WINDOW_MS = REPLAY_WINDOW_DAYS * 86_400_000;

/** Refuses: ACCOUNT_SUSPENDED, TIER_FEATURE_LOCKED. */
export function createWebhook({
  state,
  command: { row },
}: Deciding<'create_webhook'>): AccountDecision<'create_webhook'> {
  const count = state.webhooks.length;
  const no = firstRefusal(
    suspended(state),
    tierLimit(state, 'webhooks', count, TIER_TERMS[state.plan.tier].webhooks),
    count < WEBHOOKS_MAX
      ? null
      : refuse('TIER_FEATURE_LOCKED', { feature: 'webhooks', limit: WEBHOOKS_MAX, current: count, requiredTier: null }),
  );
  return no ?? accept(row, [{ type: 'webhook_created', id: row.id }], [{ table: 'webhook', row }]);
}

/**
 * Replaces URL, events, secrets and status at once. Secrets that were shown are never overwritten by a row that was
 * read before them. Refuses: ACCOUNT_SUSPENDED, NOT_FOUND, CONFLICT (`changed_meanwhile`: read again).
 */
export function replaceWebhook({
  state,
  command: { row, known },
}: Deciding<'replace_webhook'>): AccountDecision<'replace_webhook'> {
  const before = sealOf(known),
    after = sealOf(row),
    newest = state.webhookSeals[row.id] ?? before;
  const no = firstRefusal(
    suspended(state),
    unknownWebhook(state, row.id),
    newest === before ? null : refuse('CONFLICT', { reason: CHANGED_MEANWHILE }),
  );
  const seal = after === before ? null : after;
  return no ?? accept(row, [{ type: 'webhook_replaced', id: row.id, seal }], [{ table: 'webhook', row }]);
}

/** Ends of the sealed texts: enough to distinguish secrets, nothing of them. */
function sealOf({ sealedSecrets }: WebhookRow): string {
  return sealedSecrets.map((sealed) => sealed.slice(-SEAL_CHARACTERS)).join(' ');
}

/** Stops delivery at once; the history stays. Refuses: NOT_FOUND. */
export function deleteWebhook({
  state,
  command: { known },
  nowMs,
}: Deciding<'delete_webhook'>): AccountDecision<'delete_webhook'> {
  const row = { ...known, status: 'deleted' as const, updatedAtMs: nowMs };
  return (
    unknownWebhook(state, known.id) ??
    accept(row, [{ type: 'webhook_deleted', id: row.id }], [{ table: 'webhook', row }])
  );
}

function unknownWebhook(state: WebhookSees, id: string): Refusal | null {
  return state.webhooks.includes(id) ? null : notFound('webhook', id, { webhookId: id });
}

/** A new delivery of the same event, as often as it is asked for (C5-46). Refuses: CONFLICT after seven days. */
export function replayDelivery({
  command: { deliveryId, newDeliveryId, eventAtMs },
  nowMs,
}: Deciding<'replay_delivery'>): AccountDecision<'replay_delivery'> {
  if (nowMs - eventAtMs > REPLAY_WINDOW_MS) {
    return refuse('CONFLICT', { reason: 'replay_window_closed', retentionDays: REPLAY_WINDOW_DAYS });
  }
  return accept(
    { deliveryId: newDeliveryId },
    [{ type: 'delivery_replayed', deliveryId: newDeliveryId }],
    [{ table: 'replay', deliveryId, newDeliveryId, nowMs }],
  );
}
