/** The edges of an account, wherever its room is: what is asked of them goes to the owner of the account. */
import type { EdgeStreams } from '../model/ports/edge-streams.ts';
import type { AccountId } from '../protocol/ids.ts';
import { shardOf } from '../protocol/node/ids.ts';
import { MOVED, type Operation } from './listener.ts';
import type { Membership } from './membership.ts';
import { unrouted, type Router } from './router.ts';

const PATH = '/edges/';
/** Signing waits for the edge's own checks, its ledger and its signer. */
const SIGN_MS_MAX = 35_000;

type Method = keyof EdgeStreams;
type Arguments<M extends Method> = Parameters<EdgeStreams[M]>;
type Reply<M extends Method> = Awaited<ReturnType<EdgeStreams[M]>>;

const METHODS: readonly Method[] = [
  'anyLive',
  'askToSign',
  'askToOperate',
  'tryDelivery',
  'announceRotation',
  'close',
  'noteHeartbeat',
  'leaseExpiresAtMs',
  'replenish',
  'revokeKeys',
];

export interface ClusterEdgesDeps {
  readonly local: EdgeStreams;
  readonly membership: Pick<Membership, 'serves'>;
  readonly router: Router;
}

/** The port for every room of this node, and what other nodes may ask of it. */
export function createClusterEdges({ local, membership, router }: ClusterEdgesDeps): {
  readonly edges: EdgeStreams;
  readonly operations: Readonly<Record<string, Operation>>;
} {
  const here = async <M extends Method>(method: M, given: Arguments<M>): Promise<Reply<M> | typeof MOVED> => {
    const [accountId] = given;
    if (!membership.serves(shardOf(accountId))) return MOVED;
    return (local[method] as (...all: Arguments<M>) => Promise<Reply<M>>)(...given);
  };
  const routed = async <M extends Method>(
    method: M,
    given: Arguments<M>,
    limitMs?: number,
  ): Promise<Reply<M> | null> => {
    const [accountId] = given;
    const outcome = await router.route<Reply<M>>(accountId as AccountId, {
      path: `${PATH}${method}`,
      message: { given },
      local: () => here(method, given),
      ...(limitMs === undefined ? {} : { limitMs }),
    });
    return outcome.kind === 'done' ? outcome.reply : null;
  };
  return {
    edges: {
      anyLive: async (accountId) => (await routed('anyLive', [accountId])) ?? false,
      // Asked again it is safe: an edge signs a transaction once.
      askToSign: async (...given) => (await routed('askToSign', given, SIGN_MS_MAX)) ?? unrouted('unanswered'),
      askToOperate: async (...given) => (await routed('askToOperate', given, SIGN_MS_MAX)) ?? unrouted('unanswered'),
      // Asked again it is safe: a delivery is known by its id, here and at the edge.
      tryDelivery: async (...given) => (await routed('tryDelivery', given)) ?? unrouted('unanswered'),
      announceRotation: async (...given) => void (await routed('announceRotation', given)),
      close: async (...given) => void (await routed('close', given)),
      noteHeartbeat: async (...given) => (await routed('noteHeartbeat', given)) ?? unrouted('unavailable'),
      leaseExpiresAtMs: (accountId) => routed('leaseExpiresAtMs', [accountId]),
      replenish: async (accountId) => void (await routed('replenish', [accountId])),
      revokeKeys: async (accountId) => void (await routed('revokeKeys', [accountId])),
    },
    operations: Object.fromEntries(
      METHODS.map((method) => [`${PATH}${method}`, ({ given }: { given: never }) => here(method, given)]),
    ),
  };
}
