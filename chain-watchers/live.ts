/**
 * The live chains of a node: for each configured one its endpoints, a client over all of them, a witness per endpoint,
 * and a watcher. `openLiveChains` is enough to build, quote and submit; `startWatchers` begins to follow. Each chain
 * has its own worker, so that a slow one delays no other (chains.md 10.6). Heads are polled: a push feed would be a
 * hint to poll, no more (G11), and there is none.
 */
import type { ChainClient, ChainModule, Network, Transport } from '../chains/chain.ts';
import type { ActorSystem } from '../actors/kernel/index.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { AuditStore } from '../model/ports/audit-store.ts';
import type { EndpointView } from '../model/ports/chain-access.ts';
import type { WatchStore } from '../model/ports/watch-store.ts';
import { CHAINS, type Chain } from '../protocol/slugs.ts';
import { createAudit, type Audit } from './audit/audit.ts';
import { startOf } from './follow/beginning.ts';
import type { LiveBinding } from './chain-access.ts';
import { chainFailure } from '../chains/failure.ts';
import type { Tokens } from '../chains/tokens.ts';
import type { Condition } from './memory.ts';
import { createDoubts, fitClient, type Doubts } from './node-health.ts';
import { pollMsOf, silentAfterMs } from './follow/head.ts';
import type { Log, Metrics, WatcherParts } from './ports.ts';
import {
  createFailoverTransport,
  wallTimer,
  type EndpointHealth,
  type FailoverTransport,
} from '../chains/transport/failover.ts';
import { createEndpointWatch, type EndpointWatch, type Finding } from '../chains/transport/endpoint-watch.ts';
import { leftAlone } from '../chains/transport/left-alone.ts';
import { createHttpEndpoint, type HttpEndpoint } from '../chains/transport/http-endpoint.ts';
import { oneEndpoint } from './follow/one-endpoint.ts';
import { WHY } from './follow/quorum.ts';
import { IDENTITY_EVERY_MS, Rounds, type Moment, type Step, type Ticked } from './rounds.ts';
import { HEDGE_MS, withSecondOpinion } from './second-opinion.ts';
import { createTokenCheck } from './follow/token-check.ts';
import { tokenStartsOf } from './follow/token-starts.ts';
import { createWatcher, type TickReport, type Watcher } from './watcher.ts';

/** One chain's settings, from the environment: `ETH_RPC_URLS`, `ETH_CONFIRMATIONS`, … Null takes the network's own. */
export interface LiveChainSettings {
  readonly rpcUrls: readonly string[];
  readonly confirmations: number | null;
  readonly pollMs: number | null;
  readonly startHeight: number | null;
  /** G10: when a second look through the only endpoint counts; one block time unless it is set. */
  readonly secondReadMs?: number | null;
  /** V6: a block that no endpoint traces waits. */
  readonly tracesRequired?: boolean;
}

export interface LiveDeps {
  readonly chains: Partial<Record<Chain, LiveChainSettings>>;
  networkOf(chain: Chain): Network;
  isEnabled(chain: Chain): boolean;
  loadModule(chain: Chain): Promise<ChainModule>;
  readonly tokens: Tokens;
  readonly watch: WatchStore;
  readonly audit: AuditStore;
  readonly accounts: Pick<Accounts, 'wake' | 'ask'>;
  nowMs(): number;
  /** A monotonic clock; the process's own where absent. */
  elapsedMs?(): number;
  /** In [0, 1): jitter of backoffs. */
  random(): number;
  /** RPC_HEDGE_MS: an endpoint that has not answered for so long is not waited for while another one answers. */
  readonly hedgeMs?: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface LiveChain extends LiveBinding {
  readonly watcher: Watcher;
  readonly audit: Audit;
  readonly pollMs: number;
  /** What each endpoint's state is now. */
  endpoints(): EndpointHealth[];
  /** Whether the nodes' network identities are checked ahead of schedule. */
  readonly doubts: Doubts;
  /** Makes it durable since when this chain is run, and at which height it begins where that is configured. */
  begin(): Promise<void>;
  /** K4, K18: compares tokens with the chain; returns how many of them the chain has not reported. */
  checkTokens(): Promise<number>;
  /** Version of the token registry that it was opened with. */
  readonly registry: number;
}

export interface LiveChains {
  readonly chains: ReadonlyMap<Chain, LiveChain>;
  /**
   * The chain, opened anew where another registry is in force than the one that it was opened with: what reads it holds
   * its tokens from the beginning. K12.
   */
  current(chain: Chain): Promise<LiveChain>;
  /** Chains that are configured and have no module here. */
  readonly unsupported: readonly Chain[];
  /** Closes all connections. */
  close(): Promise<void>;
}

const BLOCKS_PER_TICK = 64;
const READ_AHEAD = 8;
/** V24: at least 3. */
const CONTENT_TRIES = 4;
const REMATCH_MS = 60_000;
/** Balances that a block may cost where internal transfers are not seen. */
const RECONCILED_PER_BLOCK = 20;
/** The audit's pace: a few balances now and then, for ever. */
const AUDIT_EVERY_MS = 5_000;
const AUDITED_PER_ROUND = 25;

/** Clients and watchers of every configured chain that has a module. Contacts nobody yet. */
export async function openLiveChains(deps: LiveDeps): Promise<LiveChains> {
  const chains = new Map<Chain, LiveChain>();
  const endpoints: HttpEndpoint[] = [];
  const unsupported: Chain[] = [];
  for (const chain of CHAINS) {
    const settings = deps.chains[chain];
    if (settings === undefined || settings.rpcUrls.length === 0) continue;
    if (!deps.isEnabled(chain)) unsupported.push(chain);
    else chains.set(chain, await openChain(deps, chain, settings, endpoints));
  }
  const close = async () => {
    await Promise.all(endpoints.map((endpoint) => endpoint.close()));
  };
  const current = async (chain: Chain): Promise<LiveChain> => {
    const known = chains.get(chain)!;
    if (known.registry === deps.tokens.current.version) return known;
    const opened = await openChain(deps, chain, deps.chains[chain]!, endpoints);
    chains.set(chain, opened);
    return opened;
  };
  return { chains, current, unsupported, close };
}

/** A threshold of the operator's own widens the reorg window with it. G15. */
export function networkWith(network: Network, confirmations: number | null, tracesRequired = false): Network {
  const one = tracesRequired ? { ...network, tracesRequired } : network;
  if (confirmations === null) return one;
  return { ...one, threshold: confirmations, reorgWindow: Math.max(network.reorgWindow, 2 * confirmations) };
}

/**
 * V6: reports when an endpoint that used to trace blocks stops doing so. Payments from inside contracts may then be
 * missed.
 */
function reportTraces(
  { log, metrics }: Pick<LiveDeps, 'log' | 'metrics'>,
  chain: Chain,
  endpoint: string,
  offered: boolean,
): void {
  metrics.set('svc_traces_lost', { chain, endpoint }, offered ? 0 : 1);
  if (offered) log.info({ chain, endpoint }, 'the endpoint traces blocks again');
  else
    log.error(
      { chain, endpoint },
      'the endpoint traced blocks and does not any more: where no other one traces, internal transfers are not seen',
    );
}

/** The endpoints of a chain as one transport that tracks their health. `opened` gets them for the end. */
function openEndpoints(
  deps: LiveDeps,
  { slug: chain, blockTimeMs }: Network,
  rpcUrls: readonly string[],
  opened: HttpEndpoint[],
  doubts: Doubts,
): { watch: EndpointWatch; transport: FailoverTransport } {
  const watch = createEndpointWatch(chain, {
    ...deps,
    nextLookMs: (name) => nextLookOf(transport, name),
    onReturn: doubts.raise,
  });
  const endpoints = rpcUrls.map((url, index) =>
    leftAlone(chain, watch.watched(createHttpEndpoint({ chain, name: `${chain}-${index + 1}`, url })), () => transport),
  );
  opened.push(...endpoints);
  const transport = createFailoverTransport({
    chain,
    endpoints,
    elapsedMs: elapsedOf(deps),
    random: deps.random,
    blockTimeMs,
    onReport: watch.onReport,
    hedge: { ms: deps.hedgeMs ?? HEDGE_MS, timer: wallTimer },
    onTraces: ({ name }, offered) => reportTraces(deps, chain, name, offered),
  });
  return { watch, transport };
}

const elapsedOf = ({ elapsedMs = () => performance.now() }: Pick<LiveDeps, 'elapsedMs'>) => elapsedMs;

async function openChain(
  deps: LiveDeps,
  chain: Chain,
  settings: LiveChainSettings,
  opened: HttpEndpoint[],
): Promise<LiveChain> {
  const network = networkWith(deps.networkOf(chain), settings.confirmations, settings.tracesRequired);
  const module = await deps.loadModule(chain);
  const { version: registry } = deps.tokens.current,
    catalogue = deps.tokens.catalogueOf(chain);
  const doubts = createDoubts();
  const { watch, transport } = openEndpoints(deps, network, settings.rpcUrls, opened, doubts);
  const client = module.createClient(network, transport, catalogue);
  const witnesses = narrowed(chain, transport).map((one) => module.createClient(network, one, catalogue));
  const { watch: store, log, metrics } = deps,
    tokens = createTokenCheck({ network, catalogue, client, store, elapsedMs: elapsedOf(deps), log, metrics });
  const parts: WatcherParts = {
    ledger: chain,
    network,
    module,
    client,
    witnesses,
    get catalogue() {
      return tokens.catalogue();
    },
    registry,
    tokenStarts: tokenStartsOf(deps.watch, chain, () => registry),
    doubtNetwork: doubts.raise,
    knowHead: transport.knowHead,
    store: deps.watch,
    audit: deps.audit,
    accounts: deps.accounts,
    reconcilePerBlock: RECONCILED_PER_BLOCK,
    settings: {
      start: settings.startHeight ?? 'head',
      blocksPerTick: BLOCKS_PER_TICK,
      readAhead: READ_AHEAD,
      contentTries: CONTENT_TRIES,
      secondReadMs: settings.secondReadMs ?? network.blockTimeMs,
      silentMs: silentAfterMs(network),
      rematchMs: REMATCH_MS,
      asksAtEachTick: false,
    },
    nowMs: deps.nowMs,
    elapsedMs: elapsedOf(deps),
    log: deps.log,
    metrics: deps.metrics,
  };
  const watcher = createWatcher(parts),
    agreeing = { ...parts, client: heard(deps, parts, watcher) };
  return {
    registry,
    module,
    network,
    client: fitClient({ ...agreeing, isAhead: () => watcher.conditionOf(0) === 'ahead' }, IDENTITY_EVERY_MS, doubts),
    watcher,
    doubts,
    audit: createAudit(agreeing),
    stopped: () => watcher.stopped(),
    ...beginningOf(deps, parts),
    pollMs: settings.pollMs ?? pollMsOf(network),
    endpoints: () => transport.health(),
    checkTokens: tokens.run,
    endpointViews: () =>
      transport.endpoints.map(({ name }, index) => ({
        endpoint: name,
        ...viewOf(watch.findingOf(name), watcher.conditionOf(index)),
        nextLookMs: nextLookOf(transport, name),
      })),
    get catalogue() {
      return tokens.catalogue();
    },
  };
}

/**
 * The state of an endpoint as an operator sees it: first from its own requests, then whether blocks wait for its
 * report.
 */
export function viewOf(requests: Finding | null, condition: Condition): Omit<EndpointView, 'endpoint' | 'nextLookMs'> {
  const { state, reason, next, network, sinceMs } = requests ?? UNASKED;
  if (state === 'down' || state === 'wrong_network' || condition === 'alive')
    return { state, reason, next, network, sinceMs };
  const isSilent = condition === 'silent' || condition === 'unheard';
  return { state: isSilent ? 'down' : condition, reason: WHY[condition], next, network, sinceMs: null };
}
const UNASKED = { state: 'unknown', reason: null, next: null, network: null, sinceMs: null } as const;

const nextLookOf = (transport: FailoverTransport, name: string): number | null =>
  transport.health().find((one) => one.name === name)?.nextLookMs ?? null;

/** The client for customers' questions: two endpoints answer where there are several. */
function heard(
  { hedgeMs = HEDGE_MS }: LiveDeps,
  parts: WatcherParts,
  { counts }: Pick<Watcher, 'counts'>,
): ChainClient {
  if (parts.witnesses.length < 2) return parts.client;
  return withSecondOpinion({ ...parts, counts, timer: wallTimer, hedgeMs });
}

/** How long the issue of an address waits for the first word of a chain's nodes, in milliseconds. */
const FIRST_HEAD_MS = 2_000;

function beginningOf(deps: LiveDeps, parts: WatcherParts): Pick<LiveChain, 'begin' | 'begun'> {
  const { store, ledger, settings, client } = parts;
  let isBegun = false;
  let looking: Promise<boolean> | null = null;
  const begin = async () => {
    await store.beginChain(ledger, deps.nowMs());
    if (settings.start !== 'head') await store.noteChainStart(ledger, settings.start);
  };
  const look = async (): Promise<boolean> => {
    await begin();
    const known = await store.chainStart(ledger);
    if (known === null || known.height === null) {
      try {
        await client.checkIdentity();
        await startOf(parts, (await client.getHead()).height);
      } catch (error) {
        if (chainFailure(error) === null) throw error;
        return false;
      }
    }
    return (isBegun = true);
  };
  return {
    begin,
    async begun() {
      if (isBegun) return true;
      looking ??= look().finally(() => {
        looking = null;
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(resolve, FIRST_HEAD_MS, false);
      });
      return Promise.race([looking, late]).finally(() => clearTimeout(timer));
    },
  };
}

/** A transport for each endpoint. A single one needs no witness: the client is it. */
function narrowed(chain: Chain, transport: FailoverTransport): Transport[] {
  return transport.endpoints.length === 1
    ? []
    : transport.endpoints.map((endpoint) => oneEndpoint(chain, transport, endpoint));
}

type Message = { readonly type: 'tick' };
type Spawner = Pick<ActorSystem, 'spawnWorker'>;

/** Starts a worker for each chain, and one for its audit. They live until the actor system stops. */
export function startWatchers(live: LiveChains, system: Spawner, deps: Pick<LiveDeps, 'elapsedMs' | 'log'>): void {
  for (const [chain, one] of live.chains) {
    startChain(system, deps, live, chain, one);
    startAudit(system, live, chain);
  }
}

function startChain(
  system: Spawner,
  deps: Pick<LiveDeps, 'elapsedMs' | 'log'>,
  live: Pick<LiveChains, 'current'>,
  chain: Chain,
  first: LiveChain,
): void {
  const elapsedMs = elapsedOf(deps);
  let one = first,
    rounds = new Rounds(one.pollMs);
  let last: TickReport | null = null;
  const moment = (): Moment => ({
    elapsedMs: elapsedMs(),
    doubts: one.doubts.raised(),
    isOut: one.endpoints().some(({ state }) => state === 'wrong_network'),
  });
  const perform = async (step: Step): Promise<Step | null> => {
    if (step.work === 'begin') await one.begin();
    else if (step.work === 'identify') await one.client.checkIdentity();
    else if (step.work === 'check_tokens') await one.checkTokens();
    else {
      last = await one.watcher.tick();
      rounds.ticked(step, tickedOf(last));
      return null;
    }
    return rounds.done(step, moment());
  };
  system.spawnWorker<Message>({
    path: `watchers/${chain}`,
    recover({ sendSelf }) {
      rounds.faulted();
      sendSelf({ type: 'tick' });
    },
    async receive(message, { timers, sendSelf, signal }) {
      const current = await live.current(chain);
      if (current !== one) {
        one = current;
        rounds = new Rounds(one.pollMs);
      }
      let step = rounds.begin(moment());
      try {
        while (step !== null) step = await perform(step);
      } catch (error) {
        const reason = chainFailure(error);
        if (reason === null) throw error;
        rounds.failed(step!);
        deps.log.warn({ chain, reason }, 'chain is not what it must be, or cannot be asked');
        await one.watcher.look();
      }
      if (signal.aborted) rounds.end();
      const pauseMs = rounds.pauseMs();
      if (pauseMs !== null) timers.after(pauseMs, () => sendSelf(message));
    },
    summarise: () => ({
      chain,
      state: rounds.state,
      cursor: last?.cursor?.height ?? null,
      head: last?.headHeight ?? null,
      stopped: one.stopped(),
      failures: last?.failures.map(({ job, reason }) => `${job}: ${reason}`) ?? [],
      endpoints: one.endpoints(),
    }),
  });
}

const tickedOf = ({ more, failures, superseded, stopped }: TickReport): Ticked => ({
  more,
  superseded,
  stopped: stopped !== null,
  failed: failures.some(({ job }) => job === 'follow'),
});

function startAudit(system: Spawner, live: Pick<LiveChains, 'chains'>, chain: Chain): void {
  system.spawnWorker<Message>({
    path: `audits/${chain}`,
    recover: ({ timers, sendSelf }) => {
      timers.after(AUDIT_EVERY_MS, () => sendSelf({ type: 'tick' }));
    },
    async receive(message, { timers, sendSelf, signal }) {
      const one = live.chains.get(chain)!;
      if (one.stopped() === null) await one.audit.round(AUDITED_PER_ROUND);
      if (!signal.aborted) timers.after(AUDIT_EVERY_MS, () => sendSelf(message));
    },
  });
}
