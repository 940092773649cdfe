/**
 * A real Core-family node for a test, with a payer that has money; installed by apt where the machine lacks it and
 * allows it.
 */
import { execFileSync } from 'node:child_process';
import { createClient } from '../../chains/btc/client.ts';
import type { BtcInputs } from '../../chains/btc/coin.ts';
import { litecoinRegtest, type BtcNetwork } from '../../chains/btc/network.ts';
import type { BtcBlock } from '../../chains/btc/transfers.ts';
import type { ChainClient, Endpoint } from '../../chains/chain.ts';
import { createFailoverTransport } from '../../chains/transport/failover.ts';
import { createHttpEndpoint } from '../../chains/transport/http-endpoint.ts';
import { startLitecoind, type Litecoind } from '../../developer/litecoind.ts';

export interface BtcNode {
  readonly node: Litecoind;
  readonly network: BtcNetwork;
  readonly endpoint: Endpoint;
  readonly client: ChainClient<BtcBlock, BtcInputs>;
  /** Pays from the node's own wallet; the transaction waits in its pool. Amounts in satoshi. */
  pay(address: string, amount: bigint): Promise<string>;
  /** Adds blocks, newest hash last. */
  mine(count: number, to?: string): Promise<string[]>;
  /** Address of the node's wallet. */
  outside(kind?: 'legacy' | 'p2sh-segwit' | 'bech32'): Promise<string>;
}

/** Blocks whose rewards the payer may spend. */
const FUNDED_BLOCKS = 110;

function installed(): boolean {
  try {
    execFileSync('litecoind', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function install(): void {
  if (installed()) return;
  if (process.getuid?.() !== 0) throw new Error('litecoind is missing: apt-get install litecoind');
  execFileSync('apt-get', ['update', '-q'], { stdio: 'ignore' });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'litecoind'], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}

/** Satoshi as the decimal text that the node takes. */
export function coinText(amount: bigint): string {
  return `${amount / 100_000_000n}.${(amount % 100_000_000n).toString().padStart(8, '0')}`;
}

/** Starts a node whose wallet has money; it ends with the test file. */
export async function openBtcNode(args: readonly string[] = []): Promise<BtcNode & { close(): Promise<void> }> {
  install();
  // The network's own extension would begin at height 431.
  const node = await startLitecoind({ args: ['-vbparams=mweb:9999999999:9999999999', ...args] });
  const endpoint = createHttpEndpoint({ chain: 'btc', name: 'node', url: node.url });
  await node.rpc('createwallet', ['payer']);
  const outside = (kind: string = 'bech32') => node.rpc<string>('getnewaddress', ['', kind]);
  const miner = await outside();
  const mine = (count: number, to = miner) => node.rpc<string[]>('generatetoaddress', [count, to]);
  await mine(FUNDED_BLOCKS);
  return {
    node,
    network: litecoinRegtest,
    endpoint,
    client: clientOf([endpoint]),
    outside,
    mine,
    pay: (address, amount) => node.rpc<string>('sendtoaddress', [address, coinText(amount)]),
    async close() {
      await endpoint.close();
      await node.stop();
    },
  };
}

/** A client over some endpoints, with the failover that a cloud node has. */
export function clientOf(
  endpoints: readonly Endpoint[],
  network: BtcNetwork = litecoinRegtest,
  scanWaitMs?: number,
): ChainClient<BtcBlock, BtcInputs> {
  const transport = createFailoverTransport({
    chain: 'btc',
    endpoints,
    elapsedMs: () => Date.now(),
    random: () => 0.5,
  });
  return createClient(network, transport, new Map(), scanWaitMs === undefined ? {} : { scanWaitMs });
}
