/**
 * A Solana ledger of slots: blocks with parent links, skipped slots, block hashes that live 151 blocks, a pool of
 * transactions, finality, and forks of what is not final. Transactions are executed by the real virtual machine with
 * their real signatures; balances before and after are kept for each of them. Blocks come only when they are asked for.
 */
import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { SystemProgram } from '@solana/web3.js';
import { AccountHistory } from './accounts.ts';
import { entryOf, type BlockEntry } from './block-entry.ts';
import { Svm, type Simulation, type SvmAccount } from './svm.ts';
import { decimalsIn } from './tokens.ts';
import { readTransaction, type ReadTransaction } from './transaction.ts';
import { sentenceOf, type TransactionError } from './transaction-error.ts';

export interface LedgerBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly hash: string;
  readonly previousHash: string;
  readonly blockHeight: number;
  readonly unixSeconds: number;
  readonly entries: BlockEntry[];
}

export interface LedgerOptions {
  /** Blocks on top of one that make it final. */
  readonly finalityDepth?: number;
  /** Every so many slots one is skipped; 0: none. */
  readonly skipEvery?: number;
}

/** A transaction that is not taken, as a node's preflight says it. */
export interface Refused {
  readonly err: TransactionError;
  readonly sentence: string;
  readonly logs: readonly string[];
  readonly units: bigint;
}

const FINALITY_DEPTH = 31;
/** Blocks after that of its hash in which a transaction may still be included. */
export const BLOCKHASH_AGE_MAX = 150;
const START_UNIX_SECONDS = 1_800_000_000;
const MS_PER_SLOT = 400;

export class SolLedger {
  readonly #svm = new Svm();
  readonly accounts = new AccountHistory(this.#svm);
  readonly #finalityDepth: number;
  readonly #skipEvery: number;
  /** The branch, oldest first; the first block is slot 0. */
  readonly #blocks: LedgerBlock[] = [];
  readonly #bySlot = new Map<number, LedgerBlock>();
  readonly #byHash = new Map<string, LedgerBlock>();
  readonly #bySignature = new Map<string, { block: LedgerBlock; entry: BlockEntry }>();
  /** What each block executed, for a fork that resubmits it. */
  readonly #readOf = new WeakMap<LedgerBlock, ReadTransaction[]>();
  #pool: ReadTransaction[] = [];
  #nextSlot = 0;
  #forks = 0;

  constructor({ finalityDepth = FINALITY_DEPTH, skipEvery = 0 }: LedgerOptions = {}) {
    this.#finalityDepth = finalityDepth;
    this.#skipEvery = skipEvery;
    this.#append([]);
  }

  get tip(): LedgerBlock {
    return this.#blocks.at(-1)!;
  }

  block(slot: number): LedgerBlock | undefined {
    return this.#bySlot.get(slot);
  }

  /** The block of a height: slots are skipped, heights are not. Throws: RangeError above the newest one. */
  blockOfHeight(height: number): LedgerBlock {
    const block = this.#blocks[height];
    if (block === undefined) throw new RangeError(`no block of height ${height}`);
    return block;
  }

  /** The newest block that is final for a node whose newest one is `tip`. */
  finalized(tip: LedgerBlock): LedgerBlock {
    return this.#blocks[Math.max(0, tip.blockHeight - this.#finalityDepth)]!;
  }

  /** Slots with a block in [from, to]. */
  slots(from: number, to: number): number[] {
    return this.#blocks.filter(({ slot }) => slot >= from && slot <= to).map(({ slot }) => slot);
  }

  transaction(signature: string): { block: LedgerBlock; entry: BlockEntry } | undefined {
    return this.#bySignature.get(signature);
  }

  inPool(signature: string): boolean {
    return this.#pool.some((read) => read.signature === signature);
  }

  rentExempt(bytes: number): bigint {
    return this.#svm.rentExempt(bytes);
  }

  /**
   * Height of the last block in which a transaction with this hash may be included; null for a hash of no block here.
   */
  lastValidHeight(hash: string): number | null {
    const block = this.#byHash.get(hash);
    return block === undefined ? null : block.blockHeight + BLOCKHASH_AGE_MAX;
  }

  isValid(hash: string, tip: LedgerBlock): boolean {
    const block = this.#byHash.get(hash);
    if (block === undefined || block.blockHeight > tip.blockHeight) return false;
    return tip.blockHeight <= block.blockHeight + BLOCKHASH_AGE_MAX;
  }

  /** Gives an account lamports, from nowhere. */
  fund(key: string, lamports: bigint): void {
    const before = this.accounts.at(key, this.tip.slot);
    const account = before ?? {
      owner: SystemProgram.programId.toBase58(),
      data: new Uint8Array(),
      executable: false,
      lamports: 0n,
    };
    this.setAccount(key, { ...account, lamports: account.lamports + lamports });
  }

  /** Writes an account, from nowhere: mints, token accounts, lookup tables. */
  setAccount(key: string, account: SvmAccount | null): void {
    this.accounts.set(key, this.tip.slot, account);
  }

  /** Throws: RangeError for bytes that are no transaction. */
  read(wire: Uint8Array): ReadTransaction {
    return readTransaction(wire, this.accounts, this.tip.slot);
  }

  /** What a node's preflight finds; null when the transaction may go into the pool. */
  preflight(read: ReadTransaction): Refused | null {
    const no = (err: TransactionError): Refused => ({ err, sentence: sentenceOf(err), logs: [], units: 0n });
    if (!this.isValid(read.blockhash, this.tip)) return no('BlockhashNotFound');
    if (this.#bySignature.has(read.signature)) return no('AlreadyProcessed');
    const { err, logs, units } = this.#svm.simulate(read, true);
    return err === null ? null : { err, sentence: sentenceOf(err), logs, units };
  }

  simulate(read: ReadTransaction, verifySignatures: boolean): Simulation {
    return this.#svm.simulate(read, verifySignatures);
  }

  /** Puts a transaction into the pool; the same one twice is there once. */
  submit(read: ReadTransaction): void {
    if (!this.inPool(read.signature)) this.#pool.push(read);
  }

  /** Adds blocks; the first of them takes what is in the pool. `skip` leaves slots empty before it. */
  mine(count = 1, skip = 0): void {
    this.#nextSlot += skip;
    for (let left = count; left > 0; left -= 1) {
      if (this.#skipEvery > 0 && this.#nextSlot % this.#skipEvery === this.#skipEvery - 1) this.#nextSlot += 1;
      const pool = this.#pool;
      this.#pool = [];
      this.#append(pool);
    }
  }

  /** Puts an entry that this machine cannot execute into a new block: another version, a vote. */
  mineEntry(entry: BlockEntry): void {
    this.#append([]);
    this.tip.entries.push(entry);
    const [signature] = entry.transaction['signatures'] as string[];
    this.#bySignature.set(signature!, { block: this.tip, entry });
  }

  /**
   * Abandons the newest blocks. Their transactions are gone, or go back to the pool; transactions that name one of
   * their hashes can never land. The next block follows the fork point, in a later slot or, where `sameSlots`, in the
   * first one that was abandoned. Throws: RangeError for blocks that are final.
   */
  reorg(depth: number, { resubmit = false, sameSlots = false } = {}): void {
    const removed = this.#blocks.slice(this.#blocks.length - depth);
    const forkPoint = this.#blocks.at(-depth - 1);
    if (depth < 1 || forkPoint === undefined || removed[0]!.slot <= this.finalized(this.tip).slot) {
      const { slot } = this.finalized(this.tip);
      throw new RangeError(`${depth} blocks cannot be abandoned: those up to slot ${slot} are final`);
    }
    this.#blocks.length -= depth;
    for (const { slot, hash } of removed) {
      this.#bySlot.delete(slot);
      this.#byHash.delete(hash);
    }
    for (const [signature, { block }] of this.#bySignature) {
      if (removed.includes(block)) this.#bySignature.delete(signature);
    }
    this.accounts.forgetAbove(forkPoint.slot);
    if (resubmit) this.#pool.push(...removed.flatMap((block) => this.#readOf.get(block) ?? []));
    if (sameSlots) this.#nextSlot = removed[0]!.slot;
    this.#forks += 1;
  }

  #append(pool: readonly ReadTransaction[]): void {
    const parent = this.#blocks.at(-1);
    const slot = this.#nextSlot,
      blockHeight = parent === undefined ? 0 : parent.blockHeight + 1;
    const seed = createHash('sha256')
      .update(`${parent?.hash ?? 'genesis'} ${slot} ${this.#forks}`)
      .digest();
    const block: LedgerBlock = {
      slot,
      parentSlot: parent?.slot ?? 0,
      hash: base58.encode(seed),
      blockHeight,
      previousHash: parent?.hash ?? base58.encode(new Uint8Array(32)),
      unixSeconds: START_UNIX_SECONDS + Math.floor((slot * MS_PER_SLOT) / 1_000),
      entries: [],
    };
    this.#svm.warpTo(slot, block.unixSeconds);
    this.#readOf.set(block, []);
    for (const read of pool) this.#execute(block, parent, read);
    this.#blocks.push(block);
    this.#bySlot.set(slot, block);
    this.#byHash.set(block.hash, block);
    this.#nextSlot = slot + 1;
  }

  /** A transaction that could not pay its fee, or whose hash is too old, is in no block. */
  #execute(block: LedgerBlock, parent: LedgerBlock | undefined, read: ReadTransaction): void {
    if (parent === undefined || this.#bySignature.has(read.signature)) return;
    const hashed = this.#byHash.get(read.blockhash);
    if (hashed === undefined || block.blockHeight > hashed.blockHeight + BLOCKHASH_AGE_MAX) return;
    this.accounts.keep(read.writable);
    const before = read.keys.map((key) => this.#svm.account(key));
    const execution = this.#svm.execute(read);
    const after = read.keys.map((key) => this.#svm.account(key));
    const paid = (before[0]?.lamports ?? 0n) !== (after[0]?.lamports ?? 0n);
    if (execution.err !== null && !paid) return;
    this.accounts.note(read.writable, block.slot);
    const entry = entryOf(read, execution, { before, after, decimalsOf: (mint) => this.decimalsOf(mint) });
    block.entries.push(entry);
    this.#readOf.get(block)!.push(read);
    this.#bySignature.set(read.signature, { block, entry });
  }

  decimalsOf(mint: string): number {
    return decimalsIn(this.#svm.account(mint)) ?? 0;
  }
}
