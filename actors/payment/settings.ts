/** Whether a merchant takes payments, and what payers see of it. payments P24. */
import type { AccountEvent } from '../../model/account/capabilities.ts';
import { refuse } from '../../protocol/errors.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';

/** Replaces the settings; the same ones again change nothing. Refuses: INVALID_INPUT (active without a name). */
export function changeSettings({
  state,
  command: { active, settings },
}: Deciding<'change_payment_settings'>): AccountDecision<'change_payment_settings'> {
  if (active && settings.displayName === null)
    return refuse('INVALID_INPUT', { field: 'displayName', reason: 'needed to be active: payers see it' });
  const same = JSON.stringify(settings) === JSON.stringify(state.paymentSettings),
    { plan } = state;
  const events: AccountEvent[] = [
    ...(active === plan.paymentsActive
      ? []
      : [{ type: 'plan_changed', plan: { ...plan, paymentsActive: active } } as const]),
    ...(same ? [] : [{ type: 'payment_settings_changed', settings } as const]),
  ];
  return accept({ active, settings }, events);
}
