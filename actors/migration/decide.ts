/**
 * What an import means for its account: room and, where the owner accepts it, a larger band, in the append that
 * reserves the batch; its opening; the way back; the cutover of a project. What was read of batch and project is a
 * predicate of the rows (append_imports). Migration M-I8, M-I9, M-I13, M-O5, M-R2.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { isOnBand } from '../../protocol/plans.ts';
import type { AccountEvent, MigrationSees, RowWrite } from '../../model/account/capabilities.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { turnOfDay } from '../address/peak.ts';
import { buyPlan } from '../plan/decide.ts';
import { noSubscription } from '../plan/limits.ts';
import { capacityOf } from './capacity.ts';

interface Accepting {
  readonly adopting: number;
  readonly acceptBillingChange: boolean;
  readonly byOwner: boolean;
}

/**
 * What the plan says of adopting so many addresses. Refuses: ACCOUNT_SUSPENDED, FORBIDDEN (a key accepts no billing
 * change), NO_SUBSCRIPTION, ADDRESS_LIMIT_EXCEEDED, TIER_FEATURE_LOCKED, IMPORT_TOO_LARGE.
 */
export function noRoom(state: MigrationSees, ask: Accepting, nowMs: number): Refusal | null {
  const no = suspended(state) ?? noSubscription(state, nowMs);
  if (no !== null) return no;
  if (state.environment === 'sandbox') return null;
  if (!isOnBand(state.plan))
    return refuse('TIER_FEATURE_LOCKED', { feature: 'import', tier: state.plan.tier, requiredTier: 'premium' });
  const { band, limit, current, projected, exceeds, requiredBand } = capacityOf(state, ask.adopting);
  if (!exceeds) return null;
  if (requiredBand === 'custom') return refuse('IMPORT_TOO_LARGE', { reason: 'above_self_service' });
  if (!ask.acceptBillingChange)
    return refuse('ADDRESS_LIMIT_EXCEEDED', {
      band: band!,
      limit: limit!,
      current,
      projected,
      requiredBand: requiredBand!,
    });
  return ask.byOwner
    ? null
    : refuse('FORBIDDEN', { reason: 'a billing change is accepted by an owner who is signed in' });
}

/** Makes room. Refuses: as `noRoom` and `buy_plan`; the store: IMPORT_NOT_READY. */
export function reserveImport(deciding: Deciding<'reserve_import'>): AccountDecision<'reserve_import'> {
  const { state, command, realMs } = deciding;
  const { batchId, dryRunId, adopting, chains, heights, indexes } = command;
  const no = noRoom(state, command, realMs);
  if (no !== null) return no;
  const { exceeds, requiredBand } = capacityOf(state, adopting);
  const bought = exceeds
    ? buyPlan({ ...deciding, state, command: { type: 'buy_plan', band: requiredBand! } })
    : { ok: true as const, events: [], rows: [] };
  if (bought.ok !== true) return bought;
  const turn = turnOfDay(state, realMs);
  const events: AccountEvent[] = [
    ...bought.events,
    ...turn.events,
    { type: 'import_reserved', batchId, adopting, chains, indexes },
  ];
  const rows: RowWrite[] = [
    ...bought.rows,
    ...turn.rows,
    { table: 'imports_reserved', row: { id: batchId, dryRunId, adopting, heights }, key: batchId },
  ];
  return accept({ batchId }, events, rows);
}

/** All rows are addresses: from now on they are seen. Refuses, by the store: IMPORT_NOT_READY. */
export function openImport({ command, nowMs }: Deciding<'open_import'>): AccountDecision<'open_import'> {
  const { batchId, adopting } = command;
  return accept(
    { batchId },
    [{ type: 'import_opened', batchId }],
    [
      {
        table: 'imports_opened',
        row: { id: batchId, adopting, at: new Date(nowMs).toISOString() },
        key: batchId,
      },
    ],
  );
}

/** Taken back, or never seen. Refuses, by the store: IMPORT_NOT_READY, ROLLBACK_WINDOW_CLOSED. */
export function undoImport({ state, command, realMs }: Deciding<'undo_import'>): AccountDecision<'undo_import'> {
  const { batchId, adopting, becomes } = command;
  const turn = turnOfDay(state, realMs);
  return accept(
    { batchId },
    [...turn.events, { type: 'import_undone', batchId, adopting, becomes }],
    [...turn.rows, { table: 'imports_undone', row: { id: batchId, adopting, becomes }, key: batchId }],
  );
}

/** Refuses, by the store: IMPORT_NOT_READY. */
export function cutOver({ command }: Deciding<'cut_over'>): AccountDecision<'cut_over'> {
  const { projectId, state, heights } = command;
  return accept(
    { state },
    [{ type: 'project_cut_over', projectId, state }],
    [{ table: 'projects_cut_over', row: { id: projectId, state, heights }, key: projectId }],
  );
}
