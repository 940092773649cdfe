/** When a gas tank is announced as low. Treasury W10. */
import type { EventData } from '../../protocol/schema/events.ts';
import { accept, type AccountDecision, type Deciding } from '../account/decision.ts';
import { eventIdAt, publish } from '../account/events-body.ts';

/** Tenths of the bound from which on a tank counts as filled: what swings around the bound is announced once. */
const FILLED_TENTHS = 12n;
/** A count as JSON holds it: a tank of a test network may pay for more sweeps than that. */
const COUNT_MAX = 1_000_000_000n;

/** A count of sweeps as answers and events have it. */
export const sweepCount = (sweeps: bigint): number => Number(sweeps > COUNT_MAX ? COUNT_MAX : sweeps);

/** Announces a tank that has become low, once until it was filled. */
export function noteFundingLevel({
  state,
  command,
  nowMs,
}: Deciding<'note_funding_level'>): AccountDecision<'note_funding_level'> {
  const wallet = state.fundingWallets.find(({ id }) => id === command.id);
  if (wallet === undefined) return accept({});
  const { id, chain, lowSinceMs } = wallet,
    available = BigInt(command.available),
    lowBalance = BigInt(command.lowBalance);
  if (lowSinceMs !== undefined)
    return available * 10n >= lowBalance * FILLED_TENTHS
      ? accept({}, [{ type: 'funding_wallet_low_since', id, atMs: null }])
      : accept({});
  if (available >= lowBalance) return accept({});
  const data: EventData['funding_wallet_low'] = {
    fundingWalletId: id,
    chain,
    address: command.address,
    available: command.available,
    lowBalance: command.lowBalance,
    estimatedSweepsRemaining: command.sweepsRemaining === null ? null : sweepCount(BigInt(command.sweepsRemaining)),
  };
  const announced = publish(state, {
    event: 'funding_wallet_low',
    id: eventIdAt(state, 1, 'funding_wallet_low'),
    confirmations: null,
    threshold: null,
    atMs: nowMs,
    orderKey: id,
    data,
  });
  return accept({}, [{ type: 'funding_wallet_low_since', id, atMs: nowMs }], [announced]);
}
