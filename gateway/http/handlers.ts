/** Every operation and who answers it; a test holds that none of the cloud's routes is missing. */
import type { GatewayDeps } from '../ports.ts';
import { accountControlHandlers } from '../admin/accounts.ts';
import { adminHandlers } from '../admin/actors.ts';
import { factHandlers } from '../admin/facts.ts';
import { addressHandlers } from './addresses.ts';
import type { Auth } from './auth/auth.ts';
import { balanceHandlers } from './balances.ts';
import { billingHandlers } from './billing.ts';
import { chainHandlers } from './chains.ts';
import type { Handlers } from './context.ts';
import { deliveryHandlers } from './deliveries.ts';
import { detectPathHandler } from './detect-path.ts';
import { edgeHandlers } from './edge.ts';
import { healthHandlers } from './health.ts';
import { keySourceHandlers } from './key-sources.ts';
import { organizationHandlers } from './organizations.ts';
import { POOL_WAIT_MS, PoolStock } from './pool-stock.ts';
import { sandboxHandlers } from './sandbox.ts';
import { settingHandlers } from './settings.ts';
import { signInHandlers } from './sign-in.ts';
import { transactionHandlers } from './transactions.ts';
import { webhookHandlers } from './webhooks.ts';

export interface HandlerDeps extends GatewayDeps {
  readonly auth: Auth;
  readonly isDraining: () => boolean;
  readonly pools: PoolStock;
}

export function createHandlers(given: Omit<HandlerDeps, 'pools'>): Handlers {
  const { stores: { reads }, edges, config } = given;
  const deps: HandlerDeps = { ...given, pools: new PoolStock({ reads, edges, waitMs: config.poolWaitMs ?? POOL_WAIT_MS }) };
  return {
    ...addressHandlers(deps), ...balanceHandlers(deps), ...transactionHandlers(deps), ...webhookHandlers(deps),
    ...deliveryHandlers(deps), ...edgeHandlers(deps), ...chainHandlers(deps), ...sandboxHandlers(deps),
    ...signInHandlers(deps), ...organizationHandlers(deps), ...settingHandlers(deps), ...billingHandlers(deps),
    ...adminHandlers(deps), ...factHandlers(deps), ...accountControlHandlers(deps), ...healthHandlers(deps),
    ...keySourceHandlers(deps), ...detectPathHandler,
  };
}
