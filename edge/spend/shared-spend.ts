/**
 * EDGE_SPEND_LEDGER: one count of spends for all replicas of an edge, so that the caps bound all of them together and
 * an instruction is signed under one replay key by any of them. In PostgreSQL (`postgres-spend.ts`), or in a directory
 * that the replicas of one machine share. While it does not answer nothing is signed.
 */
import { randomUUID } from 'node:crypto';
import { markIfPossible, openSpendClock, type SpendClock, type SpendClockPorts } from './clock.ts';
import type { SpendCaps } from './caps.ts';
import { newestSpendMs, SpendLedger } from './ledger.ts';
import { openStorage, type Storage } from '../storage/storage.ts';
import { KEY_SET_KEPT_MS, keySetOf, type SharedSpend, type SpendReplica } from './replica.ts';

/** Where the shared ledger is. */
export type SpendLedgerPlace =
  { readonly kind: 'postgres'; readonly url: string } | { readonly kind: 'directory'; readonly path: string };

/** The place that a setting names; null for any other text. */
export function spendLedgerPlace(text: string): SpendLedgerPlace | null {
  if (/^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text)) return { kind: 'postgres', url: text };
  return text.startsWith('/') ? { kind: 'directory', path: text } : null;
}

/** This process, on its directory. */
export function spendReplicaOf(storage: Pick<Storage, 'setting' | 'setSetting'>): SpendReplica {
  const name = randomUUID();
  let isNoted = false;
  return {
    name,
    heirOf: storage.setting(HEIR_SETTING),
    noteCounted() {
      if (!isNoted) storage.setSetting(HEIR_SETTING, name);
      isNoted = true;
    },
  };
}

const HEIR_SETTING = 'spend_replica';
/** Whose spends the edge of a directory counts in a shared ledger. */
export const SCOPE_SETTING = 'spend_scope';

export interface SharedSpendSettings extends SpendClockPorts {
  readonly place: SpendLedgerPlace;
  /** Whose spends these are; edges of other phrases or environments may use the same database. */
  readonly scope: string;
  readonly caps: SpendCaps;
  /** This replica's own: a database's clock can be set, and says nothing of the time that has passed. */
  readonly clock: Pick<SpendClock, 'nowMs'>;
  readonly replica: SpendReplica;
}

/** Opens the shared ledger; a database is connected to when it is first asked. Throws: StorageFailed. */
export async function openSharedSpend(settings: SharedSpendSettings): Promise<SharedSpend> {
  const { place, caps } = settings;
  if (place.kind === 'postgres')
    return (await import('./postgres-spend.ts')).openPostgresSpend({ ...settings, url: place.url });
  const storage = openStorage(place.path);
  const clock = openSpendClock(storage, newestSpendMs(storage), settings);
  const ledger = new SpendLedger(storage, caps, clock);
  return {
    count: async (spend) => ledger.count(spend),
    retire: async (instruction) => ledger.retire(instruction),
    note: async (ids, word) => ledger.note(ids, word),
    settle: async (ids, how, versions) => ledger.settle(ids, how, versions),
    versionsOf: async (id) => ledger.versionsOf(id),
    open: async (limit) => ledger.open(limit),
    keySets: async (known) =>
      storage
        .all<{ record: string }>(
          `select record from key_sets k where record is not null and not exists (
        select 1 from json_each(?) n where n.value ->> 'replica' = k.replica and n.value ->> 'version' >= k.version)`,
          JSON.stringify(known),
        )
        .map(({ record }) => keySetOf(record)),
    putKeySet: async (set) => {
      storage.run('delete from key_sets where issued_at_ms < ?', set.issuedAtMs - KEY_SET_KEPT_MS);
      storage.run(
        `insert into key_sets (environment, replica, version, issued_at_ms, digest, state, record) values (?, ?, ?, ?, '', '', ?)
        on conflict (environment, replica) do update set version = excluded.version, issued_at_ms = excluded.issued_at_ms, record = excluded.record
          where version < excluded.version`,
        set.environment,
        set.replica,
        set.version,
        set.issuedAtMs,
        JSON.stringify(set),
      );
    },
    mark: () => markIfPossible(clock),
    close: async () => storage.close(),
  };
}
