/** The turn of a node among several: it serves the shards and chains that are its own, and forwards the rest. */
import type { ClusterStore } from '../model/ports/cluster-store.ts';
import type { Chain } from '../protocol/slugs.ts';
import { createClusterAccounts } from './accounts.ts';
import type { CallTrust } from './call-trust.ts';
import { createClusterEdges } from './edge-streams.ts';
import type { Listener, Operation } from './listener.ts';
import type { Membership } from './membership.ts';
import { createNodes } from './nodes.ts';
import type { Peers } from './peers.ts';
import type { createRoleWatch } from './roles.ts';
import { unrouted, type Router } from './router.ts';
import type { Turn } from './turn.ts';

/** What is at work in accounts that move has this long to end; then the next owner fences it. */
const HANDOVER_MS = 800;

export interface ShareParts {
  readonly membership: Membership;
  readonly router: Router;
  readonly peers: Peers;
  readonly listener: Listener;
  readonly trust: CallTrust;
  readonly roles: ReturnType<typeof createRoleWatch>;
  readonly store: Pick<ClusterStore, 'nodes'>;
  readonly nodeId: string;
  readonly leaseSeconds: number;
  /** What other nodes may ask, filled when the rooms are reached. */
  readonly operations: Record<string, Operation>;
  readonly newId: () => string;
}

export function turnOfShare(parts: ShareParts): Turn {
  const { membership, trust, roles, nodeId } = parts;
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
    reach: reachOf(parts),
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
          await stores.deliveries.releaseAbandoned(nodeId, [...shards]);
          await rooms.gained(shards);
        },
        chains: async () => undefined,
      });
    },
    gateways: () =>
      Math.max(1, membership.members.filter(({ about }) => about?.roles.includes('gateway') === true).length),
    handOver: () => membership.stop(),
  };
}

const reachOf =
  ({ membership, router, peers, listener, trust, store, nodeId, leaseSeconds, operations, newId }: ShareParts) =>
  ({ accounts: ownAccounts, edges: ownEdges, reads, actors }: Parameters<Turn['reach']>[0]) => {
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
        async urlOf(accountId: Parameters<Router['ownerOf']>[0]) {
          const routed = await router.ownerOf(accountId);
          return routed === null ? unrouted('unavailable') : routed.node === nodeId ? null : routed.url!;
        },
      },
    };
  };
