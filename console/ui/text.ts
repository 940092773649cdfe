/** How amounts, addresses, instants and foreign text are shown. Nothing here computes with money. Console C10. */

/** Characters that reorder or hide text: controls, bidi marks, zero-width ones. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const SHOWN_CHARS_MAX = 200;

/** A foreign string as it may be shown. */
export function plain(text: string): string {
  const clean = text.replace(HIDDEN, '');
  return clean.length > SHOWN_CHARS_MAX ? `${clean.slice(0, SHOWN_CHARS_MAX)}…` : clean;
}

/** An address, id or hash with its middle left out. */
export function shortened(text: string, { head = 8, tail = 6 }: { head?: number; tail?: number } = {}): string {
  return text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;
}

/** A decimal text with its whole part in groups of three. The digits stay as they are. */
export function grouped(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const groups = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ',');
  return fraction === undefined ? groups : `${groups}.${fraction}`;
}

/** The smallest unit as a decimal, by cutting its digits. */
export function cut(amount: string, decimals: number): string {
  const sign = amount.startsWith('-') ? '-' : '',
    digits = amount.replace('-', '').padStart(decimals + 1, '0');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return `${sign}${digits.slice(0, digits.length - decimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * A decimal in the smallest unit. What has more digits than the unit stays as it was written, so that it is refused and
 * not rounded.
 */
export function smallest(decimal: string, decimals: number): string {
  const [whole = '', fraction = ''] = decimal.trim().split('.');
  if (fraction.length > decimals || !/^\d+$/.test(whole + fraction)) return decimal;
  return (whole + fraction.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
}

/** Whole cents as US dollars with both decimals. */
export function dollars(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${grouped(digits.slice(0, -2))}.${digits.slice(-2)}`;
}

const two = (value: number): string => String(value).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `29 Nov 2026 11:04:05 UTC`, from UTC parts. */
export function utc(instant: string): string {
  const at = new Date(instant);
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':');
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()} ${clock} UTC`;
}

/** The same instant by the clock of the reader. */
export function local(instant: string): string {
  return new Date(instant).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
}

const STEPS: readonly [number, string][] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

/** `12 min ago`; `in 2 h` for what is to come. */
export function ago(instant: string, nowMs: number): string {
  const seconds = Math.round((nowMs - new Date(instant).getTime()) / 1_000),
    size = Math.abs(seconds);
  if (size < 10) return 'now';
  const [unit, name] = STEPS.find(([least]) => size >= least) ?? [1, 's'];
  const count = `${Math.floor(size / unit)} ${name}`;
  return seconds > 0 ? `${count} ago` : `in ${count}`;
}

/** `deposit_confirmed` as words. */
export function words(slug: string): string {
  const text = slug.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What looks like a recovery phrase or a private key must not be sent anywhere. */
export function looksSecret(text: string): boolean {
  const trimmed = text.trim();
  const count = trimmed.split(/\s+/).length;
  return (
    (count >= 12 && count <= 24 && /^[a-z\s]+$/i.test(trimmed)) ||
    /^(?:xprv|[KL5][1-9A-HJ-NP-Za-km-z]{50,51}$)/.test(trimmed) ||
    /^s[1-9A-HJ-NP-Za-km-z]{28}$/.test(trimmed) ||
    /^S[A-Z2-7]{55}$/.test(trimmed)
  );
}
