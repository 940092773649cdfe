/** Invoices of a merchant. payments part 7. */
import { invoiceNumberOf } from '../../../actors/payment/invoices.ts';
import type { InvoiceView } from '../../../model/ports/read-store.ts';
import type { InvoicedTransfer } from '../../../model/rows/payment.ts';
import { isRefusal, refuse } from '../../../protocol/errors.ts';
import { organizationOf } from '../../../protocol/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import type { InvoiceStatus } from '../../../protocol/slugs.ts';
import { invoiceLinkOf, newInvoiceToken } from '../../mail/invoice-letter.ts';
import { accountOf, type Handlers, unknownIn, USED_KEY } from '../context.ts';
import { letterContext, linkHashOf, newLetterId } from '../organization/links.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf, listAskOf, pageAs } from '../views.ts';

/** How often the link of one invoice may be asked for again. I6. */
const RESENT_MOST = { most: 5, windowSeconds: 3_600 };

/** I7: what its payment is now. */
export const invoiceStatusOf = ({ paymentStatus }: Pick<InvoiceView, 'paymentStatus'>): InvoiceStatus =>
  paymentStatus === 'confirmed' ? 'paid' : 'reversed';

export const invoicedTransfersOf = ({ transfers }: Pick<InvoiceView, 'transfers'>): readonly InvoicedTransfer[] =>
  JSON.parse(transfers) as InvoicedTransfer[];

function invoiceView(row: InvoiceView): ReplyOf<'getInvoice'> {
  const inUnits = (amount: bigint): string => formatAmount(amount, row.decimals);
  return {
    id: row.id,
    number: invoiceNumberOf(row),
    status: invoiceStatusOf(row),
    linkId: row.linkId,
    paymentId: row.paymentId,
    issuedAt: instantOf(row.issuedAtMs),
    chain: row.chain,
    asset: row.asset,
    tokenContract: row.tokenContract,
    decimals: row.decimals,
    amount: row.amount === null ? null : inUnits(row.amount),
    amountPaid: inUnits(row.paid),
    amountOverpaid: inUnits(row.overpaid),
    amountShort: inUnits(row.short),
    customerEmail: row.customerEmail,
    customerName: row.customerName,
    title: row.title,
    transfers: invoicedTransfersOf(row).map(({ txid, amount, seenAtMs }) => ({
      txid,
      amount: inUnits(BigInt(amount)),
      seenAt: instantOf(seenAtMs),
    })),
  };
}

export function invoiceHandlers(
  deps: HandlerDeps,
): Pick<Handlers, 'listLinkInvoices' | 'listInvoices' | 'getInvoice' | 'resendInvoice'> {
  const {
    stores: { reads, invoices },
    secrets,
    config,
    nowMs,
  } = deps;
  return {
    async listLinkInvoices(asked) {
      const accountId = accountOf(asked),
        ask = listAskOf('invoices', asked.query);
      if (isRefusal(ask)) return ask;
      const link = await reads.paymentLink(accountId, asked.params.id);
      if (link === null) return unknownIn(asked, 'payment link', asked.params.id);
      return pageAs(await reads.invoices(accountId, { linkId: link.id }, ask.page), invoiceView);
    },
    async listInvoices(asked) {
      const ask = listAskOf('invoices', asked.query);
      return isRefusal(ask) ? ask : pageAs(await reads.invoices(accountOf(asked), {}, ask.page), invoiceView);
    },
    async getInvoice(asked) {
      const row = await reads.invoice(accountOf(asked), asked.params.id);
      return row === null ? unknownIn(asked, 'invoice', asked.params.id) : invoiceView(row);
    },
    async resendInvoice(asked) {
      const accountId = accountOf(asked),
        { id } = asked.params;
      const row = await reads.invoice(accountId, id);
      if (row === null) return unknownIn(asked, 'invoice', id);
      if (row.customerEmail === '') return refuse('CONFLICT', { reason: 'wiped' });
      const token = newInvoiceToken(),
        letterId = newLetterId();
      const reply = {
        id,
        number: invoiceNumberOf(row),
        url: invoiceLinkOf(config.payUrl ?? config.publicUrl, token),
      };
      const done = await invoices.resend(
        accountId,
        id,
        { hash: linkHashOf(token), letterId, sealed: secrets.seal(token, letterContext(letterId)) },
        RESENT_MOST,
        asked.answerOf(reply),
        asked.note === null ? undefined : { ...asked.note, target: id, organizationId: organizationOf(accountId) },
        nowMs(),
      );
      if (done === null) return unknownIn(asked, 'invoice', id);
      if (done === 'used') return USED_KEY;
      const { most: limit, windowSeconds } = RESENT_MOST;
      return done === 'done'
        ? reply
        : refuse('RATE_LIMIT_EXCEEDED', { limit, windowSeconds, retryAfterSeconds: done.afterSeconds });
    },
  };
}
