/**
 * Solana nodes for the demo and the tests: JSON-RPC over HTTP in front of one ledger. Each node can be made to lag,
 * lie, limit its callers and die; the ledger reorganises what is not final.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toJson } from './json.ts';
import { SolLedger, type LedgerBlock, type LedgerOptions } from './ledger.ts';
import { answer, RpcFailure, type View } from './rpc.ts';

export { RpcFailure } from './rpc.ts';

/** Sees a call before the node answers it: returns an answer of its own, throws an RpcFailure, or lets it pass. */
export type Lie = (method: string, params: readonly unknown[], honest: () => unknown) => unknown;

/** Source: docs.anza.xyz "Clusters", `solana genesis-hash` of the main network. */
const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

interface Asked {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export class SolNode implements View {
  readonly ledger: SolLedger;
  /** Blocks by which this node is behind the ledger. */
  lagBlocks = 0;
  firstSlot = 0;
  genesisHash: string = MAINNET_GENESIS;
  prioritizationFees: readonly bigint[] = [];
  /** Calls that are still answered before each further one gets 429; null: no limit. */
  callsLeft: number | null = null;
  retryAfterSeconds = 1;
  lie: Lie | null = null;
  /** Connections are cut without an answer. */
  dead = false;
  /** Methods that were called, in order. */
  readonly calls: string[] = [];
  readonly #server: Server;

  constructor(ledger: SolLedger) {
    this.ledger = ledger;
    this.#server = createServer((request, response) => {
      if (this.dead) {
        request.socket.destroy();
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.#respond(Buffer.concat(chunks).toString('utf8'), response));
    });
  }

  tip(): LedgerBlock {
    const { ledger, lagBlocks } = this;
    return lagBlocks === 0 ? ledger.tip : ledger.blockOfHeight(Math.max(0, ledger.tip.blockHeight - lagBlocks));
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

  #respond(text: string, response: ServerResponse): void {
    if (this.callsLeft !== null && this.callsLeft <= 0) {
      const headers = { 'content-type': 'text/plain', 'retry-after': String(this.retryAfterSeconds) };
      response.writeHead(429, headers).end('Too many requests');
      return;
    }
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
    const { id = null, method = '', params = [] } = (asked ?? {}) as Partial<Asked>;
    this.calls.push(method);
    if (this.callsLeft !== null) this.callsLeft -= 1;
    const honest = () => answer(this, method, params);
    try {
      return { jsonrpc: '2.0', result: this.lie === null ? honest() : this.lie(method, params, honest), id };
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      const { code, message, data } = error;
      return { jsonrpc: '2.0', error: { code, message, ...(data === undefined ? {} : { data }) }, id };
    }
  }
}

export interface SolStandIn {
  readonly ledger: SolLedger;
  readonly nodes: readonly SolNode[];
  close(): Promise<void>;
}

/** Starts nodes of one new ledger on free loopback ports. */
export async function startSolStandIn({
  nodes: count = 1,
  ...options
}: LedgerOptions & { nodes?: number } = {}): Promise<SolStandIn> {
  const ledger = new SolLedger(options);
  const nodes = await Promise.all(Array.from({ length: count }, () => new SolNode(ledger).listen()));
  return {
    ledger,
    nodes,
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}
