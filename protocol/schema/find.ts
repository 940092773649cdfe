/** Search, and one event. Console C16, C17. */
import { z } from 'zod';
import { walkQuery } from '../envelope.ts';
import { CHAINS, EVENTS } from '../slugs.ts';
import { delivery } from './webhooks.ts';
import { freeText, instant } from './values.ts';

/** Longer than every address, id and txid of ten chains. */
const QUERY_CHARS_MAX = 200;
const asked = freeText(QUERY_CHARS_MAX).transform((text) => text.trim());
export const searchQuery = z
  .strictObject({
    q: asked.optional().meta({
      description:
        'an address, an id, a userRef, or how a label begins. 64 hex digits may be a private key and are refused here: a transaction is asked for by `txid`',
    }),
    txid: asked.optional().meta({ description: 'of a transaction; hex in either case, with or without 0x' }),
  })
  .refine(({ q, txid }) => ((q ?? '') !== '') !== ((txid ?? '') !== ''), {
    path: ['q'],
    error: 'expected either q or txid',
  });

export const FOUND_KINDS = [
  'address',
  'deposit',
  'withdrawal',
  'event',
  'delivery',
  'paymentLink',
  'payment',
  'invoice',
] as const;
export const searchResult = z.object({
  content: z.array(
    z.object({
      kind: z.enum(FOUND_KINDS),
      id: z.string(),
      chain: z.enum(CHAINS).nullable(),
      status: z.string().nullable(),
      text: z
        .string()
        .meta({ description: 'the address, the txid, the name of the event, the slug, the number of the invoice' }),
      userRef: z.string().nullable(),
      label: z.string().nullable(),
      createdAt: instant,
    }),
  ),
});

export const eventParams = z.strictObject({
  id: z
    .string()
    .refine((text) => /^evt_[a-z2-7]{26}$/.test(text), 'NOT_FOUND')
    .meta({ pattern: '^evt_[a-z2-7]{26}$' }),
});
/** The place before the first event. */
const EVENTS_START = 'start';
export const eventsQuery = walkQuery.pick({ size: true }).extend({
  since: z
    .string()
    .refine((text) => text === EVENTS_START || /^evt_[a-z2-7]{26}$/.test(text), 'NOT_FOUND')
    .meta({ pattern: '^(start|evt_[a-z2-7]{26})$' })
    .exactOptional()
    .meta({ description: 'the events behind this one, or with `start` from the first; without it the newest' }),
});
export const eventsList = z.object({
  content: z.array(
    z.object({
      id: z.string(),
      event: z.enum(EVENTS),
      createdAt: instant,
      body: z
        .string()
        .nullable()
        .meta({ description: 'byte for byte what is signed and delivered; null 30 days after the event' }),
    }),
  ),
  hasMore: z.boolean().meta({ description: 'whether there are events behind the last one: ask with it as `since`' }),
});

export const eventRecord = z.object({
  id: z.string(),
  event: z.enum(EVENTS),
  createdAt: instant,
  body: z
    .string()
    .nullable()
    .meta({ description: 'byte for byte what is signed and delivered; null 30 days after the event' }),
  deliveries: z.array(delivery).meta({ description: 'the newest 200' }),
});
