/** Numbers of the Ethereum JSON-RPC: `0x` hex without leading zeros for quantities, full bytes for data. */
import { MalformedReply } from '../chain.ts';

const QUANTITY = /^0x[0-9a-f]+$/i;

/** A quantity as bigint. Throws: MalformedReply for anything else; an absent value is never a zero (G8). */
export function bigintOf(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !QUANTITY.test(value)) {
    throw new MalformedReply(what, JSON.stringify(value) ?? 'undefined');
  }
  return BigInt(value);
}

/** A quantity that counts something (height, index, nonce). Throws: MalformedReply above 2^53 − 1. */
export function countOf(value: unknown, what: string): number {
  const number = bigintOf(value, what);
  if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw new MalformedReply(what, String(value));
  return Number(number);
}

/** Hex quantity of a number: `0x0` for zero, no leading zeros. */
export function quantity(value: bigint | number): string {
  return `0x${value.toString(16)}`;
}

/** 32-byte word of a number as 64 hex digits without `0x`. */
export function word(value: bigint): string {
  return value.toString(16).padStart(64, '0');
}

const LOWER = 0x20; // the bit by which a letter's cases differ, and that every digit has

/** Whether two hex texts name the same bytes, in whatever case of their letters. G3, G6. */
export function isSameHex(a: string | undefined | null, b: string): boolean {
  if (a === b) return true;
  if (typeof a !== 'string' || a.length !== b.length) return false;
  // Asked of every log: most that differ do so in their last digit already.
  const last = a.length - 1;
  return (a.charCodeAt(last) | LOWER) === (b.charCodeAt(last) | LOWER) && a.toLowerCase() === b.toLowerCase();
}
