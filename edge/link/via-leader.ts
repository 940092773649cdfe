/** A broadcast that this replica cannot make itself: the cloud asks the leader, with the record that was shared. */
import { cloudRefusal } from '../answers/cloud-refusal.ts';
import { isRefusal, notFound, type ErrorCode, type Refusal } from '../../protocol/errors.ts';
import type { Upstream } from './upstream.ts';
import type { ReplyOf } from '../../protocol/routes.ts';

export interface ViaLeaderSettings {
  readonly upstream: Upstream;
  /** Resolves when the cloud has what this replica's callers asked for, or will not now. */
  readonly share: () => Promise<void>;
  readonly onRefused: (code: ErrorCode) => void;
}

/**
 * Asks for a broadcast by way of the cloud; `isKnownHere`: whether this replica has a record of it, which it has
 * shared.
 */
export type ViaLeader = (transactionId: string, isKnownHere: boolean) => Promise<Submitted>;

/** Refuses: UPSTREAM_UNAVAILABLE, EDGE_OFFLINE, EDGE_NO_LEADER, and whatever the leader refuses. */
export function createViaLeader({ upstream, share, onRefused }: ViaLeaderSettings): ViaLeader {
  return async (transactionId, isKnownHere) => {
    await share();
    const reply = await upstream.signed.call('broadcastTransaction', { params: { id: transactionId } });
    if (!isRefusal(reply)) return reply;
    onRefused(reply.code);
    // Nobody asked for it here, and the cloud has no such build: there is nothing that a leader could sign.
    if (!isKnownHere && reply.code === 'NOT_FOUND') {
      return notFound('withdrawal', transactionId, {
        knownHere: false,
        knownToCloud: false,
        environment: reply.details['environment'],
        next: 'build it first (POST /v1/transactions/unsigned), and broadcast the id of that answer with a key of the same environment',
      });
    }
    // The record is with the cloud: whatever it answers, the leader may have signed, or may yet.
    const refusal = cloudRefusal(reply, (text) => transactionId.includes(text));
    return { ...refusal, details: { ...refusal.details, mayBeSigned: true } };
  };
}

export type Submitted = ReplyOf<'submitSigned'> | Refusal;
