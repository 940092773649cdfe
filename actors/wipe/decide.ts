/**
 * The wipe of an account. What is deleted follows from `account_wiped`: the folds of each capability for the state, the
 * store for the rows (append_wipes, wipe_step). Indexes go on, so that a live address is never issued twice. Console
 * A48, A49.
 */
import { notFound, refuse, type Refusal } from '../../protocol/errors.ts';
import type { AccountEvent, RowWrite, WipeSees } from '../../model/account/capabilities.ts';
import type { Wipe, WipeRowWrite } from '../../model/account/wipe.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';

/** How long owners have to take it back. */
export const WIPE_DELAY_MS = 72 * 3_600_000;

/**
 * Schedules it. Refuses: ACCOUNT_SUSPENDED, CONFLICT (`scheduled`, `open_withdrawals`, `rotation_pending`; the store:
 * `work_under_way`).
 */
export function scheduleWipe({ state, command, nowMs }: Deciding<'schedule_wipe'>): AccountDecision<'schedule_wipe'> {
  const { id, byUser } = command;
  const no = firstRefusal(
    state.wipe === null
      ? suspended(state)
      : refuse('CONFLICT', { reason: 'scheduled', wipeId: state.wipe.id, scheduledFor: instant(state.wipe.forMs) }),
    withdrawalsOpen(state),
    state.rotation === null ? null : refuse('CONFLICT', { reason: 'rotation_pending', rotationId: state.rotation.id }),
  );
  if (no !== null) return no;
  const forMs = nowMs + WIPE_DELAY_MS;
  return accept(
    { id, forMs },
    [{ type: 'wipe_scheduled', id, forMs, byUser }],
    [rowOf({ id, forMs }, 'scheduled', nowMs, byUser)],
  );
}

/** Takes it back, as long as nothing is deleted. Refuses: NOT_FOUND, CONFLICT (`running`). */
export function cancelWipe({ state, nowMs }: Deciding<'cancel_wipe'>): AccountDecision<'cancel_wipe'> {
  const { wipe } = state;
  if (wipe === null) return notFound('scheduled wipe', state.accountId);
  if (wipe.status === 'running') return refuse('CONFLICT', { reason: 'running', wipeId: wipe.id });
  return moved(wipe, { type: 'wipe_cancelled', id: wipe.id }, 'cancelled', nowMs);
}

/** Refuses: NOT_FOUND; CONFLICT (`not_due`) before its time. */
export function closeForWipe({ state, nowMs }: Deciding<'close_for_wipe'>): AccountDecision<'close_for_wipe'> {
  const { wipe } = state;
  if (wipe === null) return notFound('scheduled wipe', state.accountId);
  if (wipe.status !== 'scheduled') return accept({ id: wipe.id });
  if (nowMs < wipe.forMs) return refuse('CONFLICT', { reason: 'not_due', scheduledFor: instant(wipe.forMs) });
  return moved(wipe, { type: 'wipe_begun', id: wipe.id }, 'closing', nowMs);
}

/** Refuses: NOT_FOUND; CONFLICT while it is not begun or a withdrawal is open; the store: `work_under_way`. */
export function wipeAccount({ state, nowMs }: Deciding<'wipe_account'>): AccountDecision<'wipe_account'> {
  const { wipe, plan } = state;
  if (wipe === null) return notFound('scheduled wipe', state.accountId);
  if (wipe.status === 'running') return accept({ id: wipe.id });
  if (wipe.status !== 'closing') return refuse('CONFLICT', { reason: 'not_due', scheduledFor: instant(wipe.forMs) });
  const no = withdrawalsOpen(state);
  if (no !== null) return no;
  const { id } = wipe;
  return accept(
    { id },
    [
      { type: 'account_wiped', id, atMs: nowMs },
      // Its links stay as they are and take nothing: creating, resuming and paying are refused until payments are on.
      ...(plan.paymentsActive ? [{ type: 'plan_changed' as const, plan: { ...plan, paymentsActive: false } }] : []),
    ],
    [rowOf(wipe, 'running', nowMs), { table: 'payments_retired' }],
  );
}

/** Refuses: NOT_FOUND; CONFLICT (`not_running`). */
export function endWipe({ state, nowMs }: Deciding<'end_wipe'>): AccountDecision<'end_wipe'> {
  const { wipe } = state;
  if (wipe === null) return notFound('scheduled wipe', state.accountId);
  if (wipe.status !== 'running') return refuse('CONFLICT', { reason: 'not_running', wipeId: wipe.id });
  return moved(wipe, { type: 'wipe_ended', id: wipe.id }, 'done', nowMs);
}

function withdrawalsOpen({ withdrawals }: WipeSees): Refusal | null {
  const open = Object.keys(withdrawals);
  return open.length === 0
    ? null
    : refuse('CONFLICT', {
        reason: 'open_withdrawals',
        count: open.length,
        transactionId: open[0]!,
        next: 'wait until they are final; a build that nobody signs ends by itself',
      });
}

function moved(wipe: Wipe, event: AccountEvent, status: WipeRowWrite['status'], nowMs: number) {
  return accept({ id: wipe.id }, [event], [rowOf(wipe, status, nowMs)]);
}

const rowOf = (
  { id, forMs }: Pick<Wipe, 'id' | 'forMs'>,
  status: WipeRowWrite['status'],
  atMs: number,
  userId: string | null = null,
): RowWrite => ({ table: 'wipes', row: { id, status, userId, scheduledForMs: forMs, atMs }, key: id });

const instant = (ms: number): string => new Date(ms).toISOString();
