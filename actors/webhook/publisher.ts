/**
 * The publisher: due deliveries out of the store, signed, to leader edges; attempts back into the store. The cloud
 * opens no connection to a customer's URL. Decisions 4.
 *
 *   due ── claimed for CLAIM_MS ──▶ here ── frame acknowledged ──▶ at the edge ── attempt reported ──▶ recorded
 *   here ── frame refused or not acknowledged ──▶ here, sent again after a pause
 *   here, at the edge ── stream closed, another leader ──▶ claim given back: due again, no attempt counted
 *   at the edge ── never reported ──▶ its claim runs out: due again, the same attempt number
 *
 * A doorbell (an append, a new leader) starts a round at once; polling finds what a lost ring, a ladder or another node
 * left. Everything is batched: one claim, frames of up to DELIVERIES_PER_FRAME, one statement for all attempts that
 * arrived meanwhile.
 */
import { createSecretKey, type KeyObject } from 'node:crypto';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { DELIVERIES_PER_FRAME, type Acknowledgement } from '../../protocol/frames.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { shardOf } from '../../protocol/node/ids.ts';
import type { DueDelivery } from '../../model/ports/delivery-store.ts';
import type { TimerHandle } from '../kernel/timers.ts';
import { Flights, type Flight } from './flights.ts';
import { LADDER } from './ladder.ts';
import { attemptRow, Recorder, type RecordedAttempt } from './recorder.ts';
import { secretBytes, signatureHeaders, webhookSecretContext } from './sign.ts';
import type { Attempt, Delivery, Publisher, PublisherDeps } from './ports.ts';

const POLL_MS = 200;
/** Accounts that one poll looks at; with more leaders the polls take turns. */
const POLL_ACCOUNTS = 512;
/** Deliveries of one claim. */
const CLAIM_MAX = 512;
/** A claim outlives the attempts that an edge has queued for a slow endpoint. */
const CLAIM_MS = 120_000;
/** This much earlier a delivery counts as lost here, so that it is not claimed while it is still remembered. */
const CLAIM_MARGIN_MS = 5_000;
/** An edge that refused a frame is left alone for this long. */
const REFUSED_PAUSE_MS = 1_000;
/**
 * An endpoint is looked at again before what waited longer than this is sent: it may be changed, disabled or deleted.
 */
const SEEN_MS = 10;
/** From connecting to the head of the answer. Reliability 3.1. */
const ATTEMPT_TIMEOUT_MS = 15_000;
const OPENED_SECRETS_MAX = 10_000;

export function createPublisher(deps: PublisherDeps): Publisher {
  return new RunningPublisher(deps);
}

class RunningPublisher implements Publisher {
  readonly #deps: PublisherDeps;
  readonly #flights = new Flights();
  readonly #recorder: Recorder;
  readonly #keys = new Map<string, KeyObject>();
  readonly #rung = new Set<AccountId>();
  /** Monotonic: a wall clock that is set back must not prolong a pause. */
  readonly #pausedUntilMs = new Map<AccountId, number>();
  /** Deliveries of one frame to an account whose edge had no room for more. */
  readonly #frameMax = new Map<AccountId, number>();
  /** Accounts of which a statement on claims had no answer: the store may hold claims that nobody here knows. */
  readonly #doubtful = new Set<AccountId>();
  /** Accounts of which flights were forgotten since the claim under way was asked for: it rests on them. */
  readonly #forgotten = new Set<AccountId>();
  /** Claims on their way back. */
  #giving: Promise<void> = Promise.resolve();
  #pollFrom = 0;
  #running = false;
  #round: Promise<void> = Promise.resolve();
  #again = false;
  #timer: TimerHandle = null;
  #stopped = true;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#recorder = new Recorder(deps.store);
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#schedule();
  }

  ring(accountId?: AccountId): void {
    if (this.#stopped) return;
    if (accountId !== undefined) this.#rung.add(accountId);
    else for (const leader of this.#deps.streams.leaders()) this.#rung.add(leader);
    this.#pump();
  }

  async report(accountId: AccountId, attempts: readonly Attempt[]): Promise<void> {
    const { clock, random, ladder = LADDER, hooks } = this.#deps;
    const rows = attempts.flatMap((attempt): RecordedAttempt[] => {
      const row = attemptRow(accountId, attempt, { ladder, nowMs: clock.nowMs(), random: random() });
      const postedTo = this.#flights.find(accountId, attempt.deliveryId)?.postedTo;
      return row === null ? [] : [postedTo === undefined ? row : { ...row, postedTo }];
    });
    await this.#recorder.record(rows);
    failpoint('publisher.recorded');
    hooks?.onAttempts?.(rows.length, rows.filter(({ next }) => next.status !== 'delivered').length);
    for (const row of rows) this.#recorded(accountId, row);
    if (!this.#stopped) this.ring(accountId);
  }

  leaderLost(accountId: AccountId): void {
    this.#forgotten.add(accountId);
    this.#frameMax.delete(accountId);
    void this.#give([accountId], this.#flights.removeAccount(accountId));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#deps.clock.clearTimer(this.#timer);
    await this.#round;
    await this.#recorder.settled();
    const accountIds = this.#flights.accounts();
    await this.#give(
      accountIds,
      accountIds.flatMap((accountId) => this.#flights.removeAccount(accountId)),
    );
  }

  #schedule(): void {
    this.#timer = this.#deps.clock.setTimer(POLL_MS, () => {
      if (this.#stopped) return;
      this.#poll();
      this.#schedule();
    });
  }

  #poll(): void {
    const elapsedMs = this.#deps.clock.elapsedMs();
    const accountIds = this.#flights.accounts(),
      expired = this.#flights.removeExpired(elapsedMs);
    if (expired.length > 0) for (const accountId of accountIds) this.#forgotten.add(accountId);
    void this.#give(accountIds, expired);
    for (const [accountId, untilMs] of this.#pausedUntilMs)
      if (untilMs <= elapsedMs) this.#pausedUntilMs.delete(accountId);
    const leaders = [...this.#deps.streams.leaders()];
    if (this.#pollFrom >= leaders.length) this.#pollFrom = 0;
    for (const accountId of leaders.slice(this.#pollFrom, this.#pollFrom + POLL_ACCOUNTS)) this.#rung.add(accountId);
    this.#pollFrom += POLL_ACCOUNTS;
    this.#pump();
  }

  #pump(): void {
    this.#again = true;
    if (!this.#running) this.#round = this.#rounds();
  }

  async #rounds(): Promise<void> {
    this.#running = true;
    while (this.#again && !this.#stopped) {
      this.#again = false;
      this.#sendReady();
      try {
        await this.#claim(this.#takeRung());
      } catch (error) {
        this.#deps.log.warn({ err: error }, 'deliveries could not be claimed');
      }
      this.#sendReady();
    }
    this.#running = false; // In the same turn as the last look: no ring is lost.
  }

  async #claim(accountIds: readonly AccountId[]): Promise<void> {
    if (accountIds.length === 0) return;
    const { store, clock } = this.#deps;
    await this.#giving;
    await this.#settleDoubts();
    const nowMs = clock.nowMs(),
      seenMs = clock.elapsedMs(),
      untilMs = seenMs + CLAIM_MS - CLAIM_MARGIN_MS;
    this.#forgotten.clear();
    const due = await store
      .claimDue(accountIds, CLAIM_MAX, nowMs, CLAIM_MS, this.#flights.busyEndpoints(accountIds))
      .catch((error: unknown) => {
        for (const accountId of accountIds) this.#doubtful.add(accountId);
        throw error;
      });
    failpoint('publisher.claimed');
    if (this.#stopped)
      return this.#give(
        accountIds,
        due.map(({ delivery }) => delivery.id),
      );
    const early = due.filter(({ accountId }) => this.#forgotten.has(accountId));
    for (const one of due) if (!this.#forgotten.has(one.accountId)) this.#flights.add(one, untilMs, seenMs);
    // It was claimed because what stands before it was here. That is not so any more, and must be claimed first.
    void this.#give(
      [...this.#forgotten],
      early.map(({ delivery }) => delivery.id),
    );
    if (due.length < CLAIM_MAX && early.length === 0) return;
    for (const accountId of accountIds) this.#rung.add(accountId);
    this.#again = true;
  }

  /**
   * Claims that nobody here knows would let later events of their lanes go first. All claims of the shards concerned
   * are given back, and what was here is claimed again; the edge leaves out what it has already.
   */
  async #settleDoubts(): Promise<void> {
    if (this.#doubtful.size === 0) return;
    const accountIds = [...this.#doubtful],
      shards = new Set(accountIds.map(shardOf));
    await this.#deps.store.releaseAbandoned([...shards]);
    for (const accountId of accountIds) this.#doubtful.delete(accountId);
    for (const accountId of this.#flights.accounts()) {
      if (!shards.has(shardOf(accountId))) continue;
      this.#flights.removeAccount(accountId);
      this.#rung.add(accountId);
    }
  }

  #takeRung(): AccountId[] {
    const leaders = this.#deps.streams.leaders();
    const accountIds = [...this.#rung].filter(
      (accountId) => leaders.has(accountId) && !this.#pausedUntilMs.has(accountId) && !this.#flights.full(accountId),
    );
    this.#rung.clear();
    return accountIds;
  }

  #sendReady(): void {
    for (const accountId of this.#flights.withReady()) {
      if (this.#pausedUntilMs.has(accountId)) continue;
      for (;;) {
        const flights = this.#flights.takeReady(accountId, this.#frameMax.get(accountId) ?? DELIVERIES_PER_FRAME);
        if (flights.length === 0) break;
        void this.#send(accountId, flights);
      }
    }
  }

  async #send(accountId: AccountId, taken: readonly Flight[]): Promise<void> {
    const { streams, clock, log } = this.#deps;
    const flights = await this.#asTheyStand(accountId, taken);
    if (flights.length === 0) return;
    const timestampSeconds = Math.floor(clock.nowMs() / 1_000);
    const signed = flights.map((flight) => ({ flight, delivery: this.#signed(flight.due, timestampSeconds) }));
    const deliveries = signed.flatMap(({ delivery }) => delivery ?? []);
    if (deliveries.length < flights.length) {
      await this.#hold(
        accountId,
        signed.flatMap(({ flight, delivery }) => (delivery === null ? [flight] : [])),
      );
    }
    if (deliveries.length === 0) return;
    for (const flight of flights) flight.postedTo = flight.due.url;
    const acknowledged = await streams.deliver(accountId, deliveries);
    failpoint('publisher.sent');
    this.#size(accountId, deliveries.length, acknowledged);
    if (acknowledged?.ok === true) return;
    // They go again after a pause, in their order: the edge leaves out what it has already.
    log.warn(
      { accountId, code: acknowledged?.code ?? 'no_answer', count: deliveries.length },
      'the edge did not take deliveries',
    );
    this.#later(accountId, flights);
  }

  #later(accountId: AccountId, flights: readonly Flight[]): void {
    this.#pausedUntilMs.set(accountId, this.#deps.clock.elapsedMs() + REFUSED_PAUSE_MS);
    this.#flights.putBack(accountId, flights);
  }

  /**
   * Those that may leave. What waited for its turn, a pause or a lane goes to its endpoint as that stands now, and not
   * at all to one that was disabled or deleted meanwhile, nor when a sandbox reset forgot it.
   */
  async #asTheyStand(accountId: AccountId, flights: readonly Flight[]): Promise<readonly Flight[]> {
    const { store, clock, log } = this.#deps;
    const seenMs = clock.elapsedMs();
    const webhooks = new Set(
      flights.flatMap((flight) => (seenMs - flight.seenMs > SEEN_MS ? [flight.due.delivery.webhookId] : [])),
    );
    if (webhooks.size === 0) return flights;
    const gone = new Map(
      flights.flatMap(({ due: { delivery } }) =>
        webhooks.has(delivery.webhookId) ? [[delivery.id, delivery.webhookId]] : [],
      ),
    );
    try {
      const standing = await store.standing(
        accountId,
        [...gone].map(([id, webhookId]) => ({ id, webhookId })),
      );
      for (const one of standing) gone.delete(one.id);
      for (const one of new Map(standing.map((row) => [row.webhookId, row])).values())
        this.#flights.refresh(accountId, one, seenMs);
    } catch (error) {
      log.warn(
        { err: error, accountId, count: flights.length },
        'deliveries wait: their endpoints could not be looked at',
      );
      this.#later(accountId, flights);
      return [];
    }
    const known = flights.filter((flight) => this.#flights.find(accountId, flight.due.delivery.id) === flight);
    // What waits behind them is claimed anew, if it stands.
    if (gone.size > 0) this.#forgotten.add(accountId);
    const ids = [...new Set(gone.values())].flatMap((webhookId) => this.#flights.removeUnsent(accountId, webhookId));
    for (const {
      due: { delivery },
    } of known)
      if (gone.has(delivery.id)) this.#flights.remove(accountId, delivery.id);
    void this.#give([accountId], [...ids, ...gone.keys()]);
    if (ids.length > 0) this.ring(accountId);
    return known.filter(({ due: { delivery } }) => !gone.has(delivery.id));
  }

  /**
   * Half of what did not fit, twice what did: an edge with a small outbox, or a nearly full one, still gets something.
   */
  #size(accountId: AccountId, sent: number, acknowledged: Acknowledgement | null): void {
    if (acknowledged?.code === 'EDGE_OUTBOX_FULL')
      return void this.#frameMax.set(accountId, Math.max(1, Math.floor(sent / 2)));
    const max = this.#frameMax.get(accountId);
    if (max === undefined || acknowledged?.ok !== true) return;
    if (max * 2 >= DELIVERIES_PER_FRAME) this.#frameMax.delete(accountId);
    else this.#frameMax.set(accountId, max * 2);
  }

  /** The delivery as the edge posts it; null when none of its secrets opens, which no attempt can cure. */
  #signed({ delivery, url, body, sealedSecrets }: DueDelivery, timestampSeconds: number): Delivery | null {
    const { id, eventId, webhookId, attempts } = delivery;
    const keys = sealedSecrets.flatMap((sealed) => this.#key(sealed, webhookId) ?? []);
    if (keys.length === 0) return null;
    const headers = signatureHeaders({ eventId, body, timestampSeconds }, keys);
    return { deliveryId: id, attempt: attempts + 1, url, headers, body, timeoutMs: ATTEMPT_TIMEOUT_MS };
  }

  /**
   * Deliveries that cannot be signed are held with their reason; the next of their lanes go on. Where the store does
   * not answer their claims run out, and this is tried again.
   */
  async #hold(accountId: AccountId, flights: readonly Flight[]): Promise<void> {
    const { store, log } = this.#deps;
    const claimed = flights.map(({ due }) => ({ deliveryId: due.delivery.id, sealedSecrets: due.sealedSecrets }));
    const webhookIds = [...new Set(flights.map(({ due }) => due.delivery.webhookId))];
    try {
      const held = await store.holdUnreadable(claimed);
      log.warn(
        { accountId, webhookIds, count: held.length },
        'deliveries are held: the secret of their endpoint does not open',
      );
      for (const { deliveryId } of claimed) this.#flights.remove(accountId, deliveryId);
      this.ring(accountId);
    } catch (error) {
      log.warn({ err: error, webhookIds, count: claimed.length }, 'deliveries that cannot be signed could not be held');
    }
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

  #recorded(accountId: AccountId, { deliveryId, attempt, next }: RecordedAttempt): void {
    const { clock, hooks } = this.#deps;
    const flight = this.#flights.find(accountId, deliveryId);
    if (flight === undefined || flight.due.delivery.attempts + 1 !== attempt) return;
    this.#flights.remove(accountId, deliveryId);
    if (next.disableEndpoint) this.#flights.doubt(accountId, flight.due.delivery.webhookId);
    const dueAtMs = flight.due.delivery.nextAttemptAtMs;
    if (next.status === 'delivered' && dueAtMs !== null) hooks?.onDelivered?.(clock.nowMs() - dueAtMs);
  }

  /** Gives claims back, before anything more is claimed: a later event must not go first. */
  #give(accountIds: readonly AccountId[], deliveryIds: readonly string[]): Promise<void> {
    if (deliveryIds.length > 0) {
      this.#giving = Promise.all([this.#giving, this.#giveNow(accountIds, deliveryIds)]).then(() => undefined);
    }
    return this.#giving;
  }

  async #giveNow(accountIds: readonly AccountId[], deliveryIds: readonly string[]): Promise<void> {
    try {
      await this.#deps.store.releaseClaims(deliveryIds);
    } catch (error) {
      for (const accountId of accountIds) this.#doubtful.add(accountId);
      this.#deps.log.warn({ err: error, count: deliveryIds.length }, 'claims could not be given back');
    }
  }
}
