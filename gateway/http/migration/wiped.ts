/** Nothing of a migration begins while the account is wiped: it would stay behind the deletion. Console A49. */
import { suspended } from '../../../actors/account/guards.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { stateOf } from '../account-state.ts';
import { accountOf, type Asked } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

/** Refuses: ACCOUNT_SUSPENDED with `reason` wipe. */
export async function whileWiped(deps: HandlerDeps, asked: Pick<Asked, 'caller'>): Promise<Refusal | null> {
  const { wipe } = await stateOf(deps, accountOf(asked));
  return suspended({ suspended: false, wipe });
}
