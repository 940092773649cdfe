/**
 * An endpoint is tested: a signed event that it must take, then one with a signature of nobody's that it must refuse.
 * Both go the way of all deliveries and are in no ledger. Ecosystem X21.
 */
import { randomBytes } from 'node:crypto';
import { timeOf } from '../../../actors/sandbox/time.ts';
import { SignedDeliveries } from '../../../actors/webhook/signed-deliveries.ts';
import { signatureHeaders } from '../../../actors/webhook/sign.ts';
import type { Attempt } from '../../../actors/webhook/ports.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import { eventId, newId } from '../../../protocol/node/ids.ts';
import { TEST_EVENT } from '../../../protocol/schema/webhooks.ts';
import { accountOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** Two of them, and what the edge adds to each, are within the time of a request. */
const ATTEMPT_MS_MAX = 8_000;
const NOBODYS_KEY_BYTES = 32;

type Area = 'testWebhook';
type Signature = 'good' | 'broken';

export function webhookTestHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const { edges, nowMs, secrets, log } = deps;
  const signed = new SignedDeliveries({ secrets, log });
  return {
    async testWebhook(asked) {
      const accountId = accountOf(asked);
      const { webhookId } = asked.params;
      const known = await deps.stores.reads.webhook(accountId, webhookId);
      if (known === null || known.status === 'deleted') return unknownIn(asked, 'webhook', webhookId);
      if (known.status === 'disabled')
        return refuse('CONFLICT', { reason: 'endpoint_disabled', next: 'replace the endpoint (PUT): it is enabled' });
      const { url, sealedSecrets } = known;
      const timestamp = new Date(await timeOf(deps, accountId)).toISOString();
      const deliveryOf = (signature: Signature) => {
        const id = newId('dlv', nowMs());
        const event = eventId(TEST_EVENT, webhookId, id);
        const timestampSeconds = Math.floor(nowMs() / 1_000);
        const body = JSON.stringify({
          event: TEST_EVENT,
          id: event,
          environment: asked.caller.environment,
          confirmations: null,
          threshold: null,
          timestamp,
          data: { webhookId },
        });
        const delivery = { id, eventId: event, webhookId, attempts: 0 };
        const good = signed.of({ delivery, url, body, sealedSecrets }, timestampSeconds);
        if (good === null) return null;
        const headers =
          signature === 'good'
            ? good.headers
            : signatureHeaders({ eventId: event, body, timestampSeconds }, [randomBytes(NOBODYS_KEY_BYTES)]);
        return { eventId: event, posted: { ...good, headers, timeoutMs: ATTEMPT_MS_MAX } };
      };
      const attempts = [];
      for (const signature of ['good', 'broken'] as const) {
        const delivery = deliveryOf(signature);
        if (delivery === null)
          return refuse('CONFLICT', { reason: 'secret_unreadable', next: 'make a new secret of this endpoint' });
        const attempt = await edges.tryDelivery(accountId, delivery.posted);
        if (isRefusal(attempt)) return attempt;
        attempts.push(viewOf(attempt, { signature, eventId: delivery.eventId, at: new Date(nowMs()).toISOString() }));
      }
      return { webhookId, url, passed: attempts.every(({ passed }) => passed), attempts };
    },
  };
}

function viewOf(
  { statusCode, durationMs, outcome }: Attempt,
  about: { readonly signature: Signature; readonly eventId: string; readonly at: string },
) {
  const [least, most] = about.signature === 'good' ? [200, 299] : [400, 499];
  const passed = statusCode !== null && statusCode >= least && statusCode <= most;
  return {
    ...about,
    statusCode,
    durationMs: Math.round(durationMs),
    error: outcome === 'answered' ? null : outcome,
    passed,
  };
}
