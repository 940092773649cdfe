/** What the events of payments and links say. payments V1–V7. */
import type { AccountCore, RowWrite } from '../../model/account/capabilities.ts';
import type { EdgeLinkState } from '../../model/account/edge-link.ts';
import type { DepositRow } from '../../model/rows/deposit.ts';
import type { PaymentLinkRow, PaymentRow, TransferRole } from '../../model/rows/payment.ts';
import { formatAmount } from '../../protocol/money.ts';
import { eventId } from '../../protocol/node/ids.ts';
import type { EventData } from '../../protocol/schema/events.ts';
import type { DepositStatus, UnmatchedReason } from '../../protocol/slugs.ts';
import { eventIdAt, publish, type Announced } from '../account/events-body.ts';
import { lentPathOf } from '../edge-link/retired-identities.ts';
import { amountsOf } from './sums.ts';

/** `{PAY_URL}/pay/{slug}`. payments P7. */
export const payUrlOf = (payUrl: string, slug: string): string => `${payUrl}/pay/${slug}`;

const metadataOf = ({ metadata }: PaymentLinkRow): Record<string, unknown> => JSON.parse(metadata);

/** A transfer with its payment; null where it is of none. */
export interface Transfer {
  readonly link: PaymentLinkRow;
  readonly payment: PaymentRow | null;
  readonly deposit: DepositRow;
  readonly role: TransferRole;
  /** Of the deposit's address. */
  readonly path: string | null;
}

/** The words of one transition. payments V4. */
export type TransferEvent =
  | { readonly event: 'payment_detected' | 'payment_confirmed' | 'payment_underpaid' | 'payment_late' }
  | { readonly event: 'payment_reversed'; readonly reversedFrom: DepositStatus; readonly depth: number }
  | { readonly event: 'payment_unmatched'; readonly reason: UnmatchedReason };

type Core = Pick<AccountCore, 'accountId' | 'environment' | 'version'>;
/** What is said of an address needs the identities that were retired. */
export type TransferCore = Core & Pick<EdgeLinkState, 'retired'>;

/** payments V1, V2: one id per fact and kind; the confirmations are the transfer's. */
export function transferEvent(
  core: TransferCore,
  what: TransferEvent,
  transfer: Transfer,
  confirmations: number,
  atMs: number,
): RowWrite {
  const { deposit } = transfer,
    { event } = what;
  return publish(core, {
    ...announced(core, what, transfer),
    id: eventId(deposit.ledger, deposit.txid, deposit.outputIndex, deposit.incarnation, event),
    confirmations: event === 'payment_reversed' ? 0 : confirmations,
    threshold: deposit.threshold,
    atMs,
    orderKey: deposit.address,
  });
}

function announced(core: TransferCore, what: TransferEvent, transfer: Transfer): Announced {
  const fields = transferFields(core, transfer);
  if (what.event === 'payment_unmatched') {
    const { chain, asset, tokenContract } = transfer.link;
    return { event: what.event, data: { ...fields, reason: what.reason, expected: { chain, asset, tokenContract } } };
  }
  if (what.event === 'payment_reversed')
    return { event: what.event, data: { ...fields, reversedFrom: what.reversedFrom, depth: what.depth } };
  const { payment } = transfer;
  if (payment === null) throw new Error(`${what.event} of a transfer without a payment`);
  return { event: what.event, data: { ...fields, paymentId: payment.id, status: payment.status } };
}

type TransferFields = Omit<EventData['payment_unmatched'], 'reason' | 'expected'>;

function transferFields(core: TransferCore, { link, payment, deposit, role, path }: Transfer): TransferFields {
  const sums = payment === null ? null : amountsOf(payment, link.mode),
    inAsset = (amount: bigint | undefined): string => formatAmount(amount ?? 0n, link.decimals);
  return {
    paymentId: payment?.id ?? null,
    linkId: link.id,
    createdVia: 'link',
    mode: link.mode,
    status: payment?.status ?? null,
    chain: deposit.chain,
    asset: deposit.tokenSymbol,
    tokenContract: deposit.tokenContract,
    decimals: deposit.decimals,
    address: deposit.address,
    derivationPath: lentPathOf(core, link.chain, path ?? payment?.derivationPath ?? link.derivationPath ?? ''),
    txid: deposit.txid,
    outputIndex: deposit.outputIndex,
    depositId: deposit.id,
    incarnation: deposit.incarnation,
    height: deposit.height,
    blockHash: deposit.blockHash,
    amount: String(deposit.amount),
    amountFormatted: formatAmount(deposit.amount, deposit.decimals),
    amountDue: inAsset(sums?.due),
    amountPaid: inAsset(sums?.paid),
    amountConfirmed: inAsset(sums?.confirmed),
    amountRemaining: inAsset(sums?.remaining),
    amountOverpaid: inAsset(sums?.overpaid),
    amountShort: inAsset(sums?.short),
    late: role === 'late',
    addressReused: payment?.addressReused ?? false,
    invoiceNumber: payment?.invoiceNumber ?? null,
    customerEmail: payment?.customerEmail ?? null,
    customerName: payment?.customerName ?? null,
    metadata: metadataOf(link),
  };
}

function linkFields(link: PaymentLinkRow, payUrl: string): EventData['payment_link_created'] {
  const { id, slug, mode, chain, asset, title } = link;
  return {
    linkId: id,
    slug,
    url: payUrlOf(payUrl, slug),
    mode,
    chain,
    asset,
    title,
    metadata: metadataOf(link),
  };
}

/**
 * `position` is the place of its cause among the events of the decision, from one (V1); `orderKey` the address that a
 * closing by a payment follows, else the link's id (V7).
 */
export interface LinkCause {
  readonly position: number;
  readonly orderKey?: string;
  readonly payUrl: string;
  readonly atMs: number;
}

export function linkCreated(core: Core, link: PaymentLinkRow, { position, payUrl, atMs }: LinkCause): RowWrite {
  const event = 'payment_link_created';
  return publish(core, {
    event,
    data: linkFields(link, payUrl),
    id: eventIdAt(core, position, event),
    confirmations: null,
    threshold: null,
    atMs,
    orderKey: link.id,
  });
}

/** Throws: for a link that is not closed. */
export function linkClosed(
  core: Core,
  link: PaymentLinkRow,
  { position, orderKey, payUrl, atMs }: LinkCause,
): RowWrite {
  const { closedReason, closedAtMs, monitorUntilMs, amountRaised, decimals, paymentCount } = link,
    event = 'payment_link_closed';
  if (closedReason === null || closedAtMs === null || monitorUntilMs === null) throw new Error(`${link.id} is open`);
  return publish(core, {
    event,
    data: {
      ...linkFields(link, payUrl),
      amountRaised: formatAmount(amountRaised, decimals),
      paymentCount,
      closedReason,
      closedAt: new Date(closedAtMs).toISOString(),
      monitorUntil: new Date(monitorUntilMs).toISOString(),
    },
    id: eventIdAt(core, position, event),
    confirmations: null,
    threshold: null,
    atMs,
    orderKey: orderKey ?? link.id,
  });
}
