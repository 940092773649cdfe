/**
 * What this replica may believe about its leadership. The cloud grants; the replica only shortens: a grant ends here a
 * margin before the grace is over, counted on the monotonic clock from the moment at which this replica SENT what the
 * grant answers. A replica that was frozen therefore wakes up without a lease, whatever its buffers hold.
 *
 * The grace and not the TTL: the cloud gives the lease to another one a grace after it saw the stream end, and that end
 * may be the cloud's alone (a proxy that died on one side), while here the stream still looks well.
 *
 *   follower ── grant(leader, epoch ≥ own) ──▶ leader ── grace − margin, grant(follower), hint(higher epoch) ──▶
 * follower
 *
 * A frame that the cloud pushed by itself has no send time of ours and extends nothing: it is a hint to ask.
 */
import { leaseGraceMs } from '../../protocol/frames.ts';
import type { EdgeRole } from '../../protocol/slugs.ts';

/** A leader gives up this share of the grace early. 2 s of the 10 s of an ordinary grace. */
const MARGIN_SHARE = 5;
const LEASE_TTL_MS_MAX = 600_000;

/** How long a grant is believed after its request was sent, milliseconds. */
export function beliefMs(leaseTtlMs: number): number {
  const graceMs = leaseGraceMs(Math.min(leaseTtlMs, LEASE_TTL_MS_MAX));
  return graceMs - graceMs / MARGIN_SHARE;
}

export interface Grant {
  readonly role: EdgeRole;
  readonly leaseEpoch: number;
  readonly leaseTtlMs: number;
  /** Monotonic instant at which the request was sent. */
  readonly sentAtMs: number;
}

export interface LeaseView {
  readonly role: EdgeRole;
  readonly leaseEpoch: number;
  readonly held: boolean;
}

export class Lease {
  readonly #monotonicMs: () => number;
  #role: EdgeRole = 'follower';
  #epoch = 0;
  #endsAtMs = -Infinity;
  /** When it was lost last; at first when this process began. */
  #lostAtMs: number;
  #rotationId: string | null = null;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#lostAtMs = monotonicMs();
  }

  /** Takes an answer of the cloud. False for an epoch below the highest one seen: it is not believed. */
  grant({ role, leaseEpoch, leaseTtlMs, sentAtMs }: Grant): boolean {
    if (leaseEpoch < this.#epoch) return false;
    const endsAtMs = sentAtMs + beliefMs(leaseTtlMs);
    if (role === 'follower') this.lose();
    // An answer that was overtaken by a newer one of the same epoch must not shorten it.
    this.#endsAtMs = leaseEpoch === this.#epoch && role === this.#role ? Math.max(this.#endsAtMs, endsAtMs) : endsAtMs;
    this.#role = role;
    this.#epoch = leaseEpoch;
    return true;
  }

  /** A pushed frame: takes leadership away at once, never gives it. True when the cloud must be asked now. */
  hint({ role, leaseEpoch }: Pick<Grant, 'role' | 'leaseEpoch'>): boolean {
    if (leaseEpoch < this.#epoch) return false;
    if (leaseEpoch > this.#epoch || role === 'follower') this.lose();
    this.#epoch = leaseEpoch;
    return role === 'leader';
  }

  lose(): void {
    if (this.#role === 'leader') this.#lostAtMs = Math.min(this.#monotonicMs(), this.#endsAtMs);
    this.#role = 'follower';
    this.#endsAtMs = -Infinity;
  }

  /**
   * The rotation of this identity that its owner has not decided; null for none. This replica goes on delivering and
   * signs nothing. Spec §5.7.
   */
  get rotationId(): string | null {
    return this.#rotationId;
  }

  /** A rotation waits for the owner, or (null) the cloud took this identity again. */
  awaitOwner(rotationId: string | null): void {
    this.#rotationId = rotationId;
  }

  /** A new enrolment begins its epochs anew. */
  forget(): void {
    this.lose();
    this.#epoch = 0;
  }

  /** Whether this replica may deliver and sign under this epoch at this moment. */
  mayAct(leaseEpoch: number): boolean {
    return leaseEpoch === this.#epoch && this.view().held;
  }

  /** Time since this replica led last, or since it began. Milliseconds of the monotonic clock; 0 while it leads. */
  followingMs(): number {
    if (this.view().held) return 0;
    return this.#monotonicMs() - (this.#role === 'leader' ? this.#endsAtMs : this.#lostAtMs);
  }

  view(): LeaseView {
    const held = this.#role === 'leader' && this.#monotonicMs() < this.#endsAtMs;
    return { role: held ? 'leader' : 'follower', leaseEpoch: this.#epoch, held };
  }
}
