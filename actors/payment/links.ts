/**
 * The life of a payment link as its merchant decides it. payments part 3.
 *
 *   from              trigger                     to        also
 *   -                 create                      active    payment_link_created; a shared one gets its address
 *   active            pause                       paused
 *   paused            resume                      active    refuses MERCHANT_NOT_ACTIVE
 *   active, paused    close                       closed    `manual`; what has no money expires; payment_link_closed
 *   active, paused    thresholdAmount is reached  closed    `threshold`, the same
 *
 * Money closes a link in book.ts, its date by the clock (`closeDueLink`). Anything else is CONFLICT with what the link
 * is (P10).
 */
import type { AccountEvent, PaymentSees, RowWrite } from '../../model/account/capabilities.ts';
import type { LinkChange, NewLink } from '../../model/account/payment.ts';
import type { CheckoutAddressRow, PaymentLinkRow } from '../../model/rows/payment.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { ClosedReason } from '../../protocol/slugs.ts';
import { accept, firstRefusal, type AccountDecision, type Deciding } from '../account/decision.ts';
import { suspended } from '../account/guards.ts';
import { chainLimit } from '../address/decide.ts';
import { freshLent } from '../address/lend.ts';
import { turnOfDay } from '../address/peak.ts';
import { notReady } from '../edge-link/readiness.ts';
import { addressLimit, noSubscription } from '../plan/limits.ts';
import { linkClosed, linkCreated } from './announce.ts';
import { closed, closedByMoney } from './closing.ts';
import type { PaymentTerms } from './terms.ts';

/** Links of an account that are not closed. payments P1. */
export const OPEN_LINKS_MAX = 100_000;
/** Custom slugs that a sandbox account ever had: they are never free again. payments P6. */
export const SANDBOX_SLUGS_MAX = 1_000;

/** Refuses: MERCHANT_NOT_ACTIVE. */
export const notActive = ({ plan }: Pick<PaymentSees, 'plan'>): Refusal | null =>
  plan.paymentsActive ? null : refuse('MERCHANT_NOT_ACTIVE');

/**
 * Why an account opens no such link now, all but what its chain says. Refuses: ACCOUNT_SUSPENDED, NO_SUBSCRIPTION,
 * TIER_FEATURE_LOCKED, MERCHANT_NOT_ACTIVE, CHAIN_NOT_READY, ADDRESS_LIMIT_EXCEEDED (shared), CONFLICT. payments P1.
 */
export function linkRefusal(
  state: PaymentSees,
  { chain, addressMode }: Pick<NewLink, 'chain' | 'addressMode'>,
  customSlug: boolean,
  nowMs: number,
): Refusal | null {
  const { environment, links } = state;
  return firstRefusal(
    suspended(state),
    noSubscription(state, nowMs),
    chainLimit(state, chain),
    notActive(state),
    notReady(state, chain),
    addressMode === 'shared' ? addressLimit(state) : null,
    links.open < OPEN_LINKS_MAX ? null : refuse('CONFLICT', { reason: 'link_limit', limit: OPEN_LINKS_MAX }),
    customSlug && environment === 'sandbox' && links.customSlugs >= SANDBOX_SLUGS_MAX
      ? refuse('CONFLICT', { field: 'slug', reason: 'slug_limit', limit: SANDBOX_SLUGS_MAX })
      : null,
  );
}

/** A new link; a shared one with its address. Refuses: as `linkRefusal`; a slug that is taken the store refuses. */
export function createLink({
  state,
  command: { link: asked, customSlug, addressId },
  book,
  pay,
  nowMs,
  realMs,
}: Deciding<'create_payment_link'>): AccountDecision<'create_payment_link'> {
  const no = linkRefusal(state, asked, customSlug, nowMs);
  if (no !== null) return no;
  const turn = turnOfDay(state, realMs);
  const lent =
    asked.addressMode === 'shared'
      ? freshLent(state, book, { id: addressId, chain: asked.chain, label: asked.id }, nowMs)
      : null;
  const link: PaymentLinkRow = {
    ...asked,
    accountId: state.accountId,
    version: 1,
    status: 'active',
    closedReason: null,
    closedAtMs: null,
    closedAtHeight: null,
    monitorUntilMs: null,
    addressId: lent?.row.id ?? null,
    address: lent?.row.address ?? null,
    derivationPath: lent?.row.derivationPath ?? null,
    amountRaised: 0n,
    paymentCount: 0,
    uses: 0,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const events: AccountEvent[] = [
    ...(lent === null ? [] : [...turn.events, lent.event]),
    { type: 'payment_link_created', id: link.id, ...(customSlug ? { custom: true } : {}) },
  ];
  const cause = { position: events.length, payUrl: pay.payUrl, atMs: nowMs };
  return accept(link, events, [
    ...(lent === null ? [] : [...turn.rows, lent.write]),
    { table: 'payment_link', row: link },
    ...(lent === null ? [] : [{ table: 'checkout_address', row: lentTo(link, lent.row.id, nowMs) } as const]),
    linkCreated(state, link, cause),
  ]);
}

/** The holder of a shared link's address. */
export const lentTo = ({ accountId, id }: PaymentLinkRow, addressId: string, nowMs: number): CheckoutAddressRow => ({
  id: `${id}/${addressId}`,
  accountId,
  addressId,
  linkId: id,
  paymentId: null,
  reused: false,
  lentAtMs: nowMs,
  releasedAtMs: null,
  paidAtMs: null,
});

/** What `PATCH` may still change of a closed link. payments P4. */
const OF_CLOSED: readonly (keyof LinkChange)[] = ['title', 'description', 'successUrl', 'metadata'];

/**
 * Changes fields; a threshold that is reached closes at once. Refuses: ACCOUNT_SUSPENDED, CONFLICT (a closed link),
 * INVALID_INPUT and INVALID_AMOUNT (rules of the merged link). payments P4.
 */
export function changeLink({
  state,
  command: { known, change, head },
  pay,
  nowMs,
}: Deciding<'change_payment_link'>): AccountDecision<'change_payment_link'> {
  const frozen = (Object.keys(change) as (keyof LinkChange)[]).some((field) => !OF_CLOSED.includes(field));
  const merged = { ...known, ...change };
  const no = firstRefusal(
    suspended(state),
    known.status === 'closed' && frozen ? stateOfLink(known) : null,
    badTerms(merged),
  );
  if (no !== null) return no;
  const next: PaymentLinkRow = { ...merged, version: known.version + 1, updatedAtMs: nowMs };
  const patched: AccountEvent = { type: 'payment_link_patched', id: known.id };
  const reason = closedByMoney(next);
  if (reason === null) return accept(next, [patched], [{ table: 'payment_link', row: next }]);
  return ended(state, next, reason, head, pay, nowMs, [patched]);
}

/** Rules between fields, of a new link and of a changed one. Refuses: INVALID_INPUT, INVALID_AMOUNT. */
export function badTerms({
  mode,
  thresholdAmount,
  minAmount,
  maxAmount,
  closesAtMs,
}: Pick<NewLink, 'mode' | 'thresholdAmount' | 'minAmount' | 'maxAmount' | 'closesAtMs'>): Refusal | null {
  if (mode === 'fixed') {
    const extra = Object.entries({ thresholdAmount, minAmount, maxAmount }).find(([, value]) => value !== null);
    return extra === undefined ? null : refuse('INVALID_INPUT', { field: extra[0], reason: 'of a donation only' });
  }
  if (thresholdAmount === null && closesAtMs === null)
    return refuse('INVALID_INPUT', {
      field: 'thresholdAmount',
      reason: 'a donation needs thresholdAmount, closesAt, or both',
    });
  return minAmount !== null && maxAmount !== null && minAmount > maxAmount
    ? refuse('INVALID_AMOUNT', { field: 'maxAmount', reason: 'below minAmount' })
    : null;
}

/** Pauses, resumes, closes. Refuses: ACCOUNT_SUSPENDED, MERCHANT_NOT_ACTIVE (resume), CONFLICT. payments 3.2, P10. */
export function setLinkStatus({
  state,
  command: { known, action, head },
  pay,
  nowMs,
}: Deciding<'set_payment_link_status'>): AccountDecision<'set_payment_link_status'> {
  const from = { pause: ['active'], resume: ['paused'], close: ['active', 'paused'] }[action];
  const no = firstRefusal(
    suspended(state),
    action === 'resume' ? notActive(state) : null,
    from.includes(known.status) ? null : stateOfLink(known),
  );
  if (no !== null) return no;
  const next: PaymentLinkRow = { ...known, version: known.version + 1, updatedAtMs: nowMs };
  if (action === 'close') return ended(state, next, 'manual', head, pay, nowMs, []);
  const status = action === 'pause' ? 'paused' : 'active',
    row = { ...next, status } as const;
  return accept(
    row,
    [{ type: 'payment_link_changed', id: known.id, status, closedReason: null }],
    [{ table: 'payment_link', row }],
  );
}

/** Closes a link whose date has come, also while suspended; earlier, or again, it changes nothing. */
export function closeDueLink({
  state,
  command: { known, head },
  pay,
  nowMs,
}: Deciding<'close_due_link'>): AccountDecision<'close_due_link'> {
  const { closesAtMs, status, version } = known;
  if (status === 'closed' || closesAtMs === null || closesAtMs > nowMs) return accept({ closed: false });
  const { events, rows } = ended(state, { ...known, version: version + 1 }, 'date', head, pay, nowMs, []);
  return accept({ closed: true }, events, rows);
}

const stateOfLink = ({ status, closedReason }: PaymentLinkRow): Refusal =>
  refuse('CONFLICT', { status, closedReason }, `the link is ${status}`);

/** The link, closed, with the payments that expire by it and its event. P11, M6, M11. */
export function ended(
  state: PaymentSees,
  link: PaymentLinkRow,
  reason: ClosedReason,
  head: number | null,
  { payUrl, monitorDays }: PaymentTerms,
  nowMs: number,
  before: readonly AccountEvent[],
): {
  ok: true;
  events: readonly AccountEvent[];
  rows: readonly RowWrite[];
  reply: PaymentLinkRow;
} {
  const row = closed(link, reason, head, nowMs, monitorDays);
  const events: AccountEvent[] = [
    ...before,
    { type: 'payment_link_changed', id: row.id, status: 'closed', closedReason: reason },
  ];
  return accept(row, events, [
    { table: 'payment_link', row },
    { table: 'payments_expired', linkId: row.id },
    linkClosed(state, row, { position: events.length, payUrl, atMs: nowMs }),
  ]);
}
