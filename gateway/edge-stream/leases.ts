/**
 * How long a holder's lease lasts, and who gets it next: the half of the lease that is presence. The other half, the
 * epoch, is the account actor's (actors/edge-link/lease.ts). Pure; times are monotonic milliseconds. Decisions 3.
 *
 *   the leader's heartbeat         the lease lasts for one TTL from now; the edge counts from when it sent it, so its
 *                                  own belief always ends first
 *   the leader's stream closed     kept for the grace time, for it to come back; the edge shortens its belief likewise
 *   the leader stopped in order    the lease is free at once: it had said that it acts no more
 *   no answer to pings             nothing: a frozen leader may wake up, only the TTL ends its lease
 *   the node started               the holder that the account remembers is unknown here: it counts for one TTL
 */
import { leaseGraceMs, LIVENESS_STALE_MS } from '../../protocol/frames.ts';
import type { Session } from './sessions.ts';

/** What of a session decides whose turn it is. */
export type Presence = Pick<Session, 'id' | 'connection' | 'leaving' | 'seenMs' | 'connectedMs'>;

export interface Lease {
  readonly epoch: number;
  readonly holder: string | null;
  /** Until when the holder may act unless it renews. */
  readonly untilMs: number;
}

export function held({ holder, untilMs }: Lease, elapsedMs: number): boolean {
  return holder !== null && elapsedMs < untilMs;
}

/** The lease after its holder was heard of. */
export function renewed(lease: Lease, elapsedMs: number, ttlMs: number): Lease {
  return { ...lease, untilMs: elapsedMs + ttlMs };
}

/** The lease after its holder's stream was closed by the other side. */
export function shortened(lease: Lease, elapsedMs: number, ttlMs: number): Lease {
  return { ...lease, untilMs: Math.min(lease.untilMs, elapsedMs + leaseGraceMs(ttlMs)) };
}

/**
 * The session that should be granted the lease now: the one whose stream has been up longest. Null while the lease is
 * held, and when nobody else is there: a holder that is late and alone keeps its epoch.
 */
export function nextLeader(lease: Lease, sessions: readonly Presence[], elapsedMs: number): string | null {
  if (held(lease, elapsedMs)) return null;
  const candidates = sessions
    .filter(({ id, connection, leaving }) => id !== lease.holder && connection !== null && !leaving)
    .filter(({ seenMs }) => elapsedMs - seenMs < LIVENESS_STALE_MS)
    .sort((a, b) => a.connectedMs - b.connectedMs);
  return candidates[0]?.id ?? null;
}
