/** Treasury wallets with the addresses that they have now. */
import { factsOf, networkOf } from '../../chains/registry.ts';
import type { EdgeLinkState } from '../../model/account/edge-link.ts';
import type { AddressState } from '../../model/account/address.ts';
import type { TreasuryWallet } from '../../model/account/treasury.ts';
import { pooled } from '../edge-link/readiness.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';

/** Spec §2.10: "A derived wallet is at the reserved change path `M/1/1`." */
const CHANGE = 1,
  TREASURY_INDEX = 1,
  TANK_INDEX = 0;

export interface PlacedWallet extends TreasuryWallet {
  /** Null of a derived one while no key of its chain is registered. */
  readonly address: string | null;
  /** Null of an external one. */
  readonly derivationPath: string | null;
}

/** A wallet with its address: that of the pinned identity, for a derived one. */
export function placed({ enrolment }: Pick<EdgeLinkState, 'enrolment'>, wallet: TreasuryWallet): PlacedWallet {
  if (wallet.source === 'external') return { ...wallet, derivationPath: null };
  const own = ownAt(enrolment, wallet.chain, TREASURY_INDEX);
  return own === null
    ? { ...wallet, derivationPath: null }
    : { ...wallet, address: own.address, derivationPath: own.path };
}

/** Where a derived wallet of the chain is, or would be; null while no key of it is registered. */
export const derivedAt = ({ enrolment }: Pick<EdgeLinkState, 'enrolment'>, chain: Chain): Tank | null =>
  ownAt(enrolment, chain, TREASURY_INDEX);

export interface Tank {
  readonly address: string;
  readonly path: string;
}

/** The gas tank of a chain under the pinned identity; null while no key or pool of it is registered. */
export function tankOf(
  { enrolment, pools }: Pick<EdgeLinkState, 'enrolment'> & Pick<AddressState, 'pools'>,
  chain: Chain,
): Tank | null {
  const poolChain = pooled(chain),
    pool = poolChain === null ? undefined : pools[poolChain];
  if (poolChain === null) return ownAt(enrolment, chain, TANK_INDEX);
  return pool === undefined || pool.capacity === 0 ? null : { address: pool.gasTank, path: pool.gasTankPath };
}

function ownAt(enrolment: EdgeLinkState['enrolment'], chain: Chain, index: number): Tank | null {
  const { derivation } = factsOf(chain),
    key = enrolment?.keys[FAMILY_OF[chain]];
  if (derivation.kind !== 'xpub' || key === undefined) return null;
  return derivation.deriveAddress(networkOf(chain), key.xpub, CHANGE, index);
}
