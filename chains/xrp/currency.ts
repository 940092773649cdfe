/**
 * Currency codes and amounts of issued currencies.
 *
 * A code is 160 bits. Codes of the form 00(12) || ASCII(3) || 00(5) are spelt with their three characters, all others
 * as 40 hex digits. `XRP` is no code: the native coin has none.
 */
import { truncatedDecimal } from '../decimal.ts';
import { ISSUED_DECIMALS } from './network.ts';

/** Source: xrpl.org "Currency codes": letters, digits and these marks, `XRP` excepted. */
const STANDARD = /^[A-Za-z0-9?!@#$%^&*<>(){}[\]|]{3}$/;
const HEX = /^[0-9A-Fa-f]{40}$/;
const PRINTABLE = /^[\x21-\x7e]{4,20}$/;
const STANDARD_HEX = /^0{24}([0-9A-F]{6})0{10}$/;
const CODE_BYTES = 20;

/**
 * A code as the ledger spells it, or null. A longer name is read as the ASCII that its 20 bytes begin with, because
 * that is how issuers announce it (`RLUSD` is 524C5553…).
 */
export function parseCurrency(text: string): string | null {
  if (STANDARD.test(text)) return text === 'XRP' ? null : text;
  if (HEX.test(text)) return currencyFromHex(text.toUpperCase());
  if (!PRINTABLE.test(text)) return null;
  return Buffer.from(text, 'ascii')
    .toString('hex')
    .padEnd(2 * CODE_BYTES, '0')
    .toUpperCase();
}

function currencyFromHex(hex: string): string | null {
  const standard = STANDARD_HEX.exec(hex)?.[1];
  if (standard !== undefined) {
    const text = Buffer.from(standard, 'hex').toString('ascii');
    if (STANDARD.test(text)) return text === 'XRP' ? null : text;
  }
  return /^0+$/.test(hex) ? null : hex;
}

/**
 * An issued amount in units of 10^-15, truncated toward zero; null when it is no text of a number.
 * Choice: chains.md R11, truncation, because crediting more than arrived is worse than a quadrillionth less.
 */
export function issuedAmountOf(value: unknown): bigint | null {
  return typeof value === 'string' ? truncatedDecimal(value, ISSUED_DECIMALS) : null;
}

/** Currency and issuer of a catalogue's text. */
export function assetOf(contract: string): { readonly currency: string; readonly issuer: string } {
  const [currency, issuer] = contract.split(':');
  return { currency: currency!, issuer: issuer! };
}
