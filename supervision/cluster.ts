/**
 * Opens the turn of a node (cluster/turn.ts): alone, or with `CLUSTER_SECRET` among several. Everything that differs
 * between the two starts here.
 */
import { Alone } from '../cluster/alone.ts';
import { CLUSTER_PROTOCOL, PROTOCOLS_TAKEN } from '../cluster/call-signature.ts';
import { CallTrust } from '../cluster/call-trust.ts';
import type { HeartbeatDeps } from '../cluster/heartbeat.ts';
import { joinCluster, requireNoSharing } from '../cluster/join.ts';
import { Listener, type Operation } from '../cluster/listener.ts';
import { Membership } from '../cluster/membership.ts';
import { Peers } from '../cluster/peers.ts';
import { createRoleWatch } from '../cluster/roles.ts';
import { Router } from '../cluster/router.ts';
import type { Turn } from '../cluster/turn.ts';
import { turnAlone } from '../cluster/turn-alone.ts';
import { turnOfShare } from '../cluster/turn-share.ts';
import { systemClock } from '../actors/kernel/timers.ts';
import type { NodeAbout } from '../model/ports/nodes.ts';
import { createOwnership } from '../persistence/postgres/account-store.ts';
import { isAway } from '../persistence/postgres/away.ts';
import { createClusterStore } from '../persistence/postgres/cluster-store.ts';
import { durabilityProblem, readDurability } from '../persistence/postgres/durability.ts';
import { openDatabase } from '../persistence/postgres/sql.ts';
import { openDoorbell } from '../persistence/redis/doorbell.ts';
import { listenFault } from '../protocol/node/listening.ts';
import { newUuid } from '../protocol/node/ids.ts';
import type { Chain } from '../protocol/slugs.ts';
import { VERSION } from '../protocol/version.ts';
import type { Logger } from 'pino';
import { ConfigurationError, type CloudConfig } from './config.ts';
import type { DrainStep } from './drain.ts';

/** A heartbeat that waits for longer fails, so that the next one has a new connection. */
const PRESENCE_SILENCE_MS = 3_000;
const nowMs = Date.now;

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
  return turnAlone({ alone, nodeId, leaseSeconds, about, roles, store });
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
  return turnOfShare({
    membership,
    router,
    peers,
    listener,
    trust,
    roles,
    store,
    nodeId,
    leaseSeconds,
    operations,
    newId,
  });
}
