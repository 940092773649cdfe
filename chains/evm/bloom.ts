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
import { keccak256View } from '../keccak.ts';
import type { RawLog } from './raw.ts';
import type { RawReceipt } from './raw.ts';
import { TRANSFER_TOPIC } from './transfers.ts';

const BLOOM_BYTES = 256;
const BLOOM_WORDS = BLOOM_BYTES / 4;
const BLOOM_CHARACTERS = 2 + 2 * BLOOM_BYTES;
const EMPTY_BLOOM = `0x${'0'.repeat(2 * BLOOM_BYTES)}`;

/** Places of an item's three bits: byte of the bloom times eight, plus the bit. */
type Bits = readonly [number, number, number];

function bitsOf(item: string): Bits {
  const digest = keccak256View(item.slice(2));
  const place = (at: number): number => {
    const bit = ((digest[at]! << 8) | digest[at + 1]!) & 0x7ff;
    return ((BLOOM_BYTES - 1 - (bit >> 3)) << 3) | (bit & 7);
  };
  return [place(0), place(2), place(4)];
}

/** Contracts and kinds of event recur from block to block, and there are few of them. */
const KEPT_MAX = 10_000;
let kept = new Map<string, Bits>();

function keptBitsOf(item: string): Bits {
  if (kept.size >= KEPT_MAX) kept = new Map();
  return bitsIn(kept, item);
}

function bitsIn(known: Map<string, Bits>, item: string): Bits {
  let bits = known.get(item);
  if (bits === undefined) known.set(item, (bits = bitsOf(item)));
  return bits;
}

/** A bloom as bytes, and as words for what is done with all of it. */
interface Bloom {
  readonly bytes: Buffer;
  readonly words: Uint32Array;
}

function emptyBloom(): Bloom {
  const buffer = new ArrayBuffer(BLOOM_BYTES);
  return { bytes: Buffer.from(buffer), words: new Uint32Array(buffer) };
}

/** Reads a bloom's text into `bloom`; false for a text that is not a bloom. */
function readBloom(text: unknown, { bytes }: Bloom): boolean {
  return (
    typeof text === 'string' && text.length === BLOOM_CHARACTERS && bytes.write(text.slice(2), 'hex') === BLOOM_BYTES
  );
}

const holdsBit = ({ bytes }: Bloom, place: number): boolean => (bytes[place >> 3]! & (1 << (place & 7))) !== 0;

function mayHold(bloom: Bloom, [a, b, c]: Bits): boolean {
  return holdsBit(bloom, a) && holdsBit(bloom, b) && holdsBit(bloom, c);
}

function addBits({ bytes }: Bloom, bits: Bits): void {
  for (const place of bits) bytes[place >> 3]! |= 1 << (place & 7);
}

/** Sets `bloom` to that of logs; `hashed` keeps the bits of what recurs within a block: its payers, its pools. */
function writeBloomOf(logs: readonly RawLog[], bloom: Bloom, hashed: Map<string, Bits>): Bloom {
  bloom.words.fill(0);
  for (const { address, topics } of logs) {
    addBits(bloom, keptBitsOf(address));
    for (let i = 0; i < topics.length; i++)
      addBits(bloom, i === 0 ? keptBitsOf(topics[0]!) : bitsIn(hashed, topics[i]!));
  }
  return bloom;
}

/** The bloom of logs, 256 bytes. */
export function bloomOf(logs: readonly RawLog[]): Uint8Array {
  return writeBloomOf(logs, emptyBloom(), new Map()).bytes;
}

const areEqual = (a: Bloom, b: Bloom): boolean => Buffer.compare(a.bytes, b.bytes) === 0;

/**
 * Null when the logs of these receipts are proven by the header's bloom, else the reason why not. `tokens` are
 * lower-case contracts. Receipts without blooms of their own are hashed whole.
 */
export function doubtOfLogs(
  headerBloom: unknown,
  receipts: readonly RawReceipt[],
  tokens: readonly string[],
): string | null {
  const header = emptyBloom(),
    union = emptyBloom(),
    stated = emptyBloom(),
    own = emptyBloom();
  if (!readBloom(headerBloom, header)) return 'the header has no bloom';
  const hashed = new Map<string, Bits>();
  for (const { logs, logsBloom } of receipts) {
    if (logs.length === 0 && (logsBloom === EMPTY_BLOOM || logsBloom === undefined)) continue;
    const isStated = readBloom(logsBloom, stated);
    const isHashed = !isStated || concernsTokens(stated, tokens);
    if (isHashed) writeBloomOf(logs, own, hashed);
    if (isStated && isHashed && !areEqual(own, stated)) return 'a receipt lacks logs that its bloom holds';
    const { words } = isStated ? stated : own;
    for (let i = 0; i < BLOOM_WORDS; i++) union.words[i]! |= words[i]!;
  }
  return areEqual(union, header) ? null : "the receipts lack logs that the header's bloom holds";
}

/** What the receipts of a part of a block deny by their own blooms, or null. */
export function contradictionOfLogs(receipts: readonly RawReceipt[]): string | null {
  const stated = emptyBloom(),
    own = emptyBloom(),
    hashed = new Map<string, Bits>();
  const contradicts = ({ logs, logsBloom }: RawReceipt) =>
    readBloom(logsBloom, stated) && !areEqual(writeBloomOf(logs, own, hashed), stated);
  return receipts.some(contradicts) ? 'a receipt has other logs than its bloom holds' : null;
}

function concernsTokens(bloom: Bloom, tokens: readonly string[]): boolean {
  return mayHold(bloom, keptBitsOf(TRANSFER_TOPIC)) && tokens.some((token) => mayHold(bloom, keptBitsOf(token)));
}
