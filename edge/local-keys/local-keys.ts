/**
 * API keys that this edge issues to the customer's own applications (`loc_live_…`, `loc_test_…`). Shown once; stored as
 * SHA-256; a revoked key never comes back, and takes with it what it minted. The running edge signs and shares what is
 * known (key-sets.ts), its command line only writes it.
 *
 * Good here is a key that is neither revoked nor expired and was minted in this data directory; one that another
 * replica minted, while that replica, or a leader in touch with it, vouches for it. The same must hold for every key
 * above it, by which it was minted.
 */
import { createHash, randomBytes, type KeyObject } from 'node:crypto';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { LocalKeyRecord } from '../../protocol/frames.ts';
import { isId } from '../../protocol/ids.ts';
import { base32, newId } from '../../protocol/node/ids.ts';
import { findKeyMaterialInFields } from '../../protocol/node/key-material.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Identity } from '../link/identity.ts';
import { joinKeys, mintedUnder, type KeyEntry, type StatedKey } from './key-set.ts';
import { isPlainText, judgeRecord, signRecord, type UnsignedRecord } from './record.ts';
import type { Storage } from '../storage/storage.ts';

/** 192 bits. Decisions 2. */
const SECRET_BYTES = 24;
const MASKED_CHARACTERS = 8;
const LABEL_LENGTH_MAX = 120;
/** Keys that may be valid at one time. */
export const LOCAL_KEYS_MAX = 1_000;
/** Keys above a key, of which each minted the next. */
export const MINTED_DEPTH_MAX = 16;
/** End of the year 9999, as the wire's instants. */
const EXPIRES_MS_MAX = 253_402_300_799_999;

/** Spec §2.8: `key` is shown this once. */
export interface MintedKey {
  readonly id: string;
  readonly label: string;
  readonly key: string;
  readonly prefix: string;
  readonly mintedBy: string | null;
  readonly expiresAt: string | null;
}

export interface LocalKeyView {
  readonly id: string;
  readonly label: string;
  readonly prefix: string;
  readonly mintedBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
}

/** A revoked key, with the ids of those that it minted, which are revoked with it. */
export type RevokedKey = LocalKeyView & { readonly alsoRevoked: string[] };

/** Why a key is not taken. `not_vouched`: another replica minted it, and none has vouched for it lately. */
export type KeyVerdict =
  { readonly id: string } | { readonly reason: 'unknown' | 'revoked' | 'expired' | 'not_vouched' };

interface Row {
  id: string;
  environment: Environment;
  hash: string;
  label: string;
  prefix: string;
  created_at_ms: number;
  revoked_at_ms: number | null;
  signature: string | null;
  minted_by: string | null;
  expires_at_ms: number | null;
  minted_here: number;
  may_vouch: number;
  vouched_until_ms: number | null;
}

export interface MintAsk {
  readonly label: string;
  /** The local key by which it is minted; null at the command line. */
  readonly mintedBy?: string | null;
  readonly expiresAtMs?: number | null;
}

export class LocalKeys {
  readonly #storage: Storage;
  readonly #environment: Environment;
  readonly #nowMs: () => number;
  readonly #vouchNowMs: () => number;

  /** `vouchNowMs`: a time that a wall clock set back does not turn back; the wall clock when absent. */
  constructor(storage: Storage, environment: Environment, nowMs: () => number, vouchNowMs = nowMs) {
    this.#storage = storage;
    this.#environment = environment;
    this.#nowMs = nowMs;
    this.#vouchNowMs = vouchNowMs;
  }

  /**
   * A new key; durable when it returns. It expires no later than the key that mints it. Refuses: INVALID_INPUT and
   * KEY_MATERIAL_REJECTED for its label, INVALID_INPUT for its expiry, CONFLICT at LOCAL_KEYS_MAX and MINTED_DEPTH_MAX,
   * UNAUTHORIZED when the minting key is no longer good.
   */
  mint({ label, mintedBy = null, expiresAtMs = null }: MintAsk): MintedKey | Refusal {
    const text = label.trim();
    if (text === '' || text.length > LABEL_LENGTH_MAX || !isPlainText(text)) {
      return refuse('INVALID_INPUT', {
        field: 'label',
        expected: `1 to ${LABEL_LENGTH_MAX} characters without control characters`,
      });
    }
    // At the command line nobody has looked at it before.
    if (findKeyMaterialInFields([{ name: 'label', text }]) !== null) return refuse('KEY_MATERIAL_REJECTED');
    return this.#storage.transaction(() => {
      const above = mintedBy === null ? [] : this.#chainOf(mintedBy);
      // It was good when the request came; meanwhile it may have been revoked.
      if (mintedBy !== null && 'reason' in this.#judge(above, null))
        return refuse('UNAUTHORIZED', { reason: 'minting_key_not_valid' });
      if (above.length >= MINTED_DEPTH_MAX)
        return refuse('CONFLICT', {
          reason: 'minted_too_deep',
          limit: MINTED_DEPTH_MAX,
          next: 'mint it with the command line, or with a key further up',
        });
      const endMs = above[0]?.expires_at_ms ?? null,
        untilMs = expiresAtMs ?? endMs;
      if (untilMs !== null && (untilMs <= this.#nowMs() || untilMs > (endMs ?? EXPIRES_MS_MAX))) {
        return refuse('INVALID_INPUT', {
          field: 'expiresAt',
          expected:
            endMs === null
              ? 'an instant in the future'
              : `an instant in the future, not after ${iso(endMs)}, when the minting key expires`,
        });
      }
      const { valid } = this.#storage.one<{ valid: number }>(
        `select count(*) as valid from local_keys
        where environment = ? and revoked_at_ms is null and (expires_at_ms is null or expires_at_ms > ?)`,
        this.#environment,
        this.#nowMs(),
      )!;
      if (valid >= LOCAL_KEYS_MAX) return refuse('CONFLICT', { reason: 'too_many_local_keys', limit: LOCAL_KEYS_MAX });
      const start = this.#environment === 'live' ? 'loc_live_' : 'loc_test_';
      const key = start + base32(randomBytes(SECRET_BYTES)),
        prefix = `${key.slice(0, start.length + MASKED_CHARACTERS)}…`;
      const id = newId('ek', this.#nowMs());
      this.#storage.run(
        `insert into local_keys (id, environment, hash, label, prefix, created_at_ms, minted_by, expires_at_ms, minted_here, may_vouch)
        values (?, ?, ?, ?, ?, ?, ?, ?, 1, 1)`,
        id,
        this.#environment,
        hashOf(key),
        text,
        prefix,
        this.#nowMs(),
        mintedBy,
        untilMs,
      );
      return { id, label: text, key, prefix, mintedBy, expiresAt: untilMs === null ? null : iso(untilMs) };
    });
  }

  list(): LocalKeyView[] {
    return this.#rows('order by created_at_ms, id').map(viewOf);
  }

  /**
   * Revokes at once, with all that it minted; the same answer for a key that was revoked before. Null for an unknown
   * one.
   */
  revoke(id: string): RevokedKey | null {
    if (!isId('ek', id)) return null;
    return this.#storage.transaction(() => {
      if (this.#rows('and id = ?', id).length === 0) return null;
      const alsoRevoked = mintedUnder(this.entries(), id);
      for (const each of [id, ...alsoRevoked]) this.#revoke(each, this.#nowMs());
      return { ...viewOf(this.#rows('and id = ?', id)[0]!), alsoRevoked };
    });
  }

  /**
   * The valid key with this text, or why there is none. Looked up by hash, so no comparison of secrets can be timed.
   */
  judge(key: string): KeyVerdict {
    const row = this.#storage.one<Row>(
      'select * from local_keys where hash = ? and environment = ?',
      hashOf(key),
      this.#environment,
    );
    return row === null ? { reason: 'unknown' } : this.#judge(this.#chainOf(row.id), row);
  }

  /** Id of the valid key with this text, or null. */
  authenticate(key: string): string | null {
    const verdict = this.judge(key);
    return 'id' in verdict ? verdict.id : null;
  }

  // ── What replicas know together; key-sets.ts ─────────────────────────────────────────────────────────────────────

  /** Another text whenever something that replicas know together changed: far cheaper than to read all of it. */
  fingerprint(): string {
    return Object.values(
      this.#storage.one<Record<string, number>>(
        `select count(*) as a, count(revoked_at_ms) as b, sum(created_at_ms % 1000003) as c,
      sum(revoked_at_ms % 1000003) as d, sum(expires_at_ms % 1000003) as e, count(minted_by) as f from local_keys where environment = ?`,
        this.#environment,
      )!,
    ).join(' ');
  }

  entries(): KeyEntry[] {
    return this.#rows('').map(entryOf);
  }

  /** As this replica states them: vouched for are those that it minted, and as a leader those that it may vouch for. */
  stated(leads: boolean): StatedKey[] {
    return this.#rows('').map((row) => ({
      ...entryOf(row),
      vouched: row.revoked_at_ms === null && (row.minted_here === 1 || (leads && row.may_vouch === 1)),
    }));
  }

  /**
   * Takes what another replica stated: the union. What it vouched for is good until then; `namesThis`: it knew of this
   * replica when it signed, so that this one is in touch and may vouch for the same. Within the caller's transaction.
   */
  join(stated: readonly StatedKey[], vouch: { readonly untilMs: number; readonly namesThis: boolean } | null): void {
    const before = new Map(this.entries().map((key) => [key.id, key]));
    for (const key of joinKeys(before.values(), stated).values())
      if (before.get(key.id) !== key) this.#write(key, before.has(key.id));
    if (vouch === null) return;
    for (const { id, vouched } of stated) {
      if (!vouched) continue;
      this.#storage.run(
        `update local_keys set vouched_until_ms = max(coalesce(vouched_until_ms, 0), ?), may_vouch = max(may_vouch, ?)
        where id = ? and environment = ?`,
        vouch.untilMs,
        vouch.namesThis ? 1 : 0,
        id,
        this.#environment,
      );
    }
  }

  /** A leader vouches anew for what it may, itself included. */
  vouchUntil(untilMs: number): void {
    this.#storage.run(
      'update local_keys set vouched_until_ms = max(coalesce(vouched_until_ms, 0), ?) where environment = ? and may_vouch = 1 and minted_here = 0',
      untilMs,
      this.#environment,
    );
  }

  /** Keys of before there were key sets are good for as long as one that was vouched for now. */
  admitFormer(untilMs: number): void {
    const former = this.#storage.one(
      'select 1 from local_keys where environment = ? and vouched_until_ms = -1 limit 1',
      this.#environment,
    );
    if (former === null) return; // A start writes nothing that it need not: the disk may be full.
    this.#storage.run(
      'update local_keys set vouched_until_ms = ? where environment = ? and vouched_until_ms = -1',
      untilMs,
      this.#environment,
    );
  }

  /**
   * The operator says that no replica is left that could vouch: this one does, for all that is known here. How many.
   */
  keep(): number {
    return this.#storage.run(
      'update local_keys set may_vouch = 1, vouched_until_ms = -1 where environment = ? and revoked_at_ms is null and minted_here = 0',
      this.#environment,
    );
  }

  /** Keys that stop to be good before `untilMs` unless somebody vouches for them. */
  lapsing(untilMs: number): number {
    return this.#storage.one<{ count: number }>(
      `select count(*) as count from local_keys where environment = ? and minted_here = 0 and revoked_at_ms is null
      and (expires_at_ms is null or expires_at_ms > ?) and coalesce(vouched_until_ms, 0) < ? and vouched_until_ms is not -1`,
      this.#environment,
      this.#nowMs(),
      untilMs,
    )!.count;
  }

  // ── Records, one for each key: how edges before key sets share ───────────────────────────────────────────────────

  /**
   * Signed records that the cloud has not taken yet, revocations first, for edges of before key sets. They know no
   * expiry, so that a key with one is shared with them when it is revoked only.
   */
  unshared(identity: Identity): LocalKeyRecord[] {
    for (const row of this.#rows(
      "and signature is null and (expires_at_ms is null or revoked_at_ms is not null) and label <> ''",
    )) {
      const { signature } = signRecord(identity, recordOf(row));
      this.#storage.run(
        'update local_keys set signature = ? where id = ? and revoked_at_ms is ?',
        signature,
        row.id,
        row.revoked_at_ms,
      );
    }
    return this.#rows('and shared = 0 and signature is not null order by revoked_at_ms is null, created_at_ms, id').map(
      (row) => ({ ...recordOf(row), signature: row.signature! }),
    );
  }

  noteShared(records: readonly LocalKeyRecord[]): void {
    this.#storage.transaction(() => {
      for (const { id, signature } of records) {
        this.#storage.run('update local_keys set shared = 1 where id = ? and signature = ?', id, signature);
      }
    });
  }

  /** Records that the cloud says it has: whatever it lacks, or has in another version, is shared anew. */
  noteKnown(records: readonly LocalKeyRecord[]): void {
    const known = new Set(records.map(({ id, signature }) => `${id} ${signature}`));
    this.#storage.transaction(() => {
      for (const { id, signature } of this.#rows('and shared = 1')) {
        if (!known.has(`${id} ${signature ?? ''}`))
          this.#storage.run('update local_keys set shared = 0 where id = ?', id);
      }
    });
  }

  /**
   * Takes revocations from records of single keys. A record of a valid key says nothing of what came after it, so that
   * none opens anything. Limit: what the identity did not sign is counted and left out.
   */
  takeRevocations(records: readonly LocalKeyRecord[], identityKey: KeyObject): { taken: number; foreign: number } {
    const counts = { taken: 0, foreign: 0 };
    this.#storage.transaction(() => {
      for (const record of records) {
        const verdict = record.environment === this.#environment ? judgeRecord(identityKey, record) : 'foreign';
        if (verdict === 'foreign') counts.foreign += 1;
        else if (record.revokedAtMs !== null) counts.taken += this.#takeRevocation(record, verdict === 'signed');
      }
    });
    return counts;
  }

  #takeRevocation(record: LocalKeyRecord, signed: boolean): number {
    const [known] = this.#rows('and id = ?', record.id);
    if (known === undefined ? !signed : known.revoked_at_ms !== null) return 0;
    const { id, hash, label, prefix, createdAtMs, revokedAtMs } = record;
    this.join(
      [{ id, hash, label, prefix, createdAtMs, revokedAtMs, expiresAtMs: null, mintedBy: null, vouched: false }],
      null,
    );
    if (signed)
      this.#storage.run(
        'update local_keys set signature = ?, shared = 1 where id = ? and revoked_at_ms = ?',
        record.signature,
        id,
        revokedAtMs,
      );
    return 1;
  }

  /** The key and those above it, by which each was minted; no more than can be, whatever circle there is. */
  #chainOf(id: string): (Row | null)[] {
    const chain: (Row | null)[] = [];
    for (
      let next: string | null = id;
      next !== null && chain.length <= MINTED_DEPTH_MAX;
      next = chain.at(-1)?.minted_by ?? null
    ) {
      chain.push(
        this.#storage.one<Row>('select * from local_keys where id = ? and environment = ?', next, this.#environment),
      );
    }
    return chain;
  }

  #judge(chain: readonly (Row | null)[], row: Row | null): KeyVerdict {
    if (chain.some((key) => key === null)) return { reason: 'unknown' };
    const keys = chain as readonly Row[];
    if (keys.some(({ revoked_at_ms: revoked }) => revoked !== null)) return { reason: 'revoked' };
    if (keys.some(({ expires_at_ms: end }) => end !== null && end <= this.#nowMs())) return { reason: 'expired' };
    const nowMs = this.#vouchNowMs();
    if (keys.some((key) => key.minted_here === 0 && (key.vouched_until_ms ?? 0) <= nowMs))
      return { reason: 'not_vouched' };
    return { id: (row ?? keys[0]!).id };
  }

  #revoke(id: string, atMs: number): void {
    this.#storage.run(
      `update local_keys set revoked_at_ms = ?, signature = null, shared = 0
      where id = ? and environment = ? and revoked_at_ms is null`,
      atMs,
      id,
      this.#environment,
    );
  }

  #write(key: KeyEntry, isKnown: boolean): void {
    // A key without details has no hash: nothing authenticates by the text in its place.
    const values = [
      key.hash ?? `revoked ${key.id}`,
      key.label,
      key.prefix,
      key.createdAtMs,
      key.mintedBy,
      key.expiresAtMs,
      key.revokedAtMs,
    ] as const;
    if (isKnown) {
      this.#storage.run(
        `update or ignore local_keys set hash = ?, label = ?, prefix = ?, created_at_ms = ?, minted_by = ?, expires_at_ms = ?,
          signature = case when revoked_at_ms is ?7 then signature end, shared = case when revoked_at_ms is ?7 then shared else 0 end, revoked_at_ms = ?7
        where id = ? and environment = ?`,
        ...values,
        key.id,
        this.#environment,
      );
      // Also where another key has its hash, which no honest replica writes.
      if (key.revokedAtMs !== null) this.#revoke(key.id, key.revokedAtMs);
    } else {
      this.#storage.run(
        `insert into local_keys (hash, label, prefix, created_at_ms, minted_by, expires_at_ms, revoked_at_ms, id, environment)
        values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
        ...values,
        key.id,
        this.#environment,
      );
    }
  }

  #rows(clause: string, ...values: string[]): Row[] {
    return this.#storage.all<Row>(
      `select * from local_keys where environment = ? ${clause}`,
      this.#environment,
      ...values,
    );
  }
}

const iso = (ms: number): string => new Date(ms).toISOString();
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

function viewOf(row: Row): LocalKeyView {
  return {
    id: row.id,
    label: row.label,
    prefix: row.prefix,
    mintedBy: row.minted_by,
    createdAt: iso(row.created_at_ms),
    expiresAt: isoOrNull(row.expires_at_ms),
    revokedAt: isoOrNull(row.revoked_at_ms),
  };
}

function entryOf(row: Row): KeyEntry {
  const hasDetails = !row.hash.startsWith('revoked ');
  return {
    id: row.id,
    hash: hasDetails ? row.hash : null,
    label: row.label,
    prefix: row.prefix,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    mintedBy: row.minted_by,
    revokedAtMs: row.revoked_at_ms,
  };
}

function recordOf(row: Row): UnsignedRecord {
  return {
    id: row.id,
    environment: row.environment,
    hash: row.hash,
    label: row.label,
    prefix: row.prefix,
    createdAtMs: row.created_at_ms,
    revokedAtMs: row.revoked_at_ms,
  };
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
