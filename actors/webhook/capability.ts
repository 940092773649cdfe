/** Webhooks of an account. */
import type { WebhookCommand, WebhookState } from '../../model/account/webhook.ts';
import type { Capability } from '../account/decision.ts';
import { createWebhook, deleteWebhook, replaceWebhook, replayDelivery } from './decide.ts';
import { webhookFolds } from './evolve.ts';

export const webhook: Capability<WebhookCommand, WebhookState, WebhookState> = {
  owns: ['webhooks', 'webhookSeals'],
  decide: {
    create_webhook: createWebhook,
    replace_webhook: replaceWebhook,
    delete_webhook: deleteWebhook,
    replay_delivery: replayDelivery,
  },
  folds: webhookFolds,
};
