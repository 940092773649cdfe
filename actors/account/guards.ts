/** Refusals that stand in front of many commands. */
import type { ChainAccess } from '../../model/ports/chain-access.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { firstRefusal } from './decision.ts';
import type { EdgeLinkState } from '../../model/account/edge-link.ts';
import type { PlanState } from '../../model/account/plan.ts';
import type { WipeState } from '../../model/account/wipe.ts';

/** Refuses: IDENTITY_ROTATION_PENDING. Nothing is registered or signed until the owner has decided. Spec §5.7. */
export function rotationPending(state: Pick<EdgeLinkState, 'rotation'>): Refusal | null {
  return state.rotation === null ? null : refuse('IDENTITY_ROTATION_PENDING', { rotationId: state.rotation.id });
}

/**
 * Refuses: ACCOUNT_SUSPENDED, also while the account is wiped; SERVICE_UNAVAILABLE while a sandbox is begun anew.
 * Deposits of a suspended account are still watched and announced.
 */
export function suspended({
  suspended: isSuspended,
  resetting,
  wipe,
}: Pick<PlanState, 'suspended' | 'resetting'> & WipeState): Refusal | null {
  if (isSuspended) return refuse('ACCOUNT_SUSPENDED');
  if (resetting) return sandboxResets();
  return wipe === null || wipe.status === 'scheduled'
    ? null
    : refuse('ACCOUNT_SUSPENDED', { reason: 'wipe', wipeId: wipe.id, next: 'see GET /v1/settings/wipe' });
}

/** Its rows are being deleted; asked again it is done, or goes on. Spec §4.7. */
export const sandboxResets = (): Refusal =>
  refuse('SERVICE_UNAVAILABLE', { reason: 'sandbox_reset', retryAfterSeconds: 1 });

/** Refuses: IDENTITY_ROTATION_PENDING, RESYNC_REQUIRED, EDGE_SIGNATURE_INVALID; null for the pinned identity. */
export function pinnedIdentity(
  state: Pick<EdgeLinkState, 'enrolment' | 'rotation'>,
  publicKey: string,
): Refusal | null {
  const { enrolment, rotation } = state;
  const foreign = enrolment !== null && rotation === null && enrolment.publicKey !== publicKey;
  return firstRefusal(
    rotationPending(state),
    enrolment === null ? refuse('RESYNC_REQUIRED') : null,
    foreign ? refuse('EDGE_SIGNATURE_INVALID') : null,
  );
}

/** Refuses: CHAIN_UNAVAILABLE with `permanent` for a chain that is not enabled for the account. */
export function notEnabled(chains: Pick<ChainAccess, 'enabled'>, accountId: AccountId, chain: Chain): Refusal | null {
  return chains.enabled(accountId).includes(chain)
    ? null
    : refuse('CHAIN_UNAVAILABLE', { chain, permanent: true, reason: 'not enabled' });
}
