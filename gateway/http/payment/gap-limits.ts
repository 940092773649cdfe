/** What gap limit a wallet would need that is restored from the account's phrase. payments S18. */
import type { AccountState } from '../../../model/account/capabilities.ts';
import type { ReadStore } from '../../../model/ports/read-store.ts';
import { FAMILY_OF, POOLED_CHAINS, type Family } from '../../../protocol/slugs.ts';

/** What wallets look ahead by themselves, behind the last used address: the convention of spec 2.12. */
const AHEAD = 20;
/** An account that issued so many of a family is read as it is now, a larger one by its daily walk. */
const SMALL_INDEXES = 1_000;

export interface GapLimit {
  /** Null where an account that is not small was not walked yet. */
  readonly gapLimitNeeded: number | null;
  /** Null where it is of now. */
  readonly countedAtMs: number | null;
}

/** What each of some families needs; 20 where nothing was issued. */
export async function gapLimitsOf(
  reads: Pick<ReadStore, 'unusedRuns'>,
  { accountId, indexes, pools, retired }: Pick<AccountState, 'accountId' | 'indexes' | 'pools' | 'retired'>,
  families: readonly Family[],
): Promise<(family: Family) => GapLimit> {
  const issuedOf = (family: Family): number => {
    const pooled = POOLED_CHAINS.find((chain) => FAMILY_OF[chain] === family);
    return pooled === undefined ? (indexes[family] ?? 0) : (pools[pooled]?.next ?? 0);
  };
  const asked = families.map((family) => ({
    family,
    isSmall: issuedOf(family) <= SMALL_INDEXES,
    bounds: retired.flatMap(({ next }) => next[family] ?? []),
  }));
  const runs = await reads.unusedRuns(accountId, asked);
  return (family) => {
    const found = runs.get(family);
    return found === undefined
      ? { gapLimitNeeded: null, countedAtMs: null }
      : { gapLimitNeeded: found.run + AHEAD, countedAtMs: found.countedAtMs };
  };
}
