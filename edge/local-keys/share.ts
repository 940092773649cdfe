/**
 * Carries local keys between this replica and the cloud, which relays them to the others (spec §5.2): the signed key
 * set, and for edges of before key sets a record for each key.
 */
import type { KeyObject } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { Acknowledgement, KeySetRecord, LocalKeyRecord } from '../../protocol/frames.ts';
import type { Identity } from '../link/identity.ts';
import type { KeySets } from './key-sets.ts';
import type { KeyShelf } from './key-shelf.ts';
import type { LocalKeys } from './local-keys.ts';
import type { EdgeLog } from '../process/log.ts';

/** protocol/frames.ts `localKeysFrame`. */
const RECORDS_PER_FRAME = 1_000;
/**
 * After so long a revocation that not every replica has stated is an alarm: it reaches one that runs within a
 * heartbeat.
 */
const UNCONFIRMED_MS = 300_000;
/** Records whose signatures are verified in one turn of the loop: each up to two, a tenth of a millisecond each. */
const RECORDS_PER_TURN = 50;

export interface LocalKeyShareSettings {
  readonly keys: LocalKeys;
  readonly sets: KeySets;
  readonly identity: Identity;
  readonly identityKey: KeyObject;
  readonly log: EdgeLog;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Beside the cloud; null where the replicas share no EDGE_SPEND_LEDGER. */
  readonly shelf: KeyShelf | null;
}

/** Sends one frame to the cloud; null when no answer came. */
export type SendFrame = (
  frame: 'local_keys' | 'key_set',
  body: { records: LocalKeyRecord[] } | { set: KeySetRecord },
) => Promise<Acknowledgement | null>;

export class LocalKeyShare {
  readonly #settings: LocalKeyShareSettings;
  #merging: Promise<void> = Promise.resolve();
  #sending = false;
  #again = false;
  /** As the cloud's last welcome said. */
  #carriesSets = false;
  #lapsing = 0;
  /** Replicas that have not stated every revocation, and since when some have not. */
  #unconfirmed: { readonly replicas: readonly string[]; readonly sinceMs: number; readonly alarmed: boolean } | null =
    null;
  #reading: Promise<void> | null = null;
  /** The shelf was read at the last try. */
  #isShelfRead = false;

  constructor(settings: LocalKeyShareSettings) {
    this.#settings = settings;
  }

  /** Takes the records that the cloud knows; whatever it lacks is sent with the next `send`. Never rejects. */
  async welcome(records: readonly LocalKeyRecord[], carriesSets: boolean): Promise<void> {
    const { keys, sets, log } = this.#settings;
    await this.merge(records);
    this.#carriesSets = carriesSets;
    try {
      keys.noteKnown(records);
      sets.shareAnew();
    } catch (error) {
      log.fault('local_keys_fault', error);
    }
    if (!carriesSets)
      log.warn('key_sets_not_carried', {
        next: 'this cloud is older than the edge: keys minted at other replicas are not taken until it is upgraded',
      });
  }

  /**
   * Takes revocations of other replicas, in slices. A record that the identity did not sign is an alarm: only a cloud
   * can have made it. Never rejects.
   */
  merge(records: readonly LocalKeyRecord[]): Promise<void> {
    this.#merging = this.#merging
      .then(() => this.#merge(records))
      .catch((error: unknown) => this.#settings.log.fault('local_keys_fault', error));
    return this.#merging;
  }

  async #merge(records: readonly LocalKeyRecord[]): Promise<void> {
    const { keys, identityKey, log } = this.#settings;
    let taken = 0,
      foreign = 0;
    for (let from = 0; from < records.length; from += RECORDS_PER_TURN) {
      if (from > 0) await turn();
      const counts = keys.takeRevocations(records.slice(from, from + RECORDS_PER_TURN), identityKey);
      taken += counts.taken;
      foreign += counts.foreign;
    }
    if (taken > 0) log.info('local_key_revocations_taken', { count: taken });
    if (foreign > 0) log.alarm('foreign_local_keys_refused', { count: foreign });
  }

  /**
   * Revokes what an owner asked the cloud to have revoked. The cloud's word suffices: it can take nothing by it, and a
   * key that is gone by mistake is minted anew. A key that is not known here is asked for again.
   */
  revoke(ids: readonly string[]): void {
    const { keys, log } = this.#settings;
    for (const id of ids) {
      const revoked = keys.revoke(id);
      if (revoked === null) log.warn('local_key_unknown', { localKeyId: id });
      else log.info('local_key_revoked', { localKeyId: id, alsoRevoked: revoked.alsoRevoked.length, reason: 'cloud' });
    }
  }

  /** Takes what another replica knows. What no honest replica signs, or signs twice, is an alarm. */
  take(record: KeySetRecord, relayed = true): void {
    const { sets, log } = this.#settings,
      { replica, version } = record;
    switch (sets.take(record, relayed)) {
      case 'known':
        return;
      case 'taken':
        return log.info('key_set_taken', { replica, version });
      case 'older':
        return log.warn('older_key_set_refused', { replica, version });
      case 'contradicts':
        return log.alarm('key_set_contradicts', {
          replica,
          version,
          next: 'two edges run on copies of one data directory: give each replica its own',
        });
      case 'foreign':
        return log.alarm('foreign_key_set_refused', {});
    }
  }

  /** Takes what is new on the shelf. One look at a time; never rejects. */
  readShelf(): Promise<void> {
    const { shelf, sets, log } = this.#settings;
    return (this.#reading ??= (async () => {
      const kept = (await shelf?.read(sets.versions())) ?? null;
      this.#isShelfRead = kept !== null;
      for (const set of kept ?? []) this.take(set, false);
    })()
      .catch((error: unknown) => log.fault('local_keys_fault', error))
      .finally(() => {
        this.#reading = null;
      }));
  }

  /** Signs what is due and sends what the cloud has not taken; once more for what is asked meanwhile. Never throws. */
  async send(leads: boolean, sendFrame: SendFrame | null): Promise<void> {
    this.#again = true;
    if (this.#sending) return;
    this.#sending = true;
    try {
      while (this.#again) {
        this.#again = false;
        await this.#sendAll(leads, sendFrame);
      }
    } catch (error) {
      this.#settings.log.fault('local_keys_fault', error);
    } finally {
      this.#sending = false;
    }
  }

  async #sendAll(leads: boolean, sendFrame: SendFrame | null): Promise<void> {
    this.#noteLapsing();
    this.#noteUnconfirmed();
    const { sets, shelf } = this.#settings;
    // What may have been revoked meanwhile is vouched for by nobody who cannot see it.
    const set = sets.due(leads && (shelf === null || this.#isShelfRead)),
      own = shelf === null ? null : sets.own();
    // Side by side: neither waits for the other's time limit.
    await Promise.all([
      own === null ? null : shelf!.put(own),
      sendFrame === null ? null : this.#sendToCloud(set, sendFrame),
    ]);
  }

  async #sendToCloud(set: KeySetRecord | null, sendFrame: SendFrame): Promise<void> {
    if (set !== null && this.#carriesSets) await this.#sendSet(set, sendFrame);
    await this.#sendRecords(sendFrame);
  }

  async #sendSet(set: KeySetRecord, sendFrame: SendFrame): Promise<void> {
    const reply = await sendFrame('key_set', { set });
    if (reply?.ok === true) this.#settings.sets.noteShared(set);
    else if (reply !== null) this.#settings.log.warn('key_set_not_taken', { code: reply.code ?? 'INTERNAL_ERROR' });
  }

  async #sendRecords(sendFrame: SendFrame): Promise<void> {
    const { keys, log } = this.#settings;
    for (let records = this.#next(); records.length > 0; records = this.#next()) {
      const reply = await sendFrame('local_keys', { records });
      if (reply?.ok !== true) {
        if (reply !== null) log.warn('local_keys_not_taken', { code: reply.code ?? 'INTERNAL_ERROR' });
        return;
      }
      keys.noteShared(records);
    }
  }

  /** Replicas whose documents do not state every revocation that this one knows, as of the last look. */
  get unconfirmed(): number {
    return this.#unconfirmed?.replicas.length ?? 0;
  }

  /** A cloud that withholds a revocation, or a replica that is away, keeps a key alive there: somebody should look. */
  #noteUnconfirmed(): void {
    const { sets, log, nowMs } = this.#settings,
      replicas = sets.unconfirmed();
    if (replicas.length === 0) {
      if (this.#unconfirmed?.alarmed === true) log.info('revocations_confirmed');
      this.#unconfirmed = null;
      return;
    }
    const { sinceMs, alarmed } = this.#unconfirmed ?? { sinceMs: nowMs(), alarmed: false },
      isDue = nowMs() - sinceMs >= UNCONFIRMED_MS;
    if (isDue && !alarmed) {
      log.alarm('revocation_unconfirmed', {
        count: replicas.length,
        replica: replicas[0]!,
        next: 'these replicas have not said that they know of a revoked local key: where one runs and reaches the cloud, the cloud withholds it: revoke at that replica (DELETE /v1/edge/keys/{id})',
      });
    }
    this.#unconfirmed = { replicas, sinceMs, alarmed: alarmed || isDue };
  }

  /** Half a TTL before keys stop to be good, so that somebody can look. */
  #noteLapsing(): void {
    const { sets, log } = this.#settings,
      lapsing = sets.lapsing();
    if (lapsing > this.#lapsing) {
      log.alarm('local_keys_not_vouched', {
        count: lapsing,
        setting: 'EDGE_KEY_SET_TTL',
        next: 'no leader has vouched for keys of other replicas lately: look whether the others run and reach the cloud; where none is left, flock-edge local-keys keep',
      });
    }
    this.#lapsing = lapsing;
  }

  #next(): LocalKeyRecord[] {
    return this.#settings.keys.unshared(this.#settings.identity).slice(0, RECORDS_PER_FRAME);
  }
}
