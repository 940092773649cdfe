/** What a live account owes: months, charges, statements. */
import type { BillingCommand, BillingState } from '../../model/account/billing.ts';
import type { PlanSees } from '../../model/account/capabilities.ts';
import type { Capability } from '../account/decision.ts';
import { closePeriods } from './decide.ts';
import { billingFolds } from './evolve.ts';

export const billing: Capability<BillingCommand, PlanSees, BillingState> = {
  owns: ['openPeriod', 'settledBy'],
  decide: { close_periods: closePeriods },
  folds: billingFolds,
};
