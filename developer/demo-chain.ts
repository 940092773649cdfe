/** The chain that a demo plays on: a payer with money, and a hand on the ledger's clock. */
import { type Chain, CHAINS, type Family, FAMILY_OF } from '../protocol/slugs.ts';
import type { Stage } from './demo-stage.ts';

/** What the demo plays on, in words. No family but the EVM's has a node that comes from npm. */
export const nodesOf = (chain: Chain): string =>
  FAMILY_OF[chain] === 'evm'
    ? `a real EVM node (anvil, as ${chain})`
    : `a stand-in for ${chain} nodes (it verifies every signature)`;

const STAGES: Readonly<Partial<Record<Family, (chain: Chain) => Promise<Stage>>>> = {
  evm: async (chain) => (await import('./demo-evm.ts')).openEvmStage(chain),
  btc: async () => (await import('./demo-btc.ts')).openBtcStage(),
  tron: async () => (await import('./demo-tron.ts')).openTronStage(),
  sol: async () => (await import('./demo-sol.ts')).openSolStage(),
  xrp: async () => (await import('./demo-xrp.ts')).openXrpStage(),
  xlm: async () => (await import('./demo-xlm.ts')).openXlmStage(),
};

/** Opens the stage of a chain. Throws: RangeError when this version has none for it. */
export async function openStage(chain: Chain): Promise<Stage> {
  const open = STAGES[FAMILY_OF[chain]];
  if (open !== undefined) return open(chain);
  const playable = CHAINS.filter((slug) => STAGES[FAMILY_OF[slug]] !== undefined);
  throw new RangeError(`${chain} has no stage in this version: the demo plays on ${playable.join(', ')}`);
}
