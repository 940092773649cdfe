/**
 * Sweep policies as the account owns them: one for a chain and token, with settings that fit each other, its chain and
 * its wallets. Treasury 5.1, S1–S4.
 */
import type { SweepSees } from '../../model/account/capabilities.ts';
import type { SweepPolicy, SweepSettings } from '../../model/account/sweep.ts';
import { isRefusal, notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import { FAMILY_OF, type GAS_FUNDING_MODES } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { parseSchedule } from './cron.ts';
import {
  CATCH_UP_MS,
  dueAtMs,
  firesItself,
  NO_CYCLE,
  pauseMs,
  policyGone,
  policySet,
  policyUnknown,
  SCHEDULED,
  THRESHOLDS,
} from './firing.ts';

/** The catalogue bounds them; a registry that grows does not make snapshots endless. */
export const POLICIES_MAX = 200;

type Mode = (typeof GAS_FUNDING_MODES)[number];

/** Who can pay the fees of a sweep, the usual one first. Treasury 5.1. */
export function fundingModesOf({ chain, token }: Pick<SweepSettings, 'chain' | 'token'>): readonly Mode[] {
  switch (FAMILY_OF[chain]) {
    case 'evm':
    case 'tron':
      return token === null ? ['SELF'] : ['FUNDING_WALLET'];
    case 'sol':
    case 'xlm':
      return ['FEE_PAYER'];
    case 'xrp':
    case 'btc':
      return ['SELF'];
  }
}

/**
 * Adds a policy. Refuses: ACCOUNT_SUSPENDED, INVALID_INPUT (settings that do not fit), NOT_FOUND (a wallet), CONFLICT
 * (the pair has one, or there are too many).
 */
export function createPolicy({
  state,
  command: { id, settings },
  nowMs,
}: Deciding<'create_sweep_policy'>): AccountDecision<'create_sweep_policy'> {
  const { chain, token } = settings;
  const same = state.sweepPolicies.find((one) => one.chain === chain && one.token === token);
  const no = firstRefusal(
    suspended(state),
    unfit(state, settings, nowMs),
    same === undefined ? null : refuse('CONFLICT', { reason: 'policy_exists', chain, policyId: same.id }),
    state.sweepPolicies.length < POLICIES_MAX
      ? null
      : refuse('CONFLICT', { reason: 'policy_limit', limit: POLICIES_MAX }),
  );
  return (
    no ??
    set({
      ...settings,
      id,
      version: 1,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      pausedAtMs: null,
      pausedReason: null,
      consecutiveFailures: 0,
      nextRunAtMs: dueAtMs({ ...settings, pausedAtMs: null }, nowMs),
      ...NO_CYCLE,
    })
  );
}

/** The whole policy anew; chain and token stay. Refuses: as creation does, and CONFLICT for another version. */
export function replacePolicy({
  state,
  command: { id, settings, version },
  nowMs,
}: Deciding<'replace_sweep_policy'>): AccountDecision<'replace_sweep_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return suspended(state) ?? known;
  const no = firstRefusal(
    suspended(state),
    known.chain === settings.chain
      ? null
      : refuse('INVALID_INPUT', { field: 'chain', reason: `fixed: this is a policy of ${known.chain}` }),
    known.token === settings.token
      ? null
      : refuse('INVALID_INPUT', { field: 'token', reason: 'fixed: make another policy for another token' }),
    unfit(state, settings, nowMs),
    version === null || version === known.version
      ? null
      : refuse('CONFLICT', { reason: 'version', expected: version, found: known.version }),
  );
  return (
    no ??
    set({
      ...known,
      ...settings,
      ...AT_ONCE,
      version: known.version + 1,
      updatedAtMs: nowMs,
      nextRunAtMs: dueAtMs({ ...settings, pausedAtMs: known.pausedAtMs }, nowMs) ?? leftAtMs(known, settings, nowMs),
    })
  );
}

/** What a threshold left waits no longer under new settings. */
function leftAtMs({ nextRunAtMs, triggerMode, pausedAtMs }: SweepPolicy, settings: SweepSettings, nowMs: number) {
  const isLeft = triggerMode === 'THRESHOLD' && nextRunAtMs !== null;
  return isLeft && settings.triggerMode === 'THRESHOLD' && firesItself({ ...settings, pausedAtMs }) ? nowMs : null;
}

/** Refuses: NOT_FOUND. */
export function deletePolicy({
  state,
  command: { id },
}: Deciding<'delete_sweep_policy'>): AccountDecision<'delete_sweep_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return known;
  const { events, rows } = policyGone(known);
  return accept(known, events, rows);
}

/** No cycle begins until it is resumed; one that is paused stays so, for the reason that it has. Refuses: NOT_FOUND. */
export function pausePolicy({
  state,
  command: { id },
  nowMs,
}: Deciding<'pause_sweep_policy'>): AccountDecision<'pause_sweep_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return known;
  if (known.pausedAtMs !== null) return accept(known);
  return set({ ...known, pausedAtMs: nowMs, pausedReason: 'manual', nextRunAtMs: null });
}

/** The only way back, whatever paused it: failures count from zero. Refuses: ACCOUNT_SUSPENDED, NOT_FOUND. */
export function resumePolicy({
  state,
  command: { id },
  nowMs,
}: Deciding<'resume_sweep_policy'>): AccountDecision<'resume_sweep_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return suspended(state) ?? known;
  const no = suspended(state);
  if (no !== null) return no;
  if (known.pausedAtMs === null && known.consecutiveFailures === 0) return accept(known);
  const resumed = { ...known, ...AT_ONCE, pausedAtMs: null, pausedReason: null, consecutiveFailures: 0 };
  return set({ ...resumed, nextRunAtMs: dueAtMs(resumed, nowMs) });
}

/**
 * A firing that cannot be planned now waits, longer each time; it is no failure. Refuses: NOT_FOUND.
 * Treasury S8.
 */
export function deferPolicy({
  state,
  command: { id, reason },
  nowMs,
}: Deciding<'defer_sweep_policy'>): AccountDecision<'defer_sweep_policy'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return known;
  return set({
    ...known,
    deferrals: known.deferrals + 1,
    heldUntilMs: nowMs + pauseMs(known.deferrals),
    lastCycle: { atMs: nowMs, result: 'deferred', reason, jobId: null },
  });
}

/** The next run instead of one that is long past; another is left as it is. Refuses: NOT_FOUND. Treasury S11. */
export function skipRun({
  state,
  command: { id },
  nowMs,
}: Deciding<'skip_sweep_run'>): AccountDecision<'skip_sweep_run'> {
  const known = policyOf(state, id);
  if (isRefusal(known)) return known;
  if (known.nextRunAtMs === null || nowMs - known.nextRunAtMs <= CATCH_UP_MS) return accept(known);
  return set({ ...known, nextRunAtMs: dueAtMs(known, nowMs) });
}

/** The row of a policy as the account has it, or has it not. */
export function notePolicy({
  state,
  command: { id },
}: Deciding<'note_sweep_policy'>): AccountDecision<'note_sweep_policy'> {
  const known = state.sweepPolicies.find((one) => one.id === id);
  return known === undefined ? accept({}, [], [policyUnknown(id)]) : accept({}, [], policySet(known).rows);
}

/** Nothing is held any more. */
const AT_ONCE = { deferrals: 0, heldUntilMs: null } as const;

function set(policy: SweepPolicy) {
  const { events, rows } = policySet(policy);
  return accept(policy, events, rows);
}

function policyOf({ sweepPolicies }: SweepSees, id: string): SweepPolicy | Refusal {
  return sweepPolicies.find((one) => one.id === id) ?? notFound('sweep policy', id, { policyId: id });
}

/** The first setting that does not fit, in the order of the error table. */
function unfit(state: SweepSees, settings: SweepSettings, nowMs: number): Refusal | null {
  return firstRefusal(unfitTrigger(settings, nowMs), unfitOfChain(settings), unfitWallets(state, settings));
}

const wrong = (field: string, reason: string) => refuse('INVALID_INPUT', { field, reason });

const belowFloor = () =>
  wrong('minAmount', 'below dustFloor: an address that fires a cycle would not be touched by it');

function unfitTrigger(
  { triggerMode, minAmount, dustFloor, scheduleCron, scheduleTimeZone }: SweepSettings,
  nowMs: number,
): Refusal | null {
  if (minAmount === null && THRESHOLDS.has(triggerMode)) return wrong('minAmount', `missing: ${triggerMode} needs it`);
  if (minAmount !== null && BigInt(minAmount) < BigInt(dustFloor)) return belowFloor();
  if (scheduleCron === null)
    return SCHEDULED.has(triggerMode) ? wrong('scheduleCron', `missing: ${triggerMode} needs it`) : null;
  const schedule = parseSchedule(scheduleCron, scheduleTimeZone, nowMs);
  return isRefusal(schedule) ? schedule : null;
}

function unfitOfChain(settings: Omit<SweepSettings, 'treasuryWalletId'>): Refusal | null {
  const { chain, token, gasFundingMode, retainGasFloat, closeTokenAccounts, energy } = settings;
  const modes = fundingModesOf(settings);
  if (!modes.includes(gasFundingMode))
    return wrong(
      'gasFundingMode',
      `not for ${token === null ? 'the native coin' : 'tokens'} of ${chain}: send ${modes.join(' or ')}`,
    );
  if (retainGasFloat > 0 && token !== null)
    return wrong('retainGasFloat', 'only a native sweep leaves native coin: send 0 for a token');
  if (retainGasFloat > 0 && FAMILY_OF[chain] === 'btc')
    return wrong('retainGasFloat', 'coins are swept whole and nothing stays: send 0 on btc');
  if (closeTokenAccounts)
    return wrong('closeTokenAccounts', 'this version closes no token account: send false or leave it out');
  if (energy !== null && FAMILY_OF[chain] !== 'tron') return wrong('energy', 'only on tron');
  if (energy === 'DELEGATE') return wrong('energy', 'this version delegates no energy: send BURN');
  return null;
}

/**
 * A preview of a policy that may not exist yet: what it names fits, and it may leave out its wallets. Refuses:
 * INVALID_INPUT, NOT_FOUND.
 */
export function unfitDraft(state: SweepSees, draft: SweepDraft): Refusal | null {
  const { treasuryWalletId, fundingWalletId, gasFundingMode, minAmount, dustFloor } = draft;
  return firstRefusal(
    minAmount !== null && BigInt(minAmount) < BigInt(dustFloor) ? belowFloor() : null,
    unfitOfChain(draft),
    treasuryWalletId === null ? null : unfitTreasury(state, draft.chain, treasuryWalletId),
    fundingWalletId === null ? null : unfitFunding(state, { chain: draft.chain, gasFundingMode, fundingWalletId }),
  );
}
export type SweepDraft = Omit<SweepSettings, 'treasuryWalletId'> & { readonly treasuryWalletId: string | null };

function unfitWallets(state: SweepSees, settings: SweepSettings): Refusal | null {
  return firstRefusal(unfitTreasury(state, settings.chain, settings.treasuryWalletId), unfitFunding(state, settings));
}

const ofOtherChain = (field: string, chain: string, found: string) =>
  wrong(field, `a wallet of ${found}; this policy is one of ${chain}`);

function unfitTreasury({ treasuryWallets }: SweepSees, chain: SweepSettings['chain'], walletId: string) {
  const treasury = treasuryWallets.find(({ id }) => id === walletId);
  if (treasury === undefined) return notFound('treasury wallet', walletId, { field: 'treasuryWalletId' });
  return treasury.chain === chain ? null : ofOtherChain('treasuryWalletId', chain, treasury.chain);
}

function unfitFunding(
  { fundingWallets }: SweepSees,
  { chain, gasFundingMode, fundingWalletId }: Pick<SweepSettings, 'chain' | 'gasFundingMode' | 'fundingWalletId'>,
): Refusal | null {
  if (gasFundingMode === 'SELF')
    return fundingWalletId === null ? null : wrong('fundingWalletId', 'not needed: SELF pays fees from what is swept');
  if (fundingWalletId === null) return wrong('fundingWalletId', `missing: ${gasFundingMode} needs a funding wallet`);
  const funding = fundingWallets.find(({ id }) => id === fundingWalletId);
  if (funding === undefined) return notFound('funding wallet', fundingWalletId, { field: 'fundingWalletId' });
  return funding.chain === chain ? null : ofOtherChain('fundingWalletId', chain, funding.chain);
}
