/** One look at one node of a chain, by itself: its network, its newest block, what it holds at a height. */
import type { ChainClient } from './chain.ts';
import { catalogueOf } from './catalogue.ts';
import { loadModule, networkOf } from './registry.ts';
import { createFailoverTransport, wallTimer } from './transport/failover.ts';
import { createHttpEndpoint } from './transport/http-endpoint.ts';
import type { Chain } from '../protocol/slugs.ts';

const HEDGE_MS = 2_500;
/** A node is late when its newest block is older than ten blocks take, and than this. */
const LATE_MIN_MS = 120_000;
const LATE_BLOCKS = 10;

export interface NodeLook {
  readonly height: number;
  /** Of its newest block, milliseconds; null where the chain's blocks have no time. */
  readonly ageMs: number | null;
  readonly isLate: boolean;
}

/**
 * Asks one node, opened for this alone; `signal` ends what is asked. Throws: ChainUnavailable, also for a node of
 * another network.
 */
export async function withNode<T>(
  chain: Chain,
  url: string,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  use: (client: ChainClient) => Promise<T>,
): Promise<T> {
  const [network, module] = [networkOf(chain), await loadModule(chain)];
  const endpoint = createHttpEndpoint({ chain, name: `${chain}-look`, url, timeoutMs });
  const end = () => void endpoint.close();
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    const transport = createFailoverTransport({
      chain,
      endpoints: [endpoint],
      elapsedMs: () => performance.now(),
      random: Math.random,
      blockTimeMs: network.blockTimeMs,
      hedge: { ms: HEDGE_MS, timer: wallTimer },
    });
    const client = module.createClient(network, transport, catalogueOf(chain));
    await client.checkIdentity();
    return await use(client);
  } finally {
    signal.removeEventListener('abort', end);
    await endpoint.close();
  }
}

/** Throws: ChainUnavailable. */
export async function newestOf(chain: Chain, client: ChainClient, nowMs: number): Promise<NodeLook> {
  const { height } = await client.getHead();
  const { timeMs } = await client.getBlock(height);
  const ageMs = timeMs === null ? null : Math.max(0, nowMs - timeMs);
  const lateMs = Math.max(LATE_MIN_MS, LATE_BLOCKS * networkOf(chain).blockTimeMs);
  return { height, ageMs, isLate: ageMs !== null && ageMs > lateMs };
}
