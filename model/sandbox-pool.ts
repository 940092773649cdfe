/** The pool of a simulated ledger: what was broadcast while no block takes anything (simulate-stuck). */
import type { LedgerId } from '../protocol/ids.ts';
import type { Chain } from '../protocol/slugs.ts';
import type { SandboxTransaction } from './ports.ts';

export interface PooledTransaction {
  readonly txid: string;
  readonly from: string;
  /** The signed bytes. */
  readonly payload: string;
  /** What it does, on the ledger as it was when it came. */
  readonly transaction: SandboxTransaction;
  readonly sinceMs: number;
  /** The version that took its place in the pool, though a miner may still have it; null while it is in the pool. */
  readonly replacedBy: string | null;
}

export interface SandboxPool {
  /** simulate-stuck: whether broadcasts stay in the pool. */
  setStuck(ledger: LedgerId, stuck: boolean): Promise<void>;
  isStuck(ledger: LedgerId): Promise<boolean>;
  pooled(ledger: LedgerId, txid: string): Promise<PooledTransaction | null>;
  /** All versions of one sender, also replaced ones, in the order in which they can be mined. */
  pooledOf(ledger: LedgerId, from: string): Promise<PooledTransaction[]>;
  /** What is in the pool, in the order in which it can be mined. */
  heldInPool(ledger: LedgerId, limit: number): Promise<PooledTransaction[]>;
  /**
   * Takes a transaction in the place of others (txids). False when the ledger is not stuck, moved meanwhile, or another
   * transaction in the pool excludes it.
   */
  takePooled(
    ledger: LedgerId, expected: { height: number; hash: string }, one: Omit<PooledTransaction, 'replacedBy'>, replaced: readonly string[],
  ): Promise<boolean>;
  dropPooled(ledger: LedgerId, txid: string): Promise<void>;
  /** A pooled transaction of whichever account's ledger of a chain. */
  pooledSighting(chain: Chain, txid: string): Promise<PooledTransaction | null>;
}
