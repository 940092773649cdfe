/**
 * A cloud node, wired: the tree of actors, the stores, the chains, the gateway, the edge stream, the publisher and the
 * schedules. Which of them run is `ROLES`; the order of starting is the order below, the order of stopping its reverse.
 */
import { createAccountEntity, type AccountReply } from '../actors/account/account.ts';
import { initialAccount } from '../model/account/state.ts';
import { summariseAccount } from '../actors/account/summary.ts';
import { createWayOut } from '../actors/outgoing/way-out.ts';
import { startBridger } from '../actors/bridge/worker.ts';
import { startClocks } from '../actors/sandbox/rounds.ts';
import { startSweeper } from '../actors/sweep/worker.ts';
import { createCctpApi } from '../gateway/attestation/cctp-api.ts';
import { warnOfClosedSso } from '../gateway/http/auth/closed-sso.ts';
import { createSystem, systemClock, type ActorSystem, type Entities } from '../actors/kernel/index.ts';
import type { AccountCommand, AccountEvent, AccountState, RowWrite } from '../model/account/capabilities.ts';
import { LADDER, type Ladder } from '../actors/webhook/ladder.ts';
import type { Publisher } from '../actors/webhook/ports.ts';
import { createPublisher } from '../actors/webhook/publisher.ts';
import { checkoutConfigOf } from '../gateway/http/payment/checkout-settings.ts';
import { EdgeRooms } from '../gateway/edge-stream/rooms.ts';
import { attachEdgeStream } from '../gateway/edge-stream/server.ts';
import { createMetrics, type Metrics } from '../gateway/telemetry/metrics.ts';
import { sweepFigures } from '../gateway/telemetry/sweep-figures.ts';
import { keepOfNode } from '../gateway/cli/operator/doctor.ts';
import { billingProviderOf } from '../gateway/billing-provider/settings.ts';
import { createConsole } from '../console/open.ts';
import { createDocs } from '../docs/site/open.ts';
import { outsideIssuerOf, providersOf } from '../gateway/http/auth/provider-settings.ts';
import { createGateway, type Gateway } from '../gateway/http/server.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { GatewayConfig } from '../gateway/deps.ts';
import { createStores, type Stores } from '../persistence/postgres/stores.ts';
import { createLists, type Lists } from '../persistence/postgres/list-pool.ts';
import { openDatabase, openLists, type Sql } from '../persistence/postgres/sql.ts';
import { createStatementTimes, STATEMENT_NAMES, type StatementTimes } from '../persistence/postgres/statement-times.ts';
import type { AccountId } from '../protocol/ids.ts';
import type { Chain } from '../protocol/slugs.ts';
import { shardOf } from '../protocol/node/ids.ts';
import { createCertificateLook } from '../protocol/node/certificate-look.ts';
import { listeningProblem } from '../protocol/node/listening.ts';
import type { Logger } from 'pino';
import { createAccounts, type AccountsDeps } from '../actors/account/port.ts';
import { openTurn } from './cluster.ts';
import type { Reach, Turn } from '../cluster/turn.ts';
import { createModuleShelf, openChains, type Chains, type ModuleShelf } from './chains.ts';
import { ConfigurationError, type CloudConfig } from './config.ts';
import { drain, type DrainStep } from './drain.ts';
import { createGaugeReader } from '../gateway/telemetry/gauge-reader.ts';
import { startMail } from './mail.ts';
import { pausedWorkers } from '../cluster/paused-workers.ts';
import { ENTITY_RESTARTS, restartPolicy, WORKER_RESTARTS } from '../actors/kernel/restart-policy.ts';
import type { HeartbeatDeps } from '../cluster/heartbeat.ts';
import { startOwnSchedules, startSchedules } from './schedules.ts';
import { openRateLimiter } from './rate-limiter.ts';
import type { SecretBox } from '../model/ports/secret-box.ts';
import { createSecretBox } from '../persistence/secret-box.ts';

export interface CloudNode {
  readonly url: string;
  readonly port: number;
  readonly system: ActorSystem;
  stop(): Promise<void>;
}

/** Limits that are no setting: they hold what an issue promises, and differ where a process is more than a node. */
export type NodeLimits = Pick<HeartbeatDeps, 'beatLimitMs'>;

const nowMs = Date.now;
/** Purges, daily rounds, backlogs, mail. */
const BACKGROUND_CONNECTIONS = 2;

/** Starts a node and resolves when it serves. Throws: what keeps it from starting. */
export async function startCloudNode(config: CloudConfig, log: Logger, limits: NodeLimits = {}): Promise<CloudNode> {
  const steps: DrainStep[] = [];
  try {
    return await start({ ...config, ...limits }, log, steps);
  } catch (error) {
    await drain([...steps].reverse(), log);
    throw error;
  }
}

type Later = (name: string, limitMs: number, stop: DrainStep['stop']) => void;

async function start(config: CloudConfig & NodeLimits, log: Logger, steps: DrainStep[]): Promise<CloudNode> {
  const later: Later = (name, limitMs, stop) => {
    steps.push({ name, limitMs, stop });
  };
  // Before anything is taken from the nodes that serve.
  const place = { host: config.HOST, port: config.CLOUD_PORT, hostSetting: 'HOST', portSetting: 'CLOUD_PORT' };
  const problem = await listeningProblem(place);
  if (problem !== null) throw new ConfigurationError([problem]);
  const ground = await openGround(config, log, later, (entries) => metrics.observeAppendBatch(entries));
  const { presence, stores, secrets, system, shelf } = ground;
  const { accounts: ownAccounts, entities } = startAccounts({
    config,
    log,
    stores,
    system,
    shelf,
    onPublished: (accountId) => publisher.ring(accountId),
    onPoolUsed: (accountId) => {
      void rooms.replenish(accountId);
    },
  });
  const rooms = new EdgeRooms({
    isHere: (shard) => presence.serves(shard),
    accounts: { ask: (accountId, command) => reach.accounts.ask(accountId, command) },
    store: stores.edge,
    publisher: () => publisher,
    clock: systemClock,
    log,
    leaseTtlMs: config.EDGE_LEASE_TTL * 1_000,
  });
  const reach = presence.reach({ accounts: ownAccounts, edges: rooms, reads: stores.read, actors: system });
  const { accounts } = reach;
  const metrics: Metrics = openMetrics(ground, rooms, config, () => chains.live());
  const publisher = createPublisher({
    node: reach.nodes.self,
    store: stores.deliveries,
    streams: rooms,
    secrets,
    clock: systemClock,
    random: Math.random,
    log,
    ladder: ladderOf(config),
    simulated: { takeEndpointFailures: (attempts) => chains.sandbox.takeEndpointFailures(attempts) },
    hooks: {
      onDelivered: (latencyMs) => metrics.observeDelivery('delivered', latencyMs / 1_000),
      onAttempt: (attempt, status, lateMs) =>
        metrics.observeAttempt(attempt, status, lateMs === null ? null : lateMs / 1_000),
    },
  });
  const workers = pausedWorkers(system, (path) => presence.paused(path));
  const chains: Chains = await openChains({ config, shelf, stores, accounts, system: workers, metrics, nowMs, log });
  const wired: Wired = {
    ...ground,
    config,
    log,
    later,
    reach,
    entities,
    accounts,
    rooms,
    metrics,
    publisher,
    workers,
    chains,
  };
  const { gateway, url } = await openDoors(wired);
  await startWork(wired);
  return {
    url,
    port: Number(new URL(url).port),
    system,
    stop() {
      gateway.drain({ serving: presence.handOver !== null });
      return drain([...steps].reverse(), log);
    },
  };
}

/** What everything else rests on. */
interface Ground {
  readonly presence: Turn;
  readonly background: Stores;
  readonly stores: Stores;
  readonly secrets: SecretBox;
  readonly system: ActorSystem;
  readonly shelf: ModuleShelf;
  readonly statements: StatementTimes;
}

/** A node before it serves. */
interface Wired extends Ground {
  readonly config: CloudConfig;
  readonly log: Logger;
  readonly later: Later;
  readonly accounts: Accounts;
  readonly reach: Reach;
  readonly entities: { release(shards: ReadonlySet<number>, deadlineMs: number): Promise<void> };
  readonly rooms: EdgeRooms;
  readonly metrics: Metrics;
  readonly publisher: Publisher;
  /** Where workers run; they pause while another node serves. */
  readonly workers: Pick<ActorSystem, 'spawnWorker'>;
  readonly chains: Chains;
}

/** Connections, the turn of this node, the stores, the tree of actors. */
async function openGround(
  config: CloudConfig & NodeLimits,
  log: Logger,
  later: Later,
  onBatch: (entries: number) => void,
): Promise<Ground> {
  const statements = createStatementTimes();
  const sql = openDatabase({
    url: config.DATABASE_URL,
    connections: config.DATABASE_CONNECTIONS,
    name: config.NODE_NAME,
    watch: (client) => statements.watch(client, 'main', config.DATABASE_CONNECTIONS),
  });
  later('database', 1_000, () => sql.end({ timeout: 1 }));
  const presence = await openTurn(config, log, later),
    background = openBackground({ config, presence, statements }, later);
  const lists = openNodeLists(config, statements, later);
  const secrets = createSecretBox(config.sealKeys);
  const system = createTree(log);
  const stores = await openStores(config, presence, { sql, lists }, onBatch);
  return { presence, background, stores, secrets, system, shelf: createModuleShelf(config), statements };
}

function openMetrics(
  { stores, system, presence, statements }: Ground,
  rooms: EdgeRooms,
  config: CloudConfig,
  liveChains: Chains['live'],
): Metrics {
  return createMetrics(
    createGaugeReader({
      stores,
      system,
      nowMs,
      liveChains,
      streamCount: () => rooms.streamCount,
      statements,
      certificateDays: createCertificateLook(publicUrlOf(config), nowMs),
      examined: keepOfNode(config),
      shares: () => presence.shares(),
      isAway: () => presence.trouble() === 'database',
    }),
    Object.keys(config.chains) as Chain[],
    { statement: STATEMENT_NAMES },
  );
}

const wayOutOf = ({ accounts, chains, stores: { read: reads, sweeps }, config, log }: Wired) =>
  createWayOut({ accounts, chains: chains.access, reads, sweeps, screened: config.SCREENED_ADDRESSES, nowMs, log });

/** The gateway and the edge stream, which share a port. Resolves when requests are answered. */
async function openDoors(wired: Wired): Promise<{ gateway: Gateway; url: string }> {
  const { config, log, later, stores, accounts, chains, rooms, secrets, system, metrics, presence } = wired;
  const gateway = await createGateway({
    log,
    nowMs,
    stores: { ...stores, reads: stores.read },
    accounts,
    provider: billingProviderOf(config),
    chains: chains.access,
    registry: chains.registry,
    wayOut: wayOutOf(wired),
    edges: wired.reach.edges,
    sandbox: chains.sandbox,
    secrets,
    nodes: wired.reach.nodes,
    metrics,
    rateLimiter: openRateLimiter(config, { log, metrics, later, gateways: () => presence.gateways() }),
    health: () => healthOf(presence),
    serving: presence,
    console: createConsole({ developerMode: config.DEVELOPER_MODE }),
    docs: createDocs({ developerMode: config.DEVELOPER_MODE }),
    config: gatewayConfig(config),
  });
  later('actors', 3_000, () => system.stop(2_800));
  const url = await gateway.listen(config.HOST, config.CLOUD_PORT);
  later('gateway', 2_500, () => gateway.close());
  const stream = attachEdgeStream({
    httpServer: gateway.app.server,
    rooms,
    log,
    accounts,
    serving: presence,
    registry: chains.registry,
    outages: chains.sandbox,
    ...(wired.reach.elsewhere === undefined ? {} : { elsewhere: wired.reach.elsewhere }),
    ...gateway.auth,
  });
  later('edge streams', 500, () => stream.close());
  return { gateway, url };
}

/** What the roles of this node do by themselves, and what it takes and gives as nodes come and go. */
async function startWork(wired: Wired): Promise<void> {
  const { config, later, stores, rooms, publisher, chains, presence, entities } = wired;
  later('sessions', 500, () => rooms.stop());
  later('publisher', 1_000, () => publisher.stop());
  if (config.ROLES.includes('watchers')) chains.start();
  later('watchers', 500, () => chains.stop());
  startBackground(wired);
  await warnOfClosedSso(config.SSO_OIDC, wired.background.sso, wired.log);
  await presence.follow({ stores, rooms, entities, publisher: config.ROLES.includes('publisher') ? publisher : null });
  if (presence.handOver !== null) later('handover', 2_000, presence.handOver);
}

/** What the owner of accounts does by the clock, and with its role this node's part of what is done once over all. */
function startBackground(wired: Wired): void {
  const { config, log, later, workers, stores, background, accounts, chains, presence, reach } = wired;
  const parts = { system: workers, stores, background, accounts, chains: chains.access, nowMs, log };
  const isMine = (accountId: AccountId) => presence.serves(shardOf(accountId));
  startOwnSchedules({ ...parts, registry: chains.registry, buildTtlMs: config.BUILD_TTL * 1_000, isMine });
  const of = { ...stores, ...parts, reads: stores.read, edges: reach.edges, wayOut: wayOutOf(wired), isMine };
  const sweeping = { ...of, ...sweepFigures(wired.metrics), sandbox: chains.sandbox };
  startClocks(workers, { ...sweeping, stores: background });
  startSweeper(workers, { ...sweeping, debounceMs: config.SWEEP_DEBOUNCE * 1_000 });
  startBridger(workers, { ...of, attesters: createCctpApi(config) });
  if (!config.ROLES.includes('schedules')) return;
  const stopJobs = startSchedules({
    ...parts,
    ...billingProviderOf(config),
    dnsServers: config.DNS_SERVERS,
    ratesFile: config.RATES_FILE,
    nodeId: reach.nodes.self,
  });
  later('schedules', 100, async () => stopJobs());
  const mail = { stores: background, secrets: wired.secrets, metrics: wired.metrics };
  const closeMail = startMail({ ...parts, config, publicUrl: publicUrlOf(config), ...mail });
  later('mail', 100, async () => closeMail());
}

/** Lists have connections of their own. */
function openNodeLists(config: CloudConfig, statements: StatementTimes, later: Later): Lists {
  const timeoutMs = config.LIST_TIMEOUT_MS;
  const sql = openLists({
    url: config.DATABASE_URL,
    connections: config.LIST_CONNECTIONS,
    name: `${config.NODE_NAME}-lists`,
    timeoutMs,
    watch: (client) => statements.watch(client, 'lists', config.LIST_CONNECTIONS),
  });
  later('lists', 1_000, () => sql.end({ timeout: 1 }));
  return createLists(sql, { slots: config.LIST_CONNECTIONS, timeoutMs });
}

async function openStores(
  config: CloudConfig,
  presence: Turn,
  { sql, lists }: { sql: Sql; lists: Lists },
  onBatch: (entries: number) => void,
): Promise<Stores> {
  const stores = createStores({
    sql,
    lists,
    nowMs,
    initialAccount,
    epochOf: (shard) => presence.epochOf(shard),
    onBatch,
    buildTtlMs: config.BUILD_TTL * 1_000,
  });
  await stores.maintain(nowMs());
  return stores;
}

/** Stores for what may take its time: on connections of their own they take none of the money's. */
function openBackground(
  { config, presence, statements }: { config: CloudConfig; presence: Turn; statements: StatementTimes },
  later: Later,
): Stores {
  const sql = openDatabase({
    url: config.DATABASE_URL,
    connections: BACKGROUND_CONNECTIONS,
    name: `${config.NODE_NAME}-background`,
    watch: (client) => statements.watch(client, 'background', BACKGROUND_CONNECTIONS),
  });
  later('background connections', 500, () => sql.end({ timeout: 0 }));
  return createStores({ sql, nowMs, initialAccount, epochOf: (shard) => presence.epochOf(shard) });
}

/** Parts of `/health/ready`, as they are now. */
async function healthOf(presence: Turn): Promise<Readonly<Record<string, boolean>>> {
  await presence.look();
  return { database: presence.trouble() !== 'database', owner: presence.trouble() !== 'superseded' };
}

function startAccounts({
  config,
  log,
  stores,
  system,
  shelf,
  ...listeners
}: {
  config: CloudConfig;
  log: Logger;
  stores: Stores;
  system: ActorSystem;
  shelf: ModuleShelf;
} & Pick<AccountsDeps, 'onPublished' | 'onPoolUsed'>): {
  accounts: Accounts;
  entities: Pick<Entities<AccountCommand, AccountReply>, 'release'>;
} {
  const entities = system.entities<AccountState, AccountCommand, AccountEvent, RowWrite, AccountReply>({
    entity: createAccountEntity({
      book: shelf.book,
      pay: { payUrl: config.PAY_URL ?? publicUrlOf(config), monitorDays: config.LINK_MONITOR_DAYS },
    }),
    store: stores.accounts,
    shardOf,
    residentsMax: config.RESIDENT_ACCOUNTS_MAX,
    summarise: summariseAccount,
  });
  return { entities, accounts: createAccounts({ entities, inbox: stores.inbox, nowMs, log, ...listeners }) };
}

const ladderOf = ({ WEBHOOK_LADDER_SECONDS: rungs }: CloudConfig): Ladder =>
  rungs === undefined ? LADDER : { ...LADDER, pausesMs: rungs.slice(1).map((seconds) => seconds * 1_000) };

const publicUrlOf = (config: CloudConfig): string => config.PUBLIC_URL ?? `http://${config.HOST}:${config.CLOUD_PORT}`;

function gatewayConfig(config: CloudConfig): GatewayConfig {
  return {
    publicUrl: publicUrlOf(config),
    payUrl: config.PAY_URL ?? publicUrlOf(config),
    ...checkoutConfigOf(config),
    publicAuthorities: config.PUBLIC_AUTHORITIES,
    developerMode: config.DEVELOPER_MODE,
    signUp: config.SIGN_UP,
    sandboxRequestsPerMinute: config.SANDBOX_REQUESTS_PER_MINUTE,
    poolWaitMs: config.POOL_WAIT_MS,
    trustedProxies: config.TRUSTED_PROXIES,
    ...(config.SECURITY_CONTACT === undefined ? {} : { securityContact: config.SECURITY_CONTACT }),
    mayScrape: config.mayScrape,
    sso: providersOf(config),
    oidc: outsideIssuerOf(config),
    registryKeys: config.REGISTRY_KEYS,
  };
}

function createTree(log: Logger): ActorSystem {
  return createSystem({
    log,
    clock: systemClock,
    random: Math.random,
    policies: { entity: restartPolicy(ENTITY_RESTARTS), worker: restartPolicy(WORKER_RESTARTS) },
    hooks: { onGiveUp: (path, fault) => log.fatal({ path, fault }, 'an actor was given up') },
  });
}
