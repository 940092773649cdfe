/** One ledger of the soak: somebody who pays, a hand on its blocks, and peers that can be made ill. */
import type { Chain } from '../../../protocol/slugs.ts';

/** What a peer can be: behind, lying, without a connection, limiting its callers. */
export const ILLS = ['lags', 'lies', 'dead', 'limits'] as const;
export type Ill = (typeof ILLS)[number];

/** Uniform in [0, 1); everything that is chosen comes from it. */
export type Random = () => number;

export interface SoakChain {
  readonly chain: Chain;
  /** Settings of the cloud node for this chain. */
  readonly cloudEnv: Readonly<Record<string, string>>;
  /** Least that an address can be paid, smallest unit. */
  readonly unit: bigint;
  readonly threshold: number;
  /** Deepest reorg that the ledger itself allows; 0 where what is closed is final. */
  readonly reorgMax: number;
  readonly peers: number;
  /** Pays from outside; the txid of what now waits for a block. */
  pay(address: string, amount: bigint): Promise<string>;
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the newest blocks by others without their payments; those of which `comesBack` says so wait again, in
   * order.
   */
  reorg(depth: number, comesBack: (txid: string) => boolean): Promise<void>;
  makeIll(peer: number, ill: Ill, random: Random): Promise<void>;
  /** Every peer is well again. */
  heal(): Promise<void>;
  /** Whether the ledger itself holds a payment, and it succeeded. */
  stands(txid: string): Promise<boolean>;
  headHeight(): Promise<number>;
  /** What an address holds at the head, smallest unit; on ledgers whose play sends withdrawals. */
  balanceOf?(address: string): Promise<bigint>;
  close(): Promise<void>;
}

/** One of a list. */
export const oneOf = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

/** Whole number in [from, to]. */
export const between = (random: Random, from: number, to: number): number =>
  from + Math.floor(random() * (to - from + 1));

/** Pause between two looks at a head. */
export const POLL_MS = 100;
/** How far a peer that lags is behind. */
export const LAG_BLOCKS_MAX = 6;
/** Calls that a peer that limits still answers. */
export const CALLS_LEFT_MAX = 12;

/** Settings of a chain at these peers. */
export function envOf(
  chain: Chain,
  urls: readonly string[],
  more: Readonly<Record<string, number>> = {},
): Record<string, string> {
  const name = chain.toUpperCase();
  return {
    [`${name}_RPC_URLS`]: urls.join(','),
    [`${name}_POLL_MS`]: String(POLL_MS),
    [`${name}_SECOND_READ_MS`]: '300',
    ...Object.fromEntries(Object.entries(more).map(([setting, value]) => [`${name}_${setting}`, String(value)])),
  };
}
