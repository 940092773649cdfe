/**
 * A network of one honest ledger: an open ledger, a fee queue, and closed ledgers with real hashes, each of which is
 * validated at once unless the validators were paused. Servers (`server.ts`) show it, each in its own way.
 */
import { createHash } from 'node:crypto';
import { hashes } from 'xrpl';
import { accountKey, type Entry, type State } from './entries.ts';
import { FeeQueue, openLedgerFee } from './queue.ts';
import { balanceOf, type Fees } from './reserves.ts';
import { GENESIS } from './signers.ts';
import {
  accountOf,
  applyTransaction,
  feeOf,
  preflight,
  readBlob,
  slotOf,
  type Json,
  type Ledger,
  type Rules,
  type Submitted,
} from './transactions.ts';

export interface LedgerTransaction extends Submitted {
  readonly meta: Json;
  readonly height: number;
}

export interface Header {
  readonly ledger_index: number;
  readonly total_coins: string;
  readonly parent_hash: string;
  readonly transaction_hash: string;
  readonly account_hash: string;
  readonly parent_close_time: number;
  readonly close_time: number;
  readonly close_time_resolution: number;
  readonly close_flags: number;
}

export interface ClosedLedger {
  readonly height: number;
  readonly hash: string;
  readonly header: Header;
  readonly state: State;
  readonly transactions: readonly LedgerTransaction[];
}

type Content = Pick<ClosedLedger, 'state' | 'transactions'>;

export interface NetworkOptions {
  readonly nowMs: () => number;
  /** Index of the first ledger that anybody remembers. */
  readonly firstHeight?: number;
  /** Empty ledgers after it, so that there is some history. */
  readonly history?: number;
  readonly fees?: Fees;
  readonly networkId?: number;
  /** Transactions of an open ledger before fees escalate; room in the queue. */
  readonly targetSize?: number;
  readonly queueSize?: number;
  /** Accounts that are there from the beginning, as entries. */
  readonly accounts?: readonly Entry[];
}

export interface SubmitResult {
  readonly tx: Submitted;
  readonly result: string;
  readonly applied: boolean;
  readonly queued: boolean;
  readonly kept: boolean;
}

/** Choice: the reserves of 2024. They are votes and change; a reader of the ledger follows them. */
const FEES: Fees = { baseFee: 10n, reserveBase: 1_000_000n, reserveIncrement: 200_000n };
const ALL_DROPS = 10n ** 17n;
/** Seconds from 1970 to 2000. */
const RIPPLE_EPOCH_SECONDS = 946_684_800;
const EMPTY_TREE = '0'.repeat(64);
/** Passes over transactions that wait for another one of the same ledger. */
const PASSES = 3;
/** States of this many ledgers are kept; older ones only have their transactions. */
const STATES_KEPT = 300;

const sha512Half = (...parts: readonly string[]): string =>
  createHash('sha512').update(parts.join('')).digest('hex').slice(0, 64).toUpperCase();

export class LedgerNetwork {
  readonly networkId: number;
  readonly targetSize: number;
  readonly queue: FeeQueue;
  fees: Fees;
  /** False: ledgers close and are validated by nobody. */
  isValidating = true;
  #nowMs: () => number;
  readonly #ledgers: ClosedLedger[] = [];
  readonly #places = new Map<string, LedgerTransaction>();
  readonly #closeListeners = new Set<(ledger: ClosedLedger) => void>();
  #validatedHeight = 0;
  #open: { state: State; transactions: Submitted[] };
  #kept: Submitted[] = [];

  constructor(options: NetworkOptions) {
    const {
      nowMs,
      firstHeight = 90_000_000,
      history = 40,
      fees = FEES,
      networkId = 0,
      targetSize = 32,
      queueSize = 2_000,
      accounts = [],
    } = options;
    // History is made second by second, so that its last ledger is of now.
    let secondsBack = history;
    this.#nowMs = () => nowMs() - secondsBack * 1_000;
    this.fees = fees;
    this.networkId = networkId;
    this.targetSize = targetSize;
    this.queue = new FeeQueue(queueSize);
    const given = accounts.reduce((sum, account) => sum + balanceOf(account), 0n);
    const genesis: Entry = {
      LedgerEntryType: 'AccountRoot',
      Account: GENESIS.classicAddress,
      Balance: (ALL_DROPS - given).toString(),
      Flags: 0,
      OwnerCount: 0,
      Sequence: 1,
    };
    const state = new Map([genesis, ...accounts].map((account) => [accountKey(String(account['Account'])), account]));
    this.#open = { state, transactions: [] };
    this.#append(firstHeight, EMPTY_TREE, ALL_DROPS, { state, transactions: [] });
    while (secondsBack > 0) {
      secondsBack -= 1;
      this.close();
    }
    this.#nowMs = nowMs;
  }

  get tip(): ClosedLedger {
    return this.#ledgers.at(-1)!;
  }

  get firstHeight(): number {
    return this.#ledgers[0]!.height;
  }

  /** Index of the newest validated ledger. */
  get validatedHeight(): number {
    return this.#validatedHeight;
  }

  get openState(): State {
    return this.#open.state;
  }

  get openHeight(): number {
    return this.tip.height + 1;
  }

  get openSize(): number {
    return this.#open.transactions.length;
  }

  /** Drops that a transaction must pay to be in the open ledger now. */
  get openLedgerFee(): bigint {
    return openLedgerFee(this.fees.baseFee, this.openSize, this.targetSize);
  }

  nowMs(): number {
    return this.#nowMs();
  }

  ledgerAt(height: number): ClosedLedger | null {
    return this.#ledgers[height - this.firstHeight] ?? null;
  }

  ledgerOf(hash: string): ClosedLedger | null {
    return this.#ledgers.find((ledger) => ledger.hash === hash.toUpperCase()) ?? null;
  }

  /** A transaction of a closed ledger. */
  find(txid: string): LedgerTransaction | null {
    return this.#places.get(txid) ?? null;
  }

  /** A transaction that waits: in the open ledger, in the queue, or for another one. */
  findWaiting(txid: string): Submitted | null {
    const isIt = (one: Submitted): boolean => one.txid === txid;
    return this.#open.transactions.find(isIt) ?? this.queue.find(txid) ?? this.#kept.find(isIt) ?? null;
  }

  /** Calls a listener with every validated ledger; returns what ends it. */
  onClose(listener: (ledger: ClosedLedger) => void): () => void {
    this.#closeListeners.add(listener);
    return () => {
      this.#closeListeners.delete(listener);
    };
  }

  /** What a server does with a blob. Throws: Error for bytes that are no transaction. */
  submit(blob: string, failHard = false): SubmitResult {
    const tx = readBlob(blob);
    const answered = (result: string, more: Partial<SubmitResult> = {}) => ({
      tx,
      result,
      applied: false,
      queued: false,
      kept: false,
      ...more,
    });
    const flaw = preflight(tx.json, this.#rules());
    if (flaw !== null) return answered(flaw);
    const root = this.#open.state.get(accountKey(accountOf(tx.json)));
    const { number, isTicket } = slotOf(tx.json);
    const follows =
      root !== undefined &&
      !isTicket &&
      number > Number(root['Sequence']) &&
      number <= this.queue.nextAfter(accountOf(tx.json), Number(root['Sequence']));
    const isCheap = feeOf(tx.json) >= this.fees.baseFee && feeOf(tx.json) < this.openLedgerFee;
    if (follows || (isCheap && root !== undefined && (isTicket || number === Number(root['Sequence'])))) {
      return this.#enqueue(tx, root, answered);
    }
    const outcome = applyTransaction(this.#openLedger(), tx, failHard);
    if (outcome.applied !== null) {
      this.queue.remove(tx.txid);
      this.#open = { state: outcome.applied.state, transactions: [...this.#open.transactions, tx] };
      return answered(outcome.result, { applied: true });
    }
    const kept = !failHard && outcome.result.startsWith('ter');
    if (kept) this.#kept = [...this.#kept.filter(({ txid }) => txid !== tx.txid), tx];
    return answered(outcome.result, { kept });
  }

  #enqueue(
    tx: Submitted,
    root: Entry,
    answered: (result: string, more?: Partial<SubmitResult>) => SubmitResult,
  ): SubmitResult {
    const balance = balanceOf(root);
    if (balance < feeOf(tx.json)) return answered('terINSUF_FEE_B');
    const result = this.queue.offer(tx, { openHeight: this.openHeight, reserveBase: this.fees.reserveBase, balance });
    return answered(result, { queued: result === 'terQUEUED' });
  }

  /** Closes the open ledger, validates it unless the validators rest, and opens the next one. */
  close(): ClosedLedger {
    const parent = this.tip,
      height = parent.height + 1;
    let state: State = parent.state,
      burnt = 0n,
      waiting = this.#open.transactions;
    const done: LedgerTransaction[] = [];
    for (let pass = 0; pass < PASSES && waiting.length > 0; pass += 1) {
      const later: Submitted[] = [];
      for (const tx of waiting) {
        const outcome = applyTransaction(this.#ledger(state, { height, isOpen: false }), tx);
        if (outcome.applied === null) {
          if (outcome.result.startsWith('ter')) later.push(tx);
          continue;
        }
        state = outcome.applied.state;
        burnt += outcome.applied.feePaid;
        done.push({ ...tx, height, meta: { ...outcome.applied.meta, TransactionIndex: done.length } });
      }
      waiting = later;
    }
    const closed = this.#append(height, parent.hash, BigInt(parent.header.total_coins) - burnt, {
      state,
      transactions: done,
    });
    this.#open = { state: closed.state, transactions: [] };
    this.#refill();
    return closed;
  }

  /** Puts what waits into the new open ledger, the dearest first; what can never land any more is dropped. */
  #refill(): void {
    for (const tx of this.queue.inOrder()) {
      const isVoid = Number(tx.json['LastLedgerSequence'] ?? Infinity) < this.openHeight;
      if (!isVoid && feeOf(tx.json) < this.openLedgerFee) continue;
      const outcome = isVoid ? null : applyTransaction(this.#openLedger(), tx);
      if (outcome?.result.startsWith('ter') === true) continue;
      this.queue.remove(tx.txid);
      if (outcome !== null && outcome.applied !== null) {
        this.#open = { state: outcome.applied.state, transactions: [...this.#open.transactions, tx] };
      }
    }
    const kept = this.#kept;
    this.#kept = [];
    for (const { blob } of kept) this.submit(blob);
  }

  #append(height: number, parentHash: string, total: bigint, content: Content): ClosedLedger {
    const { state, transactions } = content;
    const parent = this.#ledgers.at(-1)?.header;
    const parentTime = parent?.close_time ?? Math.floor(this.#nowMs() / 1_000) - RIPPLE_EPOCH_SECONDS - 1;
    const closeTime = Math.max(parentTime + 1, Math.floor(this.#nowMs() / 1_000) - RIPPLE_EPOCH_SECONDS);
    const header: Header = {
      ledger_index: height,
      total_coins: total.toString(),
      parent_hash: parentHash,
      transaction_hash:
        transactions.length === 0
          ? EMPTY_TREE
          : hashes.hashTxTree(transactions.map(({ json, meta }) => ({ ...json, metaData: meta })) as never),
      // The state tree is not kept: its hash only has to change with every ledger that changed something.
      account_hash: sha512Half(parent?.account_hash ?? 'genesis', ...transactions.map(({ txid }) => txid)),
      parent_close_time: parentTime,
      close_time: closeTime,
      close_time_resolution: 10,
      close_flags: 0,
    };
    const ledger: ClosedLedger = {
      height,
      hash: hashes.hashLedgerHeader(header as never),
      header,
      state,
      transactions,
    };
    this.#ledgers.push(ledger);
    for (const tx of transactions) this.#places.set(tx.txid, tx);
    const old = this.#ledgers[this.#ledgers.length - 1 - STATES_KEPT];
    if (old !== undefined) this.#ledgers[this.#ledgers.length - 1 - STATES_KEPT] = { ...old, state: new Map() };
    this.validate();
    return ledger;
  }

  /** The validators look at what is closed, unless they rest. */
  validate(): void {
    if (!this.isValidating) return;
    for (let height = Math.max(this.#validatedHeight + 1, this.firstHeight); height <= this.tip.height; height += 1) {
      this.#validatedHeight = height;
      for (const listener of this.#closeListeners) listener(this.ledgerAt(height)!);
    }
  }

  #rules(): Rules {
    return { fees: this.fees, networkId: this.networkId };
  }

  #openLedger(): Ledger {
    return this.#ledger(this.#open.state, { height: this.openHeight, isOpen: true });
  }

  #ledger(state: State, place: Ledger['place']): Ledger {
    const isKnown = (txid: string) =>
      this.#places.has(txid) || this.#open.transactions.some((one) => one.txid === txid);
    return { state, place, rules: this.#rules(), isKnown };
  }
}
