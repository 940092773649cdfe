/**
 * Chain readiness, per chain and account. Spec §3.1.
 *
 *   state         condition                                                       addresses
 *   not_ready     no extended public key registered; for sol/xlm no pool          blocked
 *   ready         active key registered; a pooled chain's pool above threshold    allowed
 *   quarantined   identity rotation detected, awaiting the owner                  blocked
 *   pool_low      sol or xlm pool below 20 %                                      allowed, replenishment requested
 *
 *   from          trigger               to             also
 *   not_ready     first sync            ready
 *   any           another identity      quarantined    new keys held back, identity_rotation_detected
 *   quarantined   approve               ready          new identity pinned; a pool is ready once its edge has pushed it
 *   quarantined   reject                ready          as before the rotation; held keys discarded
 *
 * Nothing is stored for it: it follows from enrolment, rotation and pools. A chain without a key on either side of a
 * rotation is not affected by it.
 */
import { refuse, type Refusal } from '../../protocol/errors.ts';
import {
  CHAINS,
  FAMILY_OF,
  POOLED_CHAINS,
  type Chain,
  type PooledChain,
  type Readiness,
} from '../../protocol/slugs.ts';
import type { Pool } from '../../model/account/address.ts';
import type { AddressState } from '../../model/account/address.ts';
import type { EdgeLinkState } from '../../model/account/edge-link.ts';
import type { ReadinessView } from '../../model/account/edge-link.ts';

/** Spec §8.5: "readiness pool low threshold 20%" */
export const POOL_LOW_PERCENT = 20;

/** The pool of a chain whose addresses come from the edge; null for the others. */
export function pooled(chain: Chain): PooledChain | null {
  return (POOLED_CHAINS as readonly Chain[]).includes(chain) ? (chain as PooledChain) : null;
}

/** Unissued addresses of a pool. */
export function unusedOf(pool: Pool): number {
  return pool.size - pool.next;
}

/** Unissued addresses in percent of a full pool, rounded down; 0 for none. */
export function poolLevelPercent(pool: Pool): number {
  return pool.capacity === 0 ? 0 : Math.min(100, Math.floor((unusedOf(pool) * 100) / pool.capacity));
}

/** What readiness is made of. */
type Enrolled = Pick<EdgeLinkState, 'enrolment' | 'rotation'> & Pick<AddressState, 'pools'>;

/** The four states of the table above. */
export function readinessOf(state: Enrolled, chain: Chain): Readiness {
  const family = FAMILY_OF[chain],
    poolChain = pooled(chain);
  const pool = poolChain === null ? undefined : state.pools[poolChain];
  const registered =
    poolChain === null
      ? state.enrolment?.keys[family] !== undefined
      : state.enrolment !== null && pool !== undefined && pool.capacity > 0;
  if (state.rotation !== null) {
    return registered || state.rotation.keys[family] !== undefined ? 'quarantined' : 'not_ready';
  }
  if (!registered) return 'not_ready';
  return pool !== undefined && poolLevelPercent(pool) < POOL_LOW_PERCENT ? 'pool_low' : 'ready';
}

/** Refuses: CHAIN_NOT_READY when no address may be issued on the chain. */
export function notReady(state: Enrolled, chain: Chain): Refusal | null {
  const readiness = readinessOf(state, chain);
  if (readiness === 'ready' || readiness === 'pool_low') return null;
  return refuse('CHAIN_NOT_READY', { chain, state: readiness, reason: REASONS[readiness] });
}

const REASONS: Readonly<Record<Readiness, string | null>> = {
  ready: null,
  not_ready: 'no key or pool registered',
  quarantined: 'identity rotation awaits the owner',
  pool_low: `less than ${POOL_LOW_PERCENT} % of the pool is left`,
};

/** One row per chain, in the order of the slugs. */
export function readinessViews(state: Enrolled): ReadinessView[] {
  return CHAINS.map((chain) => {
    const readiness = readinessOf(state, chain);
    const poolChain = pooled(chain),
      pool = poolChain === null ? undefined : state.pools[poolChain];
    return {
      chain,
      state: readiness,
      reason: REASONS[readiness],
      xpub: masked(state.enrolment?.keys[FAMILY_OF[chain]]?.xpub),
      poolLevelPercent: pool === undefined ? null : poolLevelPercent(pool),
    };
  });
}

// Spec §2.8: "Rendered extended keys show only the first eight and last four characters."
function masked(xpub: string | undefined): string | null {
  return xpub === undefined ? null : `${xpub.slice(0, 8)}…${xpub.slice(-4)}`;
}
