/**
 * Families that have a simulated ledger, each loaded with its SDK when it is first used; the chains of the
 * others answer CHAIN_UNAVAILABLE in the sandbox.
 */
import type { Family } from '../../protocol/slugs.ts';
import type { SimulatedFamily } from './family.ts';

const FAMILIES: Readonly<Partial<Record<Family, () => Promise<SimulatedFamily>>>> = {
  btc: async () => (await import('./btc.ts')).simulatedBtc,
  evm: async () => (await import('./evm.ts')).simulatedEvm,
  sol: async () => (await import('./sol.ts')).simulatedSol,
  tron: async () => (await import('./tron.ts')).simulatedTron,
  xlm: async () => (await import('./xlm.ts')).simulatedXlm,
  xrp: async () => (await import('./xrp.ts')).simulatedXrp,
};

/** Loads the simulated form of a family, or null where there is none. */
export function simulatedFamilyOf(family: Family): (() => Promise<SimulatedFamily>) | null {
  return FAMILIES[family] ?? null;
}
