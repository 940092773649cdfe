/** Invoices: of the link that was asked for, and named as invoices are. payments part 7. */
import { isId } from '../../protocol/ids.ts';
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, type Ask } from './known.ts';

type InvoiceJson = ReplyOf<'getInvoice'>;

const INVOICE_NUMBER = /^INV-[0-9]{4}-(?:[0-9]{6}|[1-9][0-9]{6,})$/;

/** An invoice of a link: of the one that was asked for, and named as invoices are. payments I2. */
function falseLinkInvoice(row: InvoiceJson, { params }: Ask): string | null {
  return firstFalse(['linkId', row.linkId === params['id']]) ?? falseListedInvoice(row);
}

const falseListedInvoice = ({ id, linkId, paymentId, number }: InvoiceJson): string | null =>
  firstFalse(
    ['id', isId('inv', id)],
    ['linkId', isId('lnk', linkId)],
    ['paymentId', isId('pay', paymentId)],
    ['number', INVOICE_NUMBER.test(number)],
  );

const falseInvoice = (row: InvoiceJson, { params }: Ask): string | null =>
  firstFalse(['id', row.id === params['id']]) ?? falseListedInvoice(row);

/** What is handed to a payer leads to an invoice's page: which host that is, is the cloud's word. */
const falseResent = ({ id, number, url }: ReplyOf<'resendInvoice'>, { params }: Ask): string | null =>
  firstFalse(
    ['id', id === params['id']],
    ['number', INVOICE_NUMBER.test(number)],
    ['url', /^https?:\/\/[^/?#@]+\/invoices\/[a-z2-7]{32}$/.test(url)],
  );

/** Fields of an invoice that are the cloud's word. */
const INVOICE_WORD: readonly string[] = [
  'status',
  'issuedAt',
  'chain',
  'asset',
  'tokenContract',
  'decimals',
  'amount',
  'amountPaid',
  'amountOverpaid',
  'amountShort',
  'customerEmail',
  'customerName',
  'title',
  'transfers',
  'transfers.*',
  ...['txid', 'amount', 'seenAt'].map((field) => `transfers.*.${field}`),
];

export const INVOICE_RULES = {
  listLinkInvoices: { falseField: falseLinkInvoice, word: INVOICE_WORD },
  listInvoices: { falseField: falseListedInvoice, word: INVOICE_WORD },
  getInvoice: { falseField: falseInvoice, word: INVOICE_WORD },
  resendInvoice: { falseField: falseResent, word: [] },
} as const;
