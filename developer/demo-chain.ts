/** The chain that a demo plays on: a payer with money, and a hand on the ledger's clock. */
import { CHAINS, FAMILY_OF, type Chain, type Family } from '../protocol/slugs.ts';

export interface Stage {
  readonly chain: Chain;
  readonly decimals: number;
  readonly threshold: number;
  /** Can this ledger replace blocks? */
  readonly reorgs: boolean;
  /** What the story's payments are shares of: one coin, unless a ledger account needs more than that. */
  readonly unit?: bigint;
  /** Does the first payment make the account that it pays? */
  readonly activates?: boolean;
  readonly cloudEnv: Readonly<Record<string, string>>;
  readonly edgeEnv: Readonly<Record<string, string>>;
  /** Pays from the outside and puts it into a block; resolves with the txid and the instant the block was there. */
  pay(address: string, amount: bigint): Promise<{ txid: string; blockAtMs: number }>;
  /** Adds blocks without payments of ours. */
  mine(blocks: number): Promise<void>;
  /** Replaces the newest blocks by others that lack their transactions. */
  reorg(depth: number): Promise<void>;
  balanceOf(address: string): Promise<bigint>;
  /** An address outside of Flock that money can be sent to. */
  readonly outsider: string;
  /** A listed token that an address must opt in to before it can hold any. */
  readonly token?: StageToken;
  close(): Promise<void>;
}

export interface StageToken {
  readonly contract: string;
  readonly symbol: string;
  readonly decimals: number;
  pay(address: string, amount: bigint): Promise<{ txid: string; blockAtMs: number }>;
  balanceOf(address: string): Promise<bigint>;
  /** An address outside of Flock that takes the token. */
  readonly outsider: string;
}

/** What the demo plays on, in words. No family but the EVM's has a node that comes from npm. */
export const nodesOf = (chain: Chain): string =>
  FAMILY_OF[chain] === 'evm' ? `a real EVM node (anvil, as ${chain})` : `a stand-in for ${chain} nodes (it verifies every signature)`;

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
