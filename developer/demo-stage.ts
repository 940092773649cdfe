/** What one chain of the demo gives to its story. */
import type { Chain } from '../protocol/slugs.ts';

export interface StageToken {
  readonly contract: string;
  readonly symbol: string;
  readonly decimals: number;
  pay(address: string, amount: bigint): Promise<{ txid: string; blockAtMs: number }>;
  balanceOf(address: string): Promise<bigint>;
  /** An address outside of Flock that takes the token. */
  readonly outsider: string;
}

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
