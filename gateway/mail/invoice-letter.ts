/**
 * The letter of an invoice to its payer, in the payer's language, and the link in it. Pure but for the token. Merchants
 * chose words of it: each is on one line, without what could hide text. payments I4, I5, T9.
 */
import { randomBytes } from 'node:crypto';
import { formatAmount } from '../../protocol/money.ts';
import { base32 } from '../../protocol/node/ids.ts';
import { shown } from '../pages/pay/html.ts';
import { languageOf, sayIn } from '../pages/pay/words.ts';
import type { Letter } from './letters.ts';

/** 160 bits: 32 characters. payments I4. */
const TOKEN_BYTES = 20;
export const INVOICE_TOKEN = /^[a-z2-7]{32}$/;

export const newInvoiceToken = (): string => base32(randomBytes(TOKEN_BYTES));

/** Where the page of an invoice is. `payUrl` is the origin of the pay page. */
export const invoiceLinkOf = (payUrl: string, token: string): string => `${payUrl}/invoices/${token}`;

const oneLine = (text: string | undefined): string =>
  shown(text ?? '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();

/** Subject and text. `facts` are those of `write_invoice_letter`. */
export function invoiceWordsOf(
  facts: Readonly<Record<string, string>>,
  link: string,
): Pick<Letter, 'subject' | 'text'> {
  const { number = '', paid = '0', decimals = '0', language = '' } = facts;
  const say = sayIn(languageOf({ lang: null, payment: language, accepted: undefined, merchant: null })),
    merchant = oneLine(facts['merchant']),
    title = oneLine(facts['title']);
  const values = {
    number,
    merchant,
    amount: formatAmount(BigInt(paid), Number(decimals)),
    asset: oneLine(facts['asset']),
  };
  const test = facts['environment'] === 'sandbox' ? [say('sandbox')] : [];
  return {
    subject: say('letterSubject', values),
    text: `${[...test, ...(title === '' ? [] : [title]), say('letterThanks', values), `  ${link}`, say('letterLink')].join('\n\n')}\n`,
  };
}
