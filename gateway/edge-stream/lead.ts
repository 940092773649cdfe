/**
 * Who leads in one room, as this node knows it. No clock, no promise and no I/O: each method is an input with the
 * instant at which it happens (monotonic milliseconds); what it returns is for the shell (`leadership.ts`) to do.
 * `leases.ts` has how long a lease lasts, and who is next.
 *
 *   state      what is known
 *   unknown    nothing: the account was never asked
 *   vacant     nobody holds the lease
 *   held       the holder was heard of in its time
 *   late       its time is over; it keeps its epoch until another session is granted the next one
 *   doubtful   a question that may have moved the lease had no answer: nobody leads before the account says who does
 *
 *   state         input                               becomes
 *   any           the account says who holds it       vacant, or held: what we knew of this holder stays, one that we
 *                                                     do not know has a TTL; late where that is over
 *   held, late    the holder is heard of              held for a TTL
 *   held          the holder's stream is closed       held for the grace time at most
 *   held, late    the holder gives it up: answered    vacant
 *   vacant, late  an election begins, or a question   the same; the holder is renewed no more until it ends
 *   vacant, late  a question: granted                 held by the session that was asked for, in its epoch
 *   any           a question: refused for certain     the same
 *   held          a question that names it as alive   the same, whatever is answered
 *   vacant, late  a question: no answer               doubtful
 *   held, late    the holder gives it up: no answer   doubtful
 *   doubtful      whatever is not the account's word  doubtful; no question is asked
 *
 * One question is under way at a time (the room's queue). The epoch is the account's; here it never rises by itself.
 */
import { held, nextLeader, renewed, shortened, type Lease, type Presence } from './leases.ts';

/** The lease as the account states it. */
export type Stated = Pick<Lease, 'epoch' | 'holder'>;

/** To ask the account: may this session have the lease, while these are alive? */
export interface Question {
  readonly sessionId: string;
  readonly liveSessions: readonly string[];
}

/** The epoch of a grant; `refused` where the lease is as it was for certain; `unknown` where it may have moved. */
export type Outcome = number | 'refused' | 'unknown';

export type LeadState = 'unknown' | 'vacant' | 'held' | 'late' | 'doubtful';

export class Lead {
  readonly ttlMs: number;
  /** Until when a holder that this node did not grant counts as live, at its first word. */
  readonly #unknownHolderUntilMs: number;
  #lease: Lease | null = null;
  #isDoubtful = false;
  #isElecting = false;
  /** A question that may move the lease, or the holder's own release, is under way. */
  #isAsked = false;
  /** The session and epoch under which deliveries were last said to be possible; null while they are not. */
  #noted: string | null = null;

  constructor(ttlMs: number, unknownHolderUntilMs: number) {
    this.ttlMs = ttlMs;
    this.#unknownHolderUntilMs = unknownHolderUntilMs;
  }

  /** As it was known last, in doubt too; null before the account was asked for the first time. */
  get lease(): Lease | null {
    return this.#lease;
  }

  stateAt(elapsedMs: number): LeadState {
    if (this.#isDoubtful) return 'doubtful';
    if (this.#lease === null) return 'unknown';
    if (this.#lease.holder === null) return 'vacant';
    return held(this.#lease, elapsedMs) ? 'held' : 'late';
  }

  /** The account's word. True when it ended a doubt: what sessions believe may be wrong. */
  stated({ epoch, holder }: Stated, elapsedMs: number): boolean {
    const known = this.#lease,
      wasDoubtful = this.#isDoubtful;
    this.#isDoubtful = false;
    if (known !== null && known.epoch === epoch && known.holder === holder) return wasDoubtful;
    const foreignUntilMs = known === null ? this.#unknownHolderUntilMs : elapsedMs + this.ttlMs;
    this.#lease = { epoch, holder, untilMs: holder === null ? 0 : foreignUntilMs };
    return wasDoubtful;
  }

  /** The session that leads now, with its stream up. */
  leaderOf<P extends Presence>(sessions: readonly P[], elapsedMs: number): P | null {
    if (this.#isAsked || this.stateAt(elapsedMs) !== 'held') return null;
    const session = sessions.find(({ id }) => id === this.#lease!.holder);
    return session?.connection == null ? null : session;
  }

  /**
   * True for the holder, however late it is. While another session is being granted the lease, a holder that was late
   * gets it back only if that fails; in doubt nobody does.
   */
  leads(sessionId: string): boolean {
    return this.#lease?.holder === sessionId && !this.#isElecting && !this.#isAsked && !this.#isDoubtful;
  }

  /** `stale` for a frame under another epoch or of another session. I19. */
  mayAct(sessionId: string, leaseEpoch: number): 'yes' | 'stale' | 'doubtful' {
    const lease = this.#lease;
    if (lease === null || lease.epoch !== leaseEpoch || lease.holder !== sessionId) return 'stale';
    return this.#isDoubtful ? 'doubtful' : 'yes';
  }

  /** The holder is heard of. Its epoch; null where it does not lead. */
  beat(sessionId: string, elapsedMs: number): number | null {
    if (!this.leads(sessionId)) return null;
    this.#lease = renewed(this.#lease!, elapsedMs, this.ttlMs);
    return this.#lease.epoch;
  }

  /** A stream was closed by the other side, or by us. */
  closed(sessionId: string, elapsedMs: number): void {
    if (this.#lease?.holder === sessionId) this.#lease = shortened(this.#lease, elapsedMs, this.ttlMs);
  }

  /** The holder gives the lease up: the account is asked to take it. */
  gives(): void {
    this.#isAsked = true;
  }

  /** The holder gave the lease up: the account's epoch, or that it may have. */
  released(outcome: Outcome): void {
    this.#isAsked = false;
    if (outcome === 'unknown') this.#isDoubtful = true;
    else if (outcome !== 'refused') this.#lease = { epoch: outcome, holder: null, untilMs: 0 };
  }

  /** True when a session other than the holder should be granted the lease, and nobody is being asked for that. */
  isVacant(sessions: readonly Presence[], elapsedMs: number): boolean {
    return !this.#isElecting && this.#next(sessions, elapsedMs) !== null;
  }

  /** An election waits for its turn to ask. */
  electionBegins(): void {
    this.#isElecting = true;
  }

  electionEnds(): void {
    this.#isElecting = false;
  }

  /** What an election asks once it is its turn; null where nobody is to be elected any more. */
  election(sessions: readonly Presence[], elapsedMs: number): Question | null {
    const next = this.#next(sessions, elapsedMs);
    return next === null ? null : this.#question(next, []);
  }

  /** What is asked for a session whose stream came up; null where another has waited longer, whom a tick elects. */
  claim(sessionId: string, sessions: readonly Presence[], elapsedMs: number): Question | null {
    const lease = this.#lease;
    const senior = lease?.holder === sessionId ? null : this.#next(sessions, elapsedMs);
    if (senior !== null && senior !== sessionId) return null;
    const isHeld = lease !== null && held(lease, elapsedMs);
    return this.#question(sessionId, isHeld ? [lease.holder!] : []);
  }

  /** The answer to a question. True when the lease went from one session to another. */
  answered({ sessionId, liveSessions }: Question, outcome: Outcome, elapsedMs: number): boolean {
    const before = this.#lease;
    this.#isAsked = false;
    if (outcome === 'refused') return false;
    if (outcome === 'unknown') {
      this.#isDoubtful ||= this.#mayMove({ sessionId, liveSessions });
      return false;
    }
    this.#lease = renewed({ epoch: outcome, holder: sessionId, untilMs: 0 }, elapsedMs, this.ttlMs);
    return before !== null && before.holder !== null && before.epoch !== outcome;
  }

  /** What changed since the last call, for the publisher: who led leads no more, somebody leads now. */
  turn(sessions: readonly Presence[], elapsedMs: number): { readonly lost: boolean; readonly leads: boolean } {
    const leader = this.leaderOf(sessions, elapsedMs),
      now = leader === null ? null : `${this.#lease!.epoch} ${leader.id}`,
      before = this.#noted;
    this.#noted = now;
    return { lost: before !== null && before !== now, leads: now !== null && before !== now };
  }

  #question(sessionId: string, liveSessions: readonly string[]): Question {
    const question = { sessionId, liveSessions };
    this.#isAsked = this.#mayMove(question);
    return question;
  }

  /** A holder that asks keeps the lease, and one that is named as live does. */
  #mayMove({ sessionId, liveSessions }: Question): boolean {
    const holder = this.#lease?.holder ?? null;
    return holder === null || (holder !== sessionId && !liveSessions.includes(holder));
  }

  #next(sessions: readonly Presence[], elapsedMs: number): string | null {
    return this.#lease === null || this.#isDoubtful ? null : nextLeader(this.#lease, sessions, elapsedMs);
  }
}
