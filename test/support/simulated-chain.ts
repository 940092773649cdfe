/**
 * A ledger for watcher tests: a tree of blocks with one canonical tip, seen through clients that can lag, freeze, lie,
 * go missing, time out and tell things twice. Everything random is seeded.
 */
import { createHash } from 'node:crypto';
import {
  ChainUnavailable,
  type Block,
  type BroadcastResult,
  type BuildInputs,
  type ChainClient,
  type ChainModule,
  type Fate,
  type Head,
  type Network,
  type Outcome,
  type ParsedAddress,
  type Transfer,
  type Unsigned,
} from '../../chains/chain.ts';
import { refuse } from '../../protocol/errors.ts';

export interface SimulatedPayment {
  readonly txid: string;
  readonly outputIndex: number;
  readonly to: string;
  readonly amount: bigint;
  readonly from?: readonly string[];
  readonly threshold?: number;
  readonly tokenContract?: string | null;
}

export interface SimulatedRaw {
  readonly payments: readonly SimulatedPayment[];
  /** Transactions without a payment that interests us: outbound ones. */
  readonly sent: readonly string[];
}

interface Node extends Block<SimulatedRaw> {
  readonly failed: Set<string>;
}

const hashOf = (...parts: unknown[]): string => createHash('sha256').update(parts.map(String).join('|')).digest('hex');

export class SimulatedChain {
  readonly #blocks = new Map<string, Node>();
  readonly mempool = new Set<string>();
  readonly dead = new Map<string, string>();
  readonly refusesBroadcast = new Set<string>();
  #tip: Node;
  #salt = 0;
  submits: string[] = [];

  constructor(startHeight = 0) {
    this.#tip = this.#add(hashOf('before', startHeight), startHeight - 1, startHeight, [], []);
  }

  #add(
    parentHash: string,
    parentHeight: number,
    height: number,
    payments: readonly SimulatedPayment[],
    sent: readonly string[],
  ): Node {
    this.#salt += 1;
    const hash = hashOf(parentHash, height, this.#salt);
    const node: Node = {
      height,
      hash,
      parentHash,
      parentHeight,
      timeMs: height * 1_000,
      raw: { payments, sent },
      failed: new Set(),
    };
    this.#blocks.set(hash, node);
    return node;
  }

  get tip(): Block<SimulatedRaw> {
    return this.#tip;
  }

  /** One more block on the canonical tip; `skip` leaves that many heights empty. */
  mine(
    payments: readonly SimulatedPayment[] = [],
    options: { withMempool?: boolean; skip?: number } = {},
  ): Block<SimulatedRaw> {
    const sent = options.withMempool === true ? [...this.mempool] : [];
    for (const txid of sent) this.mempool.delete(txid);
    this.#tip = this.#add(this.#tip.hash, this.#tip.height, this.#tip.height + 1 + (options.skip ?? 0), payments, sent);
    return this.#tip;
  }

  mineEmpty(count: number): void {
    for (let index = 0; index < count; index += 1) this.mine();
  }

  /** Takes the newest `depth` blocks off the canonical chain. Answers them, newest last. */
  rollback(depth: number): Block<SimulatedRaw>[] {
    const removed: Block<SimulatedRaw>[] = [];
    for (let index = 0; index < depth; index += 1) {
      const parent = this.#blocks.get(this.#tip.parentHash);
      if (parent === undefined) break;
      removed.unshift(this.#tip);
      for (const txid of this.#tip.raw.sent) this.mempool.add(txid);
      this.#tip = parent;
    }
    return removed;
  }

  /** Replaces the newest `depth` blocks by one block per list of payments. Answers the removed blocks. */
  fork(depth: number, branch: readonly (readonly SimulatedPayment[])[]): Block<SimulatedRaw>[] {
    const removed = this.rollback(depth);
    for (const payments of branch) this.mine(payments);
    return removed;
  }

  /** A transaction that is in a block but failed in it. */
  failTransaction(txid: string): void {
    for (const block of this.#blocks.values()) block.failed.add(txid);
  }

  blockAt(height: number, tip: Block = this.#tip): Node | null {
    let node: Node | undefined = this.#blocks.get(tip.hash);
    while (node !== undefined && node.height > height) node = this.#blocks.get(node.parentHash);
    return node?.height === height ? node : null;
  }

  /** Blocks of the canonical chain, newest first. */
  *canonical(tip: Block = this.#tip): Generator<Node> {
    for (let node = this.#blocks.get(tip.hash); node !== undefined; node = this.#blocks.get(node.parentHash))
      yield node;
  }

  client(random: () => number = () => 1): SimulatedClient {
    return new SimulatedClient(this, random);
  }
}

/** One endpoint's view of a simulated chain; every field may be changed while it is in use. */
export class SimulatedClient implements ChainClient<SimulatedRaw> {
  readonly #chain: SimulatedChain;
  readonly #random: () => number;
  /** Blocks behind the canonical tip. */
  lag = 0;
  /** Sees this tip for ever. */
  frozenAt: Block | null = null;
  down = false;
  /** Share of calls that time out. */
  failRate = 0;
  /** Heights whose content cannot be read; hashes and headers can. */
  readonly contentMissing = new Set<number>();
  /** Heights of which nothing is known. */
  readonly missing = new Set<number>();
  /** Tells each payment twice. */
  duplicates = false;
  /** Hash that it claims at a height, instead of the chain's. */
  readonly lies = new Map<number, string>();
  /** How it tells the payments of a block, under the block's true hash. */
  alters: ((payment: SimulatedPayment) => SimulatedPayment) | null = null;
  wrongNetwork = false;
  finalizedDepth: number | null = null;
  /** Claims a head so far above its own. */
  ahead = 0;
  calls: string[] = [];
  unknownFates = false;

  constructor(chain: SimulatedChain, random: () => number) {
    this.#chain = chain;
    this.#random = random;
  }

  #enter(call: string): void {
    this.calls.push(call);
    if (this.down || this.#random() < this.failRate) throw new ChainUnavailable('eth', 'timed out');
  }

  #tip(): Block {
    if (this.frozenAt !== null) return this.frozenAt;
    let tip: Block = this.#chain.tip;
    for (const node of this.#chain.canonical()) {
      tip = node;
      if (node.height <= this.#chain.tip.height - this.lag) break;
    }
    return tip;
  }

  async checkIdentity(): Promise<void> {
    this.#enter('identity');
    if (this.wrongNetwork) throw new ChainUnavailable('eth', 'another network');
  }

  async getHead(): Promise<Head> {
    this.#enter('head');
    const { height, hash } = this.#tip();
    return {
      height: height + this.ahead,
      hash: this.lies.get(height) ?? hash,
      finalizedHeight: this.finalizedDepth === null ? null : height - this.finalizedDepth,
    };
  }

  async nextHeight(height: number): Promise<number | null> {
    this.#enter('next');
    let next: number | null = null;
    for (const node of this.#chain.canonical(this.#tip())) {
      if (node.height <= height) break;
      next = node.height;
    }
    return next;
  }

  async getBlock(height: number): Promise<Block<SimulatedRaw>> {
    this.#enter(`block ${height}`);
    const node = this.#chain.blockAt(height, this.#tip());
    if (node === null || this.missing.has(height)) throw new ChainUnavailable('eth', `no block ${height}`);
    if (this.contentMissing.has(height)) throw new ChainUnavailable('eth', `receipts of ${height} are missing`);
    const told = this.alters === null ? node.raw.payments : node.raw.payments.map(this.alters);
    const payments = this.duplicates ? [...told, ...told] : told;
    return { ...node, raw: { ...node.raw, payments: payments.filter(({ txid }) => !node.failed.has(txid)) } };
  }

  async getBlockHash(height: number): Promise<string | null> {
    this.#enter(`hash ${height}`);
    if (this.missing.has(height)) return null;
    return this.lies.get(height) ?? this.#chain.blockAt(height, this.#tip())?.hash ?? null;
  }

  async getOutcome(txid: string): Promise<(Outcome & { height: number; hash: string }) | null> {
    this.#enter(`outcome ${txid}`);
    for (const node of this.#chain.canonical(this.#tip())) {
      if (!node.raw.sent.includes(txid) && !node.raw.payments.some((payment) => payment.txid === txid)) continue;
      const success = !node.failed.has(txid);
      return { txid, success, reason: success ? null : 'reverted', fee: 21n, height: node.height, hash: node.hash };
    }
    return null;
  }

  async fetchBalance(
    address: string,
  ): Promise<{ amount: bigint; reserved: bigint; available: bigint; decimals: number; accountExists: boolean }> {
    this.#enter(`balance ${address}`);
    const amount = this.#received(address, this.#tip());
    return { amount, reserved: 0n, available: amount, decimals: 18, accountExists: amount > 0n };
  }

  async fetchBalancesAt(addresses: readonly string[], block: { height: number; hash: string }): Promise<bigint[]> {
    this.#enter(`balances ${block.height}`);
    const node = this.#chain.blockAt(block.height, this.#tip());
    if (node?.hash !== block.hash) throw new ChainUnavailable('eth', 'unknown block');
    return addresses.map((address) => this.#received(address, node));
  }

  /** Growth of a balance that no transfer of any block shows. */
  readonly hidden = new Map<string, bigint>();

  #received(address: string, tip: Block): bigint {
    let amount = this.hidden.get(address) ?? 0n;
    for (const node of this.#chain.canonical(tip)) {
      for (const payment of node.raw.payments) {
        if (payment.to === address && (payment.tokenContract ?? null) === null && !node.failed.has(payment.txid))
          amount += payment.amount;
      }
    }
    return amount;
  }

  async fetchBuildInputs(): Promise<BuildInputs> {
    this.#enter('inputs');
    return { readAtHeight: this.#tip().height };
  }

  async broadcast(signed: { payload: string; txid: string }): Promise<BroadcastResult> {
    this.#enter(`broadcast ${signed.txid}`);
    this.#chain.submits.push(signed.payload);
    if (this.#chain.refusesBroadcast.has(signed.txid))
      return { kind: 'rejected_final', refusal: refuse('CHAIN_REJECTED', { reason: 'refused' }) };
    if (this.#chain.mempool.has(signed.txid) || (await this.getOutcome(signed.txid)) !== null)
      return { kind: 'already_known', txid: signed.txid };
    this.#chain.mempool.add(signed.txid);
    return { kind: 'accepted', txid: signed.txid };
  }

  async getFate(_unsigned: Unsigned, txid: string): Promise<Fate> {
    this.#enter(`fate ${txid}`);
    if (this.unknownFates) return { kind: 'unknown', reason: 'the node does not say' };
    const found = await this.getOutcome(txid);
    if (found !== null) {
      const { height, hash, ...outcome } = found;
      return { kind: 'included', height, hash, outcome };
    }
    const proof = this.#chain.dead.get(txid);
    if (proof !== undefined) return { kind: 'dead', proof };
    return this.#chain.mempool.has(txid) ? { kind: 'pending' } : { kind: 'unknown', reason: 'not found' };
  }
}

export const simulatedNetwork: Network = {
  slug: 'eth',
  family: 'evm',
  nativeSymbol: 'ETH',
  nativeDecimals: 18,
  threshold: 4,
  gate: { kind: 'depth' },
  reorgWindow: 32,
  blockTimeMs: 1_000,
  accountPath: "m/44'/60'/0'",
  identity: '1',
  explorer: { tx: '{id}', address: '{id}' },
  feeCap: 1n,
};

/** The smallest module that decodes a simulated block; addresses are texts that start with `@` or `0x`. */
export const simulatedModule: ChainModule<SimulatedRaw> = {
  family: 'evm',
  networks: [simulatedNetwork],
  derivation: { kind: 'pool', depositPath: (index) => `m/${index}`, gasTankPath: 'm/0' },
  parseAddress(_network, text): ParsedAddress | ReturnType<typeof refuse> {
    if (!/^(@|0x)/.test(text)) return refuse('INVALID_ADDRESS', { address: text });
    return {
      ok: true,
      canonical: text,
      kind: 'eoa',
      bytes: text.startsWith('@') ? Buffer.from(text) : Buffer.from(text.slice(2), 'hex'),
      tag: null,
    };
  },
  checkDestination: () => null,
  parseToken: (_network, text) => text,
  transfersIn(_network, block) {
    const transfers = block.raw.payments.map((payment): Transfer => ({
      txid: payment.txid,
      outputIndex: payment.outputIndex,
      to: payment.to,
      amount: payment.amount,
      decimals: 18,
      tokenContract: payment.tokenContract ?? null,
      tokenSymbol: payment.tokenContract ?? 'ETH',
      tag: null,
      from: payment.from ?? [],
      ...(payment.threshold === undefined ? {} : { threshold: payment.threshold }),
    }));
    return { transfers, ignored: [] };
  },
  outcomesIn(_network, block, wanted) {
    return block.raw.sent
      .filter((txid) => wanted.has(txid))
      .map((txid) => ({ txid, success: true, reason: null, fee: 21n }));
  },
  estimateFee: () => ({ fee: 21n, feeMax: 21n, parts: {} }),
  buildUnsigned: () => refuse('CHAIN_REJECTED', { reason: 'this ledger builds nothing' }),
  matchSigned: () => null,
  reprice: () => refuse('CONFLICT'),
  nextReplayValue: () => null,
  createClient() {
    throw new Error('clients come from SimulatedChain');
  },
};
