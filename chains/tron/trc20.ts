/**
 * Calls of TRC-20 contracts and what they answer. Words are 32 bytes as in Ethereum's ABI; an address in one is the
 * bare 20-byte account without the 41 that TRON puts before it elsewhere.
 *
 *   transfer   a9059cbb || word(to) || word(amount)
 */
import { addressOf, bytesOf } from './address.ts';

/** keccak256("Transfer(address,address,uint256)") */
export const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TRANSFER_SELECTOR = 'a9059cbb'; // transfer(address,uint256)
const ERROR_SELECTOR = '08c379a0'; // Error(string)
const WORD_DIGITS = 64;
const UINT256_MAX = 2n ** 256n - 1n;
const TRANSFER_DATA = /^a9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/;
const HEX = /^(?:[0-9a-f]{2})*$/;
/** Longest text that is read from a contract. Symbols and reasons are short; a longer one is made to hurt. */
const TEXT_BYTES_MAX = 300;

/** A non-negative integer as a word, 64 hex digits. Throws: RangeError. */
export function wordOf(value: bigint): string {
  if (value < 0n || value > UINT256_MAX) throw new RangeError('expected an unsigned integer of 256 bits');
  return value.toString(16).padStart(WORD_DIGITS, '0');
}

/** An address as a word, 64 hex digits. */
export function addressWord(address: string): string {
  return Buffer.from(bytesOf(address)).toString('hex').padStart(WORD_DIGITS, '0');
}

/** Call data of `transfer(to, amount)`, hex. */
export function encodeTransfer(to: string, amount: bigint): string {
  return TRANSFER_SELECTOR + addressWord(to) + wordOf(amount);
}

/**
 * Destination and amount of call data that is `transfer` and nothing more; null for everything else, also for an
 * address word whose upper 12 bytes are not zero: a contract may read those.
 */
export function decodeTransfer(data: string): { readonly to: string; readonly amount: bigint } | null {
  const match = TRANSFER_DATA.exec(data);
  return match === null ? null : { to: addressOf(Buffer.from(match[1]!, 'hex')), amount: BigInt(`0x${match[2]}`) };
}

/** The integer of an answer that is one word, or null. */
export function decodeWord(answer: string): bigint | null {
  return answer.length === WORD_DIGITS && HEX.test(answer) ? BigInt(`0x${answer}`) : null;
}

/** The text of an answer in the form `string` or, as old contracts have it, `bytes32`; empty for anything else. */
export function decodeText(answer: string): string {
  if (!HEX.test(answer)) return '';
  const bytes = Buffer.from(answer, 'hex');
  if (bytes.length === 32) return bytes.subarray(0, bytes.includes(0) ? bytes.indexOf(0) : 32).toString('utf8');
  const isString = bytes.length >= 96 && BigInt(`0x${answer.slice(0, WORD_DIGITS)}`) === 32n;
  const length = isString ? BigInt(`0x${answer.slice(WORD_DIGITS, 2 * WORD_DIGITS)}`) : 0n;
  if (length > BigInt(Math.min(TEXT_BYTES_MAX, bytes.length - 64))) return '';
  return bytes.subarray(64, 64 + Number(length)).toString('utf8');
}

/** The reason that a contract gave for reverting (`Error(string)`), or null where it gave none. */
export function decodeRevert(answer: string): string | null {
  const text = answer.startsWith(ERROR_SELECTOR) ? decodeText(answer.slice(ERROR_SELECTOR.length)) : '';
  return text === '' ? null : text;
}
