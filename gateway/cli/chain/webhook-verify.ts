/**
 * The `webhook-verify` operation: whether a delivery was signed with a secret. The age of the timestamp is not judged,
 * because support staff ask about old deliveries. Source: Standard Webhooks 1.0,
 * `v1,` base64(HMAC-SHA256(secret, id || "." || timestamp || "." || payload)), several separated by spaces.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from '../../../protocol/node/json-lines.ts';
import { objectField, refuseField, textField } from '../../../protocol/node/request-fields.ts';

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const SIGNATURES_MAX = 100;

/**
 * `{valid: true}`, or `{valid: false, reason}`. Refuses: INVALID_INPUT for a malformed secret and for missing
 * fields.
 */
export function webhookVerify(request: Request): object {
  const base64 = SECRET.exec(textField(request, 'secret'))?.[1] ?? refuseField('secret', 'whsec_ and base64');
  const headers = lowerCased(objectField(request, 'headers'));
  const payload = textField(request, 'payload');
  const id = headers.get('webhook-id');
  const timestamp = headers.get('webhook-timestamp');
  const signatures = headers.get('webhook-signature');
  if (id === undefined || timestamp === undefined || signatures === undefined)
    return { valid: false, reason: 'a header is missing' };
  if (!/^[0-9]+$/.test(timestamp)) return { valid: false, reason: 'the timestamp is no number of seconds' };
  const expected = createHmac('sha256', Buffer.from(base64, 'base64'))
    .update(`${id}.${timestamp}.${payload}`, 'utf8')
    .digest();
  const valid = signatures
    .split(' ')
    .slice(0, SIGNATURES_MAX)
    .some((signature) => matches(signature, expected));
  return valid ? { valid } : { valid, reason: 'no signature matches' };
}

function matches(signature: string, expected: Buffer): boolean {
  const base64 = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1];
  const given = Buffer.from(base64 ?? '', 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Header names are the same in any case; a value that is no text counts as absent. */
function lowerCased(headers: Request): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), String(value)]] : [],
    ),
  );
}
