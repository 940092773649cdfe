/** The chains as an account sees them. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Catalogue, ChainClient, ChainModule, Network } from '../../chains/chain.ts';
import type { Chain, EndpointState } from '../../protocol/slugs.ts';
import type { Refusal } from '../../protocol/errors.ts';

export interface ChainBinding {
  readonly module: ChainModule;
  readonly network: Network;
  readonly client: ChainClient;
  readonly catalogue: Catalogue;
}

/** An endpoint of a chain as this node sees it. */
export interface EndpointView {
  /** Its place in `<CHAIN>_RPC_URLS`: `eth-2` is the second. Never its URL, which may carry a key. */
  readonly endpoint: string;
  readonly state: EndpointState;
}

/** The chain as an account sees it: live endpoints, or the simulated ledger of a sandbox account. */
export interface ChainAccess {
  /** Refuses: CHAIN_UNAVAILABLE (not enabled: `details.permanent` true). */
  bind(accountId: AccountId, chain: Chain): Promise<ChainBinding | Refusal>;
  enabled(accountId: AccountId): Chain[];
  /** The network as this node runs it, with the operator's own confirmations. */
  networkOf(chain: Chain): Network;
  /** The endpoints of a live chain in the order of the configuration; none for a simulated ledger. */
  endpoints(accountId: AccountId, chain: Chain): readonly EndpointView[];
  /**
   * Null when addresses of the chain may be issued. Refuses: CHAIN_UNAVAILABLE while it is not durable where the
   * chain's ledger begins, since no node of it was heard yet.
   */
  notBegun(accountId: AccountId, chain: Chain): Promise<Refusal | null>;
}
