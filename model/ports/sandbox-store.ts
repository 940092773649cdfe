/** Simulated ledgers of sandbox accounts. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';

export interface SandboxBlock {
  ledger: LedgerId;
  height: number;
  hash: string;
  parentHash: string;
  timeMs: number;
  transactions: SandboxTransaction[];
}

export interface SandboxTransaction {
  txid: string;
  success: boolean;
  reason: string | null;
  fee: string;
  from: string | null;
  /** Who pays the fee, where it is not the sender (sol, xlm). */
  feePayer?: string;
  nonce: number | null;
  /** `activates`: the payment made the ledger account that it pays. */
  transfers: { outputIndex: number; to: string; amount: string; tokenContract: string | null; activates?: true }[];
  /** The transaction's own bytes, hex, where the ledger consists of outputs that are spent (btc). */
  raw?: string;
  /** The asset that its sender has opted in to (xrp, xlm). */
  opens?: string;
  /** The outputs that it spends, `txid:vout` (btc): no other transaction of the ledger can spend one of them. */
  spends?: string[];
  /** What each of these is worth, smallest unit. */
  spentAmounts?: string[];
}

export interface SandboxSighting {
  readonly height: number;
  readonly hash: string;
  readonly timeMs: number;
  readonly headHeight: number;
  readonly transaction: SandboxTransaction;
}

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

export interface StuckUntil {
  /** At this height its pool is mined; null: the lever ends it. */
  readonly height: number | null;
  /** A version that takes another one's place in the pool is mined at once. */
  readonly repriced: boolean;
}

export interface SandboxPool {
  /** simulate-stuck: whether broadcasts stay in the pool, and until when; null: they do not. */
  setStuck(ledger: LedgerId, until: StuckUntil | null): Promise<void>;
  /** Null where no lever says so. The height of its end may be reached already: then the pool is still to be mined. */
  stuckUntil(ledger: LedgerId): Promise<StuckUntil | null>;
  /** Whether broadcasts stay in the pool now. */
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
    ledger: LedgerId,
    expected: { height: number; hash: string },
    one: Omit<PooledTransaction, 'replacedBy'>,
    replaced: readonly string[],
  ): Promise<boolean>;
  dropPooled(ledger: LedgerId, txid: string): Promise<void>;
  /** A pooled transaction of whichever account's ledger of a chain. */
  pooledSighting(chain: Chain, txid: string): Promise<PooledTransaction | null>;
}

/** After which ledger, and which withdrawal of it, a look at ledgers with work left goes on. */
export interface BehindPlace {
  readonly ledger: string;
  readonly id: string;
}

export interface SandboxStore extends SandboxPool {
  head(ledger: LedgerId): Promise<{ height: number; hash: string } | null>;
  blocks(ledger: LedgerId, from: number, limit: number): Promise<SandboxBlock[]>;
  blockOf(
    ledger: LedgerId,
    txid: string,
  ): Promise<{ height: number; hash: string; transaction: SandboxTransaction } | null>;
  /**
   * A transaction of whichever account's ledger of a chain, with its block and the ledger's head; null where none has
   * it.
   */
  sighting(chain: Chain, txid: string): Promise<SandboxSighting | null>;
  /** Appends blocks above `expected`; false when the ledger moved meanwhile. Balances move with their transactions. */
  mine(
    ledger: LedgerId,
    expected: { height: number; hash: string } | null,
    blocks: readonly SandboxBlock[],
  ): Promise<boolean>;
  /** Adds transactions to a block whose hash stays, to be read again for adopted addresses; false where it is not. */
  amend(ledger: LedgerId, height: number, added: readonly SandboxTransaction[]): Promise<boolean>;
  /** Removes the newest blocks (simulate-reorg). */
  unmine(ledger: LedgerId, depth: number): Promise<SandboxBlock[]>;
  balance(ledger: LedgerId, address: string, tokenContract: string | null): Promise<bigint>;
  nonce(ledger: LedgerId, address: string): Promise<number>;
  /** Transactions that an address received or sent, oldest first: the outputs of a ledger that consists of them. */
  transactionsOf(ledger: LedgerId, address: string): Promise<{ height: number; transaction: SandboxTransaction }[]>;
  /** Those of some addresses that received or sent anything. */
  touched(ledger: LedgerId, addresses: readonly string[]): Promise<string[]>;
  /** Durable timers: confirm later. */
  schedule(row: { id: string; accountId: AccountId; dueAtMs: number; task: unknown }): Promise<void>;
  /** Leases due timers: they come back after `leaseMs` unless they are finished. SKIP LOCKED. */
  takeDue(
    nowMs: number,
    leaseMs: number,
    limit: number,
  ): Promise<{ id: string; accountId: AccountId; task: unknown }[]>;
  finish(id: string): Promise<void>;
  /** What a timer is to do; null where there is none. */
  task(id: string): Promise<unknown>;
  /** Puts another task in the place of one; false when that changed meanwhile, or its time came. */
  changeTask(id: string, expected: unknown, task: unknown): Promise<boolean>;
  /** Whether a withdrawal was signed under this txid before simulated ledgers had ids of their own. */
  isFormer(ledger: LedgerId, txid: string): Promise<boolean>;
  /** simulate-chain-down: until when the ledger answers nobody. */
  setDown(ledger: LedgerId, untilMs: number): Promise<void>;
  downUntil(ledger: LedgerId): Promise<number | null>;
  /**
   * Ledgers with work left: their head is not their watch cursor (mined by a process that died before its tick), or a
   * signed withdrawal of theirs (`signing`, `broadcast`) is in no block. A page: of each kind `limit` are looked at
   * after a place, the first ones where none is named.
   */
  behind(limit: number, after?: BehindPlace | null): Promise<{ ledgers: LedgerId[]; next: BehindPlace | null }>;
  /**
   * A part of a reset: some `rows` rows of what the account issued, saw, sent and delivered, its simulated ledgers with
   * their watch state (cursor, links, facts) and timers among it. False where nothing is left, null where somebody else
   * is at it.
   */
  resetStep(accountId: AccountId, rows: number): Promise<boolean | null>;
  /** Accounts whose reset began a while ago and has not ended, behind one of them. */
  dueResets(after: string, limit: number): Promise<AccountId[]>;
}
