/**
 * What an operation costs now, stroops. Normally every payer is charged the base fee; during a surge the highest offers
 * win, and then the 95th percentile of what was offered is what to offer. M21.
 *   RPC      getFeeStats → inclusionFee: what was charged
 *   Horizon  GET /fee_stats → fee_charged, and max_fee: what was offered
 */
import { ChainUnavailable } from '../chain.ts';
import { integerIn, objectIn, type Answer } from '../node-answer.ts';
import { askHorizon } from './horizon.ts';
import { askRpc } from './rpc.ts';
import type { Source } from './sources.ts';

const PERCENTILE = 'p95';

/** Throws: ChainUnavailable, MalformedReply. */
export async function readMarketFee({ kind, endpoint }: Source, baseFee: number): Promise<bigint> {
  if (kind === 'rpc') {
    const { inclusionFee } = await askRpc(endpoint, 'getFeeStats');
    return marketFee({ charged: objectIn(inclusionFee, 'inclusionFee'), offered: null }, baseFee);
  }
  const stats = await askHorizon(endpoint, '/fee_stats');
  if (stats === null) throw new ChainUnavailable('xlm', 'Horizon has no fee statistics');
  const charged = objectIn(stats['fee_charged'], 'fee_charged'),
    offered = objectIn(stats['max_fee'], 'max_fee');
  return marketFee({ charged, offered }, baseFee);
}

/** The offer to make: the base fee, and in a surge what others offer. Throws: MalformedReply. */
export function marketFee(
  { charged, offered }: { readonly charged: Answer; readonly offered: Answer | null },
  baseFee: number,
): bigint {
  const base = BigInt(baseFee),
    isCharged = integerIn(charged[PERCENTILE], PERCENTILE);
  if (isCharged <= base) return base;
  const isOffered = offered === null ? isCharged : integerIn(offered[PERCENTILE], PERCENTILE);
  return isOffered > isCharged ? isOffered : isCharged;
}
