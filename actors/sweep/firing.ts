/**
 * When a policy fires by itself. Treasury S5, S8, S9, S11.
 *
 *   its schedule is due          ─▶ a cycle, once per run missed within CATCH_UP_MS; an older one is left out
 *   an address reaches minAmount ─▶ a cycle after SWEEP_DEBOUNCE, for all that came meanwhile
 *   fired while a job is open    ─▶ remembered once: a cycle when the job ends
 *   nothing can be planned now   ─▶ held, with pauses that grow; the firing stays
 *   a job that was full          ─▶ a cycle like it when it ends, where it moved something and nothing failed
 */
import type { SweepPolicy, SweepSettings, SweepWrite } from '../../model/account/sweep.ts';
import type { AccountEvent } from '../../model/account/capabilities.ts';
import type { SweepPolicyRow } from '../../model/rows/sweep.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { nextRunAtMs, parseSchedule } from './cron.ts';

/** Of a policy that has had no cycle yet, or whose cycles are forgotten. */
export const NO_CYCLE = {
  openJobId: null,
  lastCycle: null,
  deferrals: 0,
  heldUntilMs: null,
  hasMore: false,
  rest: null,
  blocked: null,
} as const;

const MINUTE_MS = 60_000;
/** After this pause a firing that had to wait is tried again; the last one counts for all that follow. S8. */
const PAUSES_MS = [1, 2, 5, 10].map((minutes) => minutes * MINUTE_MS);
/** A run by schedule that was missed by more is not made up for. S11. */
export const CATCH_UP_MS = 24 * 60 * MINUTE_MS;

export const pauseMs = (deferrals: number): number => PAUSES_MS[Math.min(deferrals, PAUSES_MS.length - 1)]!;

export const SCHEDULED: ReadonlySet<SweepSettings['triggerMode']> = new Set(['SCHEDULE', 'THRESHOLD_AND_SCHEDULE']);
export const THRESHOLDS: ReadonlySet<SweepSettings['triggerMode']> = new Set(['THRESHOLD', 'THRESHOLD_AND_SCHEDULE']);

type Firing = SweepSettings & Pick<SweepPolicy, 'pausedAtMs'>;

/** Whether anything but a person begins its cycles. */
export const firesItself = (policy: Firing): boolean => policy.enabled && policy.pausedAtMs === null;

/** When its schedule fires it next, after `afterMs`; null where none does. */
export function dueAtMs(policy: Firing, afterMs: number): number | null {
  const { triggerMode, scheduleCron, scheduleTimeZone } = policy;
  if (!firesItself(policy) || scheduleCron === null || !SCHEDULED.has(triggerMode)) return null;
  const schedule = parseSchedule(scheduleCron, scheduleTimeZone, afterMs);
  return isRefusal(schedule) ? null : nextRunAtMs(schedule, afterMs);
}

function rowOf(policy: SweepPolicy, seen: number | null): SweepPolicyRow {
  const { id, chain, token, triggerMode, minAmount, nextRunAtMs: next, heldUntilMs } = policy,
    fires = firesItself(policy),
    isArmed = fires && THRESHOLDS.has(triggerMode) && minAmount !== null;
  return {
    id,
    chain,
    tokenContract: token ?? '',
    minAmount: isArmed ? BigInt(minAmount) : null,
    nextRunAtMs: next,
    heldUntilMs,
    seen,
    again: fires && policy.rest !== null,
    fires,
    isGone: false,
  };
}

const policyWrite = (row: SweepPolicyRow): SweepWrite => ({ table: 'sweep_policies', row, key: row.id });

/** A policy as it is now: for the state, and for the worker that looks for due ones. */
export const policySet = (
  policy: SweepPolicy,
  seen: number | null = null,
): { events: AccountEvent[]; rows: SweepWrite[] } => ({
  events: [{ type: 'sweep_policy_set', policy }],
  rows: [policyWrite(rowOf(policy, seen))],
});

/** The same of one that is deleted. */
export const policyGone = (policy: SweepPolicy): { events: AccountEvent[]; rows: SweepWrite[] } => ({
  events: [{ type: 'sweep_policy_deleted', id: policy.id }],
  rows: [policyWrite({ ...rowOf(policy, null), isGone: true })],
});

/** The row of a policy that the account does not have: whatever its asset was, it goes. */
export const policyUnknown = (id: string): SweepWrite =>
  policyWrite({
    id,
    chain: 'eth',
    tokenContract: '',
    minAmount: null,
    nextRunAtMs: null,
    heldUntilMs: null,
    seen: null,
    again: false,
    fires: false,
    isGone: true,
  });
