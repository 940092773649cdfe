/** The turn of a node that serves alone: everything, or nothing while another node serves. */
import type { ClusterStore } from '../model/ports/cluster-store.ts';
import type { NodeAbout } from '../model/ports/nodes.ts';
import { SHARD_COUNT } from '../protocol/node/ids.ts';
import type { Alone } from './alone.ts';
import { createNodes } from './nodes.ts';
import type { createRoleWatch } from './roles.ts';
import type { Turn } from './turn.ts';

const ALL_SHARDS = Array.from({ length: SHARD_COUNT }, (_, shard) => shard);

export interface AloneParts {
  readonly alone: Alone;
  readonly nodeId: string;
  readonly leaseSeconds: number;
  readonly about: NodeAbout;
  readonly roles: ReturnType<typeof createRoleWatch>;
  readonly store: Pick<ClusterStore, 'nodes'>;
}

export function turnAlone({ alone, nodeId, leaseSeconds, about, roles, store }: AloneParts): Turn {
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
        await stores.deliveries.releaseAbandoned(nodeId, ALL_SHARDS);
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
    gateways: () => 1,
    handOver: null,
  };
}
