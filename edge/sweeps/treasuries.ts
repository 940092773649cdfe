/**
 * EDGE_SWEEP_TREASURY_ALLOWLIST: where sweeps may go beside the derived treasury. An entry is an address, which counts
 * on every chain that reads it as one, or `chain:address`, which counts there alone. A tag that is in the address
 * itself (an X-address, a muxed account) belongs to the entry: a sweep with another tag, or none, goes to somebody
 * else. Treasury W5.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { ALLOWED_MAX } from '../../protocol/frames.ts';
import { allowedTreasury } from '../../protocol/node/allowed-treasury.ts';
import { CHAINS, type Chain } from '../../protocol/slugs.ts';

export interface AllowedTreasury {
  /** Canonical text. */
  readonly address: string;
  /** Null where the address names none. */
  readonly tag: string | null;
  /** The entry names its chain. */
  readonly isOfOneChain: boolean;
}

/** Every entry is an address of at least one chain: a misspelt one would silently stop sweeps. */
export function readTreasuries(
  entries: readonly string[],
  problems: string[],
): ReadonlyMap<Chain, readonly AllowedTreasury[]> {
  const treasuries = new Map<Chain, AllowedTreasury[]>();
  entries.forEach((entry, index) => {
    const { chains, text, isOfOneChain } = partsOf(entry);
    const matches = chains.flatMap((chain) => {
      const parsed = factsOf(chain).parseAddress(networkOf(chain), text);
      return isRefusal(parsed) ? [] : [{ chain, address: parsed.canonical, tag: parsed.tag }];
    });
    if (matches.length === 0)
      problems.push(
        `EDGE_SWEEP_TREASURY_ALLOWLIST: entry ${index + 1} is an address of no chain; an entry is ADDRESS or chain:ADDRESS`,
      );
    for (const { chain, address, tag } of matches)
      treasuries.set(chain, [...(treasuries.get(chain) ?? []), { address, tag, isOfOneChain }]);
  });
  return treasuries;
}

function partsOf(entry: string): { chains: readonly Chain[]; text: string; isOfOneChain: boolean } {
  const at = entry.indexOf(':'),
    chain = CHAINS.find((slug) => slug === entry.slice(0, Math.max(at, 0)));
  return chain === undefined
    ? { chains: CHAINS, text: entry, isOfOneChain: false }
    : { chains: [chain], text: entry.slice(at + 1).trim(), isOfOneChain: true };
}

/** The entries as they are said to the cloud; nothing where they are too many for a heartbeat. W3. */
export function allowedOf(treasuries: ReadonlyMap<Chain, readonly AllowedTreasury[]>): { allowed?: string[] } {
  const allowed = [...treasuries].flatMap(([chain, entries]) =>
    entries.map(({ address, tag }) => allowedTreasury(chain, address, tag)),
  );
  return allowed.length > ALLOWED_MAX ? {} : { allowed };
}
