/** A broadcast that this replica cannot make itself: the cloud asks the leader, with the record that was shared. */
import { isRefusal, type ErrorCode } from '../../protocol/errors.ts';
import type { Submitted } from '../signing/submissions.ts';
import type { Upstream } from './upstream.ts';

export interface ViaLeaderSettings {
  readonly upstream: Upstream;
  /** Resolves when the cloud has what this replica's callers asked for, or will not now. */
  readonly share: () => Promise<void>;
  readonly onRefused: (code: ErrorCode) => void;
}

/** Asks for a broadcast by way of the cloud. */
export type ViaLeader = (transactionId: string) => Promise<Submitted>;

/** Refuses: UPSTREAM_UNAVAILABLE, EDGE_OFFLINE, EDGE_NO_LEADER, and whatever the leader refuses. */
export function createViaLeader({ upstream, share, onRefused }: ViaLeaderSettings): ViaLeader {
  return async (transactionId) => {
    await share();
    const reply = await upstream.signed.call('broadcastTransaction', { params: { id: transactionId } });
    if (!isRefusal(reply)) return reply;
    onRefused(reply.code);
    // The record is with the cloud: whatever it answers, the leader may have signed, or may yet.
    return { ...reply, details: { ...reply.details, mayBeSigned: true } };
  };
}
