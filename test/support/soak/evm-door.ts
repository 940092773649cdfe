/** A door of a real EVM node that can lag, lie, limit its callers and die; the node behind it stays honest. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint } from '../../../chains/chain.ts';
import type { Anvil } from '../../../developer/anvil.ts';
import { distorted, stuckAt, type AfterCall } from '../distorted-endpoint.ts';
import { oneOf, between, CALLS_LEFT_MAX, LAG_BLOCKS_MAX, type Ill, type Random } from './soak-chain.ts';

type Answered = Record<string, unknown>;
/** A payment that is one wei richer. */
const richer = (transaction: Answered): Answered => ({
  ...transaction,
  value: `0x${(BigInt(String(transaction['value'])) + 1n).toString(16)}`,
});
const FALSE_HASH = `0x${'ab'.repeat(32)}`;
const isObject = (value: unknown): value is Answered =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Other amounts under the true hash, receipts lost or of another block; blocks lost, of another hash, without a
 * transaction and what belongs to it; a head that is not there.
 */
const LIES: readonly AfterCall[] = [
  ({ id, method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[1] === true && isObject(result)
      ? { id, result: { ...result, transactions: (result['transactions'] as Answered[]).map(richer) } }
      : undefined,
  ({ id, method }, { result }) =>
    method === 'eth_getBlockReceipts' && Array.isArray(result) ? { id, result: result.slice(1) } : undefined,
  ({ id, method }, { result }) =>
    method === 'eth_getBlockReceipts' && Array.isArray(result)
      ? { id, result: result.map((receipt: Answered) => ({ ...receipt, blockHash: FALSE_HASH })) }
      : undefined,
  ({ id, method }, { result }) =>
    method === 'eth_getBlockReceipts' && Array.isArray(result) ? { id, result: null } : undefined,
  ({ id, method, params }) =>
    method === 'eth_getBlockByNumber' && params[1] === true ? { id, result: null } : undefined,
  ({ id, method }, { result }) =>
    method === 'eth_getBlockByNumber' && isObject(result) ? { id, result: { ...result, hash: FALSE_HASH } } : undefined,
  ({ id, method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[1] === true && isObject(result)
      ? { id, result: { ...result, transactions: (result['transactions'] as unknown[]).slice(1) } }
      : undefined,
  ({ id, method, params }, { result }) => {
    if (method === 'eth_getBlockReceipts' && Array.isArray(result)) return { id, result: result.slice(0, -1) };
    return method === 'eth_getBlockByNumber' && params[1] === true && isObject(result)
      ? { id, result: { ...result, transactions: (result['transactions'] as unknown[]).slice(0, -1) } }
      : undefined;
  },
  ({ id, method, params }, { result }) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest' && isObject(result)
      ? { id, result: { ...result, hash: FALSE_HASH, number: `0x${(Number(result['number']) + 40).toString(16)}` } }
      : undefined,
  ({ id, method }, { result }) =>
    method === 'eth_getTransactionReceipt' && isObject(result) ? { id, result: null } : undefined,
];

export class EvmDoor {
  readonly #honest: Endpoint;
  readonly #anvil: Anvil;
  readonly #server: Server;
  #shown: Endpoint;
  #dead = false;
  #callsLeft: number | null = null;

  constructor(anvil: Anvil) {
    this.#anvil = anvil;
    this.#honest = {
      name: 'anvil',
      request: async ({ body }) => {
        const reply = await fetch(anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: body!,
        });
        return { status: reply.status, headers: {}, text: await reply.text() };
      },
    };
    this.#shown = this.#honest;
    this.#server = createServer((request, response) => {
      if (this.#dead) {
        request.socket.destroy();
        return;
      }
      if (this.#callsLeft !== null && (this.#callsLeft -= 1) < 0) {
        response.writeHead(429, { 'retry-after': '1' }).end();
        return;
      }
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#shown.request({ method: 'POST', path: '', body: Buffer.concat(chunks).toString('utf8') }).then(
          ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
          () => response.destroy(),
        );
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async makeIll(ill: Ill, random: Random): Promise<void> {
    if (ill === 'dead') this.#dead = true;
    else if (ill === 'limits') this.#callsLeft = between(random, 0, CALLS_LEFT_MAX);
    else if (ill === 'lies') this.#shown = distorted(this.#honest, 'lies', { after: oneOf(random, LIES) });
    else {
      const behind = between(random, 1, LAG_BLOCKS_MAX),
        head = Number(await this.#anvil.rpc('eth_blockNumber'));
      this.#shown = stuckAt(this.#honest, 'stuck', () => Math.max(0, head - behind));
    }
  }

  heal(): void {
    this.#dead = false;
    this.#callsLeft = null;
    this.#shown = this.#honest;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
