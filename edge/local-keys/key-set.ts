/**
 * The local keys of an edge as one document: every key with who minted it, until when it is good, and whether it is
 * revoked. A replica that changes something signs the whole of what it knows, as a new version. Two documents merge by
 * union: a key of either is in both, a revocation of either wins, and what a revoked key minted is revoked with it.
 * decision record 34.
 */
import { createHash, type KeyObject } from 'node:crypto';
import type { KeySetRecord } from '../../protocol/frames.ts';
import { isSignedBy, type Identity } from '../link/identity.ts';

/** A key without its details (`hash` null) is known only as revoked. */
export interface KeyEntry {
  readonly id: string;
  /** SHA-256 of the key in hex. */
  readonly hash: string | null;
  readonly label: string;
  readonly prefix: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  /** The local key by which it was minted; null for the command line. */
  readonly mintedBy: string | null;
  readonly revokedAtMs: number | null;
}

/** A key as a document states it. `vouched`: its author minted it, or leads and is in touch with those that did. */
export interface StatedKey extends KeyEntry {
  readonly vouched: boolean;
}

/**
 * Larger documents give up the details of the keys that were revoked first. In a frame each quote is two bytes, and the
 * cloud closes a stream with a frame above 2 MiB.
 */
export const KEY_SET_BYTES_MAX = 1_200_000;

/** The union: commutative, associative, idempotent. A key of which nothing new is said is the one of the left. */
export function joinKeys(left: Iterable<KeyEntry>, right: Iterable<KeyEntry>): Map<string, KeyEntry> {
  const joined = new Map([...left].map((key) => [key.id, key]));
  for (const key of right) {
    const known = joined.get(key.id);
    joined.set(key.id, known === undefined ? key : joinKey(known, key));
  }
  cascade(joined);
  return joined;
}

/**
 * Whatever limits a key more wins. Where details differ, which no honest replica writes, the choice is the same at each
 * one.
 */
function joinKey(left: KeyEntry, right: KeyEntry): KeyEntry {
  const details = detailsOf(left) >= detailsOf(right) ? left : right;
  const joined = {
    ...details,
    mintedBy: [left.mintedBy, right.mintedBy].filter((id) => id !== null).sort()[0] ?? null,
    expiresAtMs: earlier(left.expiresAtMs, right.expiresAtMs),
    revokedAtMs: earlier(left.revokedAtMs, right.revokedAtMs),
  };
  const isNews =
    details !== left ||
    joined.mintedBy !== left.mintedBy ||
    joined.expiresAtMs !== left.expiresAtMs ||
    joined.revokedAtMs !== left.revokedAtMs;
  return isNews ? joined : left;
}

const detailsOf = ({ hash, label, prefix, createdAtMs }: KeyEntry): string =>
  JSON.stringify([hash ?? '', label, prefix, createdAtMs]);
const earlier = (left: number | null, right: number | null): number | null =>
  left === null ? right : right === null ? left : Math.min(left, right);

/** What a revoked key minted is revoked, and what that minted: no later than its maker. */
function cascade(keys: Map<string, KeyEntry>): void {
  const minted = childrenOf(keys.values());
  const revoked = [...keys.values()].filter(({ revokedAtMs }) => revokedAtMs !== null);
  for (const { id } of revoked) {
    const { revokedAtMs } = keys.get(id)!; // may have become earlier meanwhile
    for (const child of minted.get(id) ?? []) {
      const known = keys.get(child)!;
      if (known.revokedAtMs !== null && known.revokedAtMs <= revokedAtMs!) continue;
      const next = { ...known, revokedAtMs };
      keys.set(child, next);
      revoked.push(next);
    }
  }
}

function childrenOf(keys: Iterable<KeyEntry>): Map<string, string[]> {
  const minted = new Map<string, string[]>();
  for (const { id, mintedBy } of keys) {
    if (mintedBy === null) continue;
    const known = minted.get(mintedBy);
    if (known === undefined) minted.set(mintedBy, [id]);
    else known.push(id);
  }
  return minted;
}

/** Ids of the keys that a key minted, and of those that they minted, in the order of their ids. */
export function mintedUnder(keys: Iterable<KeyEntry>, id: string): string[] {
  const minted = childrenOf(keys),
    found = new Set<string>(),
    waiting = [id];
  for (const next of waiting) {
    for (const child of minted.get(next) ?? []) {
      if (child === id || found.has(child)) continue;
      found.add(child);
      waiting.push(child);
    }
  }
  return [...found].sort();
}

/** SHA-256 of what a replica knows: two that know the same have one. */
export function stateOf(keys: Iterable<KeyEntry>): string {
  const lines = [...keys].map(({ id, hash, label, prefix, createdAtMs, expiresAtMs, mintedBy, revokedAtMs }) =>
    JSON.stringify(
      // A revoked key may have lost its details, which are no news.
      revokedAtMs === null ? [id, hash, label, prefix, createdAtMs, expiresAtMs, mintedBy] : [id, revokedAtMs],
    ),
  );
  return sha256(lines.sort().join('\n'));
}

/** SHA-256 of the ids that are revoked: two that know of the same revocations have one. */
export function revokedOf(keys: Iterable<KeyEntry>): string {
  return sha256(
    [...keys]
      .flatMap(({ id, revokedAtMs }) => (revokedAtMs === null ? [] : [id]))
      .sort()
      .join('\n'),
  );
}

/** The text of the keys in a document, in the order of their ids. */
export function keysText(keys: readonly StatedKey[]): string {
  const sorted = keys.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    whole = JSON.stringify(sorted);
  let length = Buffer.byteLength(whole);
  if (length <= KEY_SET_BYTES_MAX) return whole;
  const short = new Set<string>();
  for (const key of sorted
    .filter(({ revokedAtMs }) => revokedAtMs !== null)
    .sort((a, b) => a.revokedAtMs! - b.revokedAtMs!)) {
    if (length <= KEY_SET_BYTES_MAX) break;
    length -= Buffer.byteLength(JSON.stringify(key)) - JSON.stringify(withoutDetails(key)).length;
    short.add(key.id);
  }
  return JSON.stringify(sorted.map((key) => (short.has(key.id) ? withoutDetails(key) : key)));
}

const withoutDetails = ({ id, revokedAtMs }: KeyEntry) => ({ id, revokedAtMs });

/** Keys of a document that this identity signed, so that their form needs no second look. */
export function keysOf(text: string): StatedKey[] {
  return (JSON.parse(text) as (Partial<StatedKey> & Pick<StatedKey, 'id' | 'revokedAtMs'>)[]).map((key) => ({
    hash: null,
    label: '',
    prefix: '',
    createdAtMs: 0,
    expiresAtMs: null,
    mintedBy: null,
    vouched: false,
    ...key,
  }));
}

/** What is signed: the domain, then every field, the two long ones as SHA-256. protocol/frames.ts `keySetRecord`. */
export function keySetText({
  environment,
  replica,
  version,
  issuedAtMs,
  validUntilMs,
  covers,
  keys,
}: Omit<KeySetRecord, 'signature'>): Buffer {
  const covered = covers.map((each) => `${each.replica} ${each.version}`).join(',');
  return Buffer.from(
    [
      'flock-local-key-set-v1',
      environment,
      replica,
      version,
      issuedAtMs,
      validUntilMs,
      sha256(covered),
      sha256(keys),
    ].join('\n'),
  );
}

export function signKeySet(identity: Identity, record: Omit<KeySetRecord, 'signature'>): KeySetRecord {
  return { ...record, signature: identity.sign(keySetText(record)).toString('hex') };
}

export function isOwnKeySet(identityKey: KeyObject, record: KeySetRecord): boolean {
  return isSignedBy(identityKey, keySetText(record), record.signature);
}

export function sha256(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}
