/**
 * API keys that this edge issues to the customer's own applications (`loc_live_…`, `loc_test_…`). Shown once; stored as
 * SHA-256; a revoked key never comes back. The running edge signs and shares records, its command line only writes them.
 */
import { createHash, randomBytes, type KeyObject } from 'node:crypto';
import { refuse, type Refusal } from '../protocol/errors.ts';
import type { LocalKeyRecord } from '../protocol/frames.ts';
import { base32, isId, newId } from '../protocol/ids.ts';
import { findKeyMaterialInFields } from '../protocol/key-material.ts';
import type { Environment } from '../protocol/slugs.ts';
import type { Identity } from './identity.ts';
import { isPlainText, judgeRecord, signRecord, type UnsignedRecord } from './local-key-record.ts';
import type { Storage } from './storage/storage.ts';

/** 192 bits. Decisions 2. */
const SECRET_BYTES = 24;
const MASKED_CHARACTERS = 8;
const LABEL_LENGTH_MAX = 120;
/** Keys that may be valid at one time. */
export const LOCAL_KEYS_MAX = 1_000;

/** Spec §2.8: `key` is shown this once. */
export interface MintedKey { readonly id: string; readonly label: string; readonly key: string; readonly prefix: string }

export interface LocalKeyView {
  readonly id: string; readonly label: string; readonly prefix: string; readonly createdAt: string; readonly revokedAt: string | null;
}

interface Row {
  id: string; environment: Environment; hash: string; label: string; prefix: string;
  created_at_ms: number; revoked_at_ms: number | null; signature: string | null;
}

export class LocalKeys {
  readonly #storage: Storage;
  readonly #environment: Environment;
  readonly #nowMs: () => number;

  constructor(storage: Storage, environment: Environment, nowMs: () => number) {
    this.#storage = storage;
    this.#environment = environment;
    this.#nowMs = nowMs;
  }

  /** A new key; durable when it returns. Refuses: INVALID_INPUT and KEY_MATERIAL_REJECTED for its label, CONFLICT at LOCAL_KEYS_MAX. */
  mint(label: string): MintedKey | Refusal {
    const text = label.trim();
    if (text === '' || text.length > LABEL_LENGTH_MAX || !isPlainText(text)) {
      return refuse('INVALID_INPUT', { field: 'label', expected: `1 to ${LABEL_LENGTH_MAX} characters without control characters` });
    }
    // At the command line nobody has looked at it before.
    if (findKeyMaterialInFields([{ name: 'label', text }]) !== null) return refuse('KEY_MATERIAL_REJECTED');
    const { valid } = this.#storage.one<{ valid: number }>(
      'select count(*) as valid from local_keys where environment = ? and revoked_at_ms is null', this.#environment)!;
    if (valid >= LOCAL_KEYS_MAX) return refuse('CONFLICT', { reason: 'too_many_local_keys', limit: LOCAL_KEYS_MAX });
    const start = this.#environment === 'live' ? 'loc_live_' : 'loc_test_';
    const key = start + base32(randomBytes(SECRET_BYTES));
    const prefix = `${key.slice(0, start.length + MASKED_CHARACTERS)}…`;
    const id = newId('ek', this.#nowMs());
    this.#storage.run('insert into local_keys (id, environment, hash, label, prefix, created_at_ms) values (?, ?, ?, ?, ?, ?)',
      id, this.#environment, hashOf(key), text, prefix, this.#nowMs());
    return { id, label: text, key, prefix };
  }

  list(): LocalKeyView[] {
    return this.#rows('order by created_at_ms, id').map((row) => ({
      id: row.id, label: row.label, prefix: row.prefix,
      createdAt: new Date(row.created_at_ms).toISOString(),
      revokedAt: row.revoked_at_ms === null ? null : new Date(row.revoked_at_ms).toISOString(),
    }));
  }

  /** Revokes at once; true for a key that is known, revoked before or not. */
  revoke(id: string): boolean {
    if (!isId('ek', id)) return false;
    this.#storage.run(`update local_keys set revoked_at_ms = ?, signature = null, shared = 0
      where id = ? and environment = ? and revoked_at_ms is null`, this.#nowMs(), id, this.#environment);
    return this.#storage.one('select 1 from local_keys where id = ? and environment = ?', id, this.#environment) !== null;
  }

  /** Id of the valid key with this text, or null. Looked up by hash, so no comparison of secrets can be timed. */
  authenticate(key: string): string | null {
    return this.#storage.one<{ id: string }>(
      'select id from local_keys where hash = ? and environment = ? and revoked_at_ms is null', hashOf(key), this.#environment)?.id ?? null;
  }

  /** Signed records that the cloud has not taken yet, revocations first; those of the command line are signed here. */
  unshared(identity: Identity): LocalKeyRecord[] {
    for (const row of this.#rows('and signature is null')) {
      const { signature } = signRecord(identity, recordOf(row));
      this.#storage.run('update local_keys set signature = ? where id = ? and revoked_at_ms is ?', signature, row.id, row.revoked_at_ms);
    }
    return this.#rows('and shared = 0 and signature is not null order by revoked_at_ms is null, created_at_ms, id')
      .map((row) => ({ ...recordOf(row), signature: row.signature! }));
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
        if (!known.has(`${id} ${signature ?? ''}`)) this.#storage.run('update local_keys set shared = 0 where id = ?', id);
      }
    });
  }

  /** Takes records of other replicas. Limit: what the identity did not sign is counted and left out. */
  merge(records: readonly LocalKeyRecord[], identityKey: KeyObject): { taken: number; foreign: number } {
    const counts = { taken: 0, foreign: 0 };
    this.#storage.transaction(() => {
      for (const record of records) {
        const verdict = record.environment === this.#environment ? judgeRecord(identityKey, record) : 'foreign';
        if (verdict === 'foreign') counts.foreign += 1;
        else counts.taken += this.#take(record, verdict === 'signed');
      }
    });
    return counts;
  }

  #take(record: LocalKeyRecord, signed: boolean): number {
    const [known] = this.#rows('and id = ?', record.id);
    if (known === undefined) {
      return this.#storage.run(`insert into local_keys
          (id, environment, hash, label, prefix, created_at_ms, revoked_at_ms, signature, shared) values (?, ?, ?, ?, ?, ?, ?, ?, ?)
        on conflict (hash) do nothing`,
        record.id, record.environment, record.hash, record.label, record.prefix, record.createdAtMs, record.revokedAtMs,
        signed ? record.signature : null, signed ? 1 : 0);
    }
    if (record.revokedAtMs === null || known.revoked_at_ms !== null) return 0;
    return this.#storage.run('update local_keys set revoked_at_ms = ?, signature = ?, shared = ? where id = ? and revoked_at_ms is null',
      record.revokedAtMs, signed ? record.signature : null, signed ? 1 : 0, record.id);
  }

  #rows(clause: string, ...values: string[]): Row[] {
    return this.#storage.all<Row>(`select * from local_keys where environment = ? ${clause}`, this.#environment, ...values);
  }
}

function recordOf(row: Row): UnsignedRecord {
  return {
    id: row.id, environment: row.environment, hash: row.hash, label: row.label, prefix: row.prefix,
    createdAtMs: row.created_at_ms, revokedAtMs: row.revoked_at_ms,
  };
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
