/**
 * A Stellar ledger: real envelopes in, closed ledgers out, each with a header that hashes to its name and names its
 * parent, its transaction set and its results. It closes when it is asked to; time is the caller's.
 */
import { createHash } from 'node:crypto';
import { Keypair, Networks } from '@stellar/stellar-sdk/base';
import {
  ExtensionPoint,
  GeneralizedTransactionSet,
  LedgerCloseMeta,
  LedgerCloseMetaExt,
  LedgerCloseMetaV2,
  LedgerHeader,
  LedgerHeaderExt,
  LedgerHeaderHistoryEntry,
  LedgerHeaderHistoryEntryExt,
  StellarValue,
  StellarValueExt,
  TransactionPhase,
  TransactionResultMetaV1,
  TransactionResultSet,
  TransactionSetV1,
  TxSetComponent,
  TxSetComponentTxsMaybeDiscountedFee,
  type TransactionEnvelope,
  type TransactionResult,
} from '@stellar/stellar-sdk/xdr';
import { Market } from './payments.ts';
import { State } from './state.ts';
import {
  charge,
  execute,
  readTransaction,
  refusalOf,
  refusedResult,
  type Executed,
  type ReadTransaction,
  type Rules,
} from './transactions.ts';

export interface LedgerOptions {
  readonly passphrase?: string;
  /** Height of the first ledger. */
  readonly first?: number;
  /** Unix seconds at which it closed. */
  readonly startTime?: number;
  readonly baseReserve?: bigint;
}

export interface ClosedLedger {
  readonly height: number;
  readonly hash: string;
  readonly header: LedgerHeader;
  readonly closeTime: number;
  readonly executed: readonly Executed[];
  readonly meta: LedgerCloseMeta;
  /** What everybody had when it closed. */
  readonly state: State;
}

export type Submitted =
  | { readonly status: 'PENDING' | 'DUPLICATE' | 'TRY_AGAIN_LATER'; readonly hash: string }
  | { readonly status: 'ERROR'; readonly hash: string; readonly result: TransactionResult };

const PROTOCOL_VERSION = 23;
const FIRST_HEIGHT = 1_000;
const START_TIME = 1_700_000_000;
const SECONDS_PER_LEDGER = 5;
/** A fee bump takes a queued transaction's place at this many times its offer. */
const REPLACING_FACTOR = 10n;
const TOTAL_COINS = 500_018_068_120_000_000n;
const ZERO = '0'.repeat(64);

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export class StellarLedger {
  readonly passphrase: string;
  readonly state: State;
  readonly market: Market;
  /** Holds every coin; its key is known to every holder of the ledger. */
  readonly root: Keypair;
  baseFee = 100n;
  /** What each operation is charged; above the base fee in a surge. */
  surgeFee = 0n;
  emitsClassicEvents = false;
  readonly #closed: ClosedLedger[] = [];
  readonly #byHash = new Map<string, { readonly height: number; readonly order: number }>();
  #queue: ReadTransaction[] = [];

  constructor({
    passphrase = Networks.PUBLIC,
    first = FIRST_HEIGHT,
    startTime = START_TIME,
    baseReserve = 5_000_000n,
  }: LedgerOptions = {}) {
    this.passphrase = passphrase;
    this.state = new State(baseReserve);
    this.root = Keypair.master(passphrase);
    this.market = new Market(Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey());
    this.state.height = first - 1;
    for (const [id, balance] of [
      [this.root.publicKey(), TOTAL_COINS / 2n],
      [this.market.maker, TOTAL_COINS / 4n],
    ] as const) {
      this.state.put({
        kind: 'account',
        id,
        balance,
        sequence: 0n,
        subentries: 0,
        sponsoring: 0,
        sponsored: 0,
        flags: 0,
      });
    }
    this.#seal(first, ZERO, startTime, []);
  }

  get newest(): ClosedLedger {
    return this.#closed.at(-1)!;
  }

  get first(): number {
    return this.#closed[0]!.height;
  }

  at(height: number): ClosedLedger | null {
    return this.#closed[height - this.first] ?? null;
  }

  /** Where a transaction is, by either hash of a fee bump; its order counts from 1. */
  find(hash: string): { readonly ledger: ClosedLedger; readonly executed: Executed; readonly order: number } | null {
    const place = this.#byHash.get(hash);
    if (place === undefined) return null;
    const ledger = this.at(place.height)!;
    return { ledger, executed: ledger.executed[place.order - 1]!, order: place.order };
  }

  get #rules(): Rules {
    const { passphrase, baseFee, market, emitsClassicEvents } = this;
    return { passphrase, baseFee, market, emitsClassicEvents };
  }

  /** Takes a signed envelope into the queue, or says why not. Throws: Error when it is no envelope. */
  submit(base64: string): Submitted {
    const read = readTransaction(base64, this.passphrase),
      { hash } = read;
    if (this.#queue.some((one) => one.hash === hash)) return { status: 'DUPLICATE', hash };
    const refused = refusalOf(read, this.state, this.#rules, BigInt(this.newest.closeTime));
    if (refused !== null)
      return { status: 'ERROR', hash, result: refusedResult(read, refused, this.baseFee * read.count) };
    const queued = this.#queue.find(({ source }) => source === read.source);
    if (queued !== undefined) {
      const replaces =
        read.bump !== null &&
        read.sequence === queued.sequence &&
        read.offer * queued.count >= queued.offer * read.count * REPLACING_FACTOR;
      if (!replaces) return { status: 'TRY_AGAIN_LATER', hash };
      this.#queue = this.#queue.filter((one) => one !== queued);
    }
    this.#queue.push(read);
    return { status: 'PENDING', hash };
  }

  /** Closes a ledger with all that waits, `seconds` after the last one. */
  close(seconds = SECONDS_PER_LEDGER): ClosedLedger {
    const closeTime = this.newest.closeTime + seconds,
      perOperation = this.surgeFee > this.baseFee ? this.surgeFee : this.baseFee;
    this.state.height = this.newest.height + 1;
    const taken = this.#queue.filter(({ offer, count }) => offer >= perOperation * count);
    // What offers less than the surge asks for stays in the queue, until its time is over.
    this.#queue = this.#queue.filter(
      (one) => !taken.includes(one) && (one.maxTime === 0n || BigInt(closeTime) <= one.maxTime),
    );
    const charged = taken
      .map((read) => ({ read, fee: perOperation * read.count }))
      .filter(({ read }) => this.state.account(read.feeSource) !== null)
      .map(({ read, fee }) => ({ read, fee, changes: charge(read, this.state, fee) }));
    const executed = charged.map(({ read, fee, changes }) =>
      execute(read, this.state, this.#rules, BigInt(closeTime), fee, changes),
    );
    return this.#seal(this.state.height, this.newest.hash, closeTime, executed);
  }

  /** Forgets what waits in the queue, as a node does that restarts. */
  dropQueue(): void {
    this.#queue = [];
  }

  get waiting(): readonly ReadTransaction[] {
    return this.#queue;
  }

  #seal(height: number, parentHash: string, closeTime: number, executed: readonly Executed[]): ClosedLedger {
    const txSet = setOf(
      parentHash,
      executed.map(({ read }) => read),
      this.baseFee,
    );
    const results = new TransactionResultSet({ results: executed.map(({ result }) => result) });
    const header = new LedgerHeader({
      ledgerVersion: PROTOCOL_VERSION,
      previousLedgerHash: parentHash,
      scpValue: new StellarValue({
        txSetHash: sha256(txSet.toXdr()),
        closeTime: BigInt(closeTime),
        upgrades: [],
        ext: StellarValueExt.stellarValueBasic(),
      }),
      txSetResultHash: sha256(results.toXdr()),
      bucketListHash: sha256(Buffer.from(`buckets ${height}`)),
      ledgerSeq: height,
      totalCoins: TOTAL_COINS,
      feePool: 0n,
      inflationSeq: 0,
      idPool: 0n,
      baseFee: Number(this.baseFee),
      baseReserve: Number(this.state.baseReserve),
      maxTxSetSize: 1_000,
      skipList: [ZERO, ZERO, ZERO, ZERO],
      ext: LedgerHeaderExt.v0(),
    });
    const hash = sha256(header.toXdr());
    const meta = LedgerCloseMeta.v2(
      new LedgerCloseMetaV2({
        ext: LedgerCloseMetaExt.v0(),
        ledgerHeader: new LedgerHeaderHistoryEntry({ hash, header, ext: LedgerHeaderHistoryEntryExt.v0() }),
        txSet,
        txProcessing: executed.map(
          ({ result, feeChanges, meta: own }) =>
            new TransactionResultMetaV1({
              ext: ExtensionPoint.v0(),
              result,
              feeProcessing: feeChanges,
              txApplyProcessing: own,
              postTxApplyFeeProcessing: [],
            }),
        ),
        upgradesProcessing: [],
        scpInfo: [],
        totalByteSizeOfLiveSorobanState: 0n,
        evictedKeys: [],
      }),
    );
    const closed: ClosedLedger = { height, hash, header, closeTime, executed, meta, state: this.state.copy() };
    this.#closed.push(closed);
    executed.forEach(({ read }, index) => {
      for (const one of [read.hash, read.innerHash])
        if (one !== null) this.#byHash.set(one, { height, order: index + 1 });
    });
    return closed;
  }
}

/** The set is sorted by hash, not in the order of application; contract calls are a phase of their own. */
function setOf(parentHash: string, reads: readonly ReadTransaction[], baseFee: bigint): GeneralizedTransactionSet {
  const isCall = ({ operations }: ReadTransaction) => operations.some(({ body }) => body.type === 'invokeHostFunction');
  const phase = (own: readonly ReadTransaction[]): TransactionPhase => {
    const txs: TransactionEnvelope[] = own
      .toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
      .map(({ envelope }) => envelope);
    return TransactionPhase.v0Components(
      txs.length === 0
        ? []
        : [TxSetComponent.txsetCompTxsMaybeDiscountedFee(new TxSetComponentTxsMaybeDiscountedFee({ baseFee, txs }))],
    );
  };
  return GeneralizedTransactionSet.v1TxSet(
    new TransactionSetV1({
      previousLedgerHash: parentHash,
      phases: [phase(reads.filter((one) => !isCall(one))), phase(reads.filter(isCall))],
    }),
  );
}
