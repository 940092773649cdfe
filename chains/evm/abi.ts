/**
 * The few ERC-20 calls that are made, and what contracts answer. Layout: selector(4) || 32-byte words. Source:
 * Solidity ABI.
 */
import { addressOfHex } from './address.ts';
import { word } from './quantity.ts';

const TRANSFER = 'a9059cbb'; // transfer(address,uint256)
const BALANCE_OF = '70a08231'; // balanceOf(address)
export const SYMBOL = '0x95d89b41'; // symbol()
export const NAME = '0x06fdde03'; // name()
export const DECIMALS = '0x313ce567'; // decimals()
const L1_FEE_UPPER_BOUND = 'f1c7a58b'; // getL1FeeUpperBound(uint256)
const OPERATOR_FEE = '275aedd2'; // getOperatorFee(uint256)

const padded = (address: string) => address.slice(2).toLowerCase().padStart(64, '0');

/** Call data of `transfer(to, amount)`, 68 bytes. */
export function encodeTransfer(to: string, amount: bigint): string {
  return `0x${TRANSFER}${padded(to)}${word(amount)}`;
}

/** The payment in call data that is exactly `transfer(to, amount)`, else null. V31. */
export function decodeTransfer(data: string): { readonly to: string; readonly amount: bigint } | null {
  const match = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})$/i.exec(data);
  return match === null ? null : { to: addressOfHex(match[1]!), amount: BigInt(`0x${match[2]}`) };
}

/** Call data of `balanceOf(owner)`. */
export function encodeBalanceOf(owner: string): string {
  return `0x${BALANCE_OF}${padded(owner)}`;
}

/** Call data of the L1 fee predeploy for an unsigned transaction of that many bytes. V35. */
export function encodeL1FeeUpperBound(bytes: number): string {
  return `0x${L1_FEE_UPPER_BOUND}${word(BigInt(bytes))}`;
}

/** Call data of the operator fee for that much gas. V35. */
export function encodeOperatorFee(gas: bigint): string {
  return `0x${OPERATOR_FEE}${word(gas)}`;
}

/** One unsigned word, or null for an answer of another length: no code answers `0x`, and that is not a zero (G8). */
export function decodeWord(answer: unknown): bigint | null {
  return typeof answer === 'string' && /^0x[0-9a-f]{64}$/i.test(answer) ? BigInt(answer) : null;
}

/** V17: what `transfer` said: nothing or a one is yes, a zero is no, anything else is not an ERC-20's answer. */
export function decodeTransferResult(answer: string): 'done' | 'refused' | 'unreadable' {
  if (answer === '0x') return 'done';
  const value = decodeWord(answer);
  return value === 1n ? 'done' : value === 0n ? 'refused' : 'unreadable';
}

/** Longest text that is taken from a contract, bytes. V16. */
const TEXT_BYTES_MAX = 4_096;

/**
 * V16: a text as `string` (offset word || length word || bytes), else as `bytes32` up to its first NUL, else empty. A
 * text that is too long or not UTF-8 is empty too.
 */
export function decodeText(answer: unknown): string {
  if (typeof answer !== 'string' || !/^0x([0-9a-f]{2})*$/i.test(answer)) return '';
  const bytes = Buffer.from(answer.slice(2), 'hex');
  return decodeString(bytes) ?? (bytes.length === 32 ? utf8(bytes.subarray(0, lengthBeforeNul(bytes))) : null) ?? '';
}

function decodeString(bytes: Buffer): string | null {
  if (bytes.length < 64 || BigInt(`0x${bytes.toString('hex', 0, 32)}`) !== 32n) return null;
  const length = BigInt(`0x${bytes.toString('hex', 32, 64)}`);
  if (length > BigInt(TEXT_BYTES_MAX) || bytes.length < 64 + Number(length)) return null;
  return utf8(bytes.subarray(64, 64 + Number(length)));
}

function lengthBeforeNul(bytes: Buffer): number {
  const nul = bytes.indexOf(0);
  return nul === -1 ? bytes.length : nul;
}

function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Reason in revert data: Error(string), Panic(uint256) or the first bytes of a custom error; null without data. */
export function decodeRevert(data: unknown): string | null {
  if (typeof data !== 'string' || !/^0x[0-9a-f]{8,}$/i.test(data)) return null;
  if (data.startsWith('0x08c379a0')) return decodeText(`0x${data.slice(10)}`) || 'reverted';
  if (data.startsWith('0x4e487b71')) return `panic 0x${BigInt(`0x${data.slice(10, 74) || '0'}`).toString(16)}`;
  return `custom error ${data.slice(0, 10)}`;
}
