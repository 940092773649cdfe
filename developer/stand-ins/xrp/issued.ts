/** Issued amounts of the stand-in: units of 10^-15, up to 16 significant digits as on the ledger. */

const DECIMALS = 15;
const DIGITS_MAX = 16;
/** Exponents within which a server writes a plain decimal. */
const EXPONENT_MIN = -25;
const EXPONENT_MAX = -5;
const BILLION = 1_000_000_000n;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;
/** Powers of ten that an amount may have. Source: XRPLF/rippled `STAmount.h`, cMinOffset and cMaxOffset. */
const POWER_MIN = -96,
  POWER_MAX = 80;

/** Units of a decimal text, plain or scientific; what is below a unit is cut. Throws: RangeError. */
export function unitsOf(text: unknown): bigint {
  const [, sign, whole = '', fraction = '', power = '0'] = DECIMAL.exec(String(text)) ?? [];
  if (sign === undefined || typeof text !== 'string') throw new RangeError('not an amount');
  const digits = BigInt(whole + fraction),
    exponent = Number(power) - fraction.length;
  if (exponent < POWER_MIN || exponent > POWER_MAX) throw new RangeError('not an amount');
  const shift = exponent + DECIMALS;
  const units = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return sign === '-' ? -units : units;
}

/** Cut to the digits that the ledger keeps. */
function kept(units: bigint): bigint {
  const surplus = units.toString().replace('-', '').length - DIGITS_MAX;
  if (surplus <= 0) return units;
  const step = 10n ** BigInt(surplus);
  return units - (units % step);
}

/**
 * The text of units as a server writes it: sixteen digits of mantissa with an exponent where that is below −25 or above
 * −5 (`3387750255861906e-2`), a plain decimal otherwise. Source: XRPLF/rippled `STAmount::getText`.
 */
export function valueOf(units: bigint): string {
  const whole = kept(units),
    magnitude = whole < 0n ? -whole : whole,
    sign = whole < 0n ? '-' : '';
  if (magnitude === 0n) return '0';
  const exponent = magnitude.toString().length - DIGITS_MAX - DECIMALS;
  if (exponent !== 0 && (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX)) {
    return `${sign}${magnitude.toString().slice(0, DIGITS_MAX).padEnd(DIGITS_MAX, '0')}e${exponent}`;
  }
  const digits = magnitude.toString().padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -DECIMALS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** What must be sent so that `units` arrive, and what arrives of what is sent. Rates in billionths. */
export const withRate = (units: bigint, rate: bigint): bigint => (units * rate + BILLION - 1n) / BILLION;
export const withoutRate = (units: bigint, rate: bigint): bigint => kept((units * BILLION) / rate);
