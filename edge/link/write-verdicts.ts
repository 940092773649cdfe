/**
 * What a refusal says of a write of the outbox. Each verdict but the first keeps the write, to be sent again. Pure.
 *
 *   decided   the cloud decided about it: sending it again changes nothing
 *   waits     the cloud is not there for this edge now, or another replica leads: the status says so already
 *   stuck     the cloud did not look at it, broke over it, or takes none of its sender or chain for now:
 *             an operator has to see it
 *   stuck_all the same of everything of its kind
 */
import type { ErrorCode } from '../../protocol/errors.ts';

export type Verdict = 'decided' | 'waits' | 'stuck' | 'stuck_all';

const WAITS: ReadonlySet<string> = new Set<ErrorCode>([
  'UPSTREAM_UNAVAILABLE',
  'SERVICE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'LEASE_HELD',
  'LEASE_EPOCH_STALE',
  'EDGE_NO_LEADER',
  'EDGE_OFFLINE',
  'EDGE_NOT_SYNCED',
  'RESYNC_REQUIRED',
  'IDENTITY_ROTATION_PENDING',
]);

const SUBMISSIONS: Readonly<Partial<Record<ErrorCode, Verdict>>> = {
  NOT_FOUND: 'decided',
  CONFLICT: 'decided',
  SIGNED_BATCH_REJECTED: 'decided',
  CHAIN_REJECTED: 'decided',
  INSUFFICIENT_FUNDS: 'decided',
  INSUFFICIENT_GAS: 'decided',
  INSUFFICIENT_RESERVE: 'decided',
  DESTINATION_OPT_IN_REQUIRED: 'decided',
  ADDRESS_WATCH_ONLY: 'decided',
  COMPLIANCE_REJECTED: 'decided',
  AMOUNT_CAP_EXCEEDED: 'decided',
  ACCOUNT_SUSPENDED: 'stuck_all',
  NO_SUBSCRIPTION: 'stuck_all',
  UNAUTHORIZED: 'stuck_all',
  FORBIDDEN: 'stuck_all',
  SANDBOX_ONLY: 'stuck_all',
  CROSS_ENVIRONMENT_IDENTITY: 'stuck_all',
  EDGE_SIGNATURE_SKEW: 'stuck_all',
  EDGE_SIGNATURE_INVALID: 'stuck_all',
  EDGE_NONCE_REPLAY: 'stuck_all',
  EDGE_VERSION_UNSUPPORTED: 'stuck_all',
  METHOD_NOT_ALLOWED: 'stuck_all',
};

/** Of a signed transaction. A refusal that nobody gives to one today keeps its bytes too, in sight. */
export function submissionVerdict(code: ErrorCode): Verdict {
  return WAITS.has(code) ? 'waits' : (SUBMISSIONS[code] ?? 'stuck');
}

/** Of what became of webhook attempts: none is ever dropped for a refusal. */
export function attemptVerdict(code: string): Verdict {
  return WAITS.has(code) ? 'waits' : 'stuck';
}
