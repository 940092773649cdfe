/**
 * Address pools of the Ed25519 chains: derived here, since the cloud holds no key material of them. Spec §1.6, §3.1.
 */
import { factsOf } from '../../chains/registry.ts';
import type { SyncBody } from '../../protocol/frames.ts';
import type { PooledChain } from '../../protocol/slugs.ts';
import type { Keystore } from '../keystore/keystore.ts';

/** Decisions 3. */
export const POOL_SIZE = 1_000;
/** protocol/frames.ts `pushedPool`. */
const ADDRESSES_PER_PUSH_MAX = 5_000;
/** Derivation of one turn of the event loop, after which requests, frames and deliveries are served. Milliseconds. */
const TURN_MS = 4;

export type PushedPool = SyncBody['pools'][number];

/**
 * Addresses `[from, from + count)` of a chain's pool, with its gas tank; in slices, so that nothing waits for it.
 * Limit: 5,000 at a time. Rejects: RangeError for a chain without a pool, or an index that is no hardened step.
 */
export async function derivePool(
  keystore: Pick<Keystore, 'addressAt'>,
  chain: PooledChain,
  from = 0,
  count = POOL_SIZE,
): Promise<PushedPool> {
  const { derivation } = factsOf(chain);
  if (derivation.kind !== 'pool') throw new RangeError(`${chain} has no pool`);
  const addresses: PushedPool['addresses'] = [];
  const until = from + Math.min(count, ADDRESSES_PER_PUSH_MAX);
  let turnEndsMs = performance.now() + TURN_MS;
  for (let index = from; index < until; index += 1) {
    const path = derivation.depositPath(index);
    addresses.push({ index, address: keystore.addressAt(chain, path), path });
    if (performance.now() < turnEndsMs) continue;
    await new Promise(setImmediate);
    turnEndsMs = performance.now() + TURN_MS;
  }
  const path = derivation.gasTankPath;
  return { chain, addresses, gasTank: { address: keystore.addressAt(chain, path), path } };
}
