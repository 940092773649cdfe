/**
 * A leaf of the tree: an actor with a mailbox, a life and a record of it. What a turn does is its kind's business
 * (entity.ts, worker.ts).
 *
 *   live      --fault, policy says restart-->  backoff   (memory forgotten; messages wait)
 *   live      --fault, policy says give up-->  given_up  (messages are answered INTERNAL_ERROR)
 *   backoff   --pause over-->                  live
 *   given_up  --pause over, or restart()-->    live
 *   any       --drain()-->                     draining  (new messages refused, waiting ones still get their turn)
 *   draining  --nothing waits, no turn runs--> stopped
 *   any       --abandon()-->                   stopped   (a turn that still runs answers nobody and appends nothing)
 */
import { crashed, unavailable, type Envelope, type Outcome } from './envelope.ts';
import { faultOf, isStoreAway, type Fault, type RestartPolicy, type RestartVerdict } from './fault.ts';
import { PoisonousEvent } from '../../model/entity.ts';
import { spawnLeaf, stopActor, wake, type ActorRef, type Runnable } from './scheduler.ts';
import type { Parent, Shared } from './shared.ts';
import type { TimerHandle } from './timers.ts';

export type Phase = 'live' | 'backoff' | 'given_up' | 'draining' | 'stopped';

const CRASHED = crashed('crashed');
/**
 * Pause before the store is asked again. Choice: most absences are a restart of the database; callers ask again in a
 * second.
 */
const STORE_AWAY_PAUSE_MS = 250;

export abstract class Leaf implements Runnable {
  abstract readonly kind: string;
  abstract readonly id: string;
  abstract readonly policy: RestartPolicy;
  abstract readonly mailboxMax: number;
  readonly shared: Shared;
  readonly parent: Parent;
  readonly name: string;
  phase: Phase = 'live';
  handled = 0;
  restarts = 0;
  lastFault: Fault | null = null;
  #ref: ActorRef | null = null;
  #queue: Envelope[] | null = null;
  /** What the running turn took and has not answered. */
  #taken: readonly Envelope[] | null = null;
  /** The reply to those in `#taken` when the turn throws. */
  #failure: Outcome<unknown> = CRASHED;
  #awake = false;
  #restartAsked = false;
  #faultsMs: readonly number[] | null = null;
  #pause: TimerHandle | null = null;
  #atRest: (() => void) | null = null;

  constructor(shared: Shared, parent: Parent, name: string) {
    this.shared = shared;
    this.parent = parent;
    this.name = name;
  }

  get path(): string {
    return this.parent.path === '' ? this.name : `${this.parent.path}/${this.name}`;
  }

  get depth(): number {
    return this.#queue?.length ?? 0;
  }

  /** Since when the message that is next waits, monotonic milliseconds; null when none does. */
  get waitsSinceMs(): number | null {
    return this.#queue?.[0]?.sinceMs ?? null;
  }

  get stopped(): boolean {
    return this.phase === 'stopped';
  }

  /** No turn runs and none is due: the leaf may be taken away without anybody noticing. */
  get idle(): boolean {
    return !this.#awake && this.depth === 0;
  }

  /** One turn: takes what it wants and answers all of it. A throw is a fault of the actor. */
  protected abstract turn(): Promise<void>;
  /** Forgets everything that is not durable. */
  protected abstract forget(): void;
  /** State for the admin endpoints, without secrets; null when nothing is loaded. */
  abstract summary(): Readonly<Record<string, unknown>> | null;
  /** True when the next turn has something to do. */
  protected hasWork(): boolean {
    return this.depth > 0;
  }
  /** Called after each turn that leaves nothing waiting. */
  protected rested(): void {}

  /** Puts the leaf into the tree. */
  enter(): void {
    this.#ref = spawnLeaf(this.parent.ref, this.name, this);
    this.parent.children.set(this.name, this);
  }

  deliver(envelope: Envelope): boolean {
    const { deadLetters } = this.shared;
    if (this.phase === 'draining' || this.phase === 'stopped') {
      deadLetters.stopped += 1;
      envelope.settle(unavailable('stopping'));
      return false;
    }
    if (this.phase === 'given_up') {
      deadLetters.givenUp += 1;
      envelope.settle(crashed('given_up'));
      return false;
    }
    if (this.depth >= this.mailboxMax) {
      deadLetters.full += 1;
      envelope.settle(unavailable('mailbox_full'));
      return false;
    }
    envelope.sinceMs = this.shared.clock.elapsedMs();
    (this.#queue ??= []).push(envelope);
    this.shared.waiting += 1;
    if (this.phase === 'live') this.wake();
    return true;
  }

  /** nact calls this, one at a time. Never rejects. */
  async run(): Promise<void> {
    try {
      await this.turn();
    } catch (error) {
      this.#fault(error);
    }
    this.#failTaken();
    if (this.#restartAsked) this.#applyRestart();
    if (this.hasWork() && (this.phase === 'live' || this.phase === 'draining')) return wake(this.#ref!);
    this.#awake = false;
    if (this.#atRest !== null) this.#stopNow();
    else this.rested();
  }

  /** A defect around the turn, such as a log that throws: given up, so that `restart` can bring it back. */
  broken(error: unknown): void {
    this.#awake = false;
    this.#failTaken();
    if (this.#atRest !== null) this.#stopNow();
    else if (!this.stopped) this.#giveUp(faultOf(error, this.shared.clock.nowMs()), null);
  }

  /** Lets the running turn end, then forgets memory and history. */
  restart(): void {
    if (this.phase === 'draining' || this.phase === 'stopped') return;
    if (this.#awake) this.#restartAsked = true;
    else this.#applyRestart();
  }

  /** Refuses what comes, finishes what waits, calls back at rest. A leaf that pauses or gave up is at rest at once. */
  drain(atRest: () => void): void {
    if (this.phase === 'stopped') return atRest();
    this.phase = 'draining';
    this.#atRest = atRest;
    if (!this.#awake) this.#stopNow();
  }

  /** Stops now, whatever runs. Askers of the running turn read `abandoned`, those who wait `stopping`. */
  abandon(): void {
    if (this.phase === 'stopped') return;
    this.failWith(unavailable('abandoned'));
    this.#failTaken();
    this.#stopNow();
  }

  /** Takes an idle leaf out of the tree; the next message makes a new one. */
  leave(): void {
    this.#clearPause();
    this.phase = 'stopped';
    this.parent.children.delete(this.name);
    if (this.#ref !== null) stopActor(this.#ref);
  }

  protected wake(): void {
    if (this.#awake) return;
    this.#awake = true;
    wake(this.#ref!);
  }

  /**
   * Takes up to `limit` waiting messages whose askers still wait; `answer` answers them, or they fail with the turn.
   */
  protected take(limit: number): readonly Envelope[] {
    const queue = this.#queue ?? [];
    const first = queue.length <= limit ? queue : queue.splice(0, limit);
    if (first === queue) this.#queue = null;
    this.shared.waiting -= first.length;
    const taken = first.filter((envelope) => envelope.begin());
    this.shared.deadLetters.expired += first.length - taken.length;
    this.#taken = taken;
    return taken;
  }

  /** True from `take` to the end of the turn. */
  protected get atWork(): boolean {
    return this.#taken !== null;
  }

  /** Sets the reply to those who were taken when this turn throws next: nothing was done for them. */
  protected failWith(outcome: Outcome<unknown>): void {
    this.#failure = outcome;
  }

  protected answer(envelope: Envelope, outcome: Outcome<unknown>): void {
    this.handled += 1;
    if (!envelope.settle(outcome)) this.shared.deadLetters.late += 1;
  }

  protected answerAll(envelopes: readonly Envelope[], outcome: Outcome<unknown>): void {
    for (const envelope of envelopes) this.answer(envelope, outcome);
  }

  /** Records and logs a fault that needs no restart. */
  protected note(error: unknown): Fault {
    const fault = faultOf(error, this.shared.clock.nowMs());
    this.lastFault = fault;
    this.shared.log.warn({ actor: this.path, ...fault }, 'actor fault');
    return fault;
  }

  #fault(error: unknown): void {
    if (this.phase === 'stopped') return;
    const fault = this.note(error);
    this.#failTaken();
    this.#forget();
    if (this.phase === 'draining') return this.#refuseWaiting(unavailable('stopping'));
    const verdict = this.#verdictOn(error);
    this.#faultsMs = verdict.faultsMs;
    if (verdict.kind === 'give_up') return this.#giveUp(fault, verdict.retryAfterMs);
    this.phase = 'backoff';
    this.#pauseFor(verdict.delayMs);
  }

  #giveUp(fault: Fault, retryAfterMs: number | null): void {
    this.phase = 'given_up';
    this.lastFault = fault;
    if (retryAfterMs !== null) this.#pauseFor(retryAfterMs);
    this.#refuseWaiting(crashed('given_up'));
    this.shared.log.error({ actor: this.path, ...fault }, 'actor given up');
    this.guard(() => this.shared.hooks.onGiveUp?.(this.path, fault));
  }

  #verdictOn(error: unknown): RestartVerdict {
    const forGood: RestartVerdict = { kind: 'give_up', retryAfterMs: null, faultsMs: [] };
    if (error instanceof PoisonousEvent) return forGood;
    if (isStoreAway(error)) return { kind: 'restart', delayMs: STORE_AWAY_PAUSE_MS, faultsMs: this.#faultsMs ?? [] };
    const { clock, random } = this.shared;
    return this.guard(() => this.policy(this.#faultsMs ?? [], clock.elapsedMs(), random())) ?? forGood;
  }

  /** Runs code that is not ours to trust. Undefined when it threw. */
  protected guard<T>(foreign: () => T): T | undefined {
    try {
      return foreign();
    } catch (error) {
      this.shared.log.error({ actor: this.path, ...faultOf(error, this.shared.clock.nowMs()) }, 'actor callback threw');
      return undefined;
    }
  }

  #pauseFor(delayMs: number): void {
    this.#pause = this.shared.clock.setTimer(delayMs, () => {
      this.#pause = null;
      // A restart is counted when it happens, so that a fault which is given up counts none.
      this.restarts += 1;
      this.phase = 'live';
      if (this.hasWork()) this.wake();
    });
  }

  #clearPause(): void {
    if (this.#pause !== null) this.shared.clock.clearTimer(this.#pause);
    this.#pause = null;
  }

  #applyRestart(): void {
    this.#restartAsked = false;
    if (this.phase === 'draining' || this.phase === 'stopped') return;
    this.#clearPause();
    this.#forget();
    this.#faultsMs = null;
    this.restarts += 1;
    this.phase = 'live';
    if (this.hasWork()) this.wake();
  }

  #forget(): void {
    this.guard(() => this.forget());
  }

  #failTaken(): void {
    const taken = this.#taken ?? [],
      failure = this.#failure;
    this.#taken = null;
    this.#failure = CRASHED;
    for (const envelope of taken) if (!envelope.settled) this.answer(envelope, failure);
  }

  #refuseWaiting(outcome: Outcome<unknown>): void {
    const waiting = this.#queue ?? [];
    this.#queue = null;
    this.shared.waiting -= waiting.length;
    for (const envelope of waiting) envelope.settle(outcome);
  }

  #stopNow(): void {
    this.#clearPause();
    this.phase = 'stopped';
    this.#refuseWaiting(unavailable('stopping'));
    this.#forget();
    const atRest = this.#atRest;
    this.#atRest = null;
    atRest?.();
  }
}
