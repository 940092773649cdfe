/** The edge of an account: its identity, its lease, whether it is there. Spec §3.2, §5.7. */
import type { AccountKeyRow } from '../rows/address.ts';
import type { StoredWrite } from '../rows/stored.ts';
import type { Chain, EdgeRole, Family, Liveness, Readiness } from '../../protocol/slugs.ts';
import type { PushedPool } from './address.ts';

export interface AccountKey {
  xpub: string;
  accountPath: string;
  fingerprint: string;
}

export interface Enrolment {
  publicKey: string;
  keys: Partial<Record<Family, AccountKey>>;
}

/** An identity that an approved rotation replaced. Spec §5.7. */
export interface RetiredIdentity {
  readonly fingerprint: string;
  readonly atMs: number;
  /** First deposit index by family that was not of this identity. */
  readonly next: Partial<Record<Family, number>>;
  /** After a wipe an edge came with it again: its keys sign. */
  readonly again?: true;
}

export interface EdgeLinkState {
  enrolment: Enrolment | null;
  rotation: { id: string; publicKey: string; keys: Partial<Record<Family, AccountKey>>; detectedAtMs: number } | null;
  /** Oldest first. */
  retired: RetiredIdentity[];
  lease: { epoch: number; holder: string | null };
  /** `stale` is presence and kept by the edge-stream room; here are only transitions that are announced. */
  edge: { liveness: Exclude<Liveness, 'stale'> };
}

export interface PushedKey {
  family: Family;
  xpub: string;
  accountPath: string;
}

export type EdgeLinkCommand =
  | {
      type: 'enrol';
      publicKey: string;
      keys: PushedKey[];
      pools: PushedPool[];
      rotationId: string;
      addressIds: string[];
    }
  | { type: 'resume'; publicKey: string }
  | { type: 'resync'; publicKey: string }
  | {
      type: 'decide_rotation';
      rotationId: string;
      decision: 'approve' | 'reject';
      byUser: string;
      addressIds: string[];
    }
  /** `liveSessions`: those whose own claim may still hold, by the presence that the edge-stream room keeps. */
  | { type: 'claim_lease'; sessionId: string; liveSessions: string[] }
  | { type: 'release_lease'; sessionId: string }
  | { type: 'note_liveness'; liveness: Liveness };

export type EdgeLinkEvent =
  | { type: 'edge_enrolled'; enrolment: Enrolment }
  | { type: 'keys_added'; keys: Partial<Record<Family, AccountKey>> }
  | {
      type: 'rotation_detected';
      id: string;
      publicKey: string;
      keys: Partial<Record<Family, AccountKey>>;
      atMs: number;
    }
  // Events that are older than `atMs` have none.
  | { type: 'rotation_approved'; id: string; byUser: string; atMs?: number }
  | { type: 'rotation_rejected'; id: string; byUser: string }
  | { type: 'lease_granted'; sessionId: string; epoch: number }
  | { type: 'lease_released'; sessionId: string; epoch: number }
  | { type: 'edge_liveness_changed'; liveness: Liveness };

export interface ReadinessView {
  chain: Chain;
  state: Readiness;
  reason: string | null;
  xpub: string | null;
  poolLevelPercent: number | null;
}

export interface EdgeLinkReplies {
  enrol: { outcome: 'enrolled' | 'keys_added' | 'rotation_pending'; readiness: ReadinessView[] };
  resume: { readiness: ReadinessView[] };
  resync: { readiness: ReadinessView[] };
  decide_rotation: { readiness: ReadinessView[] };
  claim_lease: { epoch: number; role: EdgeRole };
  release_lease: { epoch: number };
  note_liveness: { liveness: Liveness };
}

/** Rows that it writes. */
export type EdgeLinkWrite =
  // The pinned identity; refused as CROSS_ENVIRONMENT_IDENTITY when the organization's other account pins the same one
  // (I20).
  StoredWrite<'identities', { publicKey: string }> | StoredWrite<'account_keys', AccountKeyRow>;

export const EDGE_LINK_INITIAL: EdgeLinkState = {
  enrolment: null,
  rotation: null,
  retired: [],
  lease: { epoch: 0, holder: null },
  edge: { liveness: 'never_connected' },
};
