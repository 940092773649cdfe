/** The warnings that an accepted decision causes: `actors/plan/warnings.ts`. Pure. Console B16. */
import type { AccountEvent, AccountState } from '../../model/account/capabilities.ts';
import { billingPeriod } from '../billing/charges.ts';
import { usedOf, warningsOf } from '../plan/warnings.ts';
import type { AccountDecision, CommandType } from './decision.ts';
import { evolve } from './evolve.ts';

/** Events by which something of a plan is used, or the plan becomes smaller. */
const USES: ReadonlySet<AccountEvent['type']> = new Set([
  'address_issued',
  'address_counted',
  'address_status_changed',
  'key_source_registered',
  'import_reserved',
  'withdrawal_confirmed',
  'webhook_created',
  'plan_changed',
]);

/** The decision with the warnings that it causes; a sandbox has no limits. */
export function withWarnings(
  decision: AccountDecision<CommandType>,
  state: AccountState,
  nowMs: number,
): AccountDecision<CommandType> {
  if (!decision.ok || state.environment === 'sandbox' || !decision.events.some(({ type }) => USES.has(type)))
    return decision;
  const after = decision.events.reduce<AccountState>((next, event) => evolve(next, event), state);
  const period = billingPeriod(nowMs),
    warned = warningsOf(after, period, usedOf(after, period));
  return warned.events.length === 0
    ? decision
    : { ...decision, events: [...decision.events, ...warned.events], rows: [...decision.rows, ...warned.rows] };
}
