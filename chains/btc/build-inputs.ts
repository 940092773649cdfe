/** Everything that a build needs, asked of one node at one head. */
import { z } from 'zod';
import { ChainUnavailable, MalformedReply, type Endpoint } from '../chain.ts';
import { bytesOf } from './address.ts';
import { byPreference, type BtcInputs, type Coin } from './coin.ts';
import { readCoins, satsReply } from './coins.ts';
import type { Heads } from './heads.ts';
import type { BtcNetwork } from './network.ts';
import { askAll, call, parsed, tryAskAll } from './node.ts';
import { INPUTS_MAX } from './selection.ts';
import { decodeRaw } from './signed.ts';
import { largest } from './size.ts';
import type { Snapshots } from './snapshot.ts';

/** Tries at a head that keeps moving, or a pool that does. */
const READS_MAX = 3;
/** Bytes of previous transactions that one build carries. Choice: two hundred coins of large exchange batches. */
const PREVIOUS_BYTES_MAX = 16 * 1024 * 1024;

export interface ReadingParts {
  readonly network: BtcNetwork;
  readonly heads: Heads;
  readonly snapshots: Snapshots;
}

export interface CoinsAtHead {
  readonly coins: readonly Coin[];
  readonly height: number;
  readonly hash: string;
}

/** Coins of an address, all of them at the head of this node. Throws: ChainUnavailable, MalformedReply. */
export async function readCoinsAtHead(
  { network, heads, snapshots }: ReadingParts,
  node: Endpoint,
  address: string,
): Promise<CoinsAtHead> {
  const script = bytesOf(address);
  for (let tries = 1; ; tries += 1) {
    try {
      const head = await heads.headOf(node);
      const outpoints = await snapshots.outpointsAt(node, address, script, head);
      const coins = await readCoins({ network, node, script, head }, outpoints);
      return { coins, height: head.height, hash: head.hash };
    } catch (error) {
      if (!(error instanceof ChainUnavailable) || tries === READS_MAX || !error.reason.includes('moved')) throw error;
    }
  }
}

/** Inputs of a payment from an address. Throws: ChainUnavailable, MalformedReply. */
export async function readBuildInputs(parts: ReadingParts, node: Endpoint, address: string): Promise<BtcInputs> {
  const { network } = parts;
  const { coins, height, hash } = await readCoinsAtHead(parts, node, address);
  const rates = await readRates(network, node);
  return { readAtHeight: height, readAtHash: hash, coins: await withPrevious(network, node, coins), ...rates };
}

const mempoolReply = z.object({
  mempoolminfee: satsReply,
  minrelaytxfee: satsReply,
  incrementalrelayfee: satsReply.optional(),
});
const networkReply = z.object({ relayfee: satsReply, incrementalfee: satsReply });
/** B18: a node that has not seen enough answers `errors` and no `feerate`. */
const estimateReply = z.object({ feerate: satsReply.optional(), errors: z.array(z.string()).optional() });

/** Fee rates, satoshi per kvB. A missing estimate is null, never a zero that was not said. B16, B18. */
async function readRates(
  network: BtcNetwork,
  node: Endpoint,
): Promise<Omit<BtcInputs, 'readAtHeight' | 'readAtHash' | 'coins'>> {
  const [estimated, pool, relay] = await askAll(network, node, [
    call('estimatesmartfee', network.feeTargetBlocks, 'economical'),
    call('getmempoolinfo'),
    call('getnetworkinfo'),
  ]);
  const { feerate } = parsed(estimateReply, estimated, 'estimatesmartfee');
  const { mempoolminfee, minrelaytxfee, incrementalrelayfee } = parsed(mempoolReply, pool, 'getmempoolinfo');
  const { relayfee, incrementalfee } = parsed(networkReply, relay, 'getnetworkinfo');
  return {
    estimateSatPerKvb: feerate === undefined || feerate === 0n ? null : feerate.toString(),
    mempoolMinSatPerKvb: mempoolminfee.toString(),
    relayMinSatPerKvb: largest(minrelaytxfee, relayfee).toString(),
    incrementalSatPerKvb: (incrementalrelayfee ?? incrementalfee).toString(),
  };
}

/**
 * B12: the coins that a build would take first, with the whole transactions that made them. A pruned one stays null.
 */
async function withPrevious(network: BtcNetwork, node: Endpoint, coins: readonly Coin[]): Promise<Coin[]> {
  const wanted = coins
    .filter(({ spender }) => spender === null)
    .sort(byPreference)
    .slice(0, INPUTS_MAX);
  const heights = [...new Set(wanted.flatMap(({ height }) => (height === null ? [] : [height])))];
  const hashes = await askAll(
    network,
    node,
    heights.map((height) => call('getblockhash', height)),
  );
  const hashAt = new Map(heights.map((height, i) => [height, hashes[i]]));
  const unique = [...new Map(wanted.map((coin) => [coin.txid, coin])).values()];
  // In the pool a transaction is found by its id; in a block only together with the block, unless the node indexes all.
  const calls = unique.map(({ txid, height }) =>
    height === null
      ? call('getrawtransaction', txid, false)
      : call('getrawtransaction', txid, false, hashAt.get(height)),
  );
  const previous = new Map<string, string>();
  let bytes = 0;
  for (const [i, answer] of (await tryAskAll(network, node, calls)).entries()) {
    const { txid } = unique[i]!;
    if (!answer.ok) continue;
    const hex = String(answer.result);
    bytes += hex.length / 2;
    if (bytes > PREVIOUS_BYTES_MAX) break;
    if (decodeRaw(hex)?.getId() !== txid) throw new MalformedReply('another transaction than was asked for', hex);
    previous.set(txid, hex);
  }
  return coins.map((coin) => ({ ...coin, previous: previous.get(coin.txid) ?? null }));
}
