/**
 * Deliveries that were claimed and are not recorded yet, and who has to wait. In memory; losing it costs a repetition.
 *
 *   claimed ── its lane is free ──▶ ready ── sent ──▶ in flight ── attempt recorded ──▶ gone, the lane goes on
 *   claimed ── an earlier first attempt of its lane is not recorded ──▶ waiting
 *
 * A lane is (endpoint, order key) for first attempts, so that they leave in publication order whatever the edge does at
 * the same time; a retry or replay has no lane and may be overtaken.
 */
import type { DeliveryClaim, DueDelivery, SendableDelivery } from '../../model/ports/delivery-store.ts';
import { DELIVERY_CHARACTERS_PER_FRAME } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';

/**
 * How many deliveries of one endpoint may be here: a slow endpoint holds up no other. Choice: two frames, so that one
 * is ready while one is under way.
 */
const ENDPOINT_MAX = 512;
/**
 * Deliveries of one account here. Above it only endpoints with nothing here are claimed. Choice: half of what an edge
 * takes.
 */
const ACCOUNT_MAX = 4_096;
/** Above this nothing of the account is claimed. */
const ACCOUNT_HARD_MAX = 8_192;

export interface Flight {
  due: DueDelivery;
  /** Null for a retry or replay. */
  readonly lane: string | null;
  /** Monotonic: before the store's own claim ends. */
  untilMs: number;
  /** When its endpoint was last checked in the store; monotonic. */
  seenMs: number;
  sent: boolean;
  /** Where the attempt that is under way goes. */
  postedTo?: string;
}

interface AccountFlights {
  readonly byId: Map<string, Flight>;
  readonly byEndpoint: Map<string, number>;
  /** Claimed first attempts behind the one that is on its way. */
  readonly lanes: Map<string, Flight[]>;
  ready: Flight[];
}

export class Flights {
  /** Flights by the end of their claims. */
  readonly #ends = new Map<string, number>();
  readonly #accounts = new Map<AccountId, AccountFlights>();

  get size(): number {
    return [...this.#accounts.values()].reduce((sum, { byId }) => sum + byId.size, 0);
  }

  /** True when nothing more of the account should be claimed. */
  full(accountId: AccountId): boolean {
    return (this.#accounts.get(accountId)?.byId.size ?? 0) >= ACCOUNT_HARD_MAX;
  }

  /** Each end of a claim that is here, once. */
  claimEnds(): string[] {
    return [...this.#ends.keys()];
  }

  /** Endpoints of the accounts that have their share here. */
  busyEndpoints(accountIds: readonly AccountId[]): string[] {
    return accountIds.flatMap((accountId) => {
      const account = this.#accounts.get(accountId);
      if (account === undefined) return [];
      const share = account.byId.size < ACCOUNT_MAX ? ENDPOINT_MAX : 1;
      return [...account.byEndpoint].flatMap(([webhookId, count]) => (count >= share ? [webhookId] : []));
    });
  }

  /**
   * Takes a claimed delivery. One that is here already (its claim ran out) is sent again from its place in its lane.
   */
  add(due: DueDelivery, untilMs: number, seenMs: number): void {
    const account = this.#of(due.accountId);
    const { delivery } = due;
    const first = delivery.attempts === 0 && delivery.replay === 0;
    const flight: Flight = {
      due,
      untilMs,
      seenMs,
      sent: false,
      lane: first ? `${delivery.webhookId}|${due.orderKey}` : null,
    };
    const known = account.byId.get(delivery.id);
    if (known !== undefined && known.lane === flight.lane) return this.#renew(account, known, flight);
    if (known !== undefined) this.#drop(account, delivery.id);
    account.byId.set(delivery.id, flight);
    this.#count(due.claimedUntil, 1);
    account.byEndpoint.set(delivery.webhookId, (account.byEndpoint.get(delivery.webhookId) ?? 0) + 1);
    const behind = flight.lane === null ? undefined : account.lanes.get(flight.lane);
    if (behind !== undefined) behind.push(flight);
    else {
      if (flight.lane !== null) account.lanes.set(flight.lane, []);
      account.ready.push(flight);
    }
  }

  /** Accounts that have deliveries to send. */
  withReady(): AccountId[] {
    return [...this.#accounts].flatMap(([accountId, { ready }]) => (ready.length > 0 ? [accountId] : []));
  }

  /** Takes up to `limit` ready deliveries of an account, in order; they are in flight from now on. */
  takeReady(accountId: AccountId, limit: number): Flight[] {
    const account = this.#accounts.get(accountId);
    const taken = account?.ready.splice(0, fittingCount(account.ready, limit)) ?? [];
    for (const flight of taken) flight.sent = true;
    return taken;
  }

  /** Deliveries that were not taken after all: ready again, before the others. */
  putBack(accountId: AccountId, flights: readonly Flight[]): void {
    const account = this.#accounts.get(accountId);
    const current = flights.filter((flight) => account?.byId.get(flight.due.delivery.id) === flight);
    for (const flight of current) flight.sent = false;
    account?.ready.unshift(...current);
  }

  /** The account's delivery, if it is on its way here. */
  find(accountId: AccountId, deliveryId: string): Flight | undefined {
    return this.#accounts.get(accountId)?.byId.get(deliveryId);
  }

  /** A delivery whose attempt is recorded, or whose claim was given back. The next of its lane becomes ready. */
  remove(accountId: AccountId, deliveryId: string): void {
    const account = this.#accounts.get(accountId);
    if (account === undefined) return;
    this.#drop(account, deliveryId);
    if (account.byId.size === 0) this.#accounts.delete(accountId);
  }

  /** What waits here goes to the endpoint's current URL, signed with its current secrets. */
  refresh(accountId: AccountId, { webhookId, url, sealedSecrets }: SendableDelivery, seenMs: number): void {
    for (const flight of this.#accounts.get(accountId)?.byId.values() ?? []) {
      if (flight.due.delivery.webhookId === webhookId)
        Object.assign(flight, { due: { ...flight.due, url, sealedSecrets }, seenMs });
    }
  }

  /** Deliveries that wait here for an endpoint are sent only after it was checked again. */
  doubt(accountId: AccountId, webhookId: string): void {
    for (const flight of this.#accounts.get(accountId)?.byId.values() ?? []) {
      if (flight.due.delivery.webhookId === webhookId) flight.seenMs = -Infinity;
    }
  }

  /** Forgets what was not sent yet to an endpoint. Returns the claims. */
  removeUnsent(accountId: AccountId, webhookId: string): DeliveryClaim[] {
    const unsent = [...(this.#accounts.get(accountId)?.byId.values() ?? [])]
      .filter(({ sent, due: { delivery } }) => !sent && delivery.webhookId === webhookId)
      .map(({ due }) => claimOf(due));
    for (const { deliveryId } of unsent) this.remove(accountId, deliveryId);
    return unsent;
  }

  /** Forgets all of an account. Returns the claims that are to be given back. */
  removeAccount(accountId: AccountId): DeliveryClaim[] {
    const claims = [...(this.#accounts.get(accountId)?.byId.values() ?? [])].map(({ due }) => claimOf(due));
    for (const { claimedUntil } of claims) this.#count(claimedUntil, -1);
    this.#accounts.delete(accountId);
    return claims;
  }

  /**
   * Forgets what should have been reported by now, and what waits behind it: nothing may overtake it. Returns the
   * claims.
   */
  removeExpired(elapsedMs: number): DeliveryClaim[] {
    const claims: DeliveryClaim[] = [];
    for (const [accountId, { byId }] of this.#accounts) {
      const late = [...byId.values()].filter(({ untilMs }) => untilMs <= elapsedMs);
      if (late.length === 0) continue;
      const lanes = new Set(late.map(({ lane }) => lane));
      const expired = [...byId.values()].filter(
        ({ lane, untilMs }) => untilMs <= elapsedMs || (lane !== null && lanes.has(lane)),
      );
      for (const { due } of expired) this.remove(accountId, due.delivery.id);
      claims.push(...expired.map(({ due }) => claimOf(due)));
    }
    return claims;
  }

  accounts(): AccountId[] {
    return [...this.#accounts.keys()];
  }

  #of(accountId: AccountId): AccountFlights {
    const known = this.#accounts.get(accountId);
    if (known !== undefined) return known;
    const fresh: AccountFlights = { byId: new Map(), byEndpoint: new Map(), lanes: new Map(), ready: [] };
    this.#accounts.set(accountId, fresh);
    return fresh;
  }

  #renew(account: AccountFlights, known: Flight, { due, untilMs, seenMs }: Flight): void {
    this.#count(known.due.claimedUntil, -1);
    this.#count(due.claimedUntil, 1);
    Object.assign(known, { due, untilMs, seenMs });
    if (!known.sent) return;
    known.sent = false;
    account.ready.push(known);
  }

  #drop(account: AccountFlights, deliveryId: string): void {
    const flight = account.byId.get(deliveryId);
    if (flight === undefined) return;
    account.byId.delete(deliveryId);
    this.#count(flight.due.claimedUntil, -1);
    const { webhookId } = flight.due.delivery;
    const left = (account.byEndpoint.get(webhookId) ?? 1) - 1;
    if (left === 0) account.byEndpoint.delete(webhookId);
    else account.byEndpoint.set(webhookId, left);
    if (!flight.sent) account.ready = account.ready.filter((other) => other !== flight);
    if (flight.lane !== null) this.#advance(account, flight, flight.lane);
  }

  #count(end: string, more: number): void {
    const count = (this.#ends.get(end) ?? 0) + more;
    if (count === 0) this.#ends.delete(end);
    else this.#ends.set(end, count);
  }

  #advance(account: AccountFlights, gone: Flight, lane: string): void {
    const behind = account.lanes.get(lane);
    if (behind === undefined) return;
    const place = behind.indexOf(gone);
    if (place !== -1) return void behind.splice(place, 1); // it was waiting itself
    const next = behind.shift();
    if (next === undefined) account.lanes.delete(lane);
    else account.ready.push(next);
  }
}

export const claimOf = ({ delivery, claimedUntil }: DueDelivery): DeliveryClaim => ({
  deliveryId: delivery.id,
  claimedUntil,
});

/** How many of the first fit into one frame; one always does. */
function fittingCount(ready: readonly Flight[], limit: number): number {
  let characters = 0,
    count = 0;
  for (const {
    due: { body, url },
  } of ready) {
    characters += body.length + url.length;
    if (count >= limit || (count > 0 && characters > DELIVERY_CHARACTERS_PER_FRAME)) break;
    count += 1;
  }
  return count;
}
