/**
 * Bitcoin nodes and an address index for the demo and the tests, over HTTP in front of one ledger, in the shapes of
 * Core 30 on the main network. Each can be made to lag, lie, limit its callers and die; the ledger reorganises.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { indexAnswer } from './index-api.ts';
import { toJson } from './json.ts';
import type { LedgerBlock, LedgerCoin } from './block.ts';
import { BtcLedger, RpcFailure, type LedgerOptions } from './ledger.ts';
import { answer, type View } from './rpc.ts';
import { scriptOf } from './scripts.ts';
import { GENESIS, Payer } from './transaction.ts';

export { RpcFailure } from './ledger.ts';

/** Sees a call before it is answered: returns an answer of its own, throws an RpcFailure, or lets it pass. */
export type Lie = (method: string, params: readonly unknown[], honest: () => unknown) => unknown;

/** What node and index have in common: a listener that can fail. */
abstract class Peer {
  readonly ledger: BtcLedger;
  /** Blocks by which this peer is behind the ledger. */
  lagBlocks = 0;
  /** Calls that are still answered before each further one gets 429; null: no limit. */
  callsLeft: number | null = null;
  retryAfterSeconds = 1;
  lie: Lie | null = null;
  /** Connections are cut without an answer. */
  dead = false;
  /** Methods or paths that were asked for, in order. */
  readonly calls: string[] = [];
  readonly #server: Server;

  constructor(ledger: BtcLedger) {
    this.ledger = ledger;
    this.#server = createServer((request, response) => {
      if (this.dead) {
        request.socket.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (this.callsLeft !== null && this.callsLeft <= 0) {
          const headers = { 'content-type': 'text/plain', 'retry-after': String(this.retryAfterSeconds) };
          response.writeHead(429, headers).end('Too many requests');
          return;
        }
        this.respond(request, Buffer.concat(chunks).toString('utf8'), response);
      });
    });
  }

  protected abstract respond(request: IncomingMessage, text: string, response: ServerResponse): void;

  tip(): LedgerBlock {
    return this.ledger.blockAt(Math.max(0, this.ledger.tip.height - this.lagBlocks))!;
  }

  protected note(call: string): void {
    this.calls.push(call);
    if (this.callsLeft !== null) this.callsLeft -= 1;
  }

  /** Base URL, after `listen`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** A node: JSON-RPC, version 2.0 as since Core 28 (errors come with status 200). */
export class BtcNode extends Peer implements View {
  indexed = false;
  prunedBelow = 0;
  filteredTo: number | null = null;
  falseMatches: readonly string[] = [];
  genesisHash: string = GENESIS.hash;
  estimateSatPerKvb: bigint | null = null;
  without: ReadonlySet<string> = new Set();
  syncing = false;

  protected respond(_request: IncomingMessage, text: string, response: ServerResponse): void {
    let asked: unknown;
    try {
      asked = JSON.parse(text);
    } catch {
      asked = null;
    }
    const reply = Array.isArray(asked) ? asked.map((one) => this.#answer(one)) : this.#answer(asked);
    response.writeHead(200, { 'content-type': 'application/json' }).end(toJson(reply));
  }

  #answer(asked: unknown): Record<string, unknown> {
    const {
      id = null,
      method = '',
      params = [],
    } = (asked ?? {}) as {
      id?: unknown;
      method?: string;
      params?: unknown[];
    };
    this.note(method);
    const honest = () => answer(this, method, params);
    try {
      return { jsonrpc: '2.0', result: this.lie === null ? honest() : this.lie(method, params, honest), id };
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      return { jsonrpc: '2.0', error: { code: error.code, message: error.message }, id };
    }
  }
}

/** An address index: Esplora's API. */
export class BtcIndex extends Peer {
  protected respond(request: IncomingMessage, _text: string, response: ServerResponse): void {
    const path = request.url ?? '/';
    this.note(path);
    if (request.method !== 'GET') {
      response.writeHead(405, { 'content-type': 'text/plain' }).end('Method Not Allowed');
      return;
    }
    const honest = () => indexAnswer(this.ledger, this.tip().height, path);
    const answer = this.lie === null ? honest() : this.lie(path, [], honest);
    const { status, body } = answer as ReturnType<typeof indexAnswer>;
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json' });
    response.end(isText ? body : toJson(body));
  }
}

export interface BtcStandIn {
  readonly ledger: BtcLedger;
  readonly nodes: readonly BtcNode[];
  readonly index: BtcIndex;
  scriptOf(address: string): Uint8Array;
  /** Pays from outside; the transaction waits in the pool. */
  pay(address: string, amount: bigint, more?: readonly { address: string; amount: bigint }[]): string;
  /** Adds blocks; the reward goes outside, or to an address. */
  mine(count: number, to?: string): LedgerBlock[];
  /** Replaces the newest blocks by one more, which lack their transactions. */
  reorg(depth: number): void;
  close(): Promise<void>;
}

/** Blocks whose rewards the payer may spend. */
const FUNDED_BLOCKS = 130;
const FEE_SATS = 2_000n;

/** Starts nodes and an index of one new ledger on free loopback ports; somebody outside has money. */
export async function startBtcStandIn({
  nodes: count = 1,
  ...options
}: LedgerOptions & { nodes?: number } = {}): Promise<BtcStandIn> {
  const ledger = new BtcLedger(options),
    payer = new Payer('outside');
  ledger.mine(FUNDED_BLOCKS, payer.script);
  const nodes = await Promise.all(Array.from({ length: count }, () => new BtcNode(ledger).listen()));
  const index = await new BtcIndex(ledger).listen();
  const isFree = (outpoint: string) => ledger.spenderOf(outpoint) === undefined;
  return {
    ledger,
    nodes,
    index,
    scriptOf,
    pay(address, amount, more = []) {
      const wanted = [{ address, amount }, ...more].map((one) => ({
        script: scriptOf(one.address),
        value: one.amount,
      }));
      const needed = wanted.reduce((sum, { value }) => sum + value, FEE_SATS + 1_000n);
      const isMature = ({ coinbase, height }: LedgerCoin) => !coinbase || ledger.tip.height - height >= 100;
      const coins = [...ledger.coinsAt(ledger.tip.height).values()].filter(
        (coin) =>
          Buffer.compare(coin.script, payer.script) === 0 && isMature(coin) && isFree(`${coin.txid}:${coin.vout}`),
      );
      const taken: typeof coins = [];
      while (taken.reduce((sum, { value }) => sum + value, 0n) < needed) {
        const coin = coins.shift();
        if (coin === undefined) throw new RangeError('the payer has no more coins');
        taken.push(coin);
      }
      return ledger.submit(payer.pay(taken, wanted, FEE_SATS).toHex());
    },
    mine: (blocks, to) => ledger.mine(blocks, to === undefined ? payer.script : scriptOf(to)),
    reorg: (depth) => ledger.replace(depth, payer.script),
    close: async () => {
      await Promise.all([...nodes, index].map((peer) => peer.close()));
    },
  };
}
