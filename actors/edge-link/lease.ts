/**
 * The leader lease: which edge session may deliver and sign. Decisions 3.
 *
 *   holder      claim by            then
 *   none        anyone              granted, epoch + 1
 *   S           S                   kept: a renewal is no event and keeps the epoch
 *   S, live     another             LEASE_HELD
 *   S, gone     another             granted, epoch + 1
 *
 * How long a silent holder counts as live is presence, which the edge-stream room keeps in memory: a holder that the
 * room has not heard of counts as live for one TTL after the room started. The epoch is the fact, and only rises.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { rotationPending } from '../account/guards.ts';
import type { EdgeLinkSees } from '../../model/account/capabilities.ts';

/** Grants or keeps the lease. Refuses: IDENTITY_ROTATION_PENDING, RESYNC_REQUIRED, LEASE_HELD. */
export function claimLease({ state, command }: Deciding<'claim_lease'>): AccountDecision<'claim_lease'> {
  const { sessionId, liveSessions } = command;
  const { holder, epoch } = state.lease;
  const heldByOther = holder !== null && holder !== sessionId && liveSessions.includes(holder);
  const no = firstRefusal(
    rotationPending(state),
    state.enrolment === null ? refuse('RESYNC_REQUIRED') : null,
    heldByOther ? refuse('LEASE_HELD', { epoch, holder }) : null,
  );
  if (no !== null) return no;
  if (holder === sessionId) return accept({ epoch, role: 'leader' });
  return accept({ epoch: epoch + 1, role: 'leader' }, [{ type: 'lease_granted', sessionId, epoch: epoch + 1 }]);
}

/** Gives the lease up; what another session holds stays held. The epoch stays. */
export function releaseLease({ state, command }: Deciding<'release_lease'>): AccountDecision<'release_lease'> {
  const { holder, epoch } = state.lease;
  if (holder !== command.sessionId) return accept({ epoch });
  return accept({ epoch }, [{ type: 'lease_released', sessionId: command.sessionId, epoch }]);
}

/** Null when the session may act as leader under this epoch. Refuses: LEASE_EPOCH_STALE, LEASE_HELD, EDGE_NO_LEADER. */
export function mayLead({ lease }: Pick<EdgeLinkSees, 'lease'>, sessionId: string, leaseEpoch: number): Refusal | null {
  if (leaseEpoch !== lease.epoch) return refuse('LEASE_EPOCH_STALE', { epoch: lease.epoch });
  if (lease.holder === null) return refuse('EDGE_NO_LEADER', { epoch: lease.epoch });
  return lease.holder === sessionId ? null : refuse('LEASE_HELD', { epoch: lease.epoch, holder: lease.holder });
}
