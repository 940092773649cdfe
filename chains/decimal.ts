/** Decimal texts of node answers as integers of a smaller unit; nothing passes through a double. Spec: chains.md G4. */

const DECIMAL = /^([+-]?)([0-9]+)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,4}))?$/;
/** The widest that a ledger writes is 16 digits with an exponent from −96 to 80. */
const EXPONENT_MAX = 300;
const DECIMAL_CHARACTERS_MAX = 100;

interface Scaled {
  /** Truncated toward zero. */
  readonly amount: bigint;
  readonly exact: boolean;
}

function scale(text: string, decimals: number): Scaled | null {
  const match = text.length <= DECIMAL_CHARACTERS_MAX ? DECIMAL.exec(text) : null;
  if (match === null) return null;
  const [, sign, whole, fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText) - fraction.length + decimals;
  if (Math.abs(exponent) > EXPONENT_MAX) return null;
  const digits = BigInt(whole! + fraction);
  const divisor = exponent < 0 ? 10n ** BigInt(-exponent) : 1n;
  const magnitude = exponent < 0 ? digits / divisor : digits * 10n ** BigInt(exponent);
  return { amount: sign === '-' ? -magnitude : magnitude, exact: exponent >= 0 || digits % divisor === 0n };
}

/**
 * A decimal text (also scientific) in units of 10^-decimals, or null when it is not a decimal or has more decimals than
 * that.
 */
export function exactDecimal(text: string, decimals: number): bigint | null {
  const scaled = scale(text, decimals);
  return scaled?.exact === true ? scaled.amount : null;
}

/**
 * A decimal text (also scientific) in units of 10^-decimals, truncated toward zero, or null when it is not a decimal.
 */
export function truncatedDecimal(text: string, decimals: number): bigint | null {
  return scale(text, decimals)?.amount ?? null;
}
