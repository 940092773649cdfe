/**
 * JSON whose numbers keep their text. A double holds 15 significant digits of every integer and hardly any decimal
 * fraction, so an amount read through one is already wrong (chains.md G4, R16). Here a number that a double might
 * change comes back as its own text; one that it cannot change (an integer of at most 15 digits) stays a number.
 *
 *   9007199254740993 → "9007199254740993"      0.05013719 → "0.05013719"      1e3 → "1e3"      42 → 42
 *
 * Readers therefore never ask for `typeof value === 'number'` where money is concerned: they ask `integerOf`,
 * `decimalTextOf` or `countOf`, which take both forms.
 */

/** A whole JSON number: no part of a number may come before or after it. */
const NUMBER = /(?<![^\s:,[])-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![^\s,\]}])/g;
/** Holds for every number that needs its text, and for few others: spares the many that do not. */
const MAY_NEED_TEXT = /[0-9](?:[.eE]|[0-9]{15})/;
/** Every double holds an integer of this many digits exactly. */
const EXACT_DIGITS_MAX = 15;
/** The shortest number that needs its text is `1.5` or `1e5`. */
const LOSSY_CHARACTERS_MIN = 3;

/** True when a double might not give this number's text back. */
function needsText(number: string): boolean {
  return (
    number.length > EXACT_DIGITS_MAX + 1 || /[.eE]/.test(number) || number.replace('-', '').length > EXACT_DIGITS_MAX
  );
}

/** Text with the numbers that need it put in quotes; the inside of a string is never touched. */
function quoteNumbers(text: string): string {
  const parts: string[] = [];
  let copied = 0; // everything before it is in `parts`
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('"', at);
    const end = open === -1 ? text.length : open;
    if (end - at >= LOSSY_CHARACTERS_MIN) {
      const between = text.slice(at, end);
      if (MAY_NEED_TEXT.test(between)) {
        const quoted = between.replace(NUMBER, (number) => (needsText(number) ? `"${number}"` : number));
        if (quoted !== between) {
          parts.push(text.slice(copied, at), quoted);
          copied = end;
        }
      }
    }
    at = open === -1 ? text.length : closingQuote(text, open) + 1;
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied);
}

/** Index of the quote that ends the string opened at `open`; the end of the text when none does. */
function closingQuote(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * The value of a JSON text, numbers that a double might change as their text. Throws: SyntaxError, without the text.
 */
export function parseLossless(text: string): unknown {
  try {
    return JSON.parse(quoteNumbers(text));
  } catch {
    // The engine's own message quotes the text, which may be a secret or an attacker's.
    throw new SyntaxError('not valid JSON');
  }
}

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** No ledger writes an amount longer than this; longer ones would only cost time. */
const NUMBER_CHARACTERS_MAX = 400;

/** An integer of either form (a number, or decimal digits), or null when the value is not one. */
export function integerOf(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (typeof value !== 'string' || value.length > NUMBER_CHARACTERS_MAX) return null;
  return INTEGER.test(value) ? BigInt(value) : null;
}

/** The text of a decimal number of either form, or null when the value is not one. */
export function decimalTextOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  if (typeof value !== 'string' || value.length > NUMBER_CHARACTERS_MAX) return null;
  return DECIMAL.test(value) ? value : null;
}

/** A count, index or height: an integer from 0 to 2^53 − 1 of either form, or null when the value is not one. */
export function countOf(value: unknown): number | null {
  const integer = integerOf(value);
  return integer === null || integer < 0n || integer > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(integer);
}
