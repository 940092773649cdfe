/** The chains as an account sees them. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Catalogue, ChainClient, ChainModule, Network, NetworkSeen } from '../../chains/chain.ts';
import type { Tokens } from '../../chains/tokens.ts';
import type { Chain, ChainStatus, EndpointState } from '../../protocol/slugs.ts';
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
  /** Why, in words without a URL; null while nothing is said against it. */
  readonly reason: string | null;
  /** The next step of an operator; null where there is none. */
  readonly next: string | null;
  /** Of a node of another network: which one was expected, which one was seen. */
  readonly network: NetworkSeen | null;
  /** Since when its requests leave it so, milliseconds; null before it was asked. */
  readonly sinceMs: number | null;
  /** When one that backs off is asked again, milliseconds; null where it is asked at its turn. */
  readonly nextLookMs: number | null;
}

/** The condition of a chain, for an operator and for a caller who is refused because of it. */
export interface ChainCondition {
  readonly status: ChainStatus;
  /** Null while it is `ok` or `unknown`. */
  readonly reason: string | null;
  /** The setting that decides (`ETH_RPC_URLS`), and the next step; null where there is nothing to set. */
  readonly setting: string | null;
  readonly next: string | null;
  readonly network: NetworkSeen | null;
  readonly endpoints: readonly EndpointView[];
}

/** The chain as an account sees it: live endpoints, or the simulated ledger of a sandbox account. */
export interface ChainAccess {
  /** The token registry that is in force on this node. */
  readonly tokens: Tokens;
  /** Refuses: CHAIN_UNAVAILABLE (not enabled: `details.permanent` true). */
  bind(accountId: AccountId, chain: Chain): Promise<ChainBinding | Refusal>;
  enabled(accountId: AccountId): Chain[];
  /** The network as this node runs it, with the operator's own confirmations. */
  networkOf(chain: Chain): Network;
  /** The endpoints of a live chain in the order of the configuration; none for a simulated ledger. */
  endpoints(accountId: AccountId, chain: Chain): readonly EndpointView[];
  /** How the chain is, as this node finds it. */
  condition(accountId: AccountId, chain: Chain): Promise<ChainCondition>;
  /**
   * Null when addresses of the chain may be issued. Refuses: CHAIN_UNAVAILABLE while it is not durable where the
   * chain's ledger begins, since no node of it was heard yet.
   */
  notBegun(accountId: AccountId, chain: Chain): Promise<Refusal | null>;
}
