/**
 * How an open job goes on: each operation one arrow further by what its transactions have become, then the job's end.
 * What is stored says what is next, so that whichever node comes after a crash goes on where the last write was: the
 * ids of the transactions are chosen before they are built, the edge signs a transaction once, the same bytes are
 * submitted. Treasury 5.3, S17.
 */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { Blocked } from '../../model/account/sweep.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ChainAccess, ChainBinding } from '../../model/ports/chain-access.ts';
import type { EdgeStreams } from '../../model/ports/edge-streams.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { SweepStore } from '../../model/ports/sweep-store.ts';
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { assetOf } from '../../chains/reading.ts';
import { EXPIRY_MS } from '../../chains/tron/fee.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { newId } from '../../protocol/node/ids.ts';
import { FAMILY_OF, type Chain, type OperationRole } from '../../protocol/slugs.ts';
import { counterKey, isCounted } from '../outgoing/counters.ts';
import { ROLE_OF } from '../outgoing/row.ts';
import type { WayOut } from '../outgoing/way-out.ts';
import { tankOf } from '../treasury/view.ts';
import { BALANCE_CHANGED, TOKEN_OFF, unbuildable, type Ending } from './ending.ts';
import { UNSIGNED } from './moves.ts';
import { coinsOf, needOf, payerOf, treasuryOf, type Now } from './need.ts';
import { CLOSED, outcomeOf, paidFor, settledOf } from './paid.ts';
import type { PlanSettings } from './plan.ts';
import { isPricedAnew, isStuckSweep, stuckFirst } from './stuck.ts';
import { lookAtTank } from './tank-level.ts';
import { BTC_SWEEPS_OFF, frameOf, isAway, verdictOf, type Verdict } from './signing.ts';

/** SWEEP_JOB_DEADLINE: what is not signed by then is skipped, and the next cycle plans it anew. */
export const JOB_DEADLINE_MS = 6 * 3_600_000;

export interface WorkParts {
  readonly accounts: Pick<Accounts, 'ask'>;
  readonly chains: Pick<ChainAccess, 'bind'>;
  readonly reads: Pick<ReadStore, 'withdrawal' | 'addressByText'>;
  readonly sweeps: Pick<SweepStore, 'job' | 'operations' | 'openOperation' | 'isPaying' | 'promised'>;
  readonly wayOut: Pick<WayOut, 'build' | 'bind' | 'reprice'>;
  readonly edges: Pick<EdgeStreams, 'askToOperate'>;
  readonly nowMs: () => number;
  /** A sweep is left out: the gas tank has too little. */
  readonly onTankLow?: (accountId: AccountId, chain: Chain) => void;
  /** Gas that was sent stays on an address that was not swept. S31. */
  readonly onLeftover?: (accountId: AccountId, chain: Chain, amount: bigint) => void;
}

/** One round of a job. Throws: ChainUnavailable: nothing is failed or skipped then, and it is tried again. */
export async function advanceJob(parts: WorkParts, accountId: AccountId, jobId: string): Promise<void> {
  const job = await parts.sweeps.job(accountId, jobId);
  if (job === null || (job.endedAtMs !== null && !job.takenBack)) return;
  const state = await stateOf(parts, accountId),
    binding = await parts.chains.bind(accountId, job.chain);
  if (state === null || isRefusal(binding)) return;
  const settings = JSON.parse(job.settings) as PlanSettings & { enabled: boolean };
  if (job.takenBack) await reopen(parts, accountId, jobId);
  const before = await parts.sweeps.operations(accountId, jobId),
    open = before.filter(({ state: at }) => !ENDED.has(at)),
    isOpening = open.some(({ state: at }) => at === 'SIGNING' || at === 'BROADCAST'),
    heldMs = heldSince(open);
  const round: Round = {
    parts,
    accountId,
    job,
    settings,
    state,
    binding,
    beganMs: heldMs === null ? job.updatedAtMs : parts.nowMs(),
    endsAll: null,
    isOpening,
    head: null,
    isEdgeAway: heldMs !== null && parts.nowMs() - heldMs < HELD_ASK_MS,
    silences: 0,
    stuck: stuckIn(state, job.chain, parts.nowMs()),
  };
  await freeTank(round, open);
  for (const operation of open) await step(round, operation);
  const ended = await parts.sweeps.operations(accountId, jobId);
  if (ended.some(({ state: at }) => !ENDED.has(at)) || !(await settledOf(parts, accountId, ended))) return;
  const all = ended.some(({ paid }) => paid === null) ? await parts.sweeps.operations(accountId, jobId) : ended;
  if (job.takenBack) {
    if (await isFollowed(parts, accountId, all))
      await parts.accounts.ask(accountId, { type: 'settle_sweep_job', known: job, outcome: outcomeOf(all) });
    return;
  }
  const token = job.tokenContract === null ? null : (binding.catalogue.get(job.tokenContract) ?? null);
  const { symbol } = assetOf(binding, token);
  await parts.accounts.ask(accountId, { type: 'end_sweep_job', known: job, symbol, outcome: outcomeOf(all) });
  await lookAtTank(parts, accountId, state, job.chain);
}

const ENDED: ReadonlySet<string> = new Set(['CONFIRMED', 'FAILED', 'SKIPPED']);

/**
 * S22: operations that say that they are confirmed, and whose transaction a reorg took out of the chain, wait for it
 * again. One whose address has another operation open by now waits for that: the sweep keeps all others off meanwhile.
 */
async function reopen(parts: WorkParts, accountId: AccountId, jobId: string): Promise<void> {
  for (const known of await parts.sweeps.operations(accountId, jobId)) {
    if (known.state !== 'CONFIRMED') continue;
    const sweep = await parts.reads.withdrawal(accountId, known.sweepId);
    if (sweep === null || sweep.status === 'confirmed') continue;
    const move = { type: 'move_sweep_operation', known } as const;
    if (sweep.status === 'failed')
      await parts.accounts.ask(accountId, { ...move, to: 'FAILED', reason: lostBy(sweep) });
    else if ((await parts.sweeps.openOperation(accountId, known.chain, known.address)) === null)
      await parts.accounts.ask(accountId, { ...move, to: 'BROADCAST', reason: null });
  }
}

/** Whether each operation says what became of its transaction. */
async function isFollowed(
  { reads }: WorkParts,
  accountId: AccountId,
  all: readonly SweepOperationRow[],
): Promise<boolean> {
  for (const { state, sweepId } of all)
    if (state === 'CONFIRMED' && (await reads.withdrawal(accountId, sweepId))?.status !== 'confirmed') return false;
  return true;
}

const lostBy = ({ height }: WithdrawalRow): 'dead' | 'reverted' => (height === null ? 'dead' : 'reverted');

/** How often an edge is asked again that has a setting against the job. Each is a build. */
const HELD_ASK_MS = 10 * 60_000;

/** When an edge last said that a setting keeps the job planned; null where none does. */
function heldSince(open: readonly SweepOperationRow[]): number | null {
  const held = open.filter(({ state, details }) => state === 'PLANNED' && details?.includes(BTC_SWEEPS_OFF) === true);
  return held.length === 0 ? null : Math.max(...held.map(({ updatedAtMs }) => updatedAtMs));
}

interface Round {
  readonly parts: WorkParts;
  readonly accountId: AccountId;
  readonly job: SweepJobRow;
  readonly settings: PlanSettings & { enabled: boolean };
  readonly state: AccountState;
  readonly binding: ChainBinding;
  /** When its deadline began: with its run, and not while a setting of the edge holds it. */
  readonly beganMs: number;
  /** What the edge said to one operation, and would say to all that are not signed. */
  endsAll: Verdict | null;
  /** A sweep is under way that may make the treasury's account. */
  isOpening: boolean;
  /** Height of the newest block when the first operation of the round asked; null until one did. */
  head: number | null;
  /** The edge signs nothing now: what would be built for it waits, and it is asked again in the next round. */
  isEdgeAway: boolean;
  /** What waits too long under the lowest value of the tank's counter; null where nothing does. W11. */
  readonly stuck: string | null;
  /** Times that it did not answer: one may be about one payload, behind which the others do not wait. */
  silences: number;
}

function stuckIn(state: AccountState, chain: Chain, nowMs: number): string | null {
  const tank = tankOf(state, chain);
  return tank === null ? null : stuckFirst(state.counters[counterKey(chain, tank.address)], state.withdrawals, nowMs);
}

async function stateOf({ accounts }: WorkParts, accountId: AccountId): Promise<AccountState | null> {
  const answer = await accounts.ask(accountId, { type: 'inspect' });
  return answer.ok === true ? (answer.reply as AccountState) : null;
}

async function step(round: Round, operation: SweepOperationRow): Promise<void> {
  const { parts, accountId } = round;
  if (operation.state === 'BROADCAST') return settle(round, operation);
  const building = operation.state === 'PLANNED' ? null : idOf(operation);
  const built = building === null ? null : await parts.reads.withdrawal(accountId, building);
  const stop = isOnItsWay(operation, built) ? null : stopOf(round, operation);
  if (stop !== null) return end(round, operation, built, stop);
  if (operation.state === 'PLANNED') return round.isEdgeAway ? undefined : begin(round, operation);
  if (operation.state === 'FUNDING') return funded(round, operation, built);
  return signed(round, operation, built);
}

const idOf = ({ state, fundId, sweepId }: SweepOperationRow): string => (state === 'FUNDING' ? fundId : sweepId);

/** What is signed is waited for: a sweep until it ends, gas until it lies there, or a next cycle would send more. */
function isOnItsWay({ state }: SweepOperationRow, built: WithdrawalRow | null): boolean {
  if (built === null || built.versions.length === 0) return false;
  return state !== 'FUNDING' || (built.height === null && !CLOSED.has(built.status));
}

/** Why an operation that is not signed goes no further; null where it does. Treasury S1, 5.3. */
function stopOf(
  { parts, job, settings, state, binding, endsAll, beganMs }: Round,
  operation: SweepOperationRow,
): Ending | null {
  if (endsAll !== null && endsAll.to !== 'PLANNED')
    return { to: endsAll.to, reason: endsAll.reason, ...detailsOf(endsAll.blocked) };
  const policy = state.sweepPolicies.find(({ id }) => id === job.policyId);
  const isOff = policy === undefined || policy.pausedAtMs !== null || (settings.enabled && !policy.enabled);
  if (isOff && UNSIGNED.has(operation.state)) return { to: 'SKIPPED', reason: 'policy_stopped' };
  const { tokenContract } = job;
  if (tokenContract !== null && !binding.catalogue.has(tokenContract)) return TOKEN_OFF;
  return parts.nowMs() - beganMs > JOB_DEADLINE_MS ? { to: 'SKIPPED', reason: 'deadline' } : null;
}

const detailsOf = (blocked: Blocked | null): { details?: string } =>
  blocked === null ? {} : { details: JSON.stringify(blocked) };

/** The build goes first: an edge that signed it meanwhile is heard, and what comes after it is refused. */
async function end(
  { parts, accountId }: Round,
  known: SweepOperationRow,
  built: WithdrawalRow | null,
  { to, reason, details }: Ending,
): Promise<void> {
  const more = details === undefined ? {} : { details };
  const paid = await paidFor(parts, accountId, known);
  if (built !== null && built.status === 'built') {
    const given = await parts.accounts.ask(accountId, { type: 'abandon_withdrawal', known: built });
    if (given.ok !== true) return;
  }
  if (reason === 'funding_wallet_low') parts.onTankLow?.(accountId, known.chain);
  const isSent = known.state === 'SIGNING' || (known.state === 'FUNDING' && (built?.height ?? null) !== null);
  if (isSent && known.funding !== null) parts.onLeftover?.(accountId, known.chain, known.funding);
  const cost = paid === null ? {} : { paid };
  await parts.accounts.ask(accountId, { type: 'move_sweep_operation', known, to, reason, ...more, ...cost });
}

/** PLANNED: by what lies there now, gas first or the sweep at once. */
async function begin(round: Round, operation: SweepOperationRow): Promise<void> {
  const { settings, state, job } = round,
    { address, chain } = operation;
  if (Object.keys(state.counters[counterKey(chain, address)]?.inFlight ?? {}).length > 0)
    return end(round, operation, null, { to: 'SKIPPED', reason: 'withdrawal_in_flight' });
  const row = await round.parts.reads.addressByText(round.accountId, chain, address);
  if (row?.project?.mode === 'observe') return end(round, operation, null, { to: 'SKIPPED', reason: 'observe_mode' });
  if (await round.parts.sweeps.isPaying(round.accountId, chain, address))
    return end(round, operation, null, { to: 'SKIPPED', reason: 'withdrawal_in_flight' });
  const now = await needOf(round, operation);
  const stop = unsweepable(round, operation, now);
  if (stop !== null || now === null) return end(round, operation, null, stop ?? BALANCE_CHANGED);
  if (now.opens && round.isOpening) return; // one sweep makes the account, those after it find it there
  const isOfTank = settings.gasFundingMode === 'FEE_PAYER';
  const missing = isOfTank ? now.cost : now.need > now.gas ? now.need - now.gas : 0n;
  const needsTank = missing > 0n && job.tokenContract !== null && settings.gasFundingMode === 'FUNDING_WALLET';
  if (!isOfTank && !needsTank && job.tokenContract !== null && missing > 0n)
    return end(round, operation, null, { to: 'SKIPPED', reason: 'reserve' });
  if (needsTank && now.isWithin)
    return build(round, operation, { to: 'SIGNING', amount: now.moves, left: null, withinFee: now.gas });
  if (needsTank) return gasFor(round, operation, operation.fundId, missing);
  const left = isOfTank ? ((await leftFor(round, operation)) ?? 0n) : null;
  if (left !== null && left < missing)
    return end(round, operation, null, { to: 'SKIPPED', reason: 'funding_wallet_low' });
  if (now.opens) round.isOpening = true;
  return build(round, operation, { to: 'SIGNING', amount: now.moves, left });
}

/** A funding of what is missing, where the tank has it beside what it keeps for others. W9. */
async function gasFor(round: Round, operation: SweepOperationRow, id: string, missing: bigint): Promise<void> {
  if (round.stuck !== null) return;
  const left = await leftFor(round, operation);
  if (left === null) return end(round, operation, null, { to: 'FAILED', reason: 'funding_failed' });
  return build(round, operation, { to: 'FUNDING', amount: missing, left, id });
}

/** What the tank has for an operation: all but what it keeps for others. Null without a tank. */
async function leftFor(
  { parts: { sweeps }, accountId, state, job, binding }: Round,
  { promised }: SweepOperationRow,
): Promise<bigint | null> {
  const tank = tankOf(state, job.chain);
  if (tank === null) return null;
  const kept = await sweeps.promised(accountId, job.chain);
  const { available } = await binding.client.fetchBalance(tank.address, null),
    others = kept > promised ? kept - promised : 0n;
  return available > others ? available - others : 0n;
}

/** Why what lies there now is not moved: too little, a transfer that would fail (K17), a price too high (S14). */
function unsweepable({ settings }: Round, { amount }: SweepOperationRow, now: Now | null): Ending | null {
  if (now === null || now.held < amount) return BALANCE_CHANGED;
  const limit = settings.abortIfGasExceeds;
  if (now.declined === null)
    return limit !== null && now.cost > BigInt(limit) ? { to: 'SKIPPED', reason: 'gas_above_limit' } : null;
  const details = JSON.stringify({ code: 'CHAIN_REJECTED', reason: now.declined });
  return { to: 'SKIPPED', reason: 'token_frozen', details };
}

interface Arrow {
  readonly to: 'FUNDING' | 'SIGNING';
  readonly amount: bigint;
  /** What the tank has for it; null where it pays nothing. */
  readonly left: bigint | null;
  /** Of its transaction; absent: the sweep's. */
  readonly id?: string;
  /** What the sweep may cost at most, where that is less than the chain's usual price. */
  readonly withinFee?: bigint;
}

/** One arrow and its transaction, in one append; what cannot be built now is tried again. */
async function build(
  round: Round,
  operation: SweepOperationRow,
  { to, amount, left, id = operation.sweepId, withinFee }: Arrow,
): Promise<void> {
  const { parts, accountId, job, state, settings } = round,
    { chain, address } = operation;
  const home = treasuryOf(state, settings),
    tank = tankOf(state, chain),
    { amount: whole = String(amount), sweepUpTo } = coinsOf(operation);
  if (home === null) return end(round, operation, null, { to: 'FAILED', reason: 'no_treasury' });
  const wish =
    to === 'FUNDING'
      ? { from: tank!.address, to: address, tokenContract: null, chainTag: null }
      : {
          from: address,
          to: home.address,
          tokenContract: job.tokenContract,
          chainTag: home.tag,
          tagOfAddress: home.tag !== null,
          ...payerOf(settings, tank),
          ...(withinFee === undefined ? {} : { withinFee }),
          ...(sweepUpTo === undefined ? {} : { sweepUpTo }),
        };
  const answer = await parts.wayOut.build(
    accountId,
    { chain, amount: whole, kind: 'payment', ...wish },
    { id, operation: { known: operation, to, amount, left } },
  );
  if (isRefusal(answer)) {
    const ending = unbuildable(chain, answer, to === 'FUNDING');
    return ending === null ? undefined : end(round, operation, null, ending);
  }
  if (answer.ok !== true) return;
  // Asked for at once: what only expires would not wait for the next round.
  const after = await parts.sweeps.openOperation(accountId, chain, address);
  if (after !== null && after.state === to) return sign(round, after, answer.reply, ROLE_OF[to]);
}

/** FUNDING: signed, then in enough blocks, then the sweep. Treasury S28. */
async function funded(round: Round, operation: SweepOperationRow, built: WithdrawalRow | null): Promise<void> {
  const { parts, binding } = round;
  if (built !== null && isGivenUp(built)) return end(round, operation, null, { to: 'SKIPPED', reason: 'deadline' });
  if (built === null || CLOSED.has(built.status))
    return end(round, operation, null, { to: 'FAILED', reason: 'funding_failed' });
  if (built.status === 'built') return sign(round, operation, built, 'fund');
  if (built.height === null) return;
  round.head ??= (await binding.client.getHead()).height;
  const depth = binding.network.fundingDepth ?? binding.network.threshold;
  if (round.isEdgeAway || round.head - built.height + 1 < depth) return;
  const now = await needOf(round, operation),
    stop = unsweepable(round, operation, now);
  if (stop !== null || now === null) return end(round, operation, null, stop ?? BALANCE_CHANGED);
  const sweep = { to: 'SIGNING', amount: now.moves, left: null } as const;
  if (now.gas >= now.need) return build(round, operation, sweep);
  if (now.isWithin) return build(round, operation, { ...sweep, withinFee: now.gas });
  // A market that rose above what was funded: what is missing is sent once; then it is waited for, until the deadline.
  if (operation.firstFundId !== null) return;
  return gasFor(round, operation, newId('txn', parts.nowMs()), now.need - now.gas);
}

/** Nobody signed it, and nobody can any more. */
const isGivenUp = ({ status, versions }: WithdrawalRow): boolean => CLOSED.has(status) && versions.length === 0;

/** SIGNING: asked for until its bytes are stored. */
async function signed(round: Round, operation: SweepOperationRow, built: WithdrawalRow | null): Promise<void> {
  const { parts, accountId } = round;
  if (built === null || isGivenUp(built)) return end(round, operation, null, { to: 'SKIPPED', reason: 'deadline' });
  if (built.status === 'built') return sign(round, operation, built, 'sweep');
  const isDead = CLOSED.has(built.status) && built.height === null;
  if (isDead) return end(round, operation, null, { to: 'FAILED', reason: 'dead' });
  if (built.status === 'signing') return;
  await parts.accounts.ask(accountId, {
    type: 'move_sweep_operation',
    known: operation,
    to: 'BROADCAST',
    reason: null,
  });
}

async function sign(
  round: Round,
  operation: SweepOperationRow,
  built: WithdrawalRow,
  role: OperationRole,
): Promise<void> {
  const { parts, accountId, state, settings } = round;
  if (FAMILY_OF[built.chain] === 'tron' && parts.nowMs() - built.updatedAtMs > EXPIRY_MS - LANDS_MS)
    return end(round, operation, built, { to: 'SKIPPED', reason: 'deadline' });
  const ready = round.isEdgeAway ? null : await readyToSign(round, built);
  if (ready === null) return;
  if (isRefusal(ready)) {
    const ending = unbuildable(built.chain, ready, role === 'fund');
    return ending === null ? undefined : end(round, operation, built, ending);
  }
  const from = role === 'fund' ? await parts.reads.addressByText(accountId, operation.chain, operation.address) : null;
  const toPath = role === 'fund' ? (from?.derivationPath ?? null) : (treasuryOf(state, settings)?.path ?? null);
  const said = await parts.edges.askToOperate(accountId, frameOf(operation, ready, role, toPath));
  if (said.ok) return;
  const after = await parts.reads.withdrawal(accountId, built.id);
  // Signed all the same: what became of it is in its row.
  if (after === null || after.versions.length > 0) return;
  const verdict = verdictOf(said);
  if (verdict === null) {
    if (said.code === 'SERVICE_UNAVAILABLE') round.silences += 1;
    round.isEdgeAway = isAway(said) || round.silences >= SILENCES_MAX;
    return;
  }
  const heard = detailsOf(verdict.blocked);
  if (verdict.to === 'PLANNED') return giveBack(round, operation, after, heard.details ?? '{}');
  if (verdict.endsAll) round.endsAll = verdict;
  const details = heard.details ?? JSON.stringify({ code: said.code, reason: said.details?.['reason'] ?? null });
  await end(round, operation, after, { to: verdict.to, reason: verdict.reason, details });
}

/** A setting of the edge has no sweeps of the chain: the operation stays planned, and says which; others wait. */
async function giveBack(round: Round, known: SweepOperationRow, built: WithdrawalRow, details: string): Promise<void> {
  const { parts, accountId } = round;
  round.isEdgeAway = true;
  const given = await parts.accounts.ask(accountId, { type: 'abandon_withdrawal', known: built });
  if (given.ok !== true) return;
  const fresh = { sweepId: newId('txn', parts.nowMs()), details };
  await parts.accounts.ask(accountId, { type: 'move_sweep_operation', known, to: 'PLANNED', reason: null, ...fresh });
}

/** Each is a wait of seconds, for all jobs of the node. */
const SILENCES_MAX = 3;

/** What a TRON payload has left is too little to be signed, submitted and included. T15. */
const LANDS_MS = 60_000;

/** After this a Solana message is built anew before it is signed: a block hash is good for a minute. L31. */
const FRESH_MS = 20_000;

/** A build under the counter that is next, or one that can still land; or why there is none now. */
async function readyToSign({ parts }: Round, built: WithdrawalRow): Promise<WithdrawalRow | Refusal | null> {
  const { chain, updatedAtMs } = built,
    family = FAMILY_OF[chain];
  if (isCounted(family)) {
    const bound = await parts.wayOut.bind(built, []);
    return bound.ok === true ? bound.reply : isRefusal(bound) ? bound : null;
  }
  if (family !== 'sol' || parts.nowMs() - updatedAtMs < FRESH_MS) return built;
  const renewed = await parts.wayOut.reprice(built);
  return renewed.ok === true ? renewed.reply : isRefusal(renewed) ? renewed : null;
}

/** BROADCAST: as its transaction ends, so does it. */
async function settle(round: Round, known: SweepOperationRow): Promise<void> {
  const { parts, accountId } = round;
  const sweep = await parts.reads.withdrawal(accountId, known.sweepId),
    paid = await paidFor(parts, accountId, known);
  if (sweep !== null && isStuckSweep(sweep, parts.nowMs())) return replace(round, known, sweep, 'sweep');
  if (sweep === null || paid === null) return;
  const move = { type: 'move_sweep_operation', known, paid } as const;
  const { amount } = sweep; // of the version that landed
  if (sweep.status === 'confirmed')
    await parts.accounts.ask(accountId, { ...move, to: 'CONFIRMED', reason: null, amount });
  else if (sweep.status === 'failed')
    await parts.accounts.ask(accountId, { ...move, to: 'FAILED', reason: lostBy(sweep) });
}

/** A version that displaces the one that waits; where there is none, or the edge signs none, that one goes on. */
async function replace(
  round: Round,
  operation: SweepOperationRow,
  stuck: WithdrawalRow,
  role: OperationRole,
): Promise<void> {
  if (round.isEdgeAway) return;
  if (isPricedAnew(stuck)) return sign(round, operation, stuck, role);
  const priced = await round.parts.wayOut.reprice(stuck);
  if (priced.ok === true) await sign(round, operation, priced.reply, role);
}

/** W11: gas that is stuck pays more, in the order of the tank's counter, before other gas is added behind it. */
async function freeTank(round: Round, open: readonly SweepOperationRow[]): Promise<void> {
  const { parts, accountId, stuck } = round;
  const operation =
    stuck === null ? undefined : open.find(({ fundId, state }) => state === 'FUNDING' && fundId === stuck);
  const built = operation === undefined ? null : await parts.reads.withdrawal(accountId, operation.fundId);
  if (operation !== undefined && built?.status === 'broadcast' && built.height === null)
    await replace(round, operation, built, 'fund');
}
