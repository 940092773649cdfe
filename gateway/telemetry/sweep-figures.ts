/** What sweeps of live accounts leave behind, as figures: who sweeps knows no metric. Treasury W10, S31. */
import { environmentOf, type AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { Metrics } from './metrics.ts';

export interface SweepFigures {
  readonly onTankLow: (accountId: AccountId, chain: Chain) => void;
  readonly onLeftover: (accountId: AccountId, chain: Chain, amount: bigint) => void;
}

export function sweepFigures(metrics: Pick<Metrics, 'add'>): SweepFigures {
  const isLive = (accountId: AccountId): boolean => environmentOf(accountId) === 'live';
  return {
    onTankLow(accountId, chain) {
      if (isLive(accountId)) metrics.add('svc_gas_tank_low_total', { chain });
    },
    onLeftover(accountId, chain, amount) {
      if (isLive(accountId)) metrics.add('svc_sweep_leftover_total', { chain }, Number(amount));
    },
  };
}
