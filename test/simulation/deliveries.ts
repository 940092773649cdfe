/** Deliveries and attempts by the rules of `claim_in_order` and `record_attempts`. */
import type { DeliveryClaim, DueDelivery, SendableDelivery } from '../../model/ports/delivery-store.ts';
import type { DeliveryRow, PublicationRow, WebhookRow } from '../../model/rows/webhook.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { RecordedAttempt } from '../../actors/webhook/recorder.ts';

type Published = PublicationRow & { seq: number };

export interface Delivery extends DeliveryRow {
  readonly seq: number;
  readonly orderKey: string;
  readonly accountId: AccountId;
  claimedUntilMs: number;
}

export class Deliveries {
  readonly rows = new Map<string, Delivery>();
  /** `deliveryId/attempt` → the status code of the attempt. */
  readonly attempts = new Map<string, number | null>();
  /** Told of each attempt that is recorded for the first time. */
  onRecorded: (attempt: RecordedAttempt) => void = () => undefined;
  readonly #webhooks: ReadonlyMap<string, WebhookRow>;
  readonly #publications: ReadonlyMap<string, Published>;

  constructor(webhooks: ReadonlyMap<string, WebhookRow>, publications: ReadonlyMap<string, Published>) {
    this.#webhooks = webhooks;
    this.#publications = publications;
  }

  deliverTo({ eventId, event, seq, orderKey, accountId, toAll, createdAtMs }: Published): void {
    for (const webhook of this.#webhooks.values()) {
      if (!toAll && !webhook.events.includes(event)) continue;
      const id = this.#id(createdAtMs);
      this.rows.set(id, {
        id,
        eventId,
        webhookId: webhook.id,
        replay: 0,
        status: 'pending',
        attempts: 0,
        nextAttemptAtMs: createdAtMs,
        seq,
        orderKey,
        accountId,
        claimedUntilMs: 0,
      });
    }
  }

  replay(deliveryId: string, newDeliveryId: string, nowMs: number): void {
    const known = this.rows.get(deliveryId)!;
    const replay = [...this.rows.values()].filter(
      ({ eventId, webhookId }) => eventId === known.eventId && webhookId === known.webhookId,
    ).length;
    this.rows.set(newDeliveryId, {
      ...known,
      id: newDeliveryId,
      replay,
      status: 'pending',
      attempts: 0,
      nextAttemptAtMs: nowMs,
      claimedUntilMs: 0,
    });
  }

  claim(
    accountIds: readonly AccountId[],
    limit: number,
    nowMs: number,
    claimMs: number,
    busy: readonly string[],
    held?: readonly string[],
  ): DueDelivery[] {
    const isFree = ({ claimedUntilMs }: Delivery) => claimedUntilMs <= nowMs;
    const isWaiting = ({ status }: Delivery) => status === 'pending' || status === 'failed';
    const isFirst = ({ status, replay }: Delivery) => status === 'pending' && replay === 0;
    const due = [...this.rows.values()]
      .filter(
        (row) =>
          isWaiting(row) &&
          isFree(row) &&
          row.nextAttemptAtMs! <= nowMs &&
          accountIds.includes(row.accountId) &&
          !busy.includes(row.webhookId),
      )
      .sort((a, b) => a.nextAttemptAtMs! - b.nextAttemptAtMs! || a.seq - b.seq)
      .slice(0, limit);
    const taken = new Set(due);
    const claimed = due.filter(
      (row) =>
        !isFirst(row) ||
        ![...this.rows.values()].some(
          (other) =>
            isFirst(other) &&
            (isFree(other) || held?.includes(String(other.claimedUntilMs)) === false) &&
            !taken.has(other) &&
            other.webhookId === row.webhookId &&
            other.orderKey === row.orderKey &&
            other.seq < row.seq,
        ),
    );
    for (const row of claimed) row.claimedUntilMs = nowMs + claimMs;
    return claimed.sort((a, b) => a.seq - b.seq).map((row) => this.#due(row));
  }

  standing(asked: readonly { readonly id: string }[]): SendableDelivery[] {
    return asked.flatMap(({ id }) => {
      const { webhookId, status } = this.rows.get(id)!,
        { url, sealedSecrets } = this.#webhooks.get(webhookId)!;
      return status === 'pending' || status === 'failed' ? [{ id, webhookId, url, sealedSecrets }] : [];
    });
  }

  record(attempts: readonly RecordedAttempt[]): void {
    for (const attempt of attempts) {
      const key = `${attempt.deliveryId}/${attempt.attempt}`;
      const row = this.rows.get(attempt.deliveryId);
      if (row === undefined || row.accountId !== attempt.accountId) continue;
      if (!this.attempts.has(key)) {
        this.attempts.set(key, attempt.statusCode);
        this.onRecorded(attempt);
      }
      if (row.attempts >= attempt.attempt || (row.status !== 'pending' && row.status !== 'failed')) continue;
      const { status, nextAttemptAtMs } = attempt.next;
      Object.assign(row, { attempts: attempt.attempt, claimedUntilMs: 0, status, nextAttemptAtMs });
    }
  }

  release(claims: readonly DeliveryClaim[]): void {
    for (const { deliveryId, claimedUntil } of claims) {
      const row = this.rows.get(deliveryId)!;
      if (String(row.claimedUntilMs) === claimedUntil) row.claimedUntilMs = 0;
    }
  }

  /** Of the one account that there is. */
  releaseAll(): number {
    for (const row of this.rows.values()) row.claimedUntilMs = 0;
    return this.rows.size;
  }

  #due({
    id,
    eventId,
    webhookId,
    replay,
    status,
    attempts,
    nextAttemptAtMs,
    accountId,
    orderKey,
    claimedUntilMs,
  }: Delivery): DueDelivery {
    const { url, sealedSecrets } = this.#webhooks.get(webhookId)!;
    return {
      delivery: { id, eventId, webhookId, replay, status, attempts, nextAttemptAtMs },
      accountId,
      url,
      sealedSecrets,
      orderKey,
      claimedUntil: String(claimedUntilMs),
      body: this.#publications.get(eventId)!.body,
    };
  }

  /** Ids of a story are the same each time it is told. */
  #id(nowMs: number): string {
    const random = new Uint8Array(10);
    new DataView(random.buffer).setUint32(6, this.rows.size + 1);
    return newId('dlv', nowMs, random);
  }
}
