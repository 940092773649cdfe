/** Carries local keys between this replica and the cloud, which relays them to the others. Spec §5.2. */
import type { KeyObject } from 'node:crypto';
import type { Acknowledgement, LocalKeyRecord } from '../protocol/frames.ts';
import type { Identity } from './identity.ts';
import type { LocalKeys } from './local-keys.ts';
import type { EdgeLog } from './log.ts';

/** protocol/frames.ts `localKeysFrame`. */
const RECORDS_PER_FRAME = 1_000;

export class LocalKeyShare {
  readonly #keys: LocalKeys;
  readonly #identity: Identity;
  readonly #identityKey: KeyObject;
  readonly #log: EdgeLog;
  #sending = false;

  constructor(keys: LocalKeys, identity: Identity, identityKey: KeyObject, log: EdgeLog) {
    this.#keys = keys;
    this.#identity = identity;
    this.#identityKey = identityKey;
    this.#log = log;
  }

  /** Takes the records that the cloud knows; whatever it lacks is sent with the next `send`. */
  welcome(records: readonly LocalKeyRecord[]): void {
    this.merge(records);
    this.#keys.noteKnown(records);
  }

  /** Takes records of other replicas. One that the identity did not sign is an alarm: only a cloud can have made it. */
  merge(records: readonly LocalKeyRecord[]): void {
    const { taken, foreign } = this.#keys.merge(records, this.#identityKey);
    if (taken > 0) this.#log.info('local_keys_taken', { count: taken });
    if (foreign > 0) this.#log.alarm('foreign_local_keys_refused', { count: foreign });
  }

  /** Sends what the cloud has not taken. Never throws. */
  async send(tell: (records: LocalKeyRecord[]) => Promise<Acknowledgement | null>): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let records = this.#next(); records.length > 0; records = this.#next()) {
        const reply = await tell(records);
        if (reply?.ok !== true) {
          if (reply !== null) this.#log.warn('local_keys_not_taken', { code: reply.code ?? 'INTERNAL_ERROR' });
          return;
        }
        this.#keys.noteShared(records);
      }
    } catch (error) {
      this.#log.fault('local_keys_fault', error);
    } finally {
      this.#sending = false;
    }
  }

  #next(): LocalKeyRecord[] {
    return this.#keys.unshared(this.#identity).slice(0, RECORDS_PER_FRAME);
  }
}
