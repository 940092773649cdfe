/** Deliveries as the edge posts them, signed with the opened secrets of their endpoints. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { DueDelivery } from '../../model/ports/delivery-store.ts';
import type { Delivery, PublisherDeps } from './ports.ts';
import { secretBytes, signatureHeaders, webhookSecretContext } from './sign.ts';

/** From connecting to the head of the answer. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
const OPENED_SECRETS_MAX = 10_000;

/** What is signed of a delivery. */
export type Signable = Pick<DueDelivery, 'url' | 'body' | 'sealedSecrets'> & {
  readonly delivery: Pick<DueDelivery['delivery'], 'id' | 'eventId' | 'webhookId' | 'attempts'>;
};

export class SignedDeliveries {
  readonly #deps: Pick<PublisherDeps, 'secrets' | 'log'>;
  readonly #keys = new Map<string, KeyObject>();

  constructor(deps: Pick<PublisherDeps, 'secrets' | 'log'>) {
    this.#deps = deps;
  }

  /** The delivery as the edge posts it; null when none of its secrets opens, which no attempt can cure. */
  of({ delivery, url, body, sealedSecrets }: Signable, timestampSeconds: number): Delivery | null {
    const { id, eventId, webhookId, attempts } = delivery;
    const keys = sealedSecrets.flatMap((sealed) => this.#key(sealed, webhookId) ?? []);
    if (keys.length === 0) return null;
    const headers = signatureHeaders({ eventId, body, timestampSeconds }, keys);
    return { deliveryId: id, attempt: attempts + 1, url, headers, body, timeoutMs: ATTEMPT_TIMEOUT_MS };
  }

  /** A key object, because a MAC with bare bytes makes one each time; null for a secret that does not open. */
  #key(sealed: string, webhookId: string): KeyObject | null {
    const known = this.#keys.get(sealed);
    if (known !== undefined) return known;
    const key = this.#opened(sealed, webhookId);
    if (key === null) return null;
    if (this.#keys.size >= OPENED_SECRETS_MAX) this.#keys.delete(this.#keys.keys().next().value!);
    this.#keys.set(sealed, key);
    return key;
  }

  #opened(sealed: string, webhookId: string): KeyObject | null {
    try {
      return createSecretKey(secretBytes(this.#deps.secrets.open(sealed, webhookSecretContext(webhookId))));
    } catch (error) {
      this.#deps.log.warn({ webhookId, reason: (error as Error).message }, 'a webhook secret does not open');
      return null;
    }
  }
}
