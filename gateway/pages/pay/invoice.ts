/** The page of an invoice: whole without scripts, on screen and on paper. payments I3, I4, I7, H12, H13. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { invoiceNumberOf } from '../../../actors/payment/invoices.ts';
import type { InvoiceView } from '../../../model/ports/read-store.ts';
import { isRefusal, notFound, type Refusal } from '../../../protocol/errors.ts';
import { environmentOf } from '../../../protocol/ids.ts';
import { formatAmount } from '../../../protocol/money.ts';
import type { GatewayDeps } from '../../deps.ts';
import { linkHashOf } from '../../http/organization/links.ts';
import { clientNetwork, createCheckoutLimits } from '../../http/payment/checkout-limits.ts';
import { invoicedTransfersOf, invoiceStatusOf } from '../../http/payment/invoices.ts';
import { networkNameOf } from '../../http/payment/session-view.ts';
import { explorerUrlOf } from '../../http/views.ts';
import { INVOICE_TOKEN } from '../../mail/invoice-letter.ts';
import { addressMarkup, escaped } from './html.ts';
import { INVOICE_STYLE, page, supportMarkup, type Reader } from './page.ts';

const DATES = new Map<string, Intl.DateTimeFormat>();

/** The day of an instant in a time zone, `2026-11-30`: the same in every language. */
function dayIn(timeZone: string, atMs: number): string {
  let format = DATES.get(timeZone);
  if (format === undefined) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
    DATES.set(timeZone, (format = new Intl.DateTimeFormat('en-u-ca-gregory-nu-latn', { timeZone, ...parts })));
  }
  const part = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]));
  return `${part['year']}-${part['month']}-${part['day']}`;
}

const minuteOf = (atMs: number): string => `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** `origin` is where explorers of simulated ledgers are. */
export function invoicePage(invoice: InvoiceView, origin: string, reader: Reader): string {
  const { say } = reader,
    number = invoiceNumberOf(invoice),
    isPaid = invoiceStatusOf(invoice) === 'paid';
  const money = (amount: bigint): string =>
    `<bdi dir="ltr">${escaped(formatAmount(amount, invoice.decimals))} ${escaped(invoice.asset)}</bdi>`;
  const row = (label: string, markup: string | null): string =>
    markup === null || markup === '' ? '' : `<dt>${escaped(label)}</dt><dd>${markup}</dd>`;
  const lines = (...texts: readonly (string | null)[]): string => {
    const found = texts.filter((text) => text !== null && text !== '');
    return found.length === 0 ? '' : `<span class="lines" dir="auto">${escaped(found.join('\n'))}</span>`;
  };
  const { amount, paid, overpaid, short, sellerTaxId } = invoice;
  const transfers = invoicedTransfersOf(invoice).map(({ txid, amount: of, seenAtMs }) => {
    const url = explorerUrlOf(origin, invoice.accountId, invoice.chain, txid);
    const id = `<span class="txid"><bdi dir="ltr">${escaped(txid)}</bdi></span>`;
    return `<li><bdi dir="ltr">${minuteOf(seenAtMs)}</bdi> · ${money(BigInt(of))}<br>${
      url === null ? id : `<a href="${escaped(url)}" rel="noreferrer">${id}</a>`
    }</li>`;
  });
  const body = `<article class="invoice"><header>${
    invoice.sellerName === null ? '' : `<p class="merchant" dir="auto">${escaped(invoice.sellerName)}</p>`
  }<h1>${escaped(say('invoice', { number }))}</h1></header>
<p class="state${isPaid ? '' : ' back'}" role="status">${escaped(say(isPaid ? 'confirmed' : 'takenBack'))}</p>
<dl>${row(say('issuedOn'), `<bdi dir="ltr">${dayIn(invoice.timeZone, invoice.issuedAtMs)}</bdi>`)}
${row(say('seller'), lines(invoice.sellerName, invoice.sellerAddress))}
${row(say('taxId'), sellerTaxId === null ? null : `<bdi dir="ltr">${escaped(sellerTaxId)}</bdi>`)}
${row(say('buyer'), lines(invoice.customerName, invoice.customerEmail))}
${row(say('about'), lines(invoice.title, invoice.description))}</dl>
<dl>${row(say('amount'), amount === null || amount === paid ? null : money(amount))}
${row(say('confirmed'), `<span class="total">${money(paid)}</span>`)}
${row(say('tooMuch'), overpaid === 0n ? null : money(overpaid))}
${row(say('acceptedShort'), short === 0n ? null : money(short))}
${row(say('network'), escaped(networkNameOf(invoice.chain)))}
${row(say('address'), addressMarkup(invoice.address))}</dl>
<h3>${escaped(say('transfers'))}</h3><ul class="transfers">${transfers.join('')}</ul>
${supportMarkup({ supportEmail: invoice.supportEmail, supportUrl: null }, reader)}</article>`;
  return page(reader, { title: say('invoice', { number }), style: INVOICE_STYLE, script: false, body });
}

/** What the pay pages have in common. */
export interface PageParts {
  readonly client: (request: FastifyRequest) => string;
  readonly readerOf: (request: FastifyRequest, language: string | null, environment: Reader['environment']) => Reader;
  readonly send: (reply: FastifyReply, status: number, page: string) => FastifyReply;
  readonly none: (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => FastifyReply;
  readonly whole: (
    work: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>,
  ) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

/** `GET /invoices/{token}`. An unknown token, one that was replaced and a malformed one are the same page. */
export function serveInvoices(
  pages: FastifyInstance,
  {
    stores: { reads, invoices },
    rateLimiter,
    nowMs,
    config,
  }: Pick<GatewayDeps, 'rateLimiter' | 'nowMs' | 'config'> & {
    readonly stores: Pick<GatewayDeps['stores'], 'reads' | 'invoices'>;
  },
  { client, readerOf, send, none, whole }: PageParts,
): void {
  const limits = createCheckoutLimits(rateLimiter, nowMs);
  async function found(token: string, of: string): Promise<InvoiceView | Refusal> {
    const often = await limits.asked(of);
    if (often !== null) return often;
    const owner = INVOICE_TOKEN.test(token) ? await invoices.of(linkHashOf(token)) : null;
    const invoice = owner === null ? null : await reads.invoice(owner.accountId, owner.invoiceId);
    if (invoice === null) return (await limits.unknown(of)) ?? notFound('invoice', '');
    return (await limits.view(of, environmentOf(invoice.accountId))) ?? invoice;
  }
  pages.get(
    '/invoices/:token',
    whole(async (request, reply) => {
      const invoice = await found((request.params as { token: string }).token, clientNetwork(client(request)));
      if (isRefusal(invoice)) return none(request, reply, invoice);
      const reader = readerOf(request, invoice.language, environmentOf(invoice.accountId));
      return send(reply, 200, invoicePage(invoice, config.publicUrl, reader));
    }),
  );
}
