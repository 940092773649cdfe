/** The chains of a node: modules as they are loaded, live endpoints with their watchers, the sandbox's ledgers. */
import { createChainBook } from '../actors/account/chain-book.ts';
import type { ChainBook } from '../actors/account/decision.ts';
import type { ActorSystem } from '../actors/kernel/index.ts';
import { createChainAccess } from '../chain-watchers/chain-access.ts';
import { createRegistryFollower } from '../chain-watchers/follow-registry.ts';
import { networkWith, openLiveChains, startWatchers } from '../chain-watchers/live.ts';
import { createSandbox } from '../chain-watchers/sandbox/sandbox.ts';
import type { ChainModule, Network } from '../chains/chain.ts';
import { isEnabled, loadModule, networkOf } from '../chains/registry.ts';
import { TokensInForce } from '../chains/tokens.ts';
import type { RegistryFollower } from '../model/ports/registry-follower.ts';
import type { Metrics } from '../gateway/telemetry/metrics.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { ChainAccess } from '../model/ports/chain-access.ts';
import type { SandboxControl } from '../model/ports/sandbox-control.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import { FAMILY_OF, type Chain, type Family } from '../protocol/slugs.ts';
import type { Logger } from 'pino';
import type { CloudConfig } from './config.ts';

/** Due sandbox timers are looked for this often. */
const SANDBOX_SWEEP_MS = 500;

/** Modules of this process, loaded when a chain is first used: an SDK costs up to a second and tens of megabytes. */
export interface ModuleShelf {
  load(chain: Chain): Promise<ChainModule>;
  network(chain: Chain): Network;
  /** The registry in force on this node. */
  readonly tokens: TokensInForce;
  readonly book: ChainBook;
}

/** A shelf whose networks carry the operator's confirmations. */
export function createModuleShelf(config: Pick<CloudConfig, 'chains'>): ModuleShelf {
  const loaded = new Map<Family, ChainModule>();
  const network = (chain: Chain): Network => networkWith(networkOf(chain), config.chains[chain]?.confirmations ?? null);
  const { facts } = createChainBook([]);
  return {
    network,
    tokens: new TokensInForce(),
    async load(chain) {
      const module = await loadModule(chain);
      loaded.set(FAMILY_OF[chain], module);
      return module;
    },
    book: { facts, network, module: (chain) => loaded.get(FAMILY_OF[chain]) ?? null },
  };
}

export interface Chains {
  readonly access: ChainAccess;
  readonly sandbox: SandboxControl;
  readonly registry: RegistryFollower;
  live(): readonly Chain[];
  /** Begins to follow the live chains and to run the sandbox's timers. */
  start(): void;
  /** Closes connections; the workers end with the actor system. */
  stop(): Promise<void>;
}

export interface ChainsParts {
  readonly config: CloudConfig;
  readonly shelf: ModuleShelf;
  readonly stores: Stores;
  readonly accounts: Accounts;
  readonly system: Pick<ActorSystem, 'spawnWorker'>;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Clients of every configured chain, and the sandbox. Contacts nobody before `start` or the first question. */
export async function openChains({
  config,
  shelf,
  stores,
  accounts,
  system,
  metrics,
  nowMs,
  log,
}: ChainsParts): Promise<Chains> {
  const shared = {
    networkOf: shelf.network,
    isEnabled,
    loadModule: shelf.load,
    tokens: shelf.tokens,
    watch: stores.watch,
    audit: stores.audit,
    accounts,
    nowMs,
    log,
  };
  const registry = createRegistryFollower({
    tokens: shelf.tokens,
    store: stores.registry,
    keys: new Set(config.REGISTRY_KEYS),
    log,
  });
  await registry.look();
  const live = await openLiveChains({
    ...shared,
    chains: config.chains,
    hedgeMs: config.RPC_HEDGE_MS,
    random: Math.random,
    metrics,
  });
  for (const chain of live.unsupported)
    log.warn({ chain }, 'endpoints are configured for a chain that this version does not run');
  const sandbox = createSandbox({ ...shared, sandbox: stores.sandbox });
  return {
    access: createChainAccess(live.chains, sandbox.ledgers, shelf.network, shelf.tokens),
    sandbox: sandbox.control,
    registry,
    live: () => [...live.chains.keys()],
    start() {
      startWatchers(live, system, { log });
      system.spawnWorker<'sweep'>({
        path: 'schedules/sandbox',
        recover: ({ sendSelf }) => {
          sendSelf('sweep');
        },
        async receive(message, { timers, sendSelf, signal }) {
          await sandbox.sweep();
          if (!signal.aborted) timers.after(SANDBOX_SWEEP_MS, () => sendSelf(message));
        },
      });
    },
    stop: () => live.close(),
  };
}
