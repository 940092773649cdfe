/** Stand-in servers for tests, clients over them, and the people who act on their ledger. */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import type { ExecutionContext } from 'ava';
import { Wallet } from 'xrpl';
import type { Catalogue, Endpoint, Intent, Token } from '../../chains/chain.ts';
import { createClient, type XrpClient } from '../../chains/xrp/client.ts';
import { deriveAddress } from '../../chains/xrp/derive.ts';
import { xrp } from '../../chains/xrp/network.ts';
import { createFailoverTransport, type FailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import { LedgerNetwork, type NetworkOptions } from '../../developer/stand-ins/xrp/ledger-network.ts';
import { fund } from '../../developer/stand-ins/xrp/people.ts';
import { startXrpServer, type XrpServer } from '../../developer/stand-ins/xrp/server.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import { ANSWER_MS_MAX } from './in-process.ts';

const account = HDKey.fromMasterSeed(mnemonicToSeedSync(`${'abandon '.repeat(11)}about`)).derive("m/44'/144'/0'");

/** Our address at `change/index`, with its path and key. */
export function ours(change: 0 | 1, index: number) {
  const derived = deriveAddress(xrp, account.publicExtendedKey, change, index);
  return { ...derived, key: { privateKey: account.derive(`m/${change}/${index}`).privateKey! } };
}

/** What an edge derives at a path, or null. */
export function addressAt(path: string): string | null {
  const match = /^m\/44'\/144'\/0'\/([01])\/(\d+)$/.exec(path);
  return match === null
    ? null
    : deriveAddress(xrp, account.publicExtendedKey, Number(match[1]) as 0 | 1, Number(match[2])).address;
}

/** One of our addresses as a wallet of the SDK, for what the stand-in's people do. */
export function walletAt(change: 0 | 1, index: number): Wallet {
  const node = account.derive(`m/${change}/${index}`),
    hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase();
  return new Wallet(hex(node.publicKey!), `00${hex(node.privateKey!)}`);
}

export interface Reader {
  readonly client: XrpClient;
  readonly transport: FailoverTransport;
}

/** A client whose endpoints never wait: a minute passes at every look at the clock. */
export function readerOf(endpoints: readonly Endpoint[], catalogue: Catalogue = new Map()): Reader {
  let nowMs = 0;
  const transport = createFailoverTransport({
    chain: 'xrp',
    endpoints,
    elapsedMs: () => (nowMs += 60_000),
    random: () => 0.5,
  });
  return { client: createClient(xrp, transport, catalogue), transport };
}

export interface Node extends Reader {
  readonly network: LedgerNetwork;
  readonly servers: readonly XrpServer[];
  readonly endpoints: readonly Endpoint[];
  /** A hand on the clock of the ledger, milliseconds. */
  passMs(ms: number): void;
}

/** A network with servers, and a client over all of them; they end with the test. */
export async function startNode(
  t: ExecutionContext,
  options: Partial<NetworkOptions> & { servers?: number } = {},
): Promise<Node> {
  const { servers: count = 1, ...more } = options;
  let nowMs = 1_760_000_000_000;
  const network = new LedgerNetwork({ nowMs: () => nowMs, ...more });
  const servers: XrpServer[] = [],
    endpoints: Endpoint[] = [];
  for (let i = 0; i < count; i += 1) {
    const server = await startXrpServer(network);
    const endpoint = createHttpEndpoint({
      chain: 'xrp',
      name: `xrp-${i + 1}`,
      url: server.url,
      timeoutMs: ANSWER_MS_MAX,
    });
    t.teardown(async () => {
      await endpoint.close();
      await server.close();
    });
    servers.push(server);
    endpoints.push(endpoint);
  }
  return {
    network,
    servers,
    endpoints,
    ...readerOf(endpoints),
    passMs: (ms) => {
      nowMs += ms;
    },
  };
}

/** Our first address, with money. */
export function funded(network: LedgerNetwork, drops: bigint, index = 0) {
  const own = ours(0, index);
  fund(network, own.address, drops);
  network.close();
  return own;
}

/** An intent of our first address. */
export function intentOf(more: Partial<Intent> & Pick<Intent, 'to'>): Intent {
  const { address, path } = ours(0, 0);
  return { chain: 'xrp', from: address, fromPath: path, amount: 2_000_000n, token: null, tag: null, ...more };
}

/** The value of what was not refused. */
export function must<T extends object>(value: T | Refusal): T {
  if (isRefusal(value)) throw new Error(`${value.code} ${JSON.stringify(value.details)}`);
  return value;
}

export function tokenOf(issuer: string, currency = 'USD'): Token {
  return { chain: 'xrp', contract: `${currency}:${issuer}`, symbol: currency, decimals: 15 };
}
