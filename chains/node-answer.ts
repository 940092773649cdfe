/**
 * Readers of node answers that were parsed without loss. Each takes what the value is for the message; a value of
 * another shape is a fault with the recorded excerpt, never a default. Spec: chains.md G8.
 */
import { countOf, integerOf } from '../protocol/lossless-json.ts';
import { MalformedReply } from './chain.ts';

/** An object of an answer; nothing is known of its fields. */
export type Answer = Readonly<Record<string, unknown>>;

/** What the value looks like, for the fault. */
function excerpt(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 2_000) ?? String(value);
}

/** Throws: MalformedReply. */
export function malformed(what: string, value: unknown): never {
  throw new MalformedReply(what, excerpt(value));
}

/** An object, not a list. Throws: MalformedReply. */
export function objectIn(value: unknown, what: string): Answer {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) malformed(`${what} is no object`, value);
  return value as Answer;
}

/** A list. Throws: MalformedReply. */
export function listIn(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) malformed(`${what} is no list`, value);
  return value;
}

/** A text that is not empty. Throws: MalformedReply. */
export function textIn(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') malformed(`${what} is no text`, value);
  return value;
}

/** A whole number of smallest units, also negative. Throws: MalformedReply. */
export function integerIn(value: unknown, what: string): bigint {
  return integerOf(value) ?? malformed(`${what} is no integer`, value);
}

/** A height, index or count. Throws: MalformedReply. */
export function countIn(value: unknown, what: string): number {
  return countOf(value) ?? malformed(`${what} is no count`, value);
}

const HASH = /^[0-9a-fA-F]{64}$/;

/** A 32-byte hash in lower-case hex without prefix. Throws: MalformedReply. */
export function hashIn(value: unknown, what: string): string {
  if (typeof value !== 'string' || !HASH.test(value)) malformed(`${what} is no hash`, value);
  return value.toLowerCase();
}

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** Bytes from hex, possibly none. Throws: MalformedReply. */
export function bytesIn(value: unknown, what: string): Uint8Array {
  if (typeof value !== 'string' || !HEX.test(value)) malformed(`${what} is no hex`, value);
  return Buffer.from(value, 'hex');
}
