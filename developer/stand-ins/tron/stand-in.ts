/**
 * The TRON stand-in: a ledger, the nodes that answer from it, and hands to fund, stake, deploy, pay, mine and replace
 * blocks. A node is asked in this process or over HTTP. Documented in docs/chains/tron.md.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash } from 'node:crypto';
import { NoAnswer, type InProcess } from '../in-process.ts';
import { createNodeApi, honestKnobs, type Knobs, type NodeApi } from './api.ts';
import { createLedger, type LedgerOptions, type PeerLedger } from './ledger.ts';
import { addressOf, addressOfPrivateKey, signatureOf } from './sdk.ts';
import { packRaw } from './transaction.ts';
import { messageOf } from './wire.ts';
import { touch, type Account, type Contract, type Trc20 } from './world.ts';

export interface PeerNode {
  readonly knobs: Knobs;
  readonly endpoint: InProcess;
  /** Serves the node on a free loopback port; its base URL. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

export interface KeyPair {
  readonly privateKey: Uint8Array;
  readonly address: string;
}

/** A key of the stand-in's own people, from a name. */
export function keyOf(name: string): KeyPair {
  const privateKey = createHash('sha256').update(`tron stand-in ${name}`).digest();
  return { privateKey, address: addressOfPrivateKey(privateKey) };
}

/** The address of a contract that the stand-in deploys under a name. */
export function contractAddress(name: string): string {
  return addressOf(createHash('sha256').update(`tron stand-in contract ${name}`).digest().subarray(0, 20));
}

type Wish =
  | { readonly type: 'TransferContract'; readonly to: string; readonly amount: bigint }
  | {
      readonly type: 'TriggerSmartContract';
      readonly contract: string;
      readonly data: string;
      readonly callValue?: bigint;
      readonly feeLimit?: bigint;
    }
  | { readonly type: 'TransferAssetContract'; readonly to: string; readonly amount: bigint };

export interface TronStandIn {
  readonly ledger: PeerLedger;
  /** Another node over the same ledger. */
  openNode(name?: string): PeerNode;
  /** Sets the TRX of an account and whatever else is named, creating it. */
  setAccount(address: string, change: Partial<Account>): void;
  deploy(name: string, contract: Contract): string;
  /** Signs and submits a transaction of one of the stand-in's people; its txid. Throws: Error with the node's text. */
  send(from: KeyPair, wish: Wish, expiryMs?: number): string;
  close(): Promise<void>;
}

/** A TRC-20 with everything at its holder. */
export function trc20(more: Partial<Omit<Trc20, 'kind'>> = {}): Trc20 {
  return {
    kind: 'trc20',
    symbol: 'USDT',
    name: 'Tether USD',
    decimals: 6,
    returnsFalse: false,
    movesNothing: false,
    penaltyPercent: 0n,
    paused: false,
    blacklist: new Set(),
    balances: new Map(),
    allowances: new Map(),
    ...more,
  };
}

/** Payloads of the stand-in's people are distinguished by their time, as everybody's are. */
const EXPIRY_MS = 60_000;

/** Starts an empty ledger. */
export function createTronStandIn(options: LedgerOptions = {}): TronStandIn {
  const ledger = createLedger(options),
    nodes: PeerNode[] = [];
  let sent = 0;
  return {
    ledger,
    openNode(name = `tron-${nodes.length + 1}`) {
      const node = nodeOf(ledger, name);
      nodes.push(node);
      return node;
    },
    setAccount: (address, change) =>
      ledger.edit((world) => {
        Object.assign(touch(world, address, 0), change);
      }),
    deploy(name, contract) {
      const address = contractAddress(name);
      ledger.edit((world) => {
        touch(world, address, 0, true);
        world.contracts.set(address, structuredClone(contract));
      });
      return address;
    },
    send(from, wish, expiryMs = EXPIRY_MS) {
      const head = ledger.block(ledger.headHeight())!,
        solid = ledger.block(ledger.solidHeight())!;
      sent += 1;
      const { type, ...asked } = wish,
        owner = { owner_address: from.address };
      const asset = type === 'TransferAssetContract' ? { asset_name: '1002000' } : {};
      const value =
        'contract' in asked
          ? { ...owner, contract_address: asked.contract, data: asked.data, call_value: asked.callValue ?? 0n }
          : { ...owner, ...asset, to_address: asked.to, amount: asked.amount };
      const rawBytes = packRaw(
        {
          contract: [{ type, parameter: { value } }],
          ref_block_bytes: solid.id.slice(12, 16),
          ref_block_hash: solid.id.slice(16, 32),
          expiration: head.timeMs + expiryMs,
          timestamp: head.timeMs + sent,
          fee_limit: 'contract' in asked ? (asked.feeLimit ?? 100_000_000n) : 0n,
        },
        true,
      );
      const { result, code, message, txid } = ledger.broadcast(signedBytes(rawBytes, from), new Set());
      if (!result) throw new Error(`${code}: ${message}`);
      return txid;
    },
    close: async () => {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}

/** A transaction of raw data with the signature of a key. */
export function signedBytes(rawBytes: Buffer, { privateKey }: KeyPair): Buffer {
  const digest = createHash('sha256').update(rawBytes).digest();
  return messageOf([1, rawBytes], [2, signatureOf(digest, privateKey)]);
}

function nodeOf(ledger: PeerLedger, name: string): PeerNode {
  const knobs = honestKnobs(),
    api = createNodeApi(ledger, knobs);
  let server: Server | null = null;
  const request: InProcess['request'] = async ({ path, body = '' }) => {
    if (knobs.down) throw new NoAnswer('connection failed: ECONNREFUSED');
    const reply = api.answer(path, body);
    if (reply.status === 429) throw new NoAnswer('rate limited');
    return reply;
  };
  return {
    knobs,
    endpoint: { name, request },
    async listen() {
      server ??= await serve(api, knobs);
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async close() {
      const closing = server;
      server = null;
      closing?.closeAllConnections();
      await new Promise<void>((resolve) => (closing === null ? resolve() : closing.close(() => resolve())));
    },
  };
}

async function serve(api: NodeApi, knobs: Knobs): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (knobs.down) return request.socket.destroy();
      const { status, headers, text } = api.answer(request.url ?? '', Buffer.concat(chunks).toString('utf8'));
      return response.writeHead(status, headers).end(text);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}
