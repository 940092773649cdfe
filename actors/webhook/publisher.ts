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
import { failpoint } from '../../protocol/node/failpoint.ts';
import { type AccountId, environmentOf } from '../../protocol/ids.ts';
import type { EndpointFailure } from '../../model/ports/sandbox-control.ts';
import type { TimerHandle } from '../kernel/timers.ts';
import { claimOf, type Flight } from './flights.ts';
import { LADDER } from './ladder.ts';
import { attemptRow, Recorder, type RecordedAttempt } from './recorder.ts';
import { CLAIM_MAX, Outgoing, type Frame, type Release } from './outgoing.ts';
import type { Attempt, Publisher, PublisherDeps } from './ports.ts';
import { ATTEMPT_TIMEOUT_MS, SignedDeliveries } from './signed-deliveries.ts';

const POLL_MS = 200;
/** A claim outlives the attempts that an edge has queued for a slow endpoint. */
const CLAIM_MS = 120_000;
/** This much earlier a delivery counts as lost here, so that it is not claimed while it is still remembered. */
const CLAIM_MARGIN_MS = 5_000;

export function createPublisher(deps: PublisherDeps): Publisher {
  return new RunningPublisher(deps);
}

class RunningPublisher implements Publisher {
  readonly #deps: PublisherDeps;
  readonly #outgoing = new Outgoing();
  readonly #recorder: Recorder;
  readonly #signed: SignedDeliveries;
  /** Claims on their way back. */
  #giving: Promise<void> = Promise.resolve();
  #running = false;
  #round: Promise<void> = Promise.resolve();
  #again = false;
  #timer: TimerHandle = null;
  #stopped = true;
  /** Of deliveries that are simulated to be late. */
  readonly #late = new Set<TimerHandle>();

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#recorder = new Recorder(deps.store);
    this.#signed = new SignedDeliveries(deps);
  }

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#schedule();
  }

  ring(accountId?: AccountId): void {
    if (this.#stopped) return;
    this.#outgoing.ring(accountId === undefined ? this.#deps.streams.leaders() : [accountId]);
    this.#pump();
  }

  async report(accountId: AccountId, attempts: readonly Attempt[]): Promise<void> {
    const { clock, random, ladder = LADDER, hooks } = this.#deps;
    const rows = attempts.flatMap((attempt): RecordedAttempt[] => {
      const row = attemptRow(accountId, attempt, { ladder, nowMs: clock.nowMs(), random: random() });
      const postedTo = this.#outgoing.find(accountId, attempt.deliveryId)?.postedTo;
      return row === null ? [] : [postedTo === undefined ? row : { ...row, postedTo }];
    });
    await this.#recorder.record(rows);
    failpoint('publisher.recorded');
    hooks?.onAttempts?.(rows.length, rows.filter(({ next }) => next.status !== 'delivered').length);
    for (const row of rows) this.#recorded(accountId, row);
    if (!this.#stopped) this.ring(accountId);
  }

  leaderLost(accountId: AccountId): void {
    void this.#give(this.#outgoing.leaderLost(accountId));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#deps.clock.clearTimer(this.#timer);
    for (const timer of this.#late) this.#deps.clock.clearTimer(timer);
    await this.#round;
    await this.#recorder.settled();
    await this.#give(this.#outgoing.clear());
  }

  #schedule(): void {
    this.#timer = this.#deps.clock.setTimer(POLL_MS, () => {
      if (this.#stopped) return;
      this.#poll();
      this.#schedule();
    });
  }

  #poll(): void {
    void this.#give(this.#outgoing.poll(this.#deps.clock.elapsedMs(), this.#deps.streams.leaders()));
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
        await this.#claim(this.#outgoing.takeRung(this.#deps.streams.leaders()));
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
    const busy = this.#outgoing.beginClaim(accountIds);
    const held = this.#outgoing.heldEnds();
    const due = await store.claimDue(accountIds, CLAIM_MAX, nowMs, CLAIM_MS, busy, held).catch((error: unknown) => {
      this.#outgoing.unanswered(accountIds);
      throw error;
    });
    failpoint('publisher.claimed');
    if (this.#stopped) return this.#give({ accountIds, claims: due.map(claimOf) });
    const taken = this.#outgoing.claimed(accountIds, due, { untilMs, seenMs });
    void this.#give(taken);
    if (taken.more) this.#again = true;
  }

  async #settleDoubts(): Promise<void> {
    const doubts = this.#outgoing.doubts();
    if (doubts === null) return;
    await this.#deps.store.releaseAbandoned(this.#deps.node, [...doubts.shards]);
    this.#outgoing.doubtsSettled(doubts);
  }

  #sendReady(): void {
    for (const frame of this.#outgoing.takeFrames()) void this.#send(frame);
  }

  async #send(taken: Frame): Promise<void> {
    const { accountId } = taken;
    const standing = await this.#refreshBeforeSend(taken);
    const flights = standing.length === 0 ? standing : await this.#withoutSimulated(accountId, standing);
    if (flights.length > 0) await this.#hand(accountId, flights);
  }

  /** Signs, and gives it to the leader. */
  async #hand(accountId: AccountId, flights: readonly Flight[]): Promise<void> {
    const { streams, clock, log } = this.#deps;
    const timestampSeconds = Math.floor(clock.nowMs() / 1_000);
    const signed = flights.map((flight) => ({ flight, delivery: this.#signed.of(flight.due, timestampSeconds) }));
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
    this.#outgoing.acknowledged(accountId, deliveries.length, acknowledged);
    if (acknowledged?.ok === true) return;
    // They go again after a pause, in their order: the edge leaves out what it has already.
    log.warn(
      { accountId, code: acknowledged?.code ?? 'no_answer', count: deliveries.length },
      'the edge did not take deliveries',
    );
    this.#outgoing.pause({ accountId, flights }, clock.elapsedMs());
  }

  /**
   * Those that may leave. What waited for its turn, a pause or a lane goes to its endpoint as that is now, and not at
   * all to one that was disabled or deleted meanwhile, nor when a sandbox reset forgot it.
   */
  async #refreshBeforeSend(frame: Frame): Promise<readonly Flight[]> {
    const { store, clock, log } = this.#deps,
      { accountId, flights } = frame;
    const seenMs = clock.elapsedMs(),
      asked = this.#outgoing.unseen(frame, seenMs);
    if (asked.length === 0) return flights;
    try {
      const seen = this.#outgoing.seen(frame, asked, await store.standing(accountId, asked), seenMs);
      void this.#give(seen);
      if (seen.again) this.ring(accountId);
      return seen.flights;
    } catch (error) {
      log.warn(
        { err: error, accountId, count: flights.length },
        'deliveries wait: their endpoints could not be looked at',
      );
      this.#outgoing.pause(frame, clock.elapsedMs());
      return [];
    }
  }

  /**
   * Those that nothing is simulated for. Of the others a failed attempt is recorded as an edge would report it, and a
   * late one leaves when its time has come, unless it was forgotten by then. What is taken of the lever is durable: an
   * attempt that comes again fails again, and counts once.
   */
  async #withoutSimulated(accountId: AccountId, flights: readonly Flight[]): Promise<readonly Flight[]> {
    const { simulated, clock, log } = this.#deps;
    if (simulated === undefined || environmentOf(accountId) !== 'sandbox') return flights;
    const asked = flights.map(({ due: { delivery } }) => ({
      webhookId: delivery.webhookId,
      deliveryId: delivery.id,
      attempt: delivery.attempts + 1,
    }));
    let failures: ReadonlyMap<string, EndpointFailure>;
    try {
      failures = await simulated.takeEndpointFailures(asked);
    } catch (error) {
      log.warn({ err: error, accountId, count: flights.length }, 'deliveries wait: the levers could not be looked at');
      this.#outgoing.pause({ accountId, flights }, clock.elapsedMs());
      return [];
    }
    for (const flight of flights) {
      const failure = failures.get(flight.due.delivery.id);
      if (failure !== undefined) this.#simulate(accountId, flight, failure);
    }
    return flights.filter(({ due }) => !failures.has(due.delivery.id));
  }

  #simulate(accountId: AccountId, flight: Flight, failure: EndpointFailure): void {
    const { id: deliveryId, attempts } = flight.due.delivery;
    const attempt = { deliveryId, attempt: attempts + 1, retryAfterSeconds: null };
    const report = (more: Pick<Attempt, 'statusCode' | 'durationMs' | 'outcome'>): void => {
      flight.postedTo = flight.due.url;
      // Where it cannot be recorded its claim runs out, and it comes again.
      this.report(accountId, [{ ...attempt, ...more }]).catch((error: unknown) =>
        this.#deps.log.warn({ err: error, accountId }, 'a simulated attempt could not be recorded'),
      );
    };
    if ('status' in failure) return report({ statusCode: failure.status, durationMs: 0, outcome: 'answered' });
    const isCut = failure.delayMs >= ATTEMPT_TIMEOUT_MS;
    const waitMs = Math.min(failure.delayMs, ATTEMPT_TIMEOUT_MS);
    const timer = this.#deps.clock.setTimer(waitMs, () => {
      this.#late.delete(timer);
      if (this.#outgoing.find(accountId, deliveryId) !== flight) return;
      if (isCut) return report({ statusCode: null, durationMs: waitMs, outcome: 'timeout' });
      void this.#refreshBeforeSend({ accountId, flights: [flight] }).then((standing) => {
        if (standing.length > 0) return this.#hand(accountId, standing);
      });
    });
    this.#late.add(timer);
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
      this.#outgoing.held(
        accountId,
        claimed.map(({ deliveryId }) => deliveryId),
      );
      this.ring(accountId);
    } catch (error) {
      log.warn({ err: error, webhookIds, count: claimed.length }, 'deliveries that cannot be signed could not be held');
    }
  }

  #recorded(accountId: AccountId, row: RecordedAttempt): void {
    const { clock, hooks } = this.#deps;
    const dueAtMs = this.#outgoing.recorded(accountId, row)?.delivery.nextAttemptAtMs ?? null;
    const lateMs = dueAtMs === null ? null : clock.nowMs() - dueAtMs;
    hooks?.onAttempt?.(row.attempt, row.next.status, lateMs);
    if (row.next.status === 'delivered' && lateMs !== null) hooks?.onDelivered?.(lateMs);
  }

  /** Gives claims back, before anything more is claimed: a later event must not go first. */
  #give(release: Release): Promise<void> {
    if (release.claims.length > 0) {
      this.#giving = Promise.all([this.#giving, this.#giveNow(release)]).then(() => undefined);
    }
    return this.#giving;
  }

  async #giveNow({ accountIds, claims }: Release): Promise<void> {
    try {
      await this.#deps.store.releaseClaims(claims);
    } catch (error) {
      this.#outgoing.unanswered(accountIds);
      this.#deps.log.warn({ err: error, count: claims.length }, 'claims could not be given back');
    }
  }
}
