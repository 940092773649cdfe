/** How far the wipe of an account is. What it makes of each capability is in that one's own folds. */
import type { Wipe, WipeState } from '../../model/account/wipe.ts';
import type { Folds } from '../account/decision.ts';

const becomes = ({ wipe }: WipeState, status: Wipe['status']): Partial<WipeState> =>
  wipe === null ? {} : { wipe: { ...wipe, status } };

export const wipeFolds: Folds<WipeState, WipeState> = {
  wipe_scheduled: (_, { id, forMs }) => ({ wipe: { id, forMs, status: 'scheduled' } }),
  wipe_cancelled: () => ({ wipe: null }),
  wipe_begun: (state) => becomes(state, 'closing'),
  account_wiped: (state) => becomes(state, 'running'),
  wipe_ended: () => ({ wipe: null }),
};
