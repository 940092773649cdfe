/**
 * The pass of a key source over adopted addresses that nobody has derived: its keys are derived in turn, and those that
 * the account has become origins. Repeated it appends nothing; ended by a crash it is begun again. Migration M-K3.
 */
import type { KeySource, SourceKey } from '../../model/account/key-source.ts';
import type { OriginStore, SourcePass } from '../../model/ports/origin-store.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import { derive } from './derivation/thread.ts';

/** Indexes of each branch, and those of one piece of work. */
const INDEXES_TRACED = 10_000;
const INDEXES_AT_ONCE = 500;
const BRANCHES = ['0', '1', ''] as const;
/** Without a sign of life for so long a pass is taken for dead. */
const LEASE_MS = 60_000;

export interface Pass {
  readonly begun: SourcePass;
  /** Ends with what it found. Rejects: as the store and the thread do; another call begins again then. */
  readonly ended: Promise<SourcePass>;
}

/**
 * Begins a pass of a source; null while one is at work. `active`: ids of the sources that are not purged, the oldest
 * first: an address that one of them leads to stays its.
 */
export async function beginTrace(
  origins: OriginStore,
  accountId: AccountId,
  source: KeySource,
  active: readonly string[],
): Promise<Pass | null> {
  const families = [...new Set(source.keys.map(({ family }) => family))];
  const untraced = await origins.untraced(accountId, families, active);
  const checked = untraced.reduce((sum, { count }) => sum + count, 0);
  const begun = await origins.beginPass(accountId, source.id, checked, LEASE_MS);
  if (begun === null) return null;
  const work = async () => {
    let traced = 0;
    for (const key of keysFirstExtended(source)) {
      const begin = untraced.find(({ family }) => family === key.family)?.begin;
      if (begin === undefined) continue;
      for await (const found of addressesBelow(accountId, key, begin)) {
        if (traced >= checked) break;
        const at = found.map(({ key: name, below }) => ({ key: name, path: originOf(source, key, below) }));
        traced = await origins.recordOrigins(accountId, source.id, active, at, LEASE_MS);
      }
    }
    return origins.endPass(accountId, source.id);
  };
  return { begun, ended: work() };
}

/** Extended keys before single ones. */
const keysFirstExtended = ({ keys }: KeySource): SourceKey[] =>
  keys.toSorted((a, b) => Number(a.xpub === null) - Number(b.xpub === null));

async function* addressesBelow(accountId: AccountId, { family, xpub, publicKey }: SourceKey, begin: readonly string[]) {
  const job = { kind: 'derive', environment: environmentOf(accountId), family, begin } as const;
  if (xpub === null) {
    yield await derive(accountId, { ...job, key: { publicKey: publicKey! } });
    return;
  }
  for (const branch of BRANCHES)
    for (let from = 0; from < INDEXES_TRACED; from += INDEXES_AT_ONCE)
      yield await derive(accountId, { ...job, key: { xpub, branch, from, to: from + INDEXES_AT_ONCE } });
}

/** `[fingerprint/44'/60'/0'/0/3]`, or `[fingerprint]` for a single key. */
export const originOf = (
  { fingerprint }: Pick<KeySource, 'fingerprint'>,
  { path }: Pick<SourceKey, 'path'>,
  below: string,
): string => `[${fingerprint}${path === null ? '' : `${path.slice(1)}/${below}`}]`;
