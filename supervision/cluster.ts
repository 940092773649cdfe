/**
 * The turn of a node: alone it serves everything or nothing, among several it serves its share and forwards the rest.
 * `CLUSTER_SECRET` says which. Everything that differs between the two is here.
 */
import type { Entities } from '../actors/kernel/index.ts';
import { createClusterAccounts } from '../cluster/accounts.ts';
import { Alone } from '../cluster/alone.ts';
import { CLUSTER_PROTOCOL, PROTOCOLS_TAKEN } from '../cluster/call-signature.ts';
import { CallTrust } from '../cluster/call-trust.ts';
import { createClusterEdges } from '../cluster/edge-streams.ts';
import type { HeartbeatDeps } from '../cluster/heartbeat.ts';
import { joinCluster, requireNoSharing } from '../cluster/join.ts';
import { Listener, type Operation } from '../cluster/listener.ts';
import { Membership } from '../cluster/membership.ts';
import { createNodes, type OwnActors } from '../cluster/nodes.ts';
import { Peers } from '../cluster/peers.ts';
import { createRoleWatch } from '../cluster/roles.ts';
import { Router, unrouted } from '../cluster/router.ts';
import { systemClock } from '../actors/kernel/timers.ts';
import type { OwnFigures } from '../gateway/telemetry/gauges.ts';
import type { Elsewhere } from '../gateway/edge-stream/server.ts';
import type { EdgeRooms } from '../gateway/edge-stream/rooms.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { EdgeStreams } from '../model/ports/edge-streams.ts';
import type { NodeAbout, Nodes } from '../model/ports/nodes.ts';
import type { Serving } from '../model/ports/serving.ts';
import { createOwnership } from '../persistence/postgres/account-store.ts';
import { isAway } from '../persistence/postgres/away.ts';
import { createClusterStore } from '../persistence/postgres/cluster-store.ts';
import { durabilityProblem, readDurability } from '../persistence/postgres/durability.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import type { Stores } from '../persistence/postgres/stores.ts';
import { openDoorbell } from '../persistence/redis/doorbell.ts';
import { listenFault } from '../protocol/node/listening.ts';
import { newUuid, SHARD_COUNT } from '../protocol/node/ids.ts';
import type { Chain } from '../protocol/slugs.ts';
import { VERSION } from '../protocol/version.ts';
import type { Logger } from 'pino';
import { ConfigurationError, type CloudConfig } from './config.ts';
import type { DrainStep } from './drain.ts';

/** A heartbeat that waits for longer fails, so that the next one has a new connection. */
const PRESENCE_SILENCE_MS = 3_000;
const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);
/** What is at work in accounts that move has this long to end; then the next owner fences it. */
const HANDOVER_MS = 800;
const nowMs = Date.now;

/** Parts that follow when shards come and go. */
export interface Following {
  readonly stores: Pick<Stores, 'deliveries'>;
  readonly rooms: EdgeRooms;
  readonly entities: Pick<Entities<never, never>, 'release'>;
  /** Null on a node without that role. */
  readonly publisher: { start(): void; stop(): Promise<void> } | null;
}

/** Doors of a node, as its rooms use them. */
export interface Reach {
  readonly accounts: Accounts;
  readonly edges: EdgeStreams;
  readonly nodes: Nodes;
  /** Streams of accounts elsewhere; undefined on a node that serves alone. */
  readonly elsewhere: Elsewhere | undefined;
}

export interface Turn extends Serving {
  epochOf(shard: number): number | undefined;
  look(): Promise<void>;
  /** True while a worker has nothing to do on this node. */
  paused(path: string): boolean;
  /** Whether the accounts of a shard are served here: what every node does for its own accounts alone. */
  serves(shard: number): boolean;
  /** What the nodes together leave undone, as this one knows. */
  shares(): Pick<OwnFigures, 'shardsUnowned' | 'chainUnfollowed' | 'roleUnserved' | 'callsRefused'>;
  /** What the rooms use in place of what is on this node. */
  reach(local: { accounts: Accounts; edges: EdgeRooms; reads: Stores['read']; actors: OwnActors }): Reach;
  /** From now on the parts follow, and the shards of this node are served. */
  follow(parts: Following): Promise<void>;
  /** The first step of a stop; null where requests are refused from then on. */
  readonly handOver: (() => Promise<void>) | null;
}

export type TurnConfig = CloudConfig & Pick<HeartbeatDeps, 'beatLimitMs'>;
type Later = (name: string, limitMs: number, stop: DrainStep['stop']) => void;

/** The turn of this node; a connection of its own, so that no backlog delays its heartbeat. */
export async function openTurn(config: TurnConfig, log: Logger, later: Later): Promise<Turn> {
  const sql = openDatabase({
    url: config.DATABASE_URL,
    connections: 1,
    name: `${config.NODE_NAME}-presence`,
    silenceMs: PRESENCE_SILENCE_MS,
  });
  later('presence connection', 500, () => sql.end({ timeout: 0 }));
  const heartbeat: HeartbeatDeps & { nodeId: string } = {
    nodeId: `${config.NODE_NAME}/${newUuid(nowMs())}`,
    leaseSeconds: config.NODE_LEASE_SECONDS,
    log,
    isAway,
    durability: async () => durabilityProblem(await readDurability(sql)),
    durabilityRequired: config.DATABASE_DURABILITY === 'required',
    ...(config.beatLimitMs === undefined ? {} : { beatLimitMs: config.beatLimitMs }),
  };
  const about = {
    version: VERSION,
    protocol: CLUSTER_PROTOCOL,
    protocolsTaken: PROTOCOLS_TAKEN,
    roles: config.ROLES,
    chains: Object.keys(config.chains) as Chain[],
  };
  return config.clusterSecrets.length === 0
    ? openAlone(heartbeat, about, sql, later)
    : openShare(config, heartbeat, about, sql, later);
}

async function openAlone(
  heartbeat: HeartbeatDeps & { nodeId: string },
  about: NodeAbout,
  sql: ReturnType<typeof openDatabase>,
  later: Later,
): Promise<Turn> {
  const alone = new Alone({ ...heartbeat, ownership: createOwnership(sql) });
  const { nodeId, leaseSeconds } = heartbeat;
  const store = createClusterStore(sql);
  await requireNoSharing(store, leaseSeconds);
  const roles = createRoleWatch(heartbeat.log);
  roles.look([about]);
  await alone.claim();
  await store.describe(nodeId, about);
  alone.start();
  later('presence', 1_000, () => alone.stop());
  return {
    epochOf: (shard) => alone.epochOf(shard),
    look: () => alone.look(),
    trouble: () => alone.trouble(),
    whileServing: (work) => alone.whileServing(work),
    isAway: (error) => alone.isAway(error),
    paused: () => alone.trouble() === 'superseded',
    serves: () => true,
    shares: () => ({
      shardsUnowned: alone.trouble() === null ? 0 : SHARD_COUNT,
      chainUnfollowed: Object.fromEntries(
        about.chains.map((chain) => [chain, alone.trouble() === null && about.roles.includes('watchers') ? 0 : 1]),
      ),
      roleUnserved: roles.unserved(),
      callsRefused: {},
    }),
    reach: ({ accounts, edges, actors }) => ({
      accounts,
      edges,
      elsewhere: undefined,
      nodes: createNodes({ self: nodeId, store, leaseSeconds, actors }).nodes,
    }),
    async follow({ stores, rooms, publisher }) {
      const begin = async () => {
        await stores.deliveries.releaseAbandoned(ALL_SHARDS);
        await rooms.start();
        publisher?.start();
      };
      await begin();
      alone.follow({
        async superseded() {
          await publisher?.stop();
          await rooms.stop();
        },
        regained: begin,
      });
    },
    handOver: null,
  };
}

async function openShare(
  config: TurnConfig,
  heartbeat: HeartbeatDeps & { nodeId: string },
  about: NodeAbout,
  sql: ReturnType<typeof openDatabase>,
  later: Later,
): Promise<Turn> {
  const { clusterSecrets: secrets, INTERNAL_HOST: host } = config;
  const { nodeId, log, leaseSeconds } = heartbeat;
  const store = createClusterStore(sql);
  const operations: Record<string, Operation> = {};
  const trust = new CallTrust({ nodeId, secrets, nowMs, elapsedMs: () => performance.now() });
  const listener = new Listener({ trust, operations, elapsedMs: () => performance.now(), log: log as Logger });
  const place = { host, port: config.INTERNAL_PORT, hostSetting: 'INTERNAL_HOST', portSetting: 'INTERNAL_PORT' };
  const port = await listener.listen(host, place.port).catch((error: unknown) => {
    const problem = listenFault(error, place);
    throw problem === null ? error : new ConfigurationError([problem]);
  });
  later('internal listener', 1_000, () => listener.close());
  const url = config.INTERNAL_URL ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const newId = () => newUuid(nowMs());
  await joinCluster({ store, nodeId, url, about, secrets, leaseSeconds, newId, nowMs });
  // A start that fails from here on leaves the others no member to make room for.
  later('membership', 500, () => store.leave(nodeId));
  const doorbell = openDoorbell(config.REDIS_URL, later);
  const peers = new Peers({ trust });
  later('calls to other nodes', 500, () => peers.close());
  const roles = createRoleWatch(log);
  const membership = new Membership({
    ...heartbeat,
    store,
    url,
    about,
    doorbell,
    onMembers(members) {
      trust.know(members);
      peers.keepOnly(new Set(members.flatMap((member) => member.url ?? [])));
      roles.look(members.flatMap((member) => member.about ?? []));
    },
  });
  await membership.join();
  membership.start();
  later('heartbeat', 1_000, () => membership.end());
  const router = new Router({ membership, peers, nodeId, clock: systemClock });
  return {
    epochOf: (shard) => membership.epochOf(shard),
    look: () => membership.look(),
    trouble: () => membership.trouble(),
    whileServing: (work) => membership.whileServing(work),
    isAway: (error) => membership.isAway(error),
    paused(path) {
      const [kind, chain] = path.split('/');
      return (kind === 'watchers' || kind === 'audits') && !membership.follows(chain as Chain);
    },
    serves: (shard) => membership.serves(shard),
    shares: () => ({
      ...membership.undone(),
      roleUnserved: roles.unserved(),
      callsRefused: Object.fromEntries(trust.refused),
    }),
    reach({ accounts: ownAccounts, edges: ownEdges, reads, actors }) {
      const { accounts, ...asked } = createClusterAccounts({
        local: ownAccounts,
        membership,
        router,
        reads,
        newCallId: newId,
      });
      const { edges, ...streams } = createClusterEdges({ local: ownEdges, membership, router });
      const seen = createNodes({ self: nodeId, store, leaseSeconds, actors, others: { membership, peers } });
      Object.assign(operations, asked.operations, streams.operations, seen.operations);
      return {
        accounts,
        edges,
        nodes: seen.nodes,
        elsewhere: {
          httpServer: listener.server,
          trust,
          async urlOf(accountId) {
            const routed = await router.ownerOf(accountId);
            return routed === null ? unrouted('unavailable') : routed.node === nodeId ? null : routed.url!;
          },
        },
      };
    },
    async follow({ stores, rooms, entities, publisher }) {
      rooms.begin();
      publisher?.start();
      membership.follow({
        async lost(shards) {
          await rooms.moved(shards);
          await entities.release(new Set(shards), 0);
        },
        async leaving(shards) {
          await rooms.moved(shards);
          await entities.release(new Set(shards), HANDOVER_MS);
        },
        async gained(shards) {
          await stores.deliveries.releaseAbandoned([...shards]);
          await rooms.gained(shards);
        },
        chains: async () => undefined,
      });
    },
    handOver: () => membership.stop(),
  };
}
