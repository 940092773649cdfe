/** Webhooks and their deliveries. */
import type { Route } from '../route.ts';
import * as webhooks from '../schema/webhooks.ts';
import { DELETE, GET, POST, PUT, creates, reads, writes } from './kinds.ts';

export const WEBHOOKS_ROUTES = {
  createWebhook: {
    ...creates('Webhooks'), method: POST, path: '/v1/webhooks', body: webhooks.webhookBody,
    reply: webhooks.webhookCreated, refusals: ['TIER_FEATURE_LOCKED', 'ACCOUNT_SUSPENDED'],
    summary: 'Register an endpoint; its secret is shown once',
  },
  listWebhooks: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks', query: webhooks.listWebhooksQuery,
    reply: webhooks.webhookPage, refusals: [], summary: 'List endpoints',
  },
  listDeliveries: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/deliveries', query: webhooks.listDeliveriesQuery,
    reply: webhooks.deliveryPage, refusals: [], summary: 'List deliveries with every attempt, newest first',
  },
  listDeadLetters: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/deliveries/dead-letters', query: webhooks.deadLettersQuery,
    reply: webhooks.deliveryPage, refusals: [], summary: 'List deliveries that used up their ladder',
  },
  replayDeliveries: {
    ...writes('Webhooks'), idempotent: 'store', method: POST, path: '/v1/webhooks/deliveries/replay',
    body: webhooks.replayRangeBody, reply: webhooks.replayRange, refusals: [],
    summary: 'Count, then replay, the deliveries of a time range',
  },
  replayDelivery: {
    ...writes('Webhooks'), method: POST, path: '/v1/webhooks/deliveries/{id}/replay', params: webhooks.deliveryParams,
    reply: webhooks.replayed, refusals: ['NOT_FOUND', 'CONFLICT'], summary: 'Deliver an event once more',
  },
  getWebhook: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    reply: webhooks.webhook, refusals: ['NOT_FOUND'], summary: 'Read one endpoint',
  },
  replaceWebhook: {
    ...writes('Webhooks'), method: PUT, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    body: webhooks.webhookBody, reply: webhooks.webhook, refusals: ['NOT_FOUND', 'ACCOUNT_SUSPENDED'],
    summary: 'Replace an endpoint; a disabled one is enabled again',
  },
  deleteWebhook: {
    ...writes('Webhooks'), method: DELETE, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    reply: webhooks.webhook, refusals: ['NOT_FOUND'], summary: 'Stop an endpoint at once; its history is kept',
  },
  rotateWebhookSecret: {
    ...writes('Webhooks'), method: POST, path: '/v1/webhooks/{webhookId}/secret', params: webhooks.webhookParams,
    reply: webhooks.webhookCreated, refusals: ['NOT_FOUND', 'ACCOUNT_SUSPENDED'],
    summary: 'Make a new secret; deliveries carry both signatures until the previous one is dropped',
  },
  dropPreviousWebhookSecret: {
    ...writes('Webhooks'), method: DELETE, path: '/v1/webhooks/{webhookId}/secret/previous',
    params: webhooks.webhookParams, reply: webhooks.webhook, refusals: ['NOT_FOUND', 'CONFLICT', 'ACCOUNT_SUSPENDED'],
    summary: 'End the rotation of a secret',
  },
  listWebhookDeliveries: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/{webhookId}/deliveries', params: webhooks.webhookParams,
    query: webhooks.deliveriesOfWebhookQuery, reply: webhooks.deliveryPage, refusals: ['NOT_FOUND'],
    summary: 'Attempt history of one endpoint',
  },
} as const satisfies Record<string, Route>;
