/** Standard Webhooks signatures: `v1,` + base64 of HMAC-SHA256 over `id.timestamp.body`. Decisions 4. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { eventEnvelope } from '../schema/events.ts';
import { TEST_EVENT } from '../schema/webhooks.ts';
import { EVENTS } from '../slugs.ts';

const SECRET_PREFIX = 'whsec_';
/** Age of a delivery that a receiver accepts, seconds. */
export const WEBHOOK_TOLERANCE_SECONDS = 300;

/** What an endpoint may get: the events of the catalogue, and the one of a test. */
const delivered = eventEnvelope.extend({ event: z.enum([...EVENTS, TEST_EVENT]) });
type DeliveredEvent = z.infer<typeof delivered>;

const keyOf = (secret: string): Buffer =>
  Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64');

export type WebhookVerdict =
  | { readonly valid: true; readonly event: DeliveredEvent }
  | { readonly valid: false; readonly reason: 'headers' | 'timestamp' | 'signature' | 'body' };

/**
 * Verifies a delivery over its raw bytes and reads its event. Compares in constant time.
 * Limit: deliveries older or newer than `WEBHOOK_TOLERANCE_SECONDS` are not valid.
 */
export function verifyWebhook(
  secret: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  rawBody: string | Uint8Array,
  nowMs: number = Date.now(),
): WebhookVerdict {
  const header = (name: string) => {
    const value = headers[name] ?? headers[Object.keys(headers).find((key) => key.toLowerCase() === name) ?? ''];
    return typeof value === 'string' ? value : undefined;
  };
  const id = header('webhook-id');
  const timestamp = header('webhook-timestamp');
  const signature = header('webhook-signature');
  // A dot in the id would let a part of one field be read as another.
  if (!id || id.includes('.') || timestamp === undefined || signature === undefined || !/^[0-9]{1,12}$/.test(timestamp))
    return { valid: false, reason: 'headers' };
  const ageSeconds = Math.abs(nowMs / 1_000 - Number(timestamp));
  if (ageSeconds > WEBHOOK_TOLERANCE_SECONDS) return { valid: false, reason: 'timestamp' };
  const key = keyOf(secret);
  // With a secret that was forgotten anybody can sign.
  if (key.length === 0) return { valid: false, reason: 'signature' };
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest();
  const matches = signature.split(' ').some((entry) => {
    const claimed = entry.startsWith('v1,') ? Buffer.from(entry.slice(3), 'base64') : Buffer.alloc(0);
    return claimed.length === hmac.length && timingSafeEqual(claimed, hmac);
  });
  if (!matches) return { valid: false, reason: 'signature' };
  const event = eventOf(Buffer.from(rawBody as string).toString('utf8'));
  return event?.id !== id ? { valid: false, reason: 'body' } : { valid: true, event };
}

function eventOf(text: string): DeliveredEvent | null {
  try {
    const parsed = delivered.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
