/** `flock-client/units`: decimal text and whole numbers of the smallest unit. Exact; refuses, never rounds. X7. */

const DIGITS_MAX = 78; // of any 256-bit amount

/** `toUnits('1.5', 6)` is `1500000n`. Throws: RangeError for anything but a decimal with at most `decimals` places. */
export function toUnits(decimal: string, decimals: number): bigint {
  const match = typeof decimal === 'string' && decimal.length <= DIGITS_MAX + 1 && /^(\d+)(?:\.(\d+))?$/.exec(decimal);
  const places = match && match[2] ? match[2] : '';
  if (!match || !isPlaces(decimals) || places.length > decimals)
    throw new RangeError(`expected decimal text with at most ${decimals} places`);
  return BigInt(match[1]! + places.padEnd(decimals, '0'));
}

/** `fromUnits(1500000n, 6)` is `1.5`. Throws: RangeError for anything but a whole number that is exact. */
export function fromUnits(units: bigint | string, decimals: number): string {
  const isWhole = typeof units === 'bigint' || (typeof units === 'string' && /^-?\d{1,78}$/.test(units));
  if (!isWhole || !isPlaces(decimals)) throw new RangeError('expected a bigint, or its text');
  const amount = BigInt(units);
  const digits = String(amount < 0n ? -amount : amount).padStart(decimals + 1, '0');
  const at = digits.length - decimals;
  const places = digits.slice(at).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, at)}${places && '.'}${places}`;
}

const isPlaces = (decimals: number): boolean => Number.isInteger(decimals) && decimals >= 0 && decimals <= DIGITS_MAX;
