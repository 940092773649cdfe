/** `flock-client/testing`: deliveries as the service signs them, for the tests of a receiver. */
import { EXAMPLES } from './generated/examples.ts';
import { fromBase64 } from './base64.ts';
import type { FlockEvent } from './webhooks.ts';

export interface Delivery {
  readonly body: string;
  readonly headers: Readonly<Record<'content-type' | 'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>>;
}

/** An event of the catalogue, with fields of `data` of your own. */
export function exampleEvent<E extends FlockEvent['event']>(
  event: E,
  data: Partial<Extract<FlockEvent, { event: E }>['data']> = {},
): Extract<FlockEvent, { event: E }> {
  const example = EXAMPLES[event as keyof typeof EXAMPLES];
  return structuredClone({ ...example, data: { ...example.data, ...data } }) as unknown as Extract<
    FlockEvent,
    { event: E }
  >;
}

/** The delivery of an event, signed with each secret. `now`: milliseconds since 1970. Throws: a secret is no base64. */
export async function signEvent(
  event: FlockEvent,
  secrets: string | readonly string[],
  { now = Date.now() }: { readonly now?: number } = {},
): Promise<Delivery> {
  const body = JSON.stringify(event);
  const time = String(Math.floor(now / 1_000));
  const signed = new TextEncoder().encode(`${event.id}.${time}.${body}`);
  const signatures = await Promise.all(
    (typeof secrets === 'string' ? [secrets] : secrets).map(async (secret) => {
      const raw = fromBase64(secret.replace(/^whsec_/, ''));
      if (raw === null || raw.length === 0) throw new TypeError('a secret is whsec_ and base64');
      const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, signed));
      return `v1,${btoa(String.fromCharCode(...mac))}`;
    }),
  );
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': event.id,
      'webhook-timestamp': time,
      'webhook-signature': signatures.join(' '),
    },
  };
}
