/**
 * The only arithmetic between text and amounts. An amount is a `bigint` in the smallest unit; it refuses, never rounds.
 */
import { refuse, type Refusal } from './errors.ts';

/** 78 decimal digits hold any 256-bit amount. */
export const AMOUNT_DIGITS_MAX = 78;

/** What every amount on the wire is, in words. Spec §2.2. */
export const AMOUNT_FORM = 'amounts are whole numbers above zero in the smallest unit of the asset, as a string';

const SMALLEST_UNIT = /^[1-9][0-9]*$/;
const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

const TOO_LONG = new RegExp(`^[0-9]{${AMOUNT_DIGITS_MAX + 1},}(?:\\.[0-9]+)?$`);

/** What is wrong with the text of an amount that its schema refused. */
export const amountProblem = (text: unknown): string =>
  typeof text === 'string' && TOO_LONG.test(text)
    ? `too large: an amount has at most ${AMOUNT_DIGITS_MAX} digits`
    : AMOUNT_FORM;

/** An amount above what there can be, in the unit that was sent. */
export const amountTooLarge = (field: string, text: string, maximum: string): Refusal =>
  refuse(
    'INVALID_AMOUNT',
    { field, amount: text.slice(0, 100), reason: 'too_large', maximum },
    `${field}: too large: at most ${maximum}`,
  );

/** A positive amount from its smallest-unit text. Refuses: INVALID_AMOUNT (zero, sign, fraction, exponent, length). */
export function parseAmount(text: string): bigint | Refusal {
  if (text.length > AMOUNT_DIGITS_MAX || !SMALLEST_UNIT.test(text)) {
    return refuse('INVALID_AMOUNT', {
      amount: text.slice(0, 100),
      expected: 'positive integer of the smallest unit, as a string',
    });
  }
  return BigInt(text);
}

/**
 * An amount from a decimal text in the asset's own unit; zero is allowed, more decimals than the asset carries is not.
 * Refuses: INVALID_AMOUNT. Spec §2.2: "more decimal places than the asset carries is refused, not rounded".
 */
export function parseDecimal(text: string, decimals: number): bigint | Refusal {
  const match = text.length <= AMOUNT_DIGITS_MAX + 1 ? DECIMAL.exec(text) : null;
  const fraction = match?.[2] ?? '';
  if (match === null || fraction.length > decimals) {
    return refuse('INVALID_AMOUNT', {
      amount: text.slice(0, 100),
      expected: `decimal with at most ${decimals} places`,
    });
  }
  return BigInt(match[1]! + fraction.padEnd(decimals, '0'));
}

/** Display text of an amount: never computed with. `formatAmount(1500000n, 6)` is `1.5`. */
export function formatAmount(amount: bigint, decimals: number): string {
  const negative = amount < 0n;
  const digits = (negative ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
