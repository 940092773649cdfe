/** What a live account owes: months, charges, statements. */
import type { BillingCommand, BillingState } from '../../model/account/billing.ts';
import type { PlanSees } from '../../model/account/capabilities.ts';
import type { Capability } from '../account/decision.ts';
import { closePeriods, recordCollection, takePayment } from './decide.ts';
import { billingFolds } from './evolve.ts';

export const billing: Capability<BillingCommand, PlanSees, BillingState> = {
  owns: ['openPeriod', 'owed', 'settledBy'],
  decide: { close_periods: closePeriods, record_collection: recordCollection, take_payment: takePayment },
  folds: billingFolds,
};
