/**
 * What an invoice is, and which number it gets. payments part 7.
 *
 *   issued     with the first `payment_confirmed` of a payment that has an e-mail, on a `per_payer` link that collects
 *              them (I1); not again when a reorg takes the money back and it returns (I7)
 *   number     one more than the last of its year; 1 in a new one. The year is that of the instant in the account's
 *              time zone, and never an earlier one than before, whatever the clock or the setting does (I2)
 */
import type { PaymentState } from '../../model/account/payment.ts';
import {
  INVOICED_TRANSFERS_MAX,
  type ConfirmedTransfer,
  type InvoicedTransfer,
  type InvoiceRow,
  type PaymentLinkRow,
  type PaymentRow,
} from '../../model/rows/payment.ts';
import { amountsOf } from './sums.ts';

export type InvoiceSees = Pick<PaymentState, 'invoices' | 'paymentSettings'>;

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** The civil year of an instant in a time zone of IANA. Throws: RangeError for a zone that there is none of. */
export function yearIn(timeZone: string, atMs: number): number {
  let format = FORMATS.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone, year: 'numeric' });
    FORMATS.set(timeZone, format);
  }
  return Number(format.format(atMs));
}

/** The number after the newest one. I2. */
export function nextNumber({ year, last }: PaymentState['invoices'], yearNow: number): { year: number; last: number } {
  return yearNow > year ? { year: yearNow, last: 1 } : { year, last: last + 1 };
}

/** `INV-2026-000001`; seven digits after 999,999. */
export const invoiceNumberOf = ({ year, number }: Pick<InvoiceRow, 'year' | 'number'>): string =>
  `INV-${year}-${String(number).padStart(6, '0')}`;

/** The invoice of a payment that is confirmed for the first time now. `confirmed`: its transfers. I3. */
export function invoiceOf(
  { invoices, paymentSettings }: InvoiceSees,
  id: string,
  link: PaymentLinkRow,
  payment: PaymentRow,
  confirmed: readonly ConfirmedTransfer[],
  nowMs: number,
): InvoiceRow {
  const { timeZone, displayName, supportEmail, invoice } = paymentSettings,
    { year, last } = nextNumber(invoices, yearIn(timeZone, nowMs)),
    sums = amountsOf({ ...payment, seen: payment.confirmed, late: 0n }, link.mode);
  const transfers = confirmed
    .slice(0, INVOICED_TRANSFERS_MAX)
    .map(({ txid, amount, seenAtMs }): InvoicedTransfer => ({ txid, amount, seenAtMs }));
  return {
    id,
    accountId: payment.accountId,
    linkId: link.id,
    paymentId: payment.id,
    year,
    number: last,
    issuedAtMs: nowMs,
    timeZone,
    language: payment.language,
    chain: link.chain,
    asset: link.asset,
    tokenContract: link.tokenContract,
    decimals: link.decimals,
    address: payment.address,
    amount: payment.amount,
    paid: payment.confirmed,
    overpaid: sums.overpaid,
    short: sums.short,
    sellerName: invoice.name ?? displayName,
    sellerAddress: invoice.address,
    sellerTaxId: invoice.taxId,
    supportEmail,
    customerEmail: payment.customerEmail!,
    customerName: payment.customerName,
    title: link.title,
    description: link.description,
    transfers: JSON.stringify(transfers),
  };
}
