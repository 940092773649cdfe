/** A publisher over memory and a hand-turned clock, with edges that answer as a test says. */
import { createPublisher } from '../../actors/webhook/publisher.ts';
import type { Attempt, Delivery, DeliveryStreams, Publisher, PublisherDeps } from '../../actors/webhook/ports.ts';
import { webhookSecretContext } from '../../actors/webhook/sign.ts';
import type { Acknowledgement } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { HandClock } from './clock.ts';
import { MemoryDeliveries } from './delivery-store.ts';

export const A = 'org_a_live' as AccountId,
  B = 'org_b_live' as AccountId;
export const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

/** Leader edges that keep the frames they get; a test answers for them. */
export class Edges implements DeliveryStreams {
  readonly #leaders = new Set<AccountId>();
  readonly frames: { accountId: AccountId; deliveries: readonly Delivery[] }[] = [];
  answer: () => Acknowledgement | null = () => ({ ok: true });

  leads(accountId: AccountId): void {
    this.#leaders.add(accountId);
  }
  leaves(accountId: AccountId): void {
    this.#leaders.delete(accountId);
  }
  leaders(): ReadonlySet<AccountId> {
    return this.#leaders;
  }
  async deliver(accountId: AccountId, deliveries: readonly Delivery[]): Promise<Acknowledgement | null> {
    this.frames.push({ accountId, deliveries });
    return this.answer();
  }
  get sent(): Delivery[] {
    return this.frames.flatMap(({ deliveries }) => deliveries);
  }
}

export interface Setup {
  store: MemoryDeliveries;
  edges: Edges;
  clock: HandClock;
  publisher: Publisher;
  warnings: string[];
  delivered: number[];
}

export function setup(more: Pick<PublisherDeps, 'simulated'> = {}): Setup {
  const store = new MemoryDeliveries(),
    edges = new Edges(),
    clock = new HandClock(),
    warnings: string[] = [],
    delivered: number[] = [];
  const publisher = createPublisher({
    ...more,
    node: 'node-a',
    store,
    streams: edges,
    clock,
    random: () => 0,
    log: { warn: (_fields, message) => void warnings.push(message) },
    secrets: {
      open: (sealed, context) =>
        sealed === 'sealed' && context === webhookSecretContext('hook')
          ? SECRET
          : sealed === 'unreadable' || context.includes('broken')
            ? 'nonsense'
            : SECRET,
    },
    hooks: { onDelivered: (latencyMs) => void delivered.push(latencyMs) },
  });
  publisher.start();
  return { store, edges, clock, publisher, warnings, delivered };
}

export const answered = ({ deliveryId, attempt }: Delivery, statusCode: number | null = 200): Attempt => ({
  deliveryId,
  attempt,
  statusCode,
  durationMs: 12.4,
  retryAfterSeconds: null,
  outcome: statusCode === null ? 'timeout' : 'answered',
});
