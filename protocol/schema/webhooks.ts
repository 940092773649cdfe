/** Webhooks and their deliveries. Spec §2.7, §4.1; decisions 4. */
import { z } from 'zod';
import { listQuery, pageQuery } from '../envelope.ts';
import { DELIVERY_STATUSES, EVENTS, HELD_REASONS } from '../slugs.ts';
import { freeText, instant, pageReply, pathId, pathUuid } from './values.ts';
import { count, durationMs, serial, statusCode } from './numbers.ts';

const url = freeText(2_048).meta({ format: 'uri', examples: ['https://example.com/webhooks'] });
const eventNames = z
  .array(z.enum(EVENTS))
  .min(1)
  .max(EVENTS.length)
  .refine((names) => new Set(names).size === names.length, 'each event once')
  .meta({ uniqueItems: true });

/** Create and full replace. */
export const webhookBody = z.strictObject({ url, events: eventNames });
export const webhookParams = z.strictObject({ webhookId: pathUuid });

export const webhook = z.object({
  id: z.uuid(),
  url: z.string(),
  events: z.array(z.enum(EVENTS)),
  status: z.enum(['enabled', 'disabled', 'deleted']),
  secretPreview: z.string(),
  rotating: z.boolean().meta({ description: 'deliveries carry the signatures of the new and the previous secret' }),
  createdAt: instant,
  updatedAt: instant,
});
export const webhookCreated = webhook.extend({ secret: z.string().meta({ description: '`whsec_…`, shown once' }) });
export const webhookPage = pageReply(webhook);
export const listWebhooksQuery = pageQuery;

export const delivery = z.object({
  id: z.string(),
  eventId: z.string(),
  event: z.enum(EVENTS),
  webhookId: z.string(),
  url: z.string(),
  replay: count.meta({ description: '0 for the first delivery of an event to an endpoint' }),
  status: z.enum(DELIVERY_STATUSES),
  heldReason: z.enum(HELD_REASONS).nullable().meta({ description: 'null unless it is held' }),
  nextAttemptAt: instant.nullable().meta({ description: 'null where none is due' }),
  createdAt: instant,
  attempts: z.array(
    z.object({
      attempt: serial,
      statusCode: statusCode.nullable(),
      durationMs,
      error: z.string().nullable(),
      at: instant,
    }),
  ),
});
export const deliveryPage = pageReply(delivery);
export const deliveriesOfWebhookQuery = listQuery({
  status: z.enum(DELIVERY_STATUSES).exactOptional(),
  event: z.enum(EVENTS).exactOptional(),
});
export const listDeliveriesQuery = listQuery({
  status: z.enum(DELIVERY_STATUSES).exactOptional(),
  event: z.enum(EVENTS).exactOptional(),
  webhookId: z.uuid().exactOptional(),
});
export const deadLettersQuery = pageQuery;
export const deliveryParams = z.strictObject({ id: pathId('dlv') });
export const replayed = z.object({ deliveryId: z.string() });

/** Nobody subscribes to it, and it is in no list of events: an endpoint gets it when it is tested. */
export const TEST_EVENT = 'webhook_test';
const testAttempt = z.object({
  signature: z
    .enum(['good', 'broken'])
    .meta({ description: 'good: of the secrets of the endpoint, as all deliveries; broken: of none' }),
  eventId: z.string(),
  statusCode: statusCode.nullable().meta({ description: 'null when no answer came' }),
  durationMs,
  error: z.string().nullable().meta({ description: 'why no answer came; null where one did' }),
  at: instant,
  passed: z.boolean().meta({ description: 'good: it was answered 2xx; broken: it was answered 4xx' }),
});
const testExample: z.output<typeof testAttempt> = {
  signature: 'good',
  eventId: 'evt_5kkqdkjrm2ovmlx3khjjqkg43i',
  statusCode: 204,
  durationMs: 12,
  error: null,
  at: '2026-01-01T00:00:00.000Z',
  passed: true,
};
export const webhookTest = z.object({
  webhookId: z.uuid(),
  url: z.string(),
  passed: z.boolean().meta({ description: 'both attempts passed' }),
  attempts: z
    .array(testAttempt)
    .length(2)
    .meta({
      description: 'the good one, then the broken one',
      examples: [[testExample, { ...testExample, signature: 'broken', statusCode: 401 }]],
    }),
});

/** Deliveries that one replay of a time range may create. */
export const REPLAY_RANGE_MAX = 1_000;
export const replayRangeBody = z.strictObject({
  from: instant,
  to: instant,
  webhookId: z.uuid().exactOptional(),
  event: z.enum(EVENTS).exactOptional(),
  dryRun: z.boolean().default(true).meta({ description: 'count only; the default' }),
});
export const replayRange = z.object({ count, replayed: count, dryRun: z.boolean() });
