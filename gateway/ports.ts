/**
 * What the gateway needs of the rest of a cloud node; `supervision/` wires the real ones. The gateway decides
 * nothing.
 */
import type { Logger } from 'pino';
import type { AccountCommand, AccountReplies } from '../model/account/commands.ts';
import type { ActorSystem } from '../actors/kernel/index.ts';
import type { Catalogue, ChainClient, ChainModule, Network } from '../chains/chain.ts';
import type {
  EdgeStore, IdentityStore, InboxStore, RateLimiter, ReadStore, WatchStore,
} from '../model/ports.ts';
import type { Acknowledgement, HeartbeatBody } from '../protocol/frames.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Refusal } from '../protocol/errors.ts';
import type { SandboxSighting } from '../model/ports.ts';
import type { PooledTransaction } from '../model/sandbox-pool.ts';
import type { Chain, EdgeRole } from '../protocol/slugs.ts';
import type { Metrics } from './telemetry/metrics.ts';

/**
 * The command's idempotency key was used before: the gateway replays the stored answer or says IDEMPOTENCY_CONFLICT.
 */
export interface DuplicateKey { readonly ok: 'duplicate' }

export type Answer<C extends AccountCommand> =
  { readonly ok: true; readonly reply: AccountReplies[C['type']] } | Refusal | DuplicateKey;

/** Messages to account actors, wherever they live. */
export interface Accounts {
  ask<C extends AccountCommand>(accountId: AccountId, command: C): Promise<Answer<C>>;
  /** Loads and applies what waits in the inbox; returns when it is durable. */
  wake(accountId: AccountId): Promise<void>;
}

export interface ChainBinding {
  readonly module: ChainModule;
  readonly network: Network;
  readonly client: ChainClient;
  readonly catalogue: Catalogue;
}

/** The chain as an account sees it: live endpoints, or the simulated ledger of a sandbox account. */
export interface ChainAccess {
  /** Refuses: CHAIN_UNAVAILABLE (not enabled: `details.permanent` true). */
  bind(accountId: AccountId, chain: Chain): Promise<ChainBinding | Refusal>;
  enabled(accountId: AccountId): Chain[];
  /**
   * Null when addresses of the chain may be issued. Refuses: CHAIN_UNAVAILABLE while it is not durable where the chain's ledger
   * begins, since no node of it was heard yet.
   */
  notBegun(accountId: AccountId, chain: Chain): Promise<Refusal | null>;
}

export interface EdgeStreams {
  liveSessions(accountId: AccountId): string[];
  /** Asks the leader edge to sign and submit. Refuses: EDGE_OFFLINE, EDGE_NO_LEADER, or what the edge refused. */
  askToSign(accountId: AccountId, transactionId: string): Promise<Acknowledgement | Refusal>;
  /** Tells the connected edges that another identity came: they sign nothing until the owner decided. */
  tellRotation(accountId: AccountId, rotationId: string): void;
  /** Closes every stream of an account (revoked key, rotation). */
  close(accountId: AccountId, code: string): void;
  /**
   * The heartbeat of spec §4.3 over REST, when the stream is down: liveness, session row, role. Refuses:
   * LEASE_EPOCH_STALE.
   */
  noteHeartbeat(accountId: AccountId, beat: HeartbeatBody): Promise<{ role: EdgeRole; leaseEpoch: number; leaseTtlMs: number } | Refusal>;
  /** When the lease of the current leader ends unless it is renewed; null when it is vacant or another node's. */
  leaseExpiresAtMs(accountId: AccountId): number | null;
  /** Asks the leader edge for pool addresses where the stock is low: after one was issued. */
  replenish(accountId: AccountId): Promise<void>;
}

export interface SandboxControl {
  simulateDeposit(
    accountId: AccountId,
    ask: {
      chain: Chain; address: string; amount: string; tokenContract: string | null; autoConfirm: boolean;
      confirmAfterSeconds: number | null;
    },
  ): Promise<{ txid: string; outputIndex: number; height: number } | Refusal>;
  simulateConfirmation(
    accountId: AccountId, ask: { chain: Chain; txid: string; confirmations: number },
  ): Promise<{ confirmations: number } | Refusal>;
  /** Keeps broadcasts in the ledger's pool, or mines all that is there; `mined` are the txids. */
  simulateStuck(accountId: AccountId, ask: { chain: Chain; stuck: boolean }): Promise<{ stuck: boolean; mined: string[] } | Refusal>;
  simulateReorg(accountId: AccountId, ask: { chain: Chain; depth: number }): Promise<{ depth: number } | Refusal>;
  simulateChainDown(
    accountId: AccountId, ask: { chain: Chain; seconds: number },
  ): Promise<{ untilMs: number } | Refusal>;
  /** A simulated transaction, whoever's it is, with the confirmations at which a deposit of its chain is credited. */
  sighting(chain: Chain, txid: string): Promise<SandboxSighting & { readonly threshold: number } | null>;
  /** A transaction that waits in the pool of a simulated ledger, whoever's it is. */
  pooledSighting(chain: Chain, txid: string): Promise<PooledTransaction | null>;
  reset(accountId: AccountId): Promise<void>;
}

/**
 * Seals secrets at rest with AES-256-GCM; `context` is bound as additional data so that ciphertexts cannot be
 * swapped.
 */
export interface SecretBox {
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** The actor tree of this node, and the one way to make an actor forget its memory and read it again. */
export type ActorInspection = Pick<ActorSystem, 'inspect' | 'restart'>;

/** What a scrape of /metrics asks for: values that are a query or a state. Maps are by chain. */
export interface GaugeReader {
  read(): Promise<{
    publicationsIncomplete: number;
    mailUnsent: number;
    factsSetAside: number;
    blocksUnresolved: Readonly<Record<string, number>>;
    headAgeSeconds: Readonly<Record<string, number>>;
    nonceGaps: Readonly<Record<string, number>>;
    mailboxDepth: number;
    deadLetters: number;
    residentAccounts: number;
    edgeStreams: number;
  }>;
}

export interface GatewayConfig {
  /** Origin that clients use, without a trailing slash; issuer of the built-in tokens. */
  readonly publicUrl: string;
  /** Hosts beside that of `publicUrl` under which edges ask, with a port where it is no default one. */
  readonly publicAuthorities?: readonly string[];
  readonly bodyLimitBytes: number;
  readonly developerMode: boolean;
  /** Addresses and networks whose `X-Forwarded-For` is believed; none where absent. */
  readonly trustedProxies?: readonly string[];
  /** Protective ceiling of sandbox accounts; 6,000 where absent. Decisions 3. */
  readonly sandboxRequestsPerMinute?: number;
  /** How long a request waits for the refill of a pool; 5 s where absent. Milliseconds. Decisions 3. */
  readonly poolWaitMs?: number;
  readonly oidc: { readonly issuer: string; readonly audience: string } | null;
}

/** Why a node serves nothing at this moment: the database does not serve, or another node has taken over. */
export type Trouble = 'database' | 'superseded';

/** Whether the node serves. */
export interface Serving {
  trouble(): Trouble | null;
  /** What the work comes to. Rejects: Refused SERVICE_UNAVAILABLE when a trouble begins before the work has ended. */
  whileServing<T>(work: Promise<T>): Promise<T>;
  /** Whether an error of a store says that the database does not serve. */
  isAway(error: unknown): boolean;
}

/** Everything that `createGateway` is made of. */
export interface GatewayDeps {
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly stores: {
    readonly identity: IdentityStore;
    readonly reads: ReadStore;
    readonly edge: EdgeStore;
    readonly watch: Pick<WatchStore, 'coverage'>;
    readonly inbox: Pick<InboxStore, 'factsSetAside' | 'countSetAside' | 'retryFacts'>;
  };
  readonly accounts: Accounts;
  readonly chains: ChainAccess;
  readonly edges: EdgeStreams;
  readonly sandbox: SandboxControl;
  readonly secrets: SecretBox;
  readonly actors: ActorInspection;
  /** Made by `createMetrics` before the gateway: watchers, publisher and kernel feed it too. */
  readonly metrics: Metrics;
  readonly rateLimiter: RateLimiter;
  /** Parts of `/health/ready` by name; false for one of them is a 503. */
  readonly health: () => Promise<Readonly<Record<string, boolean>>>;
  /** Absent where nothing can go away: it always serves. */
  readonly serving?: Serving;
  readonly config: GatewayConfig;
}
