/**
 * The months of an account that owes. Console B1, B10, B14:
 *
 *   none      not on a band, ever or since a month ended on Free: nothing is owed, nothing is open
 *   open      from the first change to a band, or from the end of the month before; charges are collected
 *   closed    the month is over: its statement is a row, a smaller plan that waited is in force, the next one is open
 *
 * Nothing runs at midnight: whatever decides next, a change of plan or the daily round, first ends the months that are
 * over, however many. Decided a second or a week later, a statement is the same.
 */
import { createHash } from 'node:crypto';
import type { BillingState, OpenPeriod, StatementRow } from '../../model/account/billing.ts';
import type { AccountEvent, PlanSees, RowWrite } from '../../model/account/capabilities.ts';
import type { Plan } from '../../model/account/plan.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { newId } from '../../protocol/node/ids.ts';
import { DUE_MS, isOnBand } from '../../protocol/plans.ts';
import { tooManyAddresses } from '../plan/limits.ts';
import { billingPeriod, boundsOf, overageOnLeaving, pricedOf, prorationOf, settledIn, statementOf } from './charges.ts';

/** Charges of one month, which are in the account's state; more changes of plan wait for the next one. */
export const CHARGES_MAX = 32;

/** The account as it is once the months that are over have ended, and what ends them. */
export interface Turn extends PlanSees {
  readonly events: readonly AccountEvent[];
  readonly rows: readonly RowWrite[];
}

/** Ends the months that are over at an instant; nothing where none is, or the clock went back. */
export function turnOfMonth(state: PlanSees, nowMs: number): Turn {
  const turn = new Turning(state);
  if (state.environment === 'live') turn.run(billingPeriod(nowMs), nowMs);
  return { ...state, ...turn.now, events: turn.events, rows: turn.rows };
}

class Turning {
  readonly events: AccountEvent[] = [];
  readonly rows: RowWrite[] = [];
  now: Pick<PlanSees, 'plan' | 'pendingBand' | keyof BillingState>;
  readonly #state: PlanSees;

  constructor(state: PlanSees) {
    const { plan, pendingBand, openPeriod, owed, settledBy } = state;
    this.#state = state;
    this.now = { plan, pendingBand, openPeriod, owed, settledBy };
  }

  run(current: string, nowMs: number): void {
    for (let open = this.now.openPeriod; open !== null && open.month < current; open = this.now.openPeriod) {
      const { endMs } = boundsOf(open.month);
      this.#close(open, endMs);
      this.#settlePending(endMs);
      if (isOnBand(this.now.plan)) this.#open(billingPeriod(endMs));
    }
    this.#settlePending(nowMs);
    // On a band since before there were statements.
    if (this.now.openPeriod === null && isOnBand(this.now.plan)) this.#open(current);
  }

  #close(open: OpenPeriod, endMs: number): void {
    const settled = settledIn({ ...this.#state, ...this.now }, open.month);
    const { lines, totalCents } = statementOf(open, this.now.plan, settled, endMs);
    const { accountId } = this.#state;
    const row: StatementRow = {
      id: statementIdOf(accountId, open.month),
      period: open.month,
      lines,
      totalCents: String(totalCents),
      settled,
      issuedAtMs: endMs,
    };
    if (lines.length > 0) this.rows.push({ table: 'statements', key: open.month, row });
    const owed = totalCents > 0n ? { cents: row.totalCents, dueAtMs: endMs + DUE_MS } : null;
    this.events.push({
      type: 'period_closed',
      month: open.month,
      ...(owed === null ? {} : { owed: { statementId: row.id, ...owed } }),
    });
    const { [open.month]: _, ...later } = this.now.settledBy;
    this.now = {
      ...this.now,
      openPeriod: null,
      owed: owed === null ? this.now.owed : { ...this.now.owed, [row.id]: owed },
      settledBy: later,
    };
  }

  #open(month: string): void {
    const base = pricedOf(this.now.plan);
    this.events.push({ type: 'period_opened', month, base });
    this.now = { ...this.now, openPeriod: { month, base, charges: [] } };
  }

  /** A plan that no longer holds the active addresses is given up: no address is taken from a customer. */
  #settlePending(atMs: number): void {
    const { pendingBand: waiting, plan: before } = this.now;
    if (waiting === null || atMs < waiting.atMs) return;
    const plan: Plan = { ...before, band: waiting.band, tier: waiting.tier ?? before.tier };
    if (tooManyAddresses({ ...this.#state, plan: before }, plan) !== null) {
      this.events.push({ type: 'band_change_ended', reason: 'too_many_addresses' });
      this.now = { ...this.now, pendingBand: null };
      return;
    }
    this.events.push({ type: 'plan_changed', plan }, { type: 'band_change_ended', reason: 'in_force' });
    this.now = { ...this.now, plan, pendingBand: null };
  }
}

/** The same id each time that the month is closed. */
function statementIdOf(accountId: string, month: string): string {
  const digest = createHash('sha256').update(`statement|${accountId}|${month}`).digest();
  return newId('stm', boundsOf(month).endMs, digest.subarray(0, 10));
}

/**
 * What a change at an instant costs, as events of the running month. `turn` has been turned to that instant.
 * Refuses: CONFLICT when the month holds no more charges.
 */
export function chargesOf(turn: Turn, plan: Plan, nowMs: number): AccountEvent[] | Refusal {
  if (turn.environment !== 'live' || (turn.openPeriod === null && !isOnBand(plan))) return [];
  const month = turn.openPeriod?.month ?? billingPeriod(nowMs);
  const open: OpenPeriod = turn.openPeriod ?? { month, base: pricedOf(turn.plan), charges: [] };
  const changes = JSON.stringify(termsThatCount(turn.plan)) !== JSON.stringify(termsThatCount(plan));
  const charges = changes
    ? [
        overageOnLeaving(turn.plan, open, settledIn(turn, month), nowMs),
        prorationOf(turn.plan, plan, month, nowMs),
      ].filter((charge) => charge !== null)
    : [];
  if (open.charges.length + charges.length > CHARGES_MAX) {
    return refuse('CONFLICT', { reason: 'plan_changes', limit: CHARGES_MAX });
  }
  return [
    ...(turn.openPeriod === null ? [{ type: 'period_opened', month, base: open.base } as const] : []),
    ...charges.map((charge) => ({ type: 'charge_made', charge }) as const),
  ];
}

const termsThatCount = ({ tier, band, terms }: Plan) => ({
  tier,
  band,
  terms: band === 'custom' ? (terms ?? null) : null,
});
