/**
 * Standard Webhooks signatures. Decisions 4.
 *
 *   webhook-id         the event's id
 *   webhook-timestamp  seconds of the attempt
 *   webhook-signature  `v1,` base64(HMAC-SHA256(secret, id `.` timestamp `.` body)), one for each secret, by spaces
 *
 * Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 */
import { createHmac, type KeyObject } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** 24 to 64 bytes. Source: the same document, "Signature scheme". */
const SECRET_BYTES = { min: 24, max: 64 } as const;

/** What a webhook's secret is sealed for, so that a sealed secret that is moved to another row does not open. */
export function webhookSecretContext(webhookId: string): string {
  return `webhook|secret|${webhookId}`;
}

/** Key bytes of a `whsec_…` text. Throws: RangeError; the secret is not named in it. */
export function secretBytes(secret: string): Buffer {
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (bytes.length < SECRET_BYTES.min || bytes.length > SECRET_BYTES.max) {
    throw new RangeError(`a webhook secret is whsec_ and base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} bytes`);
  }
  return bytes;
}

/**
 * Headers of one attempt; several keys while a secret is being rotated. The body is signed as the bytes that are sent.
 */
export function signatureHeaders(
  message: { eventId: string; body: string; timestampSeconds: number },
  keys: readonly (Buffer | KeyObject)[],
): Record<string, string> {
  const { eventId, body, timestampSeconds } = message;
  const signed = `${eventId}.${timestampSeconds}.${body}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' '),
  };
}
