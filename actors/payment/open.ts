/**
 * Opening a payment: a payer gets an address of the merchant's for so long. payments S1–S5, S12, S13.
 *
 *   what the payer had on this link        gets
 *   an expired payment that never received the same address, under a payment of its own
 *   nothing, or a payment that is over     a fresh address; at the limit the one that rests longest, of whatever link
 */
import type { AccountEvent, PaymentSees, RowWrite } from '../../model/account/capabilities.ts';
import type { LentBefore } from '../../model/account/payment.ts';
import type { CheckoutAddressRow, PaymentLinkRow, PaymentRow } from '../../model/rows/payment.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { addressLimitOf } from '../../protocol/plans.ts';
import { FAMILY_OF, type Family } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { freshLent } from '../address/lend.ts';
import { turnOfDay } from '../address/peak.ts';
import { presentFrom } from '../edge-link/retired-identities.ts';
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

/** Unpaid lent addresses of a family, at most: what the deployment sets (`CHECKOUT_UNPAID_MAX`), else by the plan. */
export const unpaidMax = ({ plan, environment }: Pick<PaymentSees, 'plan' | 'environment'>, set?: number): number =>
  set ?? Math.max(UNPAID_MIN, Math.floor(addressLimitOf(plan) / 2)) * (environment === 'sandbox' ? SANDBOX_TIMES : 1);

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
  command: { link, payment: asked, earlier, resting, addressId, unpaidMax: set },
  book,
  nowMs,
  realMs,
}: Deciding<'open_payment'>): AccountDecision<'open_payment'> {
  const family = FAMILY_OF[link.chain],
    limit = unpaidMax(state, set),
    isFull = (state.unpaid[family] ?? 0) >= limit,
    mine = ofThisIdentity(state, family, earlier),
    lentBefore = mine ?? (isFull ? ofThisIdentity(state, family, resting) : null);
  const no = firstRefusal(
    openingRefusal(state, link, nowMs),
    lentBefore === null && isFull ? refuse('PAYMENT_SESSION_LIMIT_EXCEEDED', { scope: 'account', limit }) : null,
  );
  if (no !== null) return no;
  const turn = turnOfDay(state, realMs),
    fresh =
      lentBefore === null ? freshLent(state, book, { id: addressId, chain: link.chain, label: link.id }, nowMs) : null;
  const { id: lentId, address, derivationPath } = fresh?.row ?? lentBefore!.address;
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
    addressId: lentId,
    address,
    derivationPath,
    addressReused: mine?.holder.reused ?? lentBefore !== null,
    invoiceId: null,
    invoiceNumber: null,
    expiresAtMs: nowMs + Math.max(RESERVED_MS, RESERVED_BLOCKS * book.network(link.chain).blockTimeMs),
    openedAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const events: AccountEvent[] = [
    ...(fresh === null ? [] : [...turn.events, fresh.event]),
    { type: 'payment_opened', id: row.id, linkId: link.id },
  ];
  return accept(row, events, [
    ...(fresh === null ? releasedOf(lentBefore!, nowMs) : [...turn.rows, fresh.write]),
    { table: 'payment', row },
    { table: 'checkout_address', row: lentFor(row, nowMs) },
  ]);
}

/** S17: an address of a retired identity is not lent again. */
const ofThisIdentity = (
  state: Pick<PaymentSees, 'retired'>,
  family: Family,
  lent: LentBefore | null,
): LentBefore | null =>
  lent !== null && Number(/[0-9]+$/.exec(lent.address.derivationPath)) >= presentFrom(state, family) ? lent : null;

/**
 * An address is released by the payment before, which is over. That payment is written in any case: a deposit that was
 * attributed to it meanwhile is decided anew. S15.
 */
function releasedOf({ payment, holder }: LentBefore, nowMs: number): readonly RowWrite[] {
  return [
    ...(payment === null
      ? []
      : [
          {
            table: 'payment',
            // S23: of who opened it nothing is kept.
            row: {
              ...payment,
              version: payment.version + 1,
              status: 'expired',
              customerEmail: null,
              customerName: null,
              payerKey: null,
              clientKey: null,
              updatedAtMs: nowMs,
            },
          } as const,
        ]),
    ...(holder.releasedAtMs === null
      ? [{ table: 'checkout_address', row: { ...holder, releasedAtMs: nowMs } } as const]
      : []),
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
