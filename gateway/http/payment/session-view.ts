/** Payments as payers and their merchant see them. payments S7, S22. */
import { amountsOf, statusOf } from '../../../actors/payment/sums.ts';
import { lentPathOf } from '../../../actors/edge-link/retired-identities.ts';
import { linkTakesNone } from '../../../actors/payment/open.ts';
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { PaymentSettings } from '../../../model/account/payment.ts';
import type { PaymentTransferView } from '../../../model/ports/read-store.ts';
import type { PaymentLinkRow, PaymentRow } from '../../../model/rows/payment.ts';
import { evmOf } from '../../../chains/evm/network.ts';
import { networkOf } from '../../../chains/registry.ts';
import { formatAmount } from '../../../protocol/money.ts';
import { NETWORK_NAMES } from '../../../protocol/network-names.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { FAMILY_OF, type CheckoutChain, type PaymentStatus } from '../../../protocol/slugs.ts';
import { explorerUrlOf, instantOf, instantOrNull } from '../views.ts';

type Session = ReplyOf<'getCheckoutSession'>;

export const networkNameOf = (chain: CheckoutChain): string => NETWORK_NAMES[chain];

const assetOf = ({ chain, asset, tokenContract, decimals }: PaymentLinkRow) => ({
  chain,
  network: NETWORK_NAMES[chain],
  asset,
  tokenContract,
  decimals,
});
const shownLink = ({ slug, mode, title, description }: PaymentLinkRow) => ({ slug, mode, title, description });
const merchantOf = ({ displayName, supportEmail, supportUrl }: PaymentSettings) => ({
  name: displayName,
  supportEmail,
  supportUrl,
});

/** S1: whether an e-mail is asked of who pays. */
export const asksEmail = ({ mode, addressMode, collectEmail }: PaymentLinkRow): boolean =>
  addressMode === 'per_payer' && (collectEmail || mode === 'donation');

/** What a payer sees of a link. */
export function checkoutLinkView(
  link: PaymentLinkRow,
  settings: PaymentSettings,
  isActive: boolean,
  nowMs: number,
): ReplyOf<'getCheckoutLink'> {
  const inUnits = (amount: bigint | null) => (amount === null ? null : formatAmount(amount, link.decimals));
  return {
    link: shownLink(link),
    merchant: merchantOf(settings),
    ...assetOf(link),
    addressMode: link.addressMode,
    status: link.status,
    closedReason: link.closedReason,
    open: isActive && linkTakesNone(link, nowMs) === null,
    amount: inUnits(link.amount),
    minAmount: inUnits(link.minAmount),
    maxAmount: inUnits(link.maxAmount),
    emailRequired: asksEmail(link),
    address: link.address,
    serverTime: instantOf(nowMs),
  };
}

/** S6: what it is now; the row says so after the next look of the clock. */
export const statusNow = (payment: PaymentRow, link: PaymentLinkRow, nowMs: number): PaymentStatus =>
  payment.status === 'awaiting_payment' ? statusOf(payment, link.status === 'closed', nowMs) : payment.status;

/** Transfers and notices, by payment. */
export interface Shown {
  readonly transfers: Session['transfers'];
  readonly notices: Session['notices'];
}

export function shownOf(origin: string, link: PaymentLinkRow, found: readonly PaymentTransferView[]): Shown {
  const counted = found.filter(({ role }) => role === 'counted' || role === 'late'),
    strayed = found.filter(({ role }) => role === 'wrong_asset' || role === 'wrong_network');
  return {
    transfers: counted.map(({ role, txid, chain, amount, confirmations, threshold, status }) => ({
      txid,
      amount: formatAmount(amount, link.decimals),
      confirmations,
      threshold,
      status,
      late: role === 'late',
      explorerUrl: explorerUrlOf(origin, link.accountId, chain, txid),
    })),
    notices: strayed.map(({ role, txid, chain, amount, decimals, tokenSymbol }) => ({
      reason: role as 'wrong_asset' | 'wrong_network',
      chain,
      asset: tokenSymbol,
      amount: formatAmount(amount, decimals),
      txid,
    })),
  };
}

function moneyOf(payment: PaymentRow, { mode, decimals }: PaymentLinkRow) {
  const { due, paid, confirmed, remaining, overpaid, short } = amountsOf(payment, mode),
    inUnits = (amount: bigint) => formatAmount(amount, decimals);
  return {
    amount: payment.amount === null ? null : inUnits(payment.amount),
    amountDue: inUnits(due),
    amountPaid: inUnits(paid),
    amountConfirmed: inUnits(confirmed),
    amountRemaining: inUnits(remaining),
    amountOverpaid: inUnits(overpaid),
    amountShort: inUnits(short),
  };
}

/** H11: from `detected` on, with the payment in it. */
function successOf({ successUrl }: PaymentLinkRow, { id }: PaymentRow, status: PaymentStatus): string | null {
  if (successUrl === null || (status !== 'detected' && status !== 'confirmed')) return null;
  const url = new URL(successUrl);
  url.searchParams.set('payment', id);
  return url.href;
}

/** H4: what opens a wallet. Wallets that misread a token's link paid the contract, so that tokens have none. */
export function walletUri(
  { chain, tokenContract, decimals }: PaymentLinkRow,
  address: string,
  amount: bigint | null,
): string | null {
  if (tokenContract !== null) return null;
  const family = FAMILY_OF[chain];
  if (family === 'btc')
    return `bitcoin:${address}${amount === null ? '' : `?amount=${formatAmount(amount, decimals)}`}`;
  if (family !== 'evm') return null;
  const { chainId } = evmOf(networkOf(chain));
  return `ethereum:${address}@${chainId}${amount === null ? '' : `?value=${amount}`}`;
}

export function sessionView(
  link: PaymentLinkRow,
  payment: PaymentRow,
  settings: PaymentSettings,
  shown: Shown & { readonly attestation: Session['attestation'] },
  nowMs: number,
): Session {
  const status = statusNow(payment, link, nowMs),
    { remaining } = amountsOf(payment, link.mode),
    asked = payment.amount !== null && payment.seen === 0n && payment.late === 0n ? payment.amount : remaining;
  return {
    id: payment.id,
    paymentId: payment.id,
    status,
    link: shownLink(link),
    merchant: merchantOf(settings),
    ...assetOf(link),
    address: payment.address,
    ...moneyOf(payment, link),
    ...shown,
    expiresAt: instantOf(payment.expiresAtMs),
    serverTime: instantOf(nowMs),
    uri: walletUri(link, payment.address, asked > 0n && payment.amount !== null ? asked : null),
    successUrl: successOf(link, payment, status),
  };
}

/** S4: a shared link has one address, and a payment only once something came. */
export function sharedSession(
  link: PaymentLinkRow,
  settings: PaymentSettings,
  amount: bigint | null,
  attestation: Session['attestation'],
  nowMs: number,
): Session {
  const due = formatAmount(link.minAmount ?? 1n, link.decimals);
  return {
    id: null,
    paymentId: null,
    status: 'awaiting_payment',
    link: shownLink(link),
    merchant: merchantOf(settings),
    ...assetOf(link),
    address: link.address!,
    amount: amount === null ? null : formatAmount(amount, link.decimals),
    amountDue: due,
    amountPaid: '0',
    amountConfirmed: '0',
    amountRemaining: due,
    amountOverpaid: '0',
    amountShort: '0',
    transfers: [],
    notices: [],
    expiresAt: instantOrNull(link.closesAtMs),
    serverTime: instantOf(nowMs),
    uri: walletUri(link, link.address!, amount),
    attestation,
    successUrl: null,
  };
}

/** A payment of its merchant. */
export function paymentView(
  link: PaymentLinkRow,
  payment: PaymentRow,
  state: Pick<AccountState, 'retired'>,
  shown: Shown,
  nowMs: number,
): ReplyOf<'listLinkPayments'>['content'][number] {
  const { network: _, ...asset } = assetOf(link);
  return {
    id: payment.id,
    linkId: link.id,
    status: statusNow(payment, link, nowMs),
    ...asset,
    address: payment.address,
    derivationPath: lentPathOf(state, link.chain, payment.derivationPath),
    addressReused: payment.addressReused,
    ...moneyOf(payment, link),
    ...shown,
    customerEmail: payment.customerEmail,
    customerName: payment.customerName,
    metadata: JSON.parse(link.metadata) as Record<string, unknown>,
    invoiceId: payment.invoiceId,
    invoiceNumber: payment.invoiceNumber,
    expiresAt: instantOf(payment.expiresAtMs),
    createdAt: instantOf(payment.openedAtMs),
    updatedAt: instantOf(payment.updatedAtMs),
  };
}
