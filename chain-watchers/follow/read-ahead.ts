/** Bounded reading of a range: several blocks in flight, handed on in order of height. */
import type { Block, ChainClient } from '../../chains/chain.ts';
import { WaitsForSecond } from './movements.ts';
import { chainFailure } from '../../chains/failure.ts';

/** Where blocks are read from. */
export type Source = Pick<ChainClient, 'nextHeight' | 'getBlock'>;

export type BlockRead =
  | { readonly height: number; readonly block: Block }
  | { readonly height: number; readonly block: null; readonly reason: string; readonly waits: boolean };

async function readBlock(client: Source, height: number): Promise<BlockRead | { readonly fault: unknown }> {
  try {
    return { height, block: await client.getBlock(height) };
  } catch (error) {
    const reason = chainFailure(error);
    return reason === null ? { fault: error } : { height, block: null, reason, waits: error instanceof WaitsForSecond };
  }
}

/**
 * Blocks above a height, at most `limit` of them, in order; at most `width` are in flight. A block that cannot be
 * proven comes as its reason, in its place. Ends where the chain has no next height. Throws: ChainUnavailable when the
 * next height cannot be read, after the blocks before it.
 */
export async function* readAhead(
  client: Source,
  above: number,
  limit: number,
  width: number,
): AsyncGenerator<BlockRead> {
  const inFlight: ReturnType<typeof readBlock>[] = [];
  let asked = 0,
    at = above,
    end: { fault: unknown } | null | undefined;
  for (;;) {
    while (end === undefined && asked < limit && inFlight.length < width) {
      try {
        const next = await client.nextHeight(at);
        if (next === null) end = null;
        else {
          inFlight.push(readBlock(client, next));
          at = next;
          asked += 1;
        }
      } catch (error) {
        end = { fault: error };
      }
    }
    const read = await inFlight.shift();
    if (read === undefined) break;
    if ('fault' in read) throw read.fault;
    yield read;
  }
  if (end) throw end.fault;
}

/** Results of `work` in the order of its inputs, at most `width` under way. The first fault ends it. */
export async function inParallel<In, Out>(
  width: number,
  inputs: readonly In[],
  work: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const results: Out[] = new Array(inputs.length);
  let next = 0;
  const worker = async () => {
    while (next < inputs.length) {
      const at = next;
      next += 1;
      results[at] = await work(inputs[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, inputs.length) }, worker));
  return results;
}
