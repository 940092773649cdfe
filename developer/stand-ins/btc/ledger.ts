/**
 * A Bitcoin ledger in memory: blocks that hash and commit as real ones (without work), unspent outputs, a pool with the
 * rules of Bitcoin Core 30, real signatures. The first block is the main network's own.
 *
 *   pool → block   `mine`
 *   block → out    `replace` drops the newest blocks and their transactions for good
 *
 * Refusals are thrown as the node's codes and texts. Source: bitcoin/bitcoin src/validation.cpp, src/policy/.
 */
import { Block, Transaction } from 'bitcoinjs-lib';
import { dustLimitOf, feeOf } from './policy.ts';
import { isUnspendable, scriptErrorOf } from './scripts.ts';
import { coinbaseTransaction, GENESIS, outpointsOf, SUBSIDY_SATS } from './transaction.ts';
import type { LedgerBlock, LedgerCoin } from './block.ts';

/** An error as the node's JSON-RPC answers it. */
export class RpcFailure extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface PoolEntry {
  readonly transaction: Transaction;
  readonly txid: string;
  readonly vsize: number;
  readonly feeSats: bigint;
}

export interface LedgerOptions {
  /** Relay rates, satoshi per kvB; Core 30 takes a tenth of a satoshi per vbyte. B16. */
  readonly relayMinSatPerKvb?: bigint;
  readonly incrementalSatPerKvb?: bigint;
  readonly nowSeconds?: () => number;
}

const ANCESTORS_MAX = 25;
const EVICTED_MAX = 100;
const MATURITY = 100;
/** `sendrawtransaction` refuses more per kvB unless it is asked otherwise. */
const MAX_FEE_SAT_PER_KVB = 10_000_000n;
const BLOCK_SECONDS = 600;
/** Lock times from here on are instants. Source: bitcoin/bitcoin src/script/script.h LOCKTIME_THRESHOLD. */
const LOCKTIME_INSTANTS_FROM = 500_000_000;
const BITS = 0x1d00_ffff;

export class BtcLedger {
  readonly relayMinSatPerKvb: bigint;
  readonly incrementalSatPerKvb: bigint;
  readonly pool = new Map<string, PoolEntry>();
  /** Blocks that were replaced, by hash: a node still knows them as stale. */
  readonly stale = new Map<string, LedgerBlock>();
  readonly #nowSeconds: () => number;
  #blocks: LedgerBlock[] = [GENESIS];
  #coins = new Map<string, LedgerCoin>();
  #mined = 0;

  constructor({
    relayMinSatPerKvb = 100n,
    incrementalSatPerKvb = 100n,
    nowSeconds = () => Math.floor(Date.now() / 1_000),
  }: LedgerOptions = {}) {
    this.relayMinSatPerKvb = relayMinSatPerKvb;
    this.incrementalSatPerKvb = incrementalSatPerKvb;
    this.#nowSeconds = nowSeconds;
  }

  get tip(): LedgerBlock {
    return this.#blocks.at(-1)!;
  }

  blockAt(height: number): LedgerBlock | undefined {
    return this.#blocks[height];
  }

  blockOf(hash: string): LedgerBlock | undefined {
    return this.#blocks.find((block) => block.hash === hash) ?? this.stale.get(hash);
  }

  /** Coins after the block at a height. */
  coinsAt(height: number): ReadonlyMap<string, LedgerCoin> {
    if (height >= this.tip.height) return this.#coins;
    const coins = new Map(this.#coins);
    for (const block of this.#blocks.slice(height + 1).reverse()) undo(coins, block);
    return coins;
  }

  /** Transaction of the pool that spends an output. */
  spenderOf(outpoint: string): PoolEntry | undefined {
    for (const entry of this.pool.values()) if (outpointsOf(entry.transaction).includes(outpoint)) return entry;
    return undefined;
  }

  /** The entry and everything in the pool that spends from it. */
  descendantsOf(entry: PoolEntry): PoolEntry[] {
    const found = new Map([[entry.txid, entry]]);
    for (let grown = true; grown;) {
      grown = false;
      for (const one of this.pool.values()) {
        if (found.has(one.txid) || !one.transaction.ins.some(({ hash }) => found.has(idOf(hash)))) continue;
        found.set(one.txid, one);
        grown = true;
      }
    }
    return [...found.values()];
  }

  /** Adds blocks that pay their reward to a script and hold what the pool has, or only what is named. */
  mine(count: number, script: Uint8Array, only?: readonly string[]): LedgerBlock[] {
    return Array.from({ length: count }, () => {
      const entries = [...this.pool.values()].filter(({ txid }) => only === undefined || only.includes(txid));
      const fees = entries.reduce((sum, { feeSats }) => sum + feeSats, 0n),
        height = this.tip.height + 1;
      const coinbase = coinbaseTransaction(
        height,
        (this.#mined += 1),
        script,
        SUBSIDY_SATS + fees,
        entries.map(({ transaction }) => transaction),
      );
      return this.#connect([coinbase, ...entries.map(({ transaction }) => transaction)]);
    });
  }

  /** Replaces the newest blocks by one more that lack their transactions, for good. */
  replace(depth: number, script: Uint8Array): void {
    for (let left = depth; left > 0 && this.tip.height > 0; left -= 1) {
      const block = this.#blocks.pop()!;
      undo(this.#coins, block);
      this.stale.set(block.hash, block);
    }
    // What spends outputs of the dropped transactions cannot be mined any more.
    for (let dropped = true; dropped;) {
      dropped = false;
      for (const { txid, transaction } of this.pool.values()) {
        if (transaction.ins.every((input) => this.#find(`${idOf(input.hash)}:${input.index}`) !== undefined)) continue;
        this.pool.delete(txid);
        dropped = true;
      }
    }
    this.mine(depth + 1, script, []);
  }

  /**
   * Takes signed bytes into the pool; their txid, also when they are there. Throws: RpcFailure with the node's code and
   * text.
   */
  submit(hex: string): string {
    const known = [...this.pool.values()].find(({ transaction }) => transaction.toHex() === hex);
    if (known !== undefined) return known.txid;
    const entry = this.examine(hex);
    for (const conflict of this.#conflicts(entry.transaction)) {
      for (const { txid } of this.descendantsOf(conflict)) this.pool.delete(txid);
    }
    this.pool.set(entry.txid, entry);
    return entry.txid;
  }

  /** What the pool thinks of signed bytes. Throws: RpcFailure. */
  examine(hex: string): PoolEntry {
    let transaction: Transaction;
    try {
      transaction = Transaction.fromHex(hex);
    } catch {
      throw new RpcFailure(-22, 'TX decode failed. Make sure the tx has at least one input.');
    }
    const txid = transaction.getId(),
      reject = (text: string, code = -26) => new RpcFailure(code, text);
    if (transaction.outs.some((_, vout) => this.#coins.has(`${txid}:${vout}`))) {
      throw reject('Transaction outputs already in utxo set', -27);
    }
    if (this.pool.has(txid)) throw reject('txn-already-in-mempool');
    if (!this.#isFinal(transaction)) throw reject('non-final');
    if (transaction.outs.some(({ script, value }) => value < dustLimitOf(script))) {
      throw reject('dust, tx with dust output must be 0-fee');
    }
    const outpoints = outpointsOf(transaction),
      spent = outpoints.map((outpoint) => this.#find(outpoint));
    if (new Set(outpoints).size < outpoints.length) throw reject('bad-txns-inputs-duplicate');
    const coins = spent.filter((coin) => coin !== undefined);
    if (coins.length < spent.length) throw reject('bad-txns-inputs-missingorspent', -25);
    const early = coins.find((coin) => coin.coinbase && this.tip.height + 1 - coin.height < MATURITY);
    if (early !== undefined) {
      throw reject(
        `bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth ${this.tip.height + 1 - early.height}`,
      );
    }
    const into = coins.reduce((sum, { value }) => sum + value, 0n);
    const feeSats = transaction.outs.reduce((rest, { value }) => rest - value, into);
    if (feeSats < 0n) throw reject(`bad-txns-in-belowout, value in below value out`);
    const entry = { transaction, txid, feeSats, vsize: transaction.virtualSize() };
    this.#checkPolicy(entry, reject);
    for (const index of transaction.ins.keys()) {
      const error = scriptErrorOf(transaction, index, coins);
      if (error !== null) throw reject(`mempool-script-verify-flag-failed (${error})`);
    }
    return entry;
  }

  #checkPolicy(entry: PoolEntry, reject: (text: string, code?: number) => RpcFailure): void {
    const { feeSats, vsize, transaction } = entry,
      least = feeOf(this.relayMinSatPerKvb, vsize);
    if (feeSats > feeOf(MAX_FEE_SAT_PER_KVB, vsize)) {
      throw reject('Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)', -25);
    }
    if (feeSats < least) throw reject(`min relay fee not met, ${feeSats} < ${least}`);
    if (this.#ancestorsOf(transaction) > ANCESTORS_MAX) {
      throw reject(`too-long-mempool-chain, too many unconfirmed ancestors [limit: ${ANCESTORS_MAX}]`);
    }
    const conflicts = this.#conflicts(transaction);
    if (conflicts.length > 0) this.#checkReplacement(entry, conflicts, reject);
  }

  /** B16, with full replacement as since Core 28. */
  #checkReplacement(
    { transaction, txid, feeSats, vsize }: PoolEntry,
    conflicts: readonly PoolEntry[],
    reject: (text: string) => RpcFailure,
  ): void {
    const known = new Set(conflicts.flatMap((conflict) => outpointsOf(conflict.transaction)));
    const adds = outpointsOf(transaction).findIndex(
      (outpoint) => !known.has(outpoint) && this.pool.has(outpoint.split(':')[0]!),
    );
    if (adds !== -1) {
      throw reject(`replacement-adds-unconfirmed, replacement ${txid} adds unconfirmed input, idx ${adds}`);
    }
    const dearer = conflicts.find((old) => feeSats * BigInt(old.vsize) <= old.feeSats * BigInt(vsize));
    if (dearer !== undefined) {
      throw reject(`insufficient fee, rejecting replacement ${txid}; new feerate is not above that of ${dearer.txid}`);
    }
    const evicted = new Map(
      conflicts.flatMap((conflict) => this.descendantsOf(conflict)).map((one) => [one.txid, one]),
    );
    if (evicted.size > EVICTED_MAX) {
      const count = `too many potential replacements (${evicted.size} > ${EVICTED_MAX})`;
      throw reject(`too many potential replacements, rejecting replacement ${txid}; ${count}`);
    }
    const fees = [...evicted.values()].reduce((sum, one) => sum + one.feeSats, 0n);
    if (feeSats < fees) {
      throw reject(
        `insufficient fee, rejecting replacement ${txid}, less fees than conflicting txs; ${feeSats} < ${fees}`,
      );
    }
    const relay = feeOf(this.incrementalSatPerKvb, vsize);
    if (feeSats - fees < relay) {
      const short = `not enough additional fees to relay; ${feeSats - fees} < ${relay}`;
      throw reject(`insufficient fee, rejecting replacement ${txid}, ${short}`);
    }
  }

  #conflicts(transaction: Transaction): PoolEntry[] {
    const found = outpointsOf(transaction).flatMap((outpoint) => this.spenderOf(outpoint) ?? []);
    return [...new Map(found.map((entry) => [entry.txid, entry])).values()];
  }

  /** Transactions of the pool that it spends from, itself among them. */
  #ancestorsOf(transaction: Transaction, seen = new Set<string>()): number {
    for (const { hash } of transaction.ins) {
      const parent = this.pool.get(idOf(hash));
      if (parent === undefined || seen.has(parent.txid)) continue;
      seen.add(parent.txid);
      this.#ancestorsOf(parent.transaction, seen);
    }
    return seen.size + 1;
  }

  /** An output of the chain, or of the pool. */
  #find(outpoint: string): LedgerCoin | undefined {
    const coin = this.#coins.get(outpoint);
    if (coin !== undefined) return coin;
    const [txid = '', vout = ''] = outpoint.split(':'),
      output = this.pool.get(txid)?.transaction.outs[Number(vout)];
    return output === undefined
      ? undefined
      : { txid, vout: Number(vout), ...output, height: this.tip.height + 1, coinbase: false };
  }

  #isFinal({ locktime, ins }: Transaction): boolean {
    const limit = locktime < LOCKTIME_INSTANTS_FROM ? this.tip.height + 1 : this.tip.time;
    return locktime < limit || ins.every(({ sequence }) => sequence === 0xffff_ffff);
  }

  #connect(transactions: readonly Transaction[]): LedgerBlock {
    const { height: below, hash: parentHash, time: parentTime } = this.tip,
      height = below + 1;
    const time = Math.max(parentTime + 1, Math.min(this.#nowSeconds(), parentTime + BLOCK_SECONDS));
    const header = Object.assign(new Block(), {
      version: 0x2000_0000,
      prevHash: Buffer.from(parentHash, 'hex').reverse(),
      timestamp: time,
      bits: BITS,
      merkleRoot: Block.calculateMerkleRoot([...transactions]),
      nonce: this.#mined,
    });
    const spent = new Map<string, LedgerCoin>();
    for (const transaction of transactions) {
      const txid = transaction.getId();
      for (const outpoint of transaction.isCoinbase() ? [] : outpointsOf(transaction)) {
        spent.set(outpoint, this.#coins.get(outpoint)!);
        this.#coins.delete(outpoint);
      }
      transaction.outs.forEach(({ script, value }, vout) => {
        if (!isUnspendable(script)) {
          this.#coins.set(`${txid}:${vout}`, { txid, vout, script, value, height, coinbase: transaction.isCoinbase() });
        }
      });
      this.pool.delete(txid);
    }
    const block: LedgerBlock = {
      height,
      hash: header.getId(),
      parentHash,
      merkleRoot: idOf(header.merkleRoot),
      version: header.version,
      time,
      bits: BITS.toString(16),
      nonce: header.nonce,
      transactions,
      spent,
    };
    this.#blocks.push(block);
    return block;
  }
}

function undo(coins: Map<string, LedgerCoin>, { transactions, spent }: LedgerBlock): void {
  for (const transaction of transactions.toReversed()) {
    const txid = transaction.getId();
    transaction.outs.forEach((_, vout) => coins.delete(`${txid}:${vout}`));
    for (const outpoint of transaction.isCoinbase() ? [] : outpointsOf(transaction)) {
      const coin = spent.get(outpoint);
      if (coin !== undefined) coins.set(outpoint, coin);
    }
  }
}

function idOf(hash: Uint8Array): string {
  return Buffer.from(hash).reverse().toString('hex');
}
