/**
 * The pass of a key source over adopted addresses that nobody has derived: its keys are derived in turn, and those that
 * the account has become origins. Repeated it appends nothing; ended by a crash it is begun again. Migration M-K3.
 */
import type { KeySource, SourceKey } from '../../model/account/key-source.ts';
import type { OriginStore, SourcePass, UntracedPage } from '../../model/ports/origin-store.ts';
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import type { Family } from '../../protocol/slugs.ts';
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
  const begun = await origins.beginPass(accountId, source.id, LEASE_MS);
  if (begun === null) return null;
  const work = async () => {
    const { checked, begins } = await countUntraced(origins, accountId, source, active);
    let traced = 0;
    for (const key of keysFirstExtended(source)) {
      const begin = begins.get(key.family)!;
      if (begin.length === 0) continue;
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

/** How many addresses the pass looks for, and by family how their texts begin. */
async function countUntraced(
  origins: OriginStore,
  accountId: AccountId,
  source: KeySource,
  active: readonly string[],
): Promise<{ checked: number; begins: ReadonlyMap<Family, readonly string[]> }> {
  const begins = new Map<Family, readonly string[]>();
  let checked = 0;
  for (const family of new Set(source.keys.map((key) => key.family))) {
    const found = new Set<string>();
    for (let after: string | null = ''; after !== null;) {
      const page: UntracedPage = await origins.countUntraced(accountId, source.id, active, { family, after }, LEASE_MS);
      for (const begin of page.begin) found.add(begin);
      checked = page.checked;
      after = page.next;
    }
    begins.set(family, [...found]);
  }
  return { checked, begins };
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
