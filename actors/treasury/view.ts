/** Treasury wallets with the addresses that they have now. */
import { factsOf, networkOf } from '../../chains/registry.ts';
import type { EdgeLinkState } from '../../model/account/edge-link.ts';
import type { TreasuryWallet } from '../../model/account/treasury.ts';
import { FAMILY_OF } from '../../protocol/slugs.ts';

/** Spec §2.10: "A derived wallet is at the reserved change path `M/1/1`." */
const CHANGE = 1,
  TREASURY_INDEX = 1;

export interface PlacedWallet extends TreasuryWallet {
  /** Null of a derived one while no key of its chain is registered. */
  readonly address: string | null;
  /** Null of an external one. */
  readonly derivationPath: string | null;
}

/** A wallet with its address: that of the pinned identity, for a derived one. */
export function placed({ enrolment }: Pick<EdgeLinkState, 'enrolment'>, wallet: TreasuryWallet): PlacedWallet {
  if (wallet.source === 'external') return { ...wallet, derivationPath: null };
  const { derivation } = factsOf(wallet.chain),
    key = enrolment?.keys[FAMILY_OF[wallet.chain]];
  if (derivation.kind !== 'xpub' || key === undefined) return { ...wallet, derivationPath: null };
  const { address, path } = derivation.deriveAddress(networkOf(wallet.chain), key.xpub, CHANGE, TREASURY_INDEX);
  return { ...wallet, address, derivationPath: path };
}
