/** Family → signer, loaded with its SDK when a chain of the family is enabled. */
import { FAMILY_OF, type Chain, type Family } from '../../protocol/slugs.ts';
import type { Signer } from './signers/signer.ts';

const LOADERS: Readonly<Record<Family, (() => Promise<Signer>) | null>> = {
  btc: async () => (await import('./signers/btc.ts')).btcSigner,
  evm: async () => (await import('./signers/evm.ts')).evmSigner,
  tron: async () => (await import('./signers/tron.ts')).tronSigner,
  sol: async () => (await import('./signers/sol.ts')).solSigner,
  xrp: async () => (await import('./signers/xrp.ts')).xrpSigner,
  xlm: async () => (await import('./signers/xlm.ts')).xlmSigner,
};

const loaded = new Map<Family, Promise<Signer>>();

/** The chain's signer; null for a family that this edge watches but does not sign. */
export async function loadSigner(chain: Chain): Promise<Signer | null> {
  const family = FAMILY_OF[chain];
  const load = LOADERS[family];
  if (load === null) return null;
  const signer = loaded.get(family) ?? load();
  loaded.set(family, signer);
  return signer;
}
