/** Ids that are made, and keys that are hashed. Decisions 1. */
import { createHash, hash, randomBytes } from 'node:crypto';
import type { Id, IdPrefix } from '../ids.ts';
import type { Environment, Family } from '../slugs.ts';

// The letters of RFC 4648 base32 in the order of their character codes, so that ids sort as their bytes do.
const BASE32 = '234567abcdefghijklmnopqrstuvwxyz';

/** Sortable lowercase base32 without padding: 26 characters for 16 bytes. */
export function base32(bytes: Uint8Array): string {
  let bits = 0,
    value = 0,
    text = '';
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text;
}

const RANDOM_BYTES = 10;
/** Ids of one draw: asking the system for each costs five times the rest of an id. */
const IDS_PER_DRAW = 256;
let drawn: Uint8Array = new Uint8Array(0);
let used = 0;

/** Ten bytes that no other id of this process gets. */
function nextRandom(): Uint8Array {
  if (used === drawn.length) {
    drawn = randomBytes(RANDOM_BYTES * IDS_PER_DRAW);
    used = 0;
  }
  return drawn.subarray(used, (used += RANDOM_BYTES));
}

/** unix_ms(48) || version(4) = 7 || random(12) || variant(2) = 2 || random(62). Source: RFC 9562 §5.7. */
export function uuidv7Bytes(nowMs: number, random: Uint8Array = nextRandom()): Uint8Array {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(nowMs) << 16n);
  bytes.set(random.subarray(0, RANDOM_BYTES), 6);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytes;
}

/** `prefix_` + 26 base32 characters of a UUIDv7: later ids sort after earlier ones. */
export function newId<P extends IdPrefix>(prefix: P, nowMs: number, random?: Uint8Array): Id<P> {
  return `${prefix}_${base32(uuidv7Bytes(nowMs, random))}`;
}

/** A plain UUIDv7 in text, for webhook and sweep-policy ids. Spec §4.1: uuid. */
export function newUuid(nowMs: number, random?: Uint8Array): string {
  const hex = Buffer.from(uuidv7Bytes(nowMs, random)).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `evt_` + the first 128 bits of SHA-256 of the fact, so that the same fact always has the same id. Decisions 1. */
export function eventId(...fact: (string | number | bigint)[]): string {
  const digest = createHash('sha256').update(fact.map(String).join('\u001f')).digest();
  return `evt_${base32(digest.subarray(0, 16))}`;
}

/**
 * Key that an address is stored and looked up by: a uuid of the first 16 bytes of SHA-256(environment ‖ family ‖
 * bytes), slugs in ASCII, bytes as `parseAddress` decodes them.
 */
export function addressKeyOf(environment: Environment, family: Family, bytes: Uint8Array): string {
  const hex = hash('sha256', Buffer.concat([Buffer.from(environment + family, 'latin1'), bytes]), 'hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Logical shards; fixed from the first migration so that nothing is ever rehashed. */
export const SHARD_COUNT = 1024;

/** First 4 bytes of SHA-256 of the account id, modulo the shard count. */
export function shardOf(accountId: string): number {
  return createHash('sha256').update(accountId).digest().readUInt32BE(0) % SHARD_COUNT;
}
