/**
 * Cycles of a policy as the account decides them: one open job, its operations' arrows, what its end means for the
 * policy, and what is tried again. Treasury S7, S10, S16, S19, S25–S27.
 */
import type { SweepSees } from '../../model/account/capabilities.ts';
import type { JobOutcome, SweepPolicy } from '../../model/account/sweep.ts';
import type { StoredJobState, SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import type { RowWrite } from '../../model/account/capabilities.ts';
import { notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';
import { suspended } from '../account/guards.ts';
import { isArrow, isOver, jobWrite, moved, operationWrite } from './moves.ts';
import { dueAtMs, firesItself, policySet } from './firing.ts';

/** Addresses of one job: the largest ones, the rest is the next cycle's. Treasury S9. */
export const OPERATIONS_MAX = 500;
/** How many of the largest a cycle looks at to find as many: those that are skipped are not all of it. */
export const LOOKED_MAX = 20 * OPERATIONS_MAX;

/**
 * A job of what the plan found, or none where nothing can be taken; where one is open that one is the answer.
 * Refuses: ACCOUNT_SUSPENDED, NOT_FOUND, CONFLICT (`paused`, `changed_meanwhile`).
 */
export function runPolicy({
  state,
  command,
  nowMs,
  realMs,
}: Deciding<'run_sweep_policy'>): AccountDecision<'run_sweep_policy'> {
  const { id, version, trigger, jobId, operations, seen, beside, lookedTo = null } = command;
  const policy = state.sweepPolicies.find((one) => one.id === id);
  if (policy === undefined) return suspended(state) ?? notFound('sweep policy', id, { policyId: id });
  const no = firstRefusal(
    suspended(state),
    policy.pausedAtMs === null
      ? null
      : refuse('CONFLICT', { reason: 'paused', policyId: id, next: `POST /v1/treasury/sweeps/policies/${id}/resume` }),
    policy.version === version && !promisedMeanwhile(state, policy, beside)
      ? null
      : refuse('CONFLICT', { reason: 'changed_meanwhile', policyId: id }),
  );
  if (no !== null) return no;
  if (policy.openJobId !== null) return accept({ jobId: policy.openJobId, policy });
  const cycle = {
    nextRunAtMs: dueAtMs(policy, nowMs),
    deferrals: triesOf(policy),
    heldUntilMs: null,
    rest: null,
    lookedTo,
  };
  const planned: SweepPolicy = { ...policy, ...cycle };
  if (operations.every(({ reason }) => reason !== null)) {
    const reason = mostOf(operations.flatMap((one) => one.reason ?? []));
    const idle: SweepPolicy = {
      ...planned,
      ...(lookedTo === null
        ? againLater(planned, operations.filter((one) => PASSES.has(one.reason ?? '')).length, nowMs)
        : { rest: likeIt(trigger) }),
      blocked: operations.find(({ blocked }) => blocked !== null)?.blocked ?? policy.blocked,
      lastCycle: { atMs: nowMs, result: 'nothing_due', reason, jobId: null },
    };
    const { events, rows } = policySet(idle, seen);
    return accept({ jobId: null, policy: idle }, events, rows);
  }
  const job: SweepJobRow = {
    id: jobId,
    version: 1,
    policyId: id,
    chain: policy.chain,
    tokenContract: policy.token,
    trigger,
    state: 'PLANNED',
    run: 1,
    settings: JSON.stringify(settingsOf(policy)),
    blocked: null,
    createdAtMs: realMs,
    updatedAtMs: realMs,
    endedAtMs: null,
    takenBack: false,
  };
  const taken = operations.slice(0, OPERATIONS_MAX).map(({ reason, blocked, ...one }): SweepOperationRow => ({
    ...one,
    jobId,
    version: 1,
    chain: policy.chain,
    state: reason === null ? 'PLANNED' : 'SKIPPED',
    reason,
    attempt: 1,
    funding: null,
    paid: reason === null ? null : 0n,
    firstFundId: null,
    details: blocked === null ? null : JSON.stringify(blocked),
    createdAtMs: realMs,
    updatedAtMs: realMs,
  }));
  const running: SweepPolicy = {
    ...planned,
    openJobId: jobId,
    hasMore: lookedTo !== null || operations.filter(({ reason }) => reason === null).length >= OPERATIONS_MAX,
  };
  const { events, rows } = policySet(running, seen);
  return accept({ jobId, policy: running }, events, [...rows, jobWrite(job), ...taken.map(operationWrite)]);
}

/** W9: another job of the chain was opened after the plan had read what the tank keeps for others. */
const promisedMeanwhile = (
  { sweepPolicies }: SweepSees,
  { chain, openJobId }: SweepPolicy,
  beside: readonly string[] | null,
): boolean =>
  beside !== null && openJobId === null && openJobsOn(sweepPolicies, chain).some((id) => !beside.includes(id));

/** Open jobs of policies of a chain. */
export const openJobsOn = (policies: readonly SweepPolicy[], chain: SweepPolicy['chain']): string[] =>
  policies.flatMap((one) => (one.chain === chain && one.openJobId !== null ? [one.openJobId] : []));

/** The settings that a job keeps. */
function settingsOf(policy: SweepPolicy): object {
  const { createdAtMs: _, updatedAtMs: __, lastCycle: ___, blocked: ____, openJobId: _____, ...kept } = policy,
    { deferrals: ______, heldUntilMs: _______, hasMore: ________, lookedTo: _________, ...settings } = kept;
  return settings;
}

/** One arrow that builds nothing, or the cost of what ended. Refuses: CONFLICT for an arrow that is none. */
export function moveOperation({
  command: { known, to, reason, paid, amount, details, sweepId },
  nowMs,
}: Deciding<'move_sweep_operation'>): AccountDecision<'move_sweep_operation'> {
  const isCost = to === known.state && known.paid === null && paid !== undefined && isOver(known.state);
  const isGivenBack = known.state === 'SIGNING' && to === 'PLANNED' && sweepId !== undefined;
  if (!isCost && !isGivenBack && (!isArrow(known.state, to) || to === 'PLANNED'))
    return refuse('CONFLICT', { reason: 'state', status: known.state, operationId: known.id });
  const fields = {
    reason,
    ...(paid === undefined ? (known.state === 'CONFIRMED' ? { paid: null } : {}) : { paid }),
    ...(amount === undefined ? {} : { amount }),
    ...(details === undefined ? {} : { details }),
    ...(sweepId === undefined ? {} : { sweepId }),
  };
  const row = moved(known, to, fields, nowMs);
  return accept(row, [{ type: 'sweep_operation_moved', id: row.id, state: to, reason }], [operationWrite(row)]);
}

/**
 * What operations of a job came to after a reorg took sweeps of it back. One that ended is not announced again, and
 * counts no cycle; what failed of it is planned anew. An open one only goes on. S20, S22.
 */
export function settleJob({
  state,
  command,
  nowMs,
  realMs,
}: Deciding<'settle_sweep_job'>): AccountDecision<'settle_sweep_job'> {
  const { known, outcome } = command;
  if (!known.takenBack) return accept(known);
  const ended = known.endedAtMs === null ? known.state : stateOf(outcome);
  const job: SweepJobRow = {
    ...known,
    state: ended,
    version: known.version + 1,
    updatedAtMs: Math.max(realMs, known.updatedAtMs),
    takenBack: false,
  };
  const policy = state.sweepPolicies.find(({ id }) => id === known.policyId);
  const again = policy === undefined || known.endedAtMs === null || outcome.failed === 0 ? null : policy;
  const { events, rows } =
    again === null ? { events: [], rows: [] } : policySet({ ...again, ...againLater(again, outcome.left, nowMs) });
  return accept(job, events, [...rows, jobWrite(job)]);
}

/** COMPLETED without failures; FAILED where nothing was swept beside them. S16. */
export function stateOf({ confirmed, failed }: Pick<JobOutcome, 'confirmed' | 'failed'>): StoredJobState {
  if (failed === 0) return 'COMPLETED';
  return confirmed > 0 ? 'PARTIAL' : 'FAILED';
}

/**
 * Ends a job whose operations ended, and announces it once; a failed one counts against its policy, which pauses at
 * its limit. One that ended is answered as it is.
 */
export function endJob({ state, command, nowMs, realMs }: Deciding<'end_sweep_job'>): AccountDecision<'end_sweep_job'> {
  const { known, outcome, symbol } = command;
  if (known.endedAtMs !== null) return accept(known);
  const ended = stateOf(outcome),
    atMs = Math.max(realMs, known.updatedAtMs);
  const job: SweepJobRow = {
    ...known,
    state: ended,
    version: known.version + 1,
    blocked: outcome.blocked === null ? null : JSON.stringify(outcome.blocked),
    updatedAtMs: atMs,
    endedAtMs: atMs,
  };
  const policy = state.sweepPolicies.find(({ id }) => id === known.policyId);
  const after = policy === undefined ? null : afterCycle(policy, job, outcome, nowMs);
  const { events, rows } = after === null ? { events: [], rows: [] } : policySet(after);
  const about = {
    jobId: job.id,
    policyId: job.policyId,
    chain: job.chain,
    asset: symbol,
    tokenContract: job.tokenContract,
    state: ended,
    amount: String(outcome.amount),
    feeEstimated: String(outcome.estimate),
    feePaid: String(outcome.paid),
    operations: { confirmed: outcome.confirmed, failed: outcome.failed, skipped: outcome.skipped },
    run: job.run,
    reason: outcome.reason,
  };
  const announced = (event: 'sweep_completed' | 'sweep_paused'): RowWrite =>
    publish(state, {
      event,
      id: eventIdAt(state, 1, event),
      confirmations: null,
      threshold: null,
      atMs: nowMs,
      orderKey: '',
      data: about,
    });
  const isPaused = after !== null && policy!.pausedAtMs === null && after.pausedAtMs !== null;
  return accept(
    job,
    [...events, { type: 'sweep_job_ended', id: job.id, state: ended }],
    [...rows, jobWrite(job), announced('sweep_completed'), ...(isPaused ? [announced('sweep_paused')] : [])],
  );
}

function afterCycle(policy: SweepPolicy, job: SweepJobRow, outcome: JobOutcome, nowMs: number): SweepPolicy {
  const failures =
    job.state === 'FAILED'
      ? policy.consecutiveFailures + 1
      : job.state === 'COMPLETED' && outcome.confirmed > 0
        ? 0
        : policy.consecutiveFailures;
  const pauses = policy.pausedAtMs === null && failures >= policy.pauseOnConsecutiveFailures;
  const after: SweepPolicy = {
    ...policy,
    openJobId: policy.openJobId === job.id ? null : policy.openJobId,
    consecutiveFailures: failures,
    lastCycle: {
      atMs: nowMs,
      result: job.state as 'COMPLETED' | 'PARTIAL' | 'FAILED',
      reason: outcome.reason,
      jobId: job.id,
    },
    hasMore: false,
    rest: restOf(policy, job, outcome),
    ...(outcome.failed > 0 ? { lookedTo: null } : {}),
    ...againLater(policy, outcome.left, nowMs),
    blocked: outcome.blocked,
    ...(pauses ? { pausedAtMs: nowMs, pausedReason: outcome.reason ?? 'failed' } : {}),
  };
  return pauses ? { ...after, nextRunAtMs: null } : after;
}

/** Why an operation was not taken, or ended, that may be otherwise without another deposit. */
export const PASSES: ReadonlySet<string> = new Set([
  'withdrawal_in_flight',
  'sweep_in_flight',
  'balance_changed',
  'token_frozen',
  'destination_not_ready',
  'no_rate',
  'fee_ratio',
  'gas_above_limit',
  'funding_wallet_low',
  'edge_window_spent',
  'edge_registry_older',
  'sweeps_stopped',
  'deadline',
]);

const MINUTE_MS = 60_000;
/** A threshold has no schedule that comes back to what it left: looks after these, the last one ever on. */
const AGAIN_MS = [10, 60, 360, 1_440].map((minutes) => minutes * MINUTE_MS);

/** How often in a row something was left; another mode counts no such looks. */
const triesOf = ({ triggerMode, nextRunAtMs, deferrals }: SweepPolicy): number =>
  triggerMode === 'THRESHOLD' && nextRunAtMs !== null ? deferrals : 0;

/** S20: what failed, or was skipped for what passes, is planned anew, also where only a threshold fires. */
function againLater(policy: SweepPolicy, left: number, nowMs: number): Partial<SweepPolicy> {
  if (policy.triggerMode !== 'THRESHOLD' || !firesItself(policy)) return {};
  if (left === 0) return { nextRunAtMs: null, deferrals: 0 };
  const { deferrals } = policy;
  return { nextRunAtMs: nowMs + AGAIN_MS[Math.min(deferrals, AGAIN_MS.length - 1)]!, deferrals: deferrals + 1 };
}

/**
 * A full job that moved something is followed by one for the rest. Where something failed it is not: that would be
 * tried again without a pause.
 */
function restOf({ hasMore }: SweepPolicy, { trigger }: SweepJobRow, { confirmed, failed }: JobOutcome) {
  if (!hasMore || failed > 0 || confirmed === 0) return null;
  return likeIt(trigger);
}

/** The trigger of a cycle that goes on with what another one began. */
const likeIt = (trigger: SweepJobRow['trigger']) => (trigger === 'threshold' ? trigger : 'schedule');

/**
 * What failed, once more: with today's balances and transactions of its own. A job that runs again already is answered
 * as it is. Refuses: ACCOUNT_SUSPENDED, CONFLICT (`nothing_failed`, `job_open`: another one of its policy,
 * `payload_may_land`: what was signed before is dead only when its time is over).
 */
export function retryJob({ state, command, nowMs }: Deciding<'retry_sweep_job'>): AccountDecision<'retry_sweep_job'> {
  const { known, failed, fundIds, sweepIds, mayLandUntilMs } = command;
  if (known.endedAtMs === null) return suspended(state) ?? accept(known);
  const policy = state.sweepPolicies.find(({ id }) => id === known.policyId);
  const no = firstRefusal(
    suspended(state),
    policy === undefined ? refuse('CONFLICT', { reason: 'policy_deleted', policyId: known.policyId }) : null,
    failed.length === 0 ? refuse('CONFLICT', { reason: 'nothing_failed', jobId: known.id }) : null,
    openJobOf(policy),
    mayLand(known, mayLandUntilMs, nowMs),
  );
  if (no !== null) return no;
  const job: SweepJobRow = {
    ...known,
    state: 'PLANNED',
    version: known.version + 1,
    run: known.run + 1,
    blocked: null,
    updatedAtMs: Math.max(nowMs, known.updatedAtMs),
    endedAtMs: null,
  };
  const { events, rows } = policySet({ ...policy!, openJobId: job.id });
  const again = failed.map((operation, at): SweepOperationRow => ({
    ...moved(
      operation,
      'PLANNED',
      { reason: null, details: null, funding: null, paid: null, firstFundId: null },
      nowMs,
    ),
    attempt: operation.attempt + 1,
    fundId: fundIds[at]!,
    sweepId: sweepIds[at]!,
  }));
  return accept(job, events, [...rows, jobWrite(job), ...again.map(operationWrite)]);
}

/** T15: nodes refused a payload, and anybody with the bytes may submit it until it expires. */
function mayLand({ id }: SweepJobRow, untilMs: number | null, nowMs: number): Refusal | null {
  if (untilMs === null || untilMs <= nowMs) return null;
  const retryAfterSeconds = Math.ceil((untilMs - nowMs) / 1_000);
  return refuse(
    'CONFLICT',
    { reason: 'payload_may_land', jobId: id, retryAfterSeconds },
    'a signed transaction of this job can still land until it expires: retry after details.retryAfterSeconds',
  );
}

function openJobOf(policy: SweepSees['sweepPolicies'][number] | undefined): Refusal | null {
  const open = policy?.openJobId ?? null;
  return open === null ? null : refuse('CONFLICT', { reason: 'job_open', jobId: open });
}

/** The most frequent text; null of none. */
export function mostOf(texts: readonly string[]): string | null {
  const counts = [...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length] as const);
  return counts.toSorted(([, left], [, right]) => right - left)[0]?.[0] ?? null;
}
