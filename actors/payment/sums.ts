/**
 * What a payment is, as a function of its sums. payments S6, S7, M7:
 *
 *   confirmed          confirmed >= due
 *   detected           seen >= due
 *   late               late > 0
 *   underpaid          seen > 0
 *   expired            its time is over, or its link is closed
 *   awaiting_payment   else
 *
 * The first that holds, after every fact, backwards too. Only on-time transfers of the link's asset on its chain are in
 * `seen` and `confirmed`; only those after the closing are in `late`.
 */
import type { PaymentLinkRow, PaymentRow } from '../../model/rows/payment.ts';
import type { LinkMode, PaymentStatus } from '../../protocol/slugs.ts';

export type Sums = Pick<PaymentRow, 'seen' | 'confirmed' | 'late'>;

/** S6. `linkClosed` and the clock decide only about a payment without money. */
export function statusOf(
  { seen, confirmed, late, due, expiresAtMs }: Sums & Pick<PaymentRow, 'due' | 'expiresAtMs'>,
  linkClosed: boolean,
  nowMs: number,
): PaymentStatus {
  if (confirmed >= due) return 'confirmed';
  if (seen >= due) return 'detected';
  if (late > 0n) return 'late';
  if (seen > 0n) return 'underpaid';
  return linkClosed || nowMs >= expiresAtMs ? 'expired' : 'awaiting_payment';
}

/** S7, in the smallest unit. */
export interface Amounts {
  readonly due: bigint;
  readonly paid: bigint;
  readonly confirmed: bigint;
  readonly remaining: bigint;
  readonly overpaid: bigint;
  readonly short: bigint;
}

/** `mode` is the link's: what a donor announces asks for nothing, so that only a fixed link can be paid short. */
export function amountsOf(
  { seen, confirmed, late, due, amount, ceiling }: Sums & Pick<PaymentRow, 'due' | 'amount' | 'ceiling'>,
  mode: LinkMode,
): Amounts {
  const paid = seen + late;
  return {
    due,
    paid,
    confirmed,
    remaining: above(due, paid),
    overpaid: ceiling === null ? 0n : above(paid, ceiling),
    short: mode === 'fixed' && paid >= due ? above(amount!, paid) : 0n,
  };
}

const above = (left: bigint, right: bigint): bigint => (left > right ? left - right : 0n);

/** Of 10,000. payments P24: BTCPay#6378, where every order was paid in full at more than this. */
export const TOLERANCE_BPS_MAX = 500;
const BPS = 10_000n;

/** What a payment that is opened now is held to for as long as it lives. payments P4, part 4.2. */
export function termsOf(
  { mode, amount, minAmount, maxAmount }: Pick<PaymentLinkRow, 'mode' | 'amount' | 'minAmount' | 'maxAmount'>,
  toleranceBps: number,
  announced: bigint | null = null,
): Pick<PaymentRow, 'amount' | 'due' | 'ceiling'> {
  if (mode === 'donation') return { amount: announced, due: minAmount ?? 1n, ceiling: maxAmount };
  return { amount, due: amount! - (amount! * BigInt(toleranceBps)) / BPS, ceiling: amount };
}

/** Whether it takes a place of its link's `maxUses`. payments P13. */
export const isUse = (status: PaymentStatus): boolean =>
  status === 'confirmed' || status === 'detected' || status === 'underpaid';
