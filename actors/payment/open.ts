/**
 * Opening a payment: a payer gets an address of the merchant's for so long. payments S1–S5, S12, S13.
 *
 *   what the payer had on this link        gets
 *   nothing, or a payment that is over     a fresh address
 *   an expired payment that never received the same address, under a payment of its own
 */
import type { AccountEvent, PaymentSees, RowWrite } from '../../model/account/capabilities.ts';
import type { CheckoutAddressRow, PaymentLinkRow, PaymentRow } from '../../model/rows/payment.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf } from '../../protocol/plans.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { freshLent } from '../address/lend.ts';
import { turnOfDay } from '../address/peak.ts';
import { notReady } from '../edge-link/readiness.ts';
import { addressLimit, noSubscription } from '../plan/limits.ts';
import { notActive } from './links.ts';
import { termsOf } from './sums.ts';

/** How long an address is reserved at least; on a slow chain twelve of its blocks. S12. */
const RESERVED_MS = 3_600_000;
const RESERVED_BLOCKS = 12;
/** Unpaid addresses of a family that any plan may have; a larger one half of its addresses. S13. */
const UNPAID_MIN = 100;
/** A sandbox is for trying, in loops too. S20. */
const SANDBOX_TIMES = 100;

/** Unpaid lent addresses of a family, at most. `CHECKOUT_UNPAID_MAX` of the reference. */
export const unpaidMax = ({ plan, environment }: Pick<PaymentSees, 'plan' | 'environment'>): number =>
  Math.max(UNPAID_MIN, Math.floor(addressLimitOf(plan) / 2)) * (environment === 'sandbox' ? SANDBOX_TIMES : 1);

/** Why a link takes no payment now: CONFLICT `paused`, `closed`, `max_uses`. P12, P13. */
export function linkTakesNone(
  { status, closesAtMs, maxUses, uses, mode }: PaymentLinkRow,
  nowMs: number,
): Refusal | null {
  if (status === 'paused') return refuse('CONFLICT', { reason: 'paused' }, 'the link is paused');
  if (status === 'closed' || (closesAtMs !== null && closesAtMs <= nowMs))
    return refuse('CONFLICT', { reason: 'closed' }, 'the link is closed');
  return mode === 'donation' && maxUses !== null && uses >= maxUses
    ? refuse('CONFLICT', { reason: 'max_uses' }, 'the link was used as often as it may be')
    : null;
}

/**
 * Why an account takes no payment on a link now. Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION, MERCHANT_NOT_ACTIVE,
 * CHAIN_NOT_READY, ADDRESS_LIMIT_EXCEEDED, CONFLICT. S5.
 */
export function openingRefusal(state: PaymentSees, link: PaymentLinkRow, nowMs: number): Refusal | null {
  return firstRefusal(
    suspended(state),
    noSubscription(state, nowMs),
    notActive(state),
    notReady(state, link.chain),
    addressLimit(state),
    linkTakesNone(link, nowMs),
  );
}

/** Refuses: as `openingRefusal`; PAYMENT_SESSION_LIMIT_EXCEEDED `account`. */
export function openPayment({
  state,
  command: { link, payment: asked, earlier, addressId },
  book,
  nowMs,
}: Deciding<'open_payment'>): AccountDecision<'open_payment'> {
  const family = FAMILY_OF[link.chain],
    limit = unpaidMax(state);
  const no = firstRefusal(
    openingRefusal(state, link, nowMs),
    earlier === null && (state.unpaid[family] ?? 0) >= limit
      ? refuse('PAYMENT_SESSION_LIMIT_EXCEEDED', { scope: 'account', limit })
      : null,
  );
  if (no !== null) return no;
  const turn = turnOfDay(state, nowMs),
    fresh =
      earlier === null ? freshLent(state, book, { id: addressId, chain: link.chain, label: link.id }, nowMs) : null;
  const { address, derivationPath, ...place } = fresh?.row ?? { ...earlier!.payment, id: earlier!.payment.addressId };
  const row: PaymentRow = {
    ...asked,
    accountId: state.accountId,
    linkId: link.id,
    version: 1,
    status: 'awaiting_payment',
    ...termsOf(link, state.paymentSettings.toleranceBps, asked.amount),
    seen: 0n,
    confirmed: 0n,
    late: 0n,
    addressId: place.id,
    address,
    derivationPath,
    addressReused: earlier?.holder.reused ?? false,
    expiresAtMs: nowMs + Math.max(RESERVED_MS, RESERVED_BLOCKS * book.network(link.chain).blockTimeMs),
    openedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const events: AccountEvent[] = [
    ...(fresh === null ? [] : [...turn.events, fresh.event]),
    { type: 'payment_opened', id: row.id, linkId: link.id },
  ];
  return accept(row, events, [
    ...(fresh === null ? releasedOf(earlier!, nowMs) : [...turn.rows, fresh.write]),
    { table: 'payment', row },
    { table: 'checkout_address', row: lentFor(row, nowMs) },
  ]);
}

/** The address that a payer had is released by the payment before, which is over. */
function releasedOf(
  { payment, holder }: { payment: PaymentRow; holder: CheckoutAddressRow },
  nowMs: number,
): readonly RowWrite[] {
  const over: PaymentRow = { ...payment, version: payment.version + 1, status: 'expired', updatedAtMs: nowMs };
  return [
    ...(payment.status === 'awaiting_payment' ? [{ table: 'payment', row: over } as const] : []),
    { table: 'checkout_address', row: { ...holder, releasedAtMs: nowMs } },
  ];
}

const lentFor = (
  { accountId, id, addressId, linkId, addressReused }: PaymentRow,
  nowMs: number,
): CheckoutAddressRow => ({
  id: `${id}/${addressId}`,
  accountId,
  addressId,
  linkId,
  paymentId: id,
  reused: addressReused,
  lentAtMs: nowMs,
  releasedAtMs: null,
  paidAtMs: null,
});
