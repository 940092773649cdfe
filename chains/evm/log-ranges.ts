/**
 * Logs of a range of blocks, for backfills (V21–V23). Never asked at the head: the caller names the hash at the end of
 * the range, and what an endpoint returned counts only when it then is at that height on that branch.
 */
import { ChainUnavailable, MalformedReply, type Endpoint, type Transport } from '../chain.ts';
import type { RpcAnswer } from '../json-rpc.ts';
import { parseHeader } from './block.ts';
import type { RawLog } from './raw.ts';
import type { EvmNetwork } from './network.ts';
import { ask, atHeight, call, tryAsk } from './node.ts';
import { countOf } from './quantity.ts';
import { asksForSmallerRange } from './rejection.ts';

export interface LogRange {
  /** Inclusive bounds. */
  readonly fromHeight: number;
  readonly toHeight: number;
  /** Hash that the caller accepted at `toHeight`. */
  readonly toHash: string;
  readonly addresses: readonly string[];
  readonly topics: readonly (string | readonly string[] | null)[];
}

export interface RangeLog extends RawLog {
  readonly blockNumber: string;
  readonly transactionHash: string;
}

/** Sub-ranges that one call reads. Limit: a caller with more keeps its own cursor (G12). */
const SUB_RANGES_MAX = 10_000;

/**
 * All matching logs of the range, in order. Starts with the network's range size and halves it whenever a provider
 * asks for less, down to one block; what failed is asked again, never skipped.
 * Throws: ChainUnavailable when one block alone is refused, or the endpoint is not at the end of the range.
 */
export async function readLogs(
  network: EvmNetwork,
  transport: Transport,
  range: LogRange,
): Promise<readonly RangeLog[]> {
  const logs: RangeLog[] = [];
  let size = network.logRangeBlocks,
    from = range.fromHeight;
  for (let asked = 0; from <= range.toHeight; asked++) {
    if (asked > SUB_RANGES_MAX) throw new ChainUnavailable(network.slug, `more than ${SUB_RANGES_MAX} sub-ranges`);
    const to = Math.min(from + size - 1, range.toHeight);
    const part = await transport.attempt((endpoint) => readPart(network, endpoint, range, from, to));
    if (part === 'smaller') {
      if (to === from) throw new ChainUnavailable(network.slug, `logs of block ${from} are refused`);
      // A provider that suggests the very range it refused is not listened to: half is less in every case.
      size = Math.max(1, Math.floor((to - from + 1) / 2));
    } else {
      logs.push(...part);
      from = to + 1;
    }
  }
  return logs;
}

async function readPart(
  network: EvmNetwork,
  endpoint: Endpoint,
  range: LogRange,
  from: number,
  to: number,
): Promise<readonly RangeLog[] | 'smaller'> {
  const { addresses, topics, toHeight, toHash } = range;
  const filter = { fromBlock: atHeight(from), toBlock: atHeight(to), address: addresses, topics };
  const answer = await tryGetLogs(network, endpoint, filter);
  if (!answer.ok) {
    if (asksForSmallerRange(answer.error)) return 'smaller';
    throw new ChainUnavailable(network.slug, `eth_getLogs: ${answer.error.message}`);
  }
  if (!Array.isArray(answer.result)) throw new MalformedReply('eth_getLogs', JSON.stringify(answer.result));
  // V23, C1-6: a node that is behind returns a part of the range without a word.
  const asked = call('eth_getBlockByNumber', atHeight(toHeight), false);
  const header = parseHeader(network, await ask(network, endpoint, asked));
  if (header.hash.toLowerCase() !== toHash) {
    throw new ChainUnavailable(network.slug, `the node has another block at ${toHeight}`);
  }
  return (answer.result as RangeLog[]).filter(({ blockNumber }) => {
    const height = countOf(blockNumber, 'log block');
    return height >= from && height <= to;
  });
}

/** A gateway's own limits arrive as statuses: 413 as an answer, 504 as no answer at all. */
async function tryGetLogs(network: EvmNetwork, endpoint: Endpoint, filter: object): Promise<RpcAnswer> {
  try {
    return await tryAsk(network, endpoint, call('eth_getLogs', filter));
  } catch (error) {
    if (error instanceof ChainUnavailable && error.reason === 'http 504') {
      return { ok: false, error: { code: 504, message: error.reason } };
    }
    throw error;
  }
}
