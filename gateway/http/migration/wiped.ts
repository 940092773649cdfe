/** Nothing of a migration begins while the account is wiped or reset: it would stay behind. Console A49. */
import { suspended } from '../../../actors/account/guards.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Asked } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** Refuses: ACCOUNT_SUSPENDED with `reason` wipe; SERVICE_UNAVAILABLE with `reason` sandbox_reset. */
export async function whileWiped(deps: HandlerDeps, asked: Pick<Asked, 'caller'>): Promise<Refusal | null> {
  const { resetting, wipe } = await stateOf(deps, accountOf(asked));
  return suspended({ suspended: false, resetting, wipe });
}
