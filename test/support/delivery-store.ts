/**
 * Deliveries in memory with the store's own rules: claims with an end, publication order, busy endpoints, one row per
 * attempt.
 */
import type { DeliveryClaim, DeliveryStore, DueDelivery, SendableDelivery } from '../../model/ports/delivery-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId, shardOf } from '../../protocol/node/ids.ts';
import type { RecordedAttempt } from '../../actors/webhook/recorder.ts';

interface Entry {
  readonly due: DueDelivery;
  readonly seq: number;
  claimedUntilMs: number;
}

export class MemoryDeliveries implements DeliveryStore {
  readonly #entries = new Map<string, Entry>();
  readonly recorded: RecordedAttempt[] = [];
  readonly statements: number[] = [];
  claims = 0;
  released = 0;
  /** The next statements of `recordAttempts` fail. */
  failing = 0;
  /** The next claims take effect and are not answered; the next releases are not made. */
  unanswered = 0;
  failingReleases = 0;
  /** Attempts of this delivery are refused by a constraint. */
  poison: string | null = null;
  /** Endpoints that were changed, or (null) are enabled no more. */
  readonly changed = new Map<string, Pick<SendableDelivery, 'url' | 'sealedSecrets'> | null>();
  looks = 0;
  /** The next looks at endpoints fail. */
  failingLooks = 0;
  #seq = 0;

  add(
    accountId: AccountId,
    more: {
      webhookId?: string;
      orderKey?: string;
      attempts?: number;
      dueAtMs?: number;
      replay?: number;
      sealedSecrets?: string[];
    } = {},
  ): string {
    this.#seq += 1;
    const {
      webhookId = 'hook',
      orderKey = `addr-${this.#seq}`,
      attempts = 0,
      dueAtMs = 0,
      replay = 0,
      sealedSecrets = ['sealed'],
    } = more;
    const id = newId('dlv', 1_700_000_000_000 + this.#seq);
    const due: DueDelivery = {
      delivery: {
        id,
        eventId: `evt_${this.#seq}`,
        webhookId,
        replay,
        status: attempts === 0 ? 'pending' : 'failed',
        attempts,
        nextAttemptAtMs: dueAtMs,
      },
      accountId,
      url: `https://${webhookId}.example/`,
      sealedSecrets,
      body: `{"n":${this.#seq}}`,
      orderKey,
      claimedUntil: '0',
    };
    this.#entries.set(id, { due, seq: this.#seq, claimedUntilMs: 0 });
    return id;
  }

  /** A sandbox reset. */
  forget(id: string): void {
    this.#entries.delete(id);
  }

  /** In the order of publication. */
  ids(): string[] {
    return [...this.#entries.keys()];
  }

  status(id: string): DueDelivery['delivery'] {
    return this.#entries.get(id)!.due.delivery;
  }

  async claimDue(
    accountIds: readonly AccountId[],
    limit: number,
    nowMs: number,
    claimMs: number,
    busyWebhooks: readonly string[],
  ): Promise<DueDelivery[]> {
    this.claims += 1;
    const due = [...this.#entries.values()]
      .filter(
        ({ due: { accountId, delivery }, claimedUntilMs }) =>
          accountIds.includes(accountId) &&
          !busyWebhooks.includes(delivery.webhookId) &&
          claimedUntilMs <= nowMs &&
          (delivery.status === 'pending' || delivery.status === 'failed') &&
          delivery.nextAttemptAtMs! <= nowMs,
      )
      .sort((a, b) => a.seq - b.seq)
      .slice(0, limit);
    for (const entry of due) entry.claimedUntilMs = nowMs + claimMs;
    if (this.unanswered > 0) {
      this.unanswered -= 1;
      throw new Error('the connection was lost after the statement');
    }
    return due.map((entry) => ({
      ...entry.due,
      delivery: { ...entry.due.delivery },
      claimedUntil: String(entry.claimedUntilMs),
    }));
  }

  async standing(_accountId: AccountId, deliveries: readonly { readonly id: string }[]): Promise<SendableDelivery[]> {
    this.looks += 1;
    if (this.failingLooks > 0) {
      this.failingLooks -= 1;
      throw new Error('the database is away');
    }
    return deliveries.flatMap(({ id }) => {
      const known = this.#entries.get(id)?.due;
      if (known === undefined || (known.delivery.status !== 'pending' && known.delivery.status !== 'failed')) return [];
      const { webhookId } = known.delivery,
        endpoint = this.changed.has(webhookId) ? this.changed.get(webhookId)! : known;
      return endpoint === null ? [] : [{ id, webhookId, url: endpoint.url, sealedSecrets: endpoint.sealedSecrets }];
    });
  }

  async recordAttempts(attempts: readonly RecordedAttempt[]): Promise<void> {
    this.statements.push(attempts.length);
    if (this.failing > 0) {
      this.failing -= 1;
      throw new Error('the database is away');
    }
    if (attempts.some(({ deliveryId }) => deliveryId === this.poison)) {
      throw new Error('a constraint refuses the statement');
    }
    for (const attempt of attempts) {
      const entry = this.#entries.get(attempt.deliveryId);
      if (
        entry === undefined ||
        entry.due.accountId !== attempt.accountId ||
        entry.due.delivery.attempts >= attempt.attempt
      ) {
        continue;
      }
      this.recorded.push(attempt);
      const { webhookId } = entry.due.delivery,
        url = this.changed.get(webhookId)?.url ?? entry.due.url;
      if (attempt.next.disableEndpoint && (attempt.postedTo ?? url) === url) this.changed.set(webhookId, null);
      entry.claimedUntilMs = 0;
      Object.assign(entry.due.delivery, {
        attempts: attempt.attempt,
        status: attempt.next.status,
        nextAttemptAtMs: attempt.next.nextAttemptAtMs,
      });
    }
  }

  async releaseAbandoned(_node: string, shards: readonly number[]): Promise<number> {
    const claimed = [...this.#entries.values()].filter(
      ({ claimedUntilMs, due }) => claimedUntilMs > 0 && shards.includes(shardOf(due.accountId)),
    );
    for (const entry of claimed) entry.claimedUntilMs = 0;
    return claimed.length;
  }

  async holdUnreadable(claimed: Parameters<DeliveryStore['holdUnreadable']>[0]): Promise<string[]> {
    return claimed.map(({ deliveryId }) => {
      const entry = this.#entries.get(deliveryId)!;
      entry.claimedUntilMs = 0;
      Object.assign(entry.due.delivery, { status: 'held', nextAttemptAtMs: null });
      return deliveryId;
    });
  }

  async purge(): Promise<number> {
    return 0; // nothing here gets old
  }

  async releaseClaims(claims: readonly DeliveryClaim[]): Promise<void> {
    if (this.failingReleases > 0) {
      this.failingReleases -= 1;
      throw new Error('the database is away');
    }
    this.released += claims.length;
    for (const { deliveryId, claimedUntil } of claims) {
      const entry = this.#entries.get(deliveryId);
      if (entry !== undefined && String(entry.claimedUntilMs) === claimedUntil) entry.claimedUntilMs = 0;
    }
  }

  async incompletePublications(): Promise<number> {
    return 0;
  }
}
