/**
 * What the publisher remembers: claimed deliveries, and the accounts that it claims for. No clock and no promise here:
 * each method is an input, with the instants that it needs; what it returns is for the publisher to do. Losing all of
 * this costs a repetition.
 *
 *   account   input                            becomes    effect
 *   quiet     rung, polled                     rung       claim in the next round, if an edge leads it
 *   rung      its round begins                 claiming   ask the store, without endpoints that have their share here
 *   claiming  deliveries came                  quiet      they are here; rung again if there may be more
 *   claiming  no answer                        doubtful   the store may have claims that are not here
 *   claiming  some of it was forgotten         rung       what came is released: its lane begins earlier
 *   any       claims that could not be released doubtful
 *   doubtful  all claims of its shard released rung       what was here is forgotten and claimed again
 *   any       the edge took no frame           paused     its frame waits for REFUSED_PAUSE_MS, before the others
 *   any       the leader is lost               quiet      what is here is released
 *
 * `flights.ts` has the states of one delivery.
 */
import type { DeliveryClaim, DueDelivery, SendableDelivery } from '../../model/ports/delivery-store.ts';
import { DELIVERIES_PER_FRAME, type Acknowledgement } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import { claimOf, Flights, type Flight } from './flights.ts';

/** Accounts that one poll looks at; with more leaders the polls take turns. */
const POLL_ACCOUNTS = 512;
/** Deliveries of one claim. */
export const CLAIM_MAX = 512;
/** An edge that refused a frame gets no other one for this long. */
export const REFUSED_PAUSE_MS = 1_000;
/**
 * An endpoint is checked again before a delivery that waited longer than this is sent: it may have been changed,
 * disabled or deleted.
 */
const SEEN_MS = 10;

/** Claims to release; where that fails, the accounts are doubtful. */
export interface Release {
  readonly accountIds: readonly AccountId[];
  readonly claims: readonly DeliveryClaim[];
}

export interface Doubts {
  readonly accountIds: readonly AccountId[];
  readonly shards: ReadonlySet<number>;
}

export interface Frame {
  readonly accountId: AccountId;
  readonly flights: readonly Flight[];
}

export class Outgoing {
  readonly #flights = new Flights();
  readonly #rung = new Set<AccountId>();
  /** Monotonic: a wall clock that is set back must not prolong a pause. */
  readonly #pausedUntilMs = new Map<AccountId, number>();
  /** Deliveries of one frame to an account whose edge had no room for more. */
  readonly #frameMax = new Map<AccountId, number>();
  /** Accounts with an unanswered statement on claims: the store may hold claims that are not here. */
  readonly #doubtful = new Set<AccountId>();
  /** Accounts of which flights were forgotten since the claim under way was asked for: it rests on them. */
  readonly #forgotten = new Set<AccountId>();
  #pollFrom = 0;

  /** Deliveries that are here. */
  get size(): number {
    return this.#flights.size;
  }

  ring(accountIds: Iterable<AccountId>): void {
    for (const accountId of accountIds) this.#rung.add(accountId);
  }

  /** Time has passed: pauses end, claims run out, the next accounts in turn are rung. */
  poll(elapsedMs: number, leading: ReadonlySet<AccountId>): Release {
    const accountIds = this.#flights.accounts(),
      claims = this.#flights.removeExpired(elapsedMs);
    if (claims.length > 0) for (const accountId of accountIds) this.#forgotten.add(accountId);
    for (const [accountId, untilMs] of this.#pausedUntilMs)
      if (untilMs <= elapsedMs) this.#pausedUntilMs.delete(accountId);
    const leaders = [...leading];
    if (this.#pollFrom >= leaders.length) this.#pollFrom = 0;
    this.ring(leaders.slice(this.#pollFrom, this.#pollFrom + POLL_ACCOUNTS));
    this.#pollFrom += POLL_ACCOUNTS;
    return { accountIds, claims };
  }

  leaderLost(accountId: AccountId): Release {
    this.#forgotten.add(accountId);
    this.#frameMax.delete(accountId);
    return { accountIds: [accountId], claims: this.#flights.removeAccount(accountId) };
  }

  /** Forgets everything that is here. */
  clear(): Release {
    const accountIds = this.#flights.accounts();
    return { accountIds, claims: accountIds.flatMap((accountId) => this.#flights.removeAccount(accountId)) };
  }

  // ── Claims ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Accounts of this round. */
  takeRung(leading: ReadonlySet<AccountId>): AccountId[] {
    const accountIds = [...this.#rung].filter(
      (accountId) => leading.has(accountId) && !this.#pausedUntilMs.has(accountId) && !this.#flights.full(accountId),
    );
    this.#rung.clear();
    return accountIds;
  }

  /**
   * Claims that are not here would let later events of their lanes go first: all claims of these shards are released
   * before anything more is claimed. Null where there are none.
   */
  doubts(): Doubts | null {
    if (this.#doubtful.size === 0) return null;
    const accountIds = [...this.#doubtful];
    return { accountIds, shards: new Set(accountIds.map(shardOf)) };
  }

  /** They were released: what was here is claimed again; the edge leaves out what it has already. */
  doubtsSettled({ accountIds, shards }: Doubts): void {
    for (const accountId of accountIds) this.#doubtful.delete(accountId);
    for (const accountId of this.#flights.accounts()) {
      if (!shards.has(shardOf(accountId))) continue;
      this.#flights.removeAccount(accountId);
      this.#rung.add(accountId);
    }
  }

  /** A statement on claims of these accounts had no answer. */
  unanswered(accountIds: readonly AccountId[]): void {
    for (const accountId of accountIds) this.#doubtful.add(accountId);
  }

  /** A claim is asked for now. Returns the endpoints that it leaves out. */
  beginClaim(accountIds: readonly AccountId[]): string[] {
    this.#forgotten.clear();
    return this.#flights.busyEndpoints(accountIds);
  }

  /** Ends of the claims that are here: a claim that is not holds back what comes after it in its lane. */
  heldEnds(): string[] {
    return this.#flights.claimEnds();
  }

  /**
   * The answer to the claim that was begun last. `untilMs` and `seenMs` are of when it was asked for. `more`: another
   * round may find more.
   */
  claimed(
    accountIds: readonly AccountId[],
    due: readonly DueDelivery[],
    { untilMs, seenMs }: { untilMs: number; seenMs: number },
  ): Release & { readonly more: boolean } {
    const early: DeliveryClaim[] = [];
    for (const one of due) {
      // It was claimed because an earlier one of its lane was here. That one was forgotten, and must be claimed first.
      if (this.#forgotten.has(one.accountId)) early.push(claimOf(one));
      else this.#flights.add(one, untilMs, seenMs);
    }
    const more = due.length === CLAIM_MAX || early.length > 0;
    if (more) this.ring(accountIds);
    return { accountIds: [...this.#forgotten], claims: early, more };
  }

  // ── Frames ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** What may be sent now; it is in flight from here on. */
  takeFrames(): Frame[] {
    return this.#flights.withReady().flatMap((accountId) => {
      const frames: Frame[] = [];
      if (this.#pausedUntilMs.has(accountId)) return frames;
      for (;;) {
        const flights = this.#flights.takeReady(accountId, this.#frameMax.get(accountId) ?? DELIVERIES_PER_FRAME);
        if (flights.length === 0) return frames;
        frames.push({ accountId, flights });
      }
    });
  }

  /** Deliveries of a frame whose endpoints must be looked at before they are sent. */
  unseen({ flights }: Frame, elapsedMs: number): { id: string; webhookId: string }[] {
    const webhooks = new Set(
      flights.flatMap(({ seenMs, due: { delivery } }) => (elapsedMs - seenMs > SEEN_MS ? [delivery.webhookId] : [])),
    );
    return flights.flatMap(({ due: { delivery } }) =>
      webhooks.has(delivery.webhookId) ? [{ id: delivery.id, webhookId: delivery.webhookId }] : [],
    );
  }

  /**
   * The store's answer on `asked`: those that may leave, with URL and secrets of now. The others are forgotten with
   * what waits here for their endpoints. `again`: what was forgotten is claimed anew, where it still is due.
   */
  seen(
    { accountId, flights }: Frame,
    asked: readonly { readonly id: string; readonly webhookId: string }[],
    standing: readonly SendableDelivery[],
    seenMs: number,
  ): Release & { readonly flights: readonly Flight[]; readonly again: boolean } {
    const gone = new Map(asked.map(({ id, webhookId }) => [id, webhookId]));
    for (const one of standing) gone.delete(one.id);
    for (const one of new Map(standing.map((row) => [row.webhookId, row])).values())
      this.#flights.refresh(accountId, one, seenMs);
    const known = flights.filter((flight) => this.#flights.find(accountId, flight.due.delivery.id) === flight);
    if (gone.size > 0) this.#forgotten.add(accountId);
    const unsent = [...new Set(gone.values())].flatMap((webhookId) => this.#flights.removeUnsent(accountId, webhookId));
    const [left, kept] = [true, false].map((isGone) =>
      known.filter(({ due: { delivery } }) => gone.has(delivery.id) === isGone),
    ) as [Flight[], Flight[]];
    for (const { due } of left) this.#flights.remove(accountId, due.delivery.id);
    return {
      accountIds: [accountId],
      claims: [...unsent, ...left.map(({ due }) => claimOf(due))],
      flights: kept,
      again: unsent.length > 0,
    };
  }

  /** A frame was not taken, or could not be sent: it goes again after a pause, in its order, before the others. */
  pause({ accountId, flights }: Frame, elapsedMs: number): void {
    this.#pausedUntilMs.set(accountId, elapsedMs + REFUSED_PAUSE_MS);
    this.#flights.putBack(accountId, flights);
  }

  /**
   * Half of what did not fit, twice what did: an edge with a small outbox, or a nearly full one, still gets something.
   */
  acknowledged(accountId: AccountId, sent: number, acknowledged: Acknowledgement | null): void {
    if (acknowledged?.code === 'EDGE_OUTBOX_FULL')
      return void this.#frameMax.set(accountId, Math.max(1, Math.floor(sent / 2)));
    const max = this.#frameMax.get(accountId);
    if (max === undefined || acknowledged?.ok !== true) return;
    if (max * 2 >= DELIVERIES_PER_FRAME) this.#frameMax.delete(accountId);
    else this.#frameMax.set(accountId, max * 2);
  }

  // ── Ends ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The delivery, while it is here. */
  find(accountId: AccountId, deliveryId: string): Flight | undefined {
    return this.#flights.find(accountId, deliveryId);
  }

  /** Deliveries that are held by the store now; the next of their lanes go on. */
  held(accountId: AccountId, deliveryIds: readonly string[]): void {
    for (const deliveryId of deliveryIds) this.#flights.remove(accountId, deliveryId);
  }

  /** An attempt is durable. The delivery that ends here with it; null where this attempt is not the one under way. */
  recorded(
    accountId: AccountId,
    { deliveryId, attempt, next }: { deliveryId: string; attempt: number; next: { disableEndpoint: boolean } },
  ): DueDelivery | null {
    const flight = this.#flights.find(accountId, deliveryId);
    if (flight === undefined || flight.due.delivery.attempts + 1 !== attempt) return null;
    this.#flights.remove(accountId, deliveryId);
    if (next.disableEndpoint) this.#flights.doubt(accountId, flight.due.delivery.webhookId);
    return flight.due;
  }
}
