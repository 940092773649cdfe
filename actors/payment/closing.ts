/** How a link ends, and which money came in time. payments M6, M8, M11, 3.2. */
import type { PaymentLinkRow } from '../../model/rows/payment.ts';
import type { ClosedReason } from '../../protocol/slugs.ts';

/** How long a closed link's addresses are reported, days, where LINK_MONITOR_DAYS says nothing. payments M11. */
export const LINK_MONITOR_DAYS = 30;
const DAY_MS = 86_400_000;

/**
 * Why a link's own money closes it now; null where it stays as it is. Unconfirmed money never does, and what is closed
 * stays closed, whatever a reorg does (M8).
 */
export function closedByMoney({
  status,
  mode,
  paymentCount,
  thresholdAmount,
  amountRaised,
}: Pick<PaymentLinkRow, 'status' | 'mode' | 'paymentCount' | 'thresholdAmount' | 'amountRaised'>): ClosedReason | null {
  if (status === 'closed') return null;
  if (mode === 'fixed') return paymentCount > 0 ? 'paid' : null;
  return thresholdAmount !== null && amountRaised >= thresholdAmount ? 'threshold' : null;
}

/** The link, closed. `head` is the highest head known of its ledger, null where none could be read. M6, M11. */
export function closed(
  link: PaymentLinkRow,
  reason: ClosedReason,
  head: number | null,
  nowMs: number,
  monitorDays: number,
): PaymentLinkRow {
  return {
    ...link,
    status: 'closed',
    closedReason: reason,
    closedAtMs: nowMs,
    closedAtHeight: head,
    monitorUntilMs: nowMs + monitorDays * DAY_MS,
    updatedAtMs: nowMs,
  };
}

/**
 * Whether a transfer at a height came after its link was closed. Asked once, at its first detection: by height, so that
 * an outage of ours makes no payer late. M6.
 */
export function isLate({ status, closedAtHeight }: PaymentLinkRow, height: number): boolean {
  return status === 'closed' && (closedAtHeight === null || height > closedAtHeight);
}
