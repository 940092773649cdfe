/** Address pools of the Ed25519 chains: derived here, since the cloud holds no key material of them. Spec §1.6, §3.1. */
import { factsOf } from '../chains/registry.ts';
import type { SyncBody } from '../protocol/frames.ts';
import type { PooledChain } from '../protocol/slugs.ts';
import type { Keystore } from './keystore/keystore.ts';

/** Decisions 3. */
export const POOL_SIZE = 1_000;
/** protocol/frames.ts `pushedPool`. */
const ADDRESSES_PER_PUSH_MAX = 5_000;

type PushedPool = SyncBody['pools'][number];

/** Addresses `[from, from + count)` of a chain's pool, with its gas tank. Limit: 5,000 at a time. */
export function derivePool(keystore: Pick<Keystore, 'addressAt'>, chain: PooledChain, from = 0, count = POOL_SIZE): PushedPool {
  const { derivation } = factsOf(chain);
  if (derivation.kind !== 'pool') throw new RangeError(`${chain} has no pool`);
  const addresses = Array.from({ length: Math.min(count, ADDRESSES_PER_PUSH_MAX) }, (_, offset) => {
    const path = derivation.depositPath(from + offset);
    return { index: from + offset, address: keystore.addressAt(chain, path), path };
  });
  const path = derivation.gasTankPath;
  return { chain, addresses, gasTank: { address: keystore.addressAt(chain, path), path } };
}
