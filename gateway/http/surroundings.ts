/** What every handler of the REST surface has at hand. */
import type { GatewayDeps } from '../deps.ts';
import type { Auth } from './auth/auth.ts';
import { PoolStock } from './address/pool-stock.ts';

export interface HandlerDeps extends GatewayDeps {
  readonly auth: Auth;
  readonly isDraining: () => boolean;
  readonly pools: PoolStock;
}
