/**
 * Native balances at one block as every living endpoint reports them: what one says and another denies is not proven
 * (G8).
 */
import { ChainUnavailable, type ChainClient } from '../../chains/chain.ts';
import { chainFailure } from '../../chains/failure.ts';
import type { Run } from '../memory.ts';
import { livingOf } from '../follow/quorum.ts';

type BalancesAt = NonNullable<ChainClient['fetchBalancesAt']>;

/**
 * Where one endpoint is alive, or they cannot be asked one by one, `alone` answers. One that does not have the block
 * has no say. Throws: ChainUnavailable.
 */
export function agreedBalancesAt(run: Run, alone: BalancesAt): BalancesAt {
  return async (addresses, block) => {
    const { witnesses, network } = run.parts,
      living = witnesses.length === 0 ? [] : await livingOf(run);
    if (living.length < 2) return alone(addresses, block);
    const read = await Promise.allSettled(living.map(async ({ client }) => client.fetchBalancesAt!(addresses, block)));
    const found = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const fault = read.find((one) => one.status === 'rejected' && chainFailure(one.reason) === null) as
      PromiseRejectedResult | undefined;
    if (fault !== undefined) throw fault.reason as Error;
    const [first, ...others] = found;
    if (first === undefined) throw (read[0] as PromiseRejectedResult).reason as Error;
    if (others.some((other) => other.some((amount, index) => amount !== first[index]))) {
      throw new ChainUnavailable(network.slug, `endpoints contradict each other about balances at ${block.height}`);
    }
    return first;
  };
}
