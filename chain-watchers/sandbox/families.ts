/** Families that have a simulated ledger; the chains of the others answer CHAIN_UNAVAILABLE in the sandbox. */
import type { Family } from '../../protocol/slugs.ts';
import { simulatedBtc } from './btc.ts';
import { simulatedEvm } from './evm.ts';
import type { SimulatedFamily } from './family.ts';
import { simulatedSol } from './sol.ts';
import { simulatedTron } from './tron.ts';
import { simulatedXrp } from './xrp.ts';

const FAMILIES: Readonly<Partial<Record<Family, SimulatedFamily>>> = {
  btc: simulatedBtc, evm: simulatedEvm, sol: simulatedSol, tron: simulatedTron, xrp: simulatedXrp,
};

/** The simulated form of a family, or null where there is none. */
export function simulatedFamilyOf(family: Family): SimulatedFamily | null {
  return FAMILIES[family] ?? null;
}
