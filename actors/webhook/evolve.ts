/** Which webhooks an account has. */
import type { WebhookState } from '../../model/account/webhook.ts';
import type { Folds } from '../account/decision.ts';

export const webhookFolds: Folds<WebhookState, WebhookState> = {
  webhook_created: ({ webhooks }, { id }) => ({ webhooks: [...webhooks, id] }),
  webhook_replaced: ({ webhookSeals }, { id, seal }) =>
    seal === null ? {} : { webhookSeals: { ...webhookSeals, [id]: seal } },
  account_wiped: () => ({ webhooks: [], webhookSeals: {} }),
  webhook_deleted: ({ webhooks, webhookSeals }, { id }) => {
    const { [id]: _, ...seals } = webhookSeals;
    return { webhookSeals: seals, webhooks: webhooks.filter((other) => other !== id) };
  },
};
