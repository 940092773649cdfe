/** Cycles of sweep policies: run now, jobs with their operations, failed ones again. Treasury S3, S16, S19. */
import { LOOKED_MAX, OPERATIONS_MAX } from '../../../actors/sweep/job.ts';
import { operationsOf, planOf } from '../../../actors/sweep/plan.ts';
import { outcomeOf } from '../../../actors/sweep/paid.ts';
import type { Blocked, SweepPolicy, SweepSettings } from '../../../model/account/sweep.ts';
import type { ReadStore } from '../../../model/ports/read-store.ts';
import type { SweepJobRow, SweepOperationRow } from '../../../model/rows/sweep.ts';
import { isRefusal } from '../../../protocol/errors.ts';
import type { AccountId } from '../../../protocol/ids.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, SWEEP_OPERATION_STATES, type SWEEP_JOB_STATES } from '../../../protocol/slugs.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, claimOf, type Handlers, unknownIn } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, instantOrNull, listAskOf, pageAs } from '../views.ts';

type Area = 'runSweepPolicy' | 'listSweepJobs' | 'getSweepJob' | 'retrySweepJob';

export function jobHandlers(deps: HandlerDeps): Pick<Handlers, Area> {
  const {
    accounts,
    chains,
    nowMs,
    stores: { sweeps, rates, reads, edge, registry },
  } = deps;
  return {
    runSweepPolicy: {
      replay: async (stored) => runView(stored as ReturnOfRun),
      async handle(asked) {
        const accountId = accountOf(asked),
          { policyId: id } = asked.params;
        const state = await stateOf(deps, accountId);
        const policy = state.sweepPolicies.find((one) => one.id === id);
        if (policy === undefined) return unknownIn(asked, 'sweep policy', id);
        const floor = BigInt(policy.dustFloor) > 0n ? BigInt(policy.dustFloor) : 1n;
        const planning = { chains, sweeps, rates, edge, registry, nowMs };
        const isBusy = policy.openJobId !== null || policy.pausedAtMs !== null || state.suspended;
        const page = { floor, from: 0, most: OPERATIONS_MAX, upTo: LOOKED_MAX, behind: policy.lookedTo ?? null };
        const plan = isBusy ? null : await planOf(planning, state, policy, 'manual', page);
        if (plan !== null && isRefusal(plan)) return plan;
        const operations = plan === null ? [] : operationsOf(plan, nowMs()),
          beside = plan === null ? null : plan.beside;
        const answer = await accounts.ask(accountId, {
          type: 'run_sweep_policy',
          id,
          version: policy.version,
          trigger: 'manual',
          jobId: newId('swj', nowMs()),
          operations,
          seen: null,
          beside,
          lookedTo: plan?.lookedTo ?? null,
          ...claimOf(asked),
        });
        return answer.ok === true ? runView(answer.reply) : answer;
      },
    },
    async listSweepJobs(asked) {
      const ask = listAskOf('sweep-jobs', asked.query);
      if (isRefusal(ask)) return ask;
      const page = await sweeps.jobs(accountOf(asked), ask.filter, ask.page);
      return pageAs(page, jobView);
    },
    async getSweepJob(asked) {
      const accountId = accountOf(asked),
        known = await sweeps.job(accountId, asked.params.id);
      if (known === null) return unknownIn(asked, 'sweep job', asked.params.id);
      return wholeView(known, await sweeps.operations(accountId, known.id));
    },
    retrySweepJob: {
      replay: async (stored) => jobView(stored as SweepJobRow),
      async handle(asked) {
        const accountId = accountOf(asked),
          { id } = asked.params;
        const known = await sweeps.job(accountId, id);
        if (known === null) return unknownIn(asked, 'sweep job', id);
        const failed = (await sweeps.operations(accountId, id)).filter(({ state }) => state === 'FAILED');
        const ids = () => failed.map(() => newId('txn', nowMs()));
        const mayLandUntilMs = await lastExpiryMs(reads, accountId, failed);
        const fresh = { fundIds: ids(), sweepIds: ids(), mayLandUntilMs };
        const command = { type: 'retry_sweep_job', known, failed, ...fresh } as const;
        const answer = await accounts.ask(accountId, { ...command, ...claimOf(asked) });
        return answer.ok === true ? jobView(answer.reply) : answer;
      },
    },
  };
}

/** When the last of the signed payloads in no block is over, where they expire by time; null without one. T15. */
async function lastExpiryMs(
  reads: Pick<ReadStore, 'withdrawal'>,
  accountId: AccountId,
  failed: readonly SweepOperationRow[],
): Promise<number | null> {
  const own = failed.filter(({ chain }) => FAMILY_OF[chain] === 'tron');
  let lastMs: number | null = null;
  for (const id of own.flatMap(({ funding, fundId, sweepId }) => (funding === null ? [sweepId] : [fundId, sweepId]))) {
    const row = await reads.withdrawal(accountId, id);
    if (row === null || row.height !== null || row.versions.length === 0) continue;
    lastMs = Math.max(lastMs ?? 0, Number(row.unsigned.replayKey.value));
  }
  return lastMs;
}

interface ReturnOfRun {
  readonly jobId: string | null;
  readonly policy: SweepPolicy;
}

const runView = ({ jobId, policy }: ReturnOfRun): ReplyOf<'runSweepPolicy'> =>
  jobId === null
    ? { jobId, result: 'nothing_due', reason: policy.lastCycle?.reason ?? null }
    : { jobId, result: 'running', reason: null };

/** An open job is where the furthest of its open operations is not: the first that occurs of these. S16. */
const OPEN_ORDER = ['BROADCAST', 'SIGNING', 'FUNDING', 'PLANNED'] as const;

function jobView(row: SweepJobRow): ReplyOf<'retrySweepJob'> {
  const { id, policyId, chain, tokenContract: token, trigger, state, run, blocked } = row;
  return {
    id,
    policyId,
    chain,
    token,
    trigger,
    state,
    run,
    blocked: blockedOf(blocked),
    createdAt: instantOf(row.createdAtMs),
    updatedAt: instantOf(row.updatedAtMs),
    endedAt: instantOrNull(row.endedAtMs),
  };
}

function wholeView(row: SweepJobRow, operations: readonly SweepOperationRow[]): ReplyOf<'getSweepJob'> {
  const counts = Object.fromEntries(
    SWEEP_OPERATION_STATES.map((state) => [state, operations.filter((one) => one.state === state).length]),
  ) as ReplyOf<'getSweepJob'>['counts'];
  const { amount, estimate, paid } = outcomeOf(operations);
  const at: (typeof SWEEP_JOB_STATES)[number] =
    OPEN_ORDER.find((state) => counts[state] > 0) ?? (row.endedAtMs === null ? 'PLANNED' : row.state);
  const held = operations.find(({ state, details }) => state === 'PLANNED' && details !== null);
  return {
    ...jobView(row),
    ...(row.endedAtMs === null && held !== undefined ? { blocked: blockedOf(held.details) } : {}),
    state: at,
    settings: settingsView(JSON.parse(row.settings) as SweepSettings),
    amount: String(amount),
    estimate: String(estimate),
    paid: String(paid),
    counts,
    operations: operations.map(operationView),
  };
}

function settingsView(settings: SweepSettings): ReplyOf<'getSweepJob'>['settings'] {
  const { treasuryWalletId, fundingWalletId, gasFundingMode, dustFloor } = settings,
    { maxFeeRatioBps, abortIfGasExceeds, retainGasFloat } = settings;
  return {
    treasuryWalletId,
    fundingWalletId,
    gasFundingMode,
    dustFloor,
    maxFeeRatioBps,
    abortIfGasExceeds,
    retainGasFloat,
  };
}

/** A transaction is named once it can be: the ids are chosen before. */
function operationView(row: SweepOperationRow): ReplyOf<'getSweepJob'>['operations'][number] {
  const { id, address, state, reason, attempt, amount, estimate, funding, paid, fundId, sweepId, details } = row;
  const isBuilt = state === 'SIGNING' || state === 'BROADCAST' || state === 'CONFIRMED' || LANDED.has(reason ?? '');
  return {
    id,
    address,
    state,
    reason,
    attempt,
    amount: String(amount),
    estimate: String(estimate),
    funding: funding === null ? null : String(funding),
    paid: paid === null ? null : String(paid),
    fundTransactionId: funding === null ? null : fundId,
    sweepTransactionId: isBuilt ? sweepId : null,
    blocked: blockedOf(details),
    updatedAt: instantOf(row.updatedAtMs),
  };
}

/** Reasons of what failed after it was signed. */
const LANDED: ReadonlySet<string> = new Set(['reverted', 'dead']);

/** Details that name a setting; others are for operators. */
function blockedOf(text: string | null): Blocked | null {
  const parsed = text === null ? null : (JSON.parse(text) as Partial<Blocked>);
  return parsed?.setting === undefined ? null : (parsed as Blocked);
}
