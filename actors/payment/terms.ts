/** What of payments a deployment sets. */
import { LINK_MONITOR_DAYS } from './closing.ts';

export interface PaymentTerms {
  /** Where the pay page is: an origin. payments P7. */
  readonly payUrl: string;
  /** How long a closed link's addresses are reported. payments M11. */
  readonly monitorDays: number;
}

/** How long an unpaid lent address rests before it is lent on, where CHECKOUT_ADDRESS_REST says nothing. S13. */
export const ADDRESS_REST_MS = 86_400_000;

/** Of a developer's machine. */
export const PAYMENT_TERMS: PaymentTerms = { payUrl: 'http://localhost:8080', monitorDays: LINK_MONITOR_DAYS };
