/**
 * Where the replicas that share an EDGE_SPEND_LEDGER find each other's key sets without the cloud: each puts its own
 * there and reads the others' every few seconds. With it a revocation depends on no relay, and what the cloud shows is
 * believed for revocations only.
 */
import { keySetRecord, type KeySetRecord } from '../../protocol/frames.ts';
import type { EdgeLog } from '../process/log.ts';
import type { KnownVersions } from '../spend/replica.ts';
import type { SharedSpend } from '../spend/replica.ts';

/** Pause between two looks at the others' sets, milliseconds: a revocation is everywhere after it. */
export const KEY_SHELF_MS = 3_000;

export interface KeyShelf {
  /** Sets of all replicas above the versions known; null when they cannot be read now. Never rejects. */
  read(known: KnownVersions): Promise<KeySetRecord[] | null>;
  /** Keeps this replica's own, once for each version. Never rejects. */
  put(set: KeySetRecord): Promise<void>;
}

export function createKeyShelf(shared: Pick<SharedSpend, 'keySets' | 'putKeySet'>, log: EdgeLog): KeyShelf {
  let put = '',
    isAway = false;
  const noteAway = (isNow: boolean): void => {
    if (isNow && !isAway)
      log.warn('key_shelf_away', {
        setting: 'EDGE_SPEND_LEDGER',
        next: 'key sets of the other replicas cannot be read or written there; it is tried again',
      });
    isAway = isNow;
  };
  return {
    async read(known) {
      try {
        const kept = await shared.keySets(known);
        noteAway(false);
        return kept.flatMap((record) => keySetRecord.safeParse(record).data ?? []);
      } catch {
        noteAway(true);
        return null;
      }
    },
    async put(set) {
      const name = `${set.replica} ${set.version}`;
      if (put === name) return;
      try {
        await shared.putKeySet(set);
        put = name;
      } catch {
        noteAway(true);
      }
    },
  };
}
