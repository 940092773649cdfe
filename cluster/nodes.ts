/** Nodes as an operator sees them: the list is the database's, actors are asked of the node that has them. */
import type { ClusterStore } from '../model/ports/cluster-store.ts';
import type { InspectedActor, Nodes } from '../model/ports/nodes.ts';
import type { Operation } from './listener.ts';
import type { Membership } from './membership.ts';
import type { Peers } from './peers.ts';

const INSPECT_PATH = '/actors/inspect';
const RESTART_PATH = '/actors/restart';
const CALL_MS = 5_000;

/** The actors of this node. */
export interface OwnActors {
  inspect(path: string, depth: number): InspectedActor | null;
  restart(path: string): boolean;
}

export interface NodesDeps {
  readonly self: string;
  readonly store: Pick<ClusterStore, 'nodes'>;
  readonly leaseSeconds: number;
  readonly actors: OwnActors;
  /** Absent on a node that serves alone. */
  readonly others?: { readonly membership: Pick<Membership, 'members'>; readonly peers: Pick<Peers, 'call'> };
}

/** The port for the administrators' routes, and what other nodes may ask of it. */
export function createNodes({ self, store, leaseSeconds, actors, others }: NodesDeps): {
  readonly nodes: Nodes;
  readonly operations: Readonly<Record<string, Operation>>;
} {
  const ask = async (node: string, path: string, message: object): Promise<unknown> => {
    const url = others?.membership.members.find(({ id }) => id === node)?.url ?? null;
    const called = url === null ? null : await others!.peers.call(url, path, message, CALL_MS);
    return called?.kind === 'answered' ? (called.reply as { value: unknown }).value : 'unreached';
  };
  return {
    nodes: {
      self,
      list: () => store.nodes(leaseSeconds),
      inspect: async (node, path, depth) =>
        node === self
          ? actors.inspect(path, depth)
          : ((await ask(node, INSPECT_PATH, { path, depth })) as InspectedActor | null | 'unreached'),
      restart: async (node, path) =>
        node === self ? actors.restart(path) : ((await ask(node, RESTART_PATH, { path })) as boolean | 'unreached'),
    },
    operations: {
      [INSPECT_PATH]: async ({ path, depth }: { path: string; depth: number }) => ({
        value: actors.inspect(path, depth),
      }),
      [RESTART_PATH]: async ({ path }: { path: string }) => ({ value: actors.restart(path) }),
    },
  };
}
