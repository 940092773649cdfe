/**
 * What the leader edge is asked to sign of an operation, and what its answer means. The edge makes the instruction
 * itself; what is in the frame is compared with it. Treasury E1, 5.3.
 */
import type { OperateFrame } from '../../protocol/frames.ts';
import type { Blocked } from '../../model/account/sweep.ts';
import type { SweepOperationRow } from '../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { OperationRole } from '../../protocol/slugs.ts';

/** The frame without the epoch, which the room of the edge adds. */
export function frameOf(
  { id }: Pick<SweepOperationRow, 'id'>,
  { id: transactionId, chain, to, unsigned }: WithdrawalRow,
  role: OperationRole,
  toPath: string | null,
): Omit<OperateFrame, 'leaseEpoch'> {
  const { boundAtMs: _, repriced: __, tagOfAddress: ___, call: ____, ...payload } = unsigned;
  return {
    operationId: id,
    transactionId,
    role,
    chain,
    fromPath: unsigned.fromPath,
    from: unsigned.from,
    toPath,
    to,
    tag: unsigned.tag,
    token: unsigned.tokenContract,
    amount: String(unsigned.amount),
    sendAll: unsigned.sendAll,
    unsigned: {
      ...payload,
      amount: String(payload.amount),
      feeMax: String(payload.feeMax),
      fee: { ...payload.fee },
      replayKey: payload.replayKey as OperateFrame['unsigned']['replayKey'],
    },
  };
}

/** What an edge's refusal makes of an operation; null: it is asked again later. */
export interface Verdict {
  /** PLANNED: the build is given back, and asked for again when the setting may be another. */
  readonly to: 'FAILED' | 'SKIPPED' | 'PLANNED';
  readonly reason: string;
  /** Every operation of the job that is not signed ends so: it would be refused as this one was. */
  readonly endsAll: boolean;
  readonly blocked: Blocked | null;
}

type Said = { readonly code?: string | undefined; readonly details?: Readonly<Record<string, unknown>> | undefined };

/** Nothing was decided about the payload: nobody leads, nobody answered, or the queue is full. */
const LATER: ReadonlySet<string> = new Set([
  'EDGE_OFFLINE',
  'EDGE_NO_LEADER',
  'EDGE_NOT_SYNCED',
  'EDGE_OUTBOX_FULL',
  'LEASE_HELD',
  'LEASE_EPOCH_STALE',
  'IDENTITY_ROTATION_PENDING',
  'ACCOUNT_SUSPENDED',
  'SERVICE_UNAVAILABLE',
  'UPSTREAM_UNAVAILABLE',
  'CHAIN_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'CONFLICT',
  'INTERNAL_ERROR',
]);

/** Of these, what the next payload would be answered with too: nobody leads, or the leader takes nothing. */
const AWAY: ReadonlySet<string> = new Set([
  'EDGE_OFFLINE',
  'EDGE_NO_LEADER',
  'EDGE_OUTBOX_FULL',
  'IDENTITY_ROTATION_PENDING',
  'ACCOUNT_SUSPENDED',
]);
export const isAway = ({ code = 'INTERNAL_ERROR' }: Said): boolean => AWAY.has(code);

/** An edge without EDGE_BTC_SWEEPS=on: what is planned stays planned. */
export const BTC_SWEEPS_OFF = 'btc_sweeps_off';

/**
 * A payload that nobody signed while it could land, or that came in the place of one whose signature never arrived here
 * and that is dead by now (sol): it is planned anew.
 */
const EXPIRED: ReadonlySet<string> = new Set(['expired', 'expiration_before_timestamp', 'instruction_signed_before']);

const textOf = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));

/** Null where the operation waits. Treasury 5.3. */
export function verdictOf({ code = 'INTERNAL_ERROR', details = {} }: Said): Verdict | null {
  if (LATER.has(code)) return null;
  const { reason, setting, cap, spent, amount, windowSeconds } = details;
  if (code === 'AMOUNT_CAP_EXCEEDED' && String(setting).startsWith('EDGE_SPEND_CAP_')) {
    const blocked: Blocked = {
      reason: 'edge_spend_cap',
      setting: textOf(setting),
      cap: textOf(cap),
      spent: textOf(spent),
      required: textOf(amount),
      windowSeconds: typeof windowSeconds === 'number' ? windowSeconds : null,
    };
    const isSpent = textOf(cap) !== null && textOf(amount) !== null && BigInt(String(amount)) <= BigInt(String(cap));
    return isSpent
      ? { to: 'SKIPPED', reason: 'edge_window_spent', endsAll: true, blocked }
      : { to: 'FAILED', reason: 'edge_spend_cap', endsAll: true, blocked };
  }
  if (reason === 'sweep_destination_not_allowed') {
    const allowlist = 'EDGE_SWEEP_TREASURY_ALLOWLIST';
    const blocked = {
      setting: allowlist,
      cap: null,
      spent: null,
      required: textOf(details['found']),
      windowSeconds: null,
    };
    const named = 'edge_destination_not_allowed';
    return { to: 'FAILED', reason: named, endsAll: true, blocked: { reason: named, ...blocked } };
  }
  if (reason === BTC_SWEEPS_OFF) {
    const off = { cap: null, spent: null, required: 'on', windowSeconds: null };
    const blocked = { reason: BTC_SWEEPS_OFF, setting: textOf(setting) ?? 'EDGE_BTC_SWEEPS', ...off };
    return { to: 'PLANNED', reason: BTC_SWEEPS_OFF, endsAll: false, blocked };
  }
  if (reason === 'sweeps_stopped') return { to: 'SKIPPED', reason: 'sweeps_stopped', endsAll: true, blocked: null };
  if (EXPIRED.has(String(reason))) return { to: 'SKIPPED', reason: 'deadline', endsAll: false, blocked: null };
  if (reason === 'fee_ratio') {
    const bound = { cap: textOf(details['bound']), spent: null, required: textOf(details['value']) };
    const blocked = { reason: 'fee_ratio', setting: textOf(setting), ...bound, windowSeconds: null };
    return { to: 'SKIPPED', reason: 'fee_ratio', endsAll: false, blocked };
  }
  if (reason === 'token_not_sweepable') return { to: 'SKIPPED', reason: 'token_frozen', endsAll: true, blocked: null };
  if (reason === 'token_not_in_registry')
    return { to: 'SKIPPED', reason: 'edge_registry_older', endsAll: true, blocked: null };
  return { to: 'FAILED', reason: 'edge_refused', endsAll: false, blocked: null };
}
