/**
 * Which documents of local keys this replica has signed and seen. Of each replica the newest version counts: an older
 * one is refused, and the same version with another content is an alarm. A document makes the keys that it vouches for
 * good until its `validUntilMs`, no longer than EDGE_KEY_SET_TTL from now.
 *
 * Who vouches: a replica for what it minted; while it leads also for what others minted, once one of them has signed a
 * document that names this replica. A replica that has an old set from the cloud alone therefore takes it until it
 * ends, and can prolong it neither for itself nor for others.
 *
 * A revocation is confirmed by a document of each replica that states it: one that learns of it signs anew. What a
 * replica that is known has not stated for a while is an alarm at those that have (share.ts): it may take the key
 * still.
 */
import { randomBytes, type KeyObject } from 'node:crypto';
import { KEY_SET_REPLICAS_MAX, type KeySetRecord } from '../../protocol/frames.ts';
import { base32 } from '../../protocol/node/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { Identity } from '../link/identity.ts';
import { isOwnKeySet, keySetText, keysOf, keysText, revokedOf, sha256, signKeySet, stateOf } from './key-set.ts';
import type { LocalKeys } from './local-keys.ts';
import { keptJson } from '../storage/record-forms.ts';
import type { KnownVersions } from '../spend/replica.ts';
import { KEY_SET_KEPT_MS } from '../spend/replica.ts';
import type { Storage } from '../storage/storage.ts';

const REPLICA_SETTING = 'key_set_replica';
/** The leader signs anew after this share of the TTL: three rounds may be lost. */
const RENEWALS_PER_TTL = 4;
const RANDOM_BYTES = 16;
const RELAYED_KEPT = 1_000;

/** The state of a replica that knows no key. */
const NOTHING = stateOf([]);
const NONE_REVOKED = revokedOf([]);

/**
 * `taken` new; `known` seen before; `older` than the newest of its replica; `contradicts` the same version with another
 * content; `foreign` not signed by the identity, or of the other environment.
 */
export type SetVerdict = 'taken' | 'known' | 'older' | 'contradicts' | 'foreign';

interface SetRow {
  readonly replica: string;
  readonly version: number;
  readonly issued_at_ms: number;
  readonly digest: string;
  readonly state: string;
  readonly revoked: string | null;
  readonly record: string | null;
  readonly shared: number;
}

export interface KeySetsSettings {
  readonly storage: Storage;
  readonly keys: LocalKeys;
  readonly environment: Environment;
  readonly identity: Identity;
  readonly identityKey: KeyObject;
  /** EDGE_KEY_SET_TTL in milliseconds. */
  readonly ttlMs: number;
  readonly time: VouchTime;
  /** The replicas have a shelf, key-shelf.ts: only documents on it vouch. */
  readonly isShelved?: boolean;
}

/** The time by which a key is vouched for; vouch-time.ts. */
export interface VouchTime {
  nowMs(): number;
  mark(): void;
}

export class KeySets {
  readonly #settings: KeySetsSettings;
  /** Documents whose revocations were taken, where a shelf is. */
  readonly #relayed = new Set<string>();
  #known = { fingerprint: '', state: NOTHING, revoked: NONE_REVOKED };

  constructor(settings: KeySetsSettings) {
    this.#settings = settings;
    settings.keys.admitFormer(settings.time.nowMs() + settings.ttlMs);
  }

  /** This data directory's name among the replicas. */
  get replica(): string {
    const { storage } = this.#settings;
    return storage.setting(REPLICA_SETTING) ?? this.#rename();
  }

  /**
   * The document that the others need, or null when they have it. Signs a new version when something is known that no
   * document has, when others do not know of this replica, and, while this one leads, when it is time to vouch anew.
   */
  due(leads: boolean): KeySetRecord | null {
    const { keys, ttlMs, time } = this.#settings;
    keys.admitFormer(time.nowMs() + ttlMs);
    const { state, revoked } = this.#state();
    if (state === NOTHING) return null;
    const rows = this.#rows(),
      own = rows.find(({ replica }) => replica === this.replica);
    const isStated =
      own !== undefined && (own.revoked ?? NONE_REVOKED) === revoked && rows.some((row) => row.state === state);
    if (isStated && !(leads && this.#isTimeToVouch(own, rows)))
      return own.shared === 1 || own.record === null ? null : (keptJson(own.record, 'key_sets.record') as KeySetRecord);
    return this.#issue(rows, leads);
  }

  /** What is known here, by `stateOf`; a leader asks every few seconds. */
  #state(): { readonly state: string; readonly revoked: string } {
    const fingerprint = this.#settings.keys.fingerprint();
    if (this.#known.fingerprint !== fingerprint) {
      const entries = this.#settings.keys.entries();
      this.#known = { fingerprint, state: stateOf(entries), revoked: revokedOf(entries) };
    }
    return this.#known;
  }

  /** Replicas whose newest document does not state every revocation that is known here. */
  unconfirmed(): string[] {
    const { revoked } = this.#state();
    return this.#rows()
      .filter((row) => row.replica !== this.replica && (row.revoked ?? NONE_REVOKED) !== revoked)
      .map(({ replica }) => replica);
  }

  /** A clock that was set back must not keep the leader from vouching. */
  #isTimeToVouch(own: SetRow, rows: readonly SetRow[]): boolean {
    const { ttlMs, time } = this.#settings,
      agedMs = time.nowMs() - own.issued_at_ms;
    if (agedMs >= ttlMs / RENEWALS_PER_TTL || agedMs < 0 || own.record === null) return true;
    const named = new Set(
      (keptJson(own.record, 'key_sets.record') as KeySetRecord).covers.map(({ replica }) => replica),
    );
    return coveredBy(own.replica, rows).some(({ replica }) => !named.has(replica));
  }

  #issue(rows: readonly SetRow[], leads: boolean): KeySetRecord {
    const { storage, keys, environment, identity, ttlMs, time } = this.#settings,
      { replica } = this;
    return storage.transaction(() => {
      const issuedAtMs = time.nowMs(),
        validUntilMs = issuedAtMs + ttlMs;
      const record = signKeySet(identity, {
        environment,
        replica,
        version: 1 + Math.max(0, ...rows.map(({ version }) => version)),
        issuedAtMs,
        validUntilMs,
        covers: coveredBy(replica, rows).map(({ replica: name, version }) => ({ replica: name, version })),
        keys: keysText(keys.stated(leads)),
      });
      this.#save(record, this.#state(), JSON.stringify(record));
      storage.run(
        'delete from key_sets where environment = ? and replica <> ? and issued_at_ms < ?',
        environment,
        replica,
        issuedAtMs - KEY_SET_KEPT_MS,
      );
      if (leads) keys.vouchUntil(validUntilMs);
      return record;
    });
  }

  /** The newest version of each replica that was seen. */
  versions(): KnownVersions {
    return this.#rows().map(({ replica, version }) => ({ replica, version }));
  }

  /** This replica's newest document; null before the first. */
  own(): KeySetRecord | null {
    const { record = null } = this.#rows().find(({ replica }) => replica === this.replica) ?? {};
    return record === null ? null : (keptJson(record, 'key_sets.record') as KeySetRecord);
  }

  /** Takes a document. `relayed`: it came by way of the cloud, and not from the shelf. Throws: StorageFailed. */
  take(record: KeySetRecord, relayed = true): SetVerdict {
    const { storage, keys, environment, identityKey, ttlMs, time, isShelved = false } = this.#settings;
    if (isShelved && relayed) return this.#takeRevocations(record);
    const known = this.#rows().find(({ replica }) => replica === record.replica),
      digest = digestOf(record);
    if (known !== undefined && record.version === known.version && digest === known.digest) return 'known';
    if (record.environment !== environment || !isOwnKeySet(identityKey, record)) return 'foreign';
    if (known !== undefined && record.version < known.version) return 'older';
    const stated = keysOf(record.keys);
    if (known !== undefined && record.version === known.version) {
      // Two processes have one name: a data directory was copied. Whatever one of them revoked stays revoked.
      storage.transaction(() =>
        keys.join(
          stated.filter(({ revokedAtMs }) => revokedAtMs !== null),
          null,
        ),
      );
      if (record.replica === this.replica) this.#rename();
      return 'contradicts';
    }
    storage.transaction(() => {
      const namesThis = record.covers.some(({ replica }) => replica === this.replica);
      keys.join(stated, { untilMs: Math.min(record.validUntilMs, time.nowMs() + ttlMs), namesThis });
      // A later document of this very replica: the data directory is an older copy. The next version goes on above it.
      this.#save(
        record,
        { state: stateOf(stated), revoked: revokedOf(stated) },
        record.replica === this.replica ? JSON.stringify(record) : null,
      );
      time.mark();
    });
    return 'taken';
  }

  /** The cloud's word that nobody revoked a key is worth nothing here; its word that somebody did is taken. */
  #takeRevocations(record: KeySetRecord): SetVerdict {
    const { storage, keys, environment, identityKey } = this.#settings;
    if (record.environment !== environment || !isOwnKeySet(identityKey, record)) return 'foreign';
    const digest = digestOf(record);
    if (this.#relayed.has(digest)) return 'known'; // to read all of it again would be work that the cloud can ask for
    if (this.#relayed.size >= RELAYED_KEPT) this.#relayed.clear();
    this.#relayed.add(digest);
    const before = keys.fingerprint();
    storage.transaction(() =>
      keys.join(
        keysOf(record.keys).filter(({ revokedAtMs }) => revokedAtMs !== null),
        null,
      ),
    );
    return keys.fingerprint() === before ? 'known' : 'taken';
  }

  noteShared({ version }: KeySetRecord): void {
    this.#settings.storage.run(
      'update key_sets set shared = 1 where environment = ? and replica = ? and version = ?',
      this.#settings.environment,
      this.replica,
      version,
    );
  }

  /** A new stream: a cloud that lost the document gets it again. */
  shareAnew(): void {
    this.#settings.storage.run(
      'update key_sets set shared = 0 where environment = ? and replica = ?',
      this.#settings.environment,
      this.replica,
    );
  }

  /** Keys of other replicas that stop to be good within half of the TTL unless somebody vouches for them. */
  lapsing(): number {
    const { keys, time, ttlMs } = this.#settings;
    return keys.lapsing(time.nowMs() + ttlMs / 2);
  }

  #save(
    { environment, replica, version, issuedAtMs, ...rest }: KeySetRecord,
    { state, revoked }: { state: string; revoked: string },
    text: string | null,
  ): void {
    const digest = digestOf({ environment, replica, version, issuedAtMs, ...rest });
    this.#settings.storage.run(
      `insert into key_sets (environment, replica, version, issued_at_ms, digest, state, revoked, record, shared) values (?, ?, ?, ?, ?, ?, ?, ?, 0)
      on conflict (environment, replica) do update set version = excluded.version, issued_at_ms = excluded.issued_at_ms, digest = excluded.digest,
        state = excluded.state, revoked = excluded.revoked, record = excluded.record, shared = 0`,
      environment,
      replica,
      version,
      issuedAtMs,
      digest,
      state,
      revoked,
      text,
    );
  }

  #rows(): SetRow[] {
    return this.#settings.storage.all<SetRow>(
      'select * from key_sets where environment = ? order by issued_at_ms desc, replica',
      this.#settings.environment,
    );
  }

  #rename(): string {
    const name = `rep_${base32(randomBytes(RANDOM_BYTES))}`;
    this.#settings.storage.setSetting(REPLICA_SETTING, name);
    return name;
  }
}

/** The replicas that a document of this one names, those heard of last first. */
function coveredBy(replica: string, rows: readonly SetRow[]): SetRow[] {
  return rows.filter((row) => row.replica !== replica).slice(0, KEY_SET_REPLICAS_MAX);
}

function digestOf(record: Omit<KeySetRecord, 'signature'>): string {
  return sha256(keySetText(record));
}
