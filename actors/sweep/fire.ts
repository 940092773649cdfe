/** A policy that is due: a cycle, or why it waits. Treasury S5, S6, S8–S11. */
import type { Accounts } from '../../model/ports/accounts.ts';
import type { EdgeStreams } from '../../model/ports/edge-streams.ts';
import type { DuePolicy } from '../../model/ports/sweep-store.ts';
import type { AccountState } from '../../model/account/capabilities.ts';
import type { SweepPolicy } from '../../model/account/sweep.ts';
import { isRefusal, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import { ChainUnavailable } from '../../chains/chain.ts';
import { rotationPending, suspended } from '../account/guards.ts';
import { CATCH_UP_MS, firesItself, SCHEDULED, THRESHOLDS } from './firing.ts';
import { LOOKED_MAX, OPERATIONS_MAX } from './job.ts';
import { operationsOf, planOf, type Plan, type PlanParts } from './plan.ts';
import { lookAtTank } from './tank-level.ts';

export interface FireParts extends PlanParts {
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly edges: Pick<EdgeStreams, 'anyLive' | 'leaseExpiresAtMs'>;
  readonly nowMs: () => number;
  /** Sweeps of a firing are left out: the gas tank has too little. */
  readonly onTankLow?: (accountId: AccountId, chain: Chain) => void;
}

/** One firing. Throws: what is no answer of a chain; it is tried again with the next look. */
export async function firePolicy(parts: FireParts, { accountId, id, fired }: DuePolicy): Promise<void> {
  const { accounts } = parts;
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  if (answer.ok !== true) return;
  const state = answer.reply as AccountState,
    nowMs = () => parts.nowMs() + state.aheadMs,
    policy = state.sweepPolicies.find((one) => one.id === id);
  if (policy === undefined || !firesItself(policy))
    return void (await accounts.ask(accountId, { type: 'note_sweep_policy', id }));
  if (policy.openJobId !== null) return;
  const isMissed = SCHEDULED.has(policy.triggerMode) && policy.nextRunAtMs !== null;
  if (isMissed && nowMs() - policy.nextRunAtMs! > CATCH_UP_MS)
    return void (await accounts.ask(accountId, { type: 'skip_sweep_run', id }));
  const trigger = triggerOf(policy, nowMs()),
    waits = await waitsFor(parts, state);
  const plan = waits === null ? await planned(parts, state, policy, trigger) : null;
  if (plan === null || isRefusal(plan)) {
    const reason = plan === null ? waits! : reasonOf(plan);
    return void (await accounts.ask(accountId, { type: 'defer_sweep_policy', id, reason }));
  }
  const { version } = policy,
    at = nowMs(),
    operations = operationsOf(plan, at);
  const ran = await accounts.ask(accountId, {
    type: 'run_sweep_policy',
    id,
    version,
    trigger,
    jobId: newId('swj', at),
    operations,
    seen: fired,
    beside: plan.beside,
    lookedTo: plan.lookedTo,
  });
  const isLow = operations.some(({ reason }) => reason === 'funding_wallet_low');
  if (isLow && !isRefusal(ran)) parts.onTankLow?.(accountId, policy.chain);
  // What changed meanwhile is planned anew with the next look; what is refused for long waits.
  if (isRefusal(ran) && ran.details['reason'] !== 'changed_meanwhile')
    await accounts.ask(accountId, { type: 'defer_sweep_policy', id, reason: reasonOf(ran) });
  await lookAtTank(parts, accountId, state, policy.chain);
}

/** A schedule takes all that is no dust; a threshold what reaches it. S5, S6. */
function triggerOf({ triggerMode, nextRunAtMs, rest }: SweepPolicy, nowMs: number): 'schedule' | 'threshold' {
  if (rest !== null) return rest;
  const isDue = nextRunAtMs !== null && nextRunAtMs <= nowMs;
  return (isDue && SCHEDULED.has(triggerMode)) || !THRESHOLDS.has(triggerMode) ? 'schedule' : 'threshold';
}

/** What keeps a cycle from being planned, as a code; null where nothing does. S8. */
async function waitsFor({ edges }: FireParts, state: AccountState): Promise<string | null> {
  const no = suspended(state) ?? rotationPending(state);
  if (no !== null) return no.code;
  if (!(await edges.anyLive(state.accountId))) return 'EDGE_OFFLINE';
  return (await edges.leaseExpiresAtMs(state.accountId as AccountId)) === null ? 'EDGE_NO_LEADER' : null;
}

async function planned(
  parts: FireParts,
  state: AccountState,
  policy: SweepPolicy,
  trigger: 'schedule' | 'threshold',
): Promise<Plan | Refusal | null> {
  const least = BigInt((trigger === 'threshold' ? policy.minAmount : null) ?? policy.dustFloor);
  const page = {
    floor: least > 0n ? least : 1n,
    from: 0,
    most: OPERATIONS_MAX,
    upTo: LOOKED_MAX,
    behind: policy.lookedTo ?? null,
  };
  try {
    return await planOf(parts, state, policy, trigger, page);
  } catch (error) {
    if (error instanceof ChainUnavailable) return refuse('CHAIN_UNAVAILABLE', { chain: policy.chain });
    throw error;
  }
}

const reasonOf = ({ code, details }: Refusal): string =>
  typeof details['reason'] === 'string' ? details['reason'] : code;
