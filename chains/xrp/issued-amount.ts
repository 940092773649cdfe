/**
 * Issued amounts that are sent. The ledger keeps 15 significant digits; what is built is rounded down to them, never
 * up, and only a `SendMax` is rounded up, because it bounds what the sender may lose to the issuer's fee. Spec:
 * chains.md R11, R28. Amounts are in units of 10^-15.
 */
import { ISSUED_DECIMALS } from './network.ts';

/** Significant digits that the ledger promises to keep. Spec: chains.md R11. */
const SIGNIFICANT_DIGITS = 15;
/** Largest amount of the ledger, 9999999999999999e80, in units of 10^-15. */
const ISSUED_MAX = 9_999_999_999_999_999n * 10n ** (80n + BigInt(ISSUED_DECIMALS));

/** The units that the 15th significant digit of an amount stands for; 1 where it has fewer digits. */
function stepOf(amount: bigint): bigint {
  const surplus = amount.toString().length - SIGNIFICANT_DIGITS;
  return surplus > 0 ? 10n ** BigInt(surplus) : 1n;
}

/** The largest amount of 15 significant digits that is not above this one. */
export function roundedDown(amount: bigint): bigint {
  return amount - (amount % stepOf(amount));
}

/** The smallest amount of 15 significant digits that is not below this one. */
export function roundedUp(amount: bigint): bigint {
  const down = roundedDown(amount);
  return down === amount ? amount : down + stepOf(amount);
}

/** True for what the ledger can hold as a positive amount. */
export function isIssuable(amount: bigint): boolean {
  return amount > 0n && amount <= ISSUED_MAX && roundedDown(amount) === amount;
}

/** The decimal text of an amount, without exponent and without trailing zeros: `1500000000000000` → `1.5`. */
export function issuedText(amount: bigint): string {
  const digits = amount.toString().padStart(ISSUED_DECIMALS + 1, '0');
  const whole = digits.slice(0, -ISSUED_DECIMALS),
    fraction = digits.slice(-ISSUED_DECIMALS).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A `TransferRate` of 1: nothing is kept. Source: xrpl.org "Transfer Fees", billionths. */
export const RATE_ONE = 1_000_000_000n;
/** The highest rate that an issuer can set: as much again. Source: the same page. */
export const RATE_MAX = 2_000_000_000n;

/** What a sender must have so that `amount` arrives where the issuer keeps a share, rounded up. R28. */
export function withTransferFee(amount: bigint, rate: bigint): bigint {
  const scaled = amount * rate;
  const exact = scaled / RATE_ONE + (scaled % RATE_ONE === 0n ? 0n : 1n);
  return roundedUp(exact);
}

/** The largest amount that arrives when `holding` is all that may be spent. */
export function withoutTransferFee(holding: bigint, rate: bigint): bigint {
  let amount = roundedDown((holding * RATE_ONE) / rate);
  // Rounding up of the bound may ask for a digit more than there is.
  while (amount > 0n && withTransferFee(amount, rate) > holding) amount -= stepOf(amount);
  return amount;
}
