/** How the identity, the lease and the liveness of an account's edge change. */
import { POOLED_CHAINS } from '../../protocol/slugs.ts';
import type { EdgeLinkState, RetiredIdentity } from '../../model/account/edge-link.ts';
import type { EdgeLinkSees } from '../../model/account/capabilities.ts';
import type { EventOf, Folds } from '../account/decision.ts';
import { fingerprintOf, retire } from './retired-identities.ts';

export const edgeLinkFolds: Folds<EdgeLinkSees, EdgeLinkState> = {
  edge_enrolled: ({ retired }, { enrolment }) => {
    const again = fingerprintOf(enrolment.publicKey);
    return {
      enrolment,
      retired: retired.map((old) => (old.fingerprint === again ? { ...old, again: true as const } : old)),
    };
  },
  keys_added: ({ enrolment }, { keys }) =>
    enrolment === null ? {} : { enrolment: { ...enrolment, keys: { ...enrolment.keys, ...keys } } },
  rotation_detected: (_, { id, publicKey, keys, atMs }) => ({ rotation: { id, publicKey, keys, detectedAtMs: atMs } }),
  rotation_approved: rotated,
  rotation_rejected: () => ({ rotation: null }),
  lease_granted: (_, { epoch, sessionId }) => ({ lease: { epoch, holder: sessionId } }),
  lease_released: ({ lease }) => ({ lease: { ...lease, holder: null } }),
  edge_liveness_changed: (_, { liveness }) => (liveness === 'stale' ? {} : { edge: { liveness } }),
  account_wiped: wiped,
  // Indexes begin again, so none is a retired identity's any more; those of a pool go on (`base`).
  sandbox_reset: ({ retired }) => ({
    retired: retired.map((identity) => ({ ...identity, next: pooledOnly(identity.next) })),
  }),
};

/** The new identity is pinned; its predecessor leads no more. */
function rotated(state: EdgeLinkSees, { atMs }: EventOf<'rotation_approved'>): Partial<EdgeLinkState> {
  const { rotation, lease } = state;
  if (rotation === null) return {};
  return {
    rotation: null,
    enrolment: { publicKey: rotation.publicKey, keys: rotation.keys },
    lease: { ...lease, holder: null },
    retired: retire(state, atMs ?? 0),
  };
}

/** What it issued is a retired identity's, so that indexes go on above it. Its lease ends; epochs never fall. */
function wiped(state: EdgeLinkSees, { atMs }: EventOf<'account_wiped'>): Partial<EdgeLinkState> {
  const { enrolment, lease, retired } = state;
  return {
    rotation: null,
    enrolment: null,
    lease: { ...lease, holder: null },
    retired: enrolment === null ? retired : retire(state, atMs),
    edge: { liveness: 'never_connected' },
  };
}

function pooledOnly(next: RetiredIdentity['next']): RetiredIdentity['next'] {
  return Object.fromEntries(
    Object.entries(next).filter(([family]) => (POOLED_CHAINS as readonly string[]).includes(family)),
  );
}
