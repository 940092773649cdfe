/**
 * Proof that receipts carry every token transfer of their block (V5). A node that answers with empty or partial logs
 * (C1-6, C1-4) cannot also answer blooms that say so.
 *
 *   1. the blooms of all receipts, OR-ed, are the header's bloom
 *   2. a receipt whose bloom may hold a Transfer of a catalogue token has exactly the bloom of its logs
 *
 * Bits of an item: the low 11 bits of bytes 0–1, 2–3 and 4–5 of its Keccak-256, in a 2048-bit number. Source: Yellow
 * Paper §4.4.3. Hashing only the logs of receipts that concern us costs a third of hashing them all.
 */
import { keccak256 } from '../keccak.ts';
import type { RawLog, RawReceipt } from './block.ts';
import { TRANSFER_TOPIC } from './transfers.ts';

const BLOOM_BYTES = 256;
const BLOOM_CHARACTERS = 2 + 2 * BLOOM_BYTES;

type Bits = readonly { readonly byte: number; readonly mask: number }[];

function bitsOf(item: string): Bits {
  const digest = keccak256(Buffer.from(item.slice(2), 'hex'));
  return [0, 2, 4].map((at) => {
    const bit = ((digest[at]! << 8) | digest[at + 1]!) & 0x7ff;
    return { byte: BLOOM_BYTES - 1 - (bit >> 3), mask: 1 << (bit & 7) };
  });
}

/** Bits of items that recur in every block: catalogue contracts and the Transfer topic. */
const known = new Map<string, Bits>();

function knownBitsOf(item: string): Bits {
  let bits = known.get(item);
  if (bits === undefined) known.set(item, (bits = bitsOf(item)));
  return bits;
}

function parseBloom(text: unknown): Uint8Array | null {
  return typeof text === 'string' && text.length === BLOOM_CHARACTERS ? Buffer.from(text.slice(2), 'hex') : null;
}

function mayHold(bloom: Uint8Array, bits: Bits): boolean {
  return bits.every(({ byte, mask }) => (bloom[byte]! & mask) !== 0);
}

function addBits(bloom: Uint8Array, bits: Bits): void {
  for (const { byte, mask } of bits) bloom[byte]! |= mask;
}

/** The bloom of logs, 256 bytes. `hashed` keeps the bits of items that recur in a block: its contracts, its payers. */
export function bloomOf(logs: readonly RawLog[], hashed = new Map<string, Bits>()): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  const add = (item: string): void => {
    let bits = known.get(item) ?? hashed.get(item);
    if (bits === undefined) hashed.set(item, (bits = bitsOf(item)));
    addBits(bloom, bits);
  };
  for (const { address, topics } of logs) {
    add(address);
    topics.forEach(add);
  }
  return bloom;
}

/**
 * Null when the logs of these receipts are proven by the header's bloom, else the reason why not. `tokens` are
 * lower-case contracts. Receipts without blooms of their own are hashed whole.
 */
export function doubtOfLogs(
  headerBloom: unknown, receipts: readonly RawReceipt[], tokens: readonly string[],
): string | null {
  const header = parseBloom(headerBloom);
  if (header === null) return 'the header has no bloom';
  const union = new Uint8Array(BLOOM_BYTES);
  const hashed = new Map<string, Bits>();
  for (const { logs, logsBloom } of receipts) {
    const stated = parseBloom(logsBloom);
    const bloom = stated ?? bloomOf(logs, hashed);
    if (stated !== null && concernsTokens(stated, tokens) && Buffer.compare(bloomOf(logs, hashed), stated) !== 0) {
      return 'a receipt lacks logs that its bloom holds';
    }
    for (let i = 0; i < BLOOM_BYTES; i++) union[i]! |= bloom[i]!;
  }
  return Buffer.compare(union, header) === 0 ? null : 'the receipts lack logs that the header\'s bloom holds';
}

function concernsTokens(bloom: Uint8Array, tokens: readonly string[]): boolean {
  return mayHold(bloom, knownBitsOf(TRANSFER_TOPIC)) && tokens.some((token) => mayHold(bloom, knownBitsOf(token)));
}
