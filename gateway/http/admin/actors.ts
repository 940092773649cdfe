/** For platform administrators: the nodes, and the actors of any of them (tree, one actor, restart). */
import type { InspectedActor } from '../../../model/ports/nodes.ts';
import { notFound, refuse, type Refusal } from '../../../protocol/errors.ts';
import { ACTOR_CHILDREN_DEFAULT, type ActorView } from '../../../protocol/schema/platform.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { instantOf } from '../views.ts';

type Answers = 'listNodes' | 'listActors' | 'getActor' | 'restartActor';

export function adminHandlers({ nodes, log }: HandlerDeps): Pick<Handlers, Answers> {
  const inspect = (node: string | undefined, path: string, depth: number) =>
    nodes.inspect(node ?? nodes.self, path, depth);
  const unreached = async (node: string | undefined): Promise<Refusal> =>
    (await nodes.list()).some(({ id, alive }) => id === node && alive)
      ? refuse('SERVICE_UNAVAILABLE', { reason: `node ${node} did not answer`, retryAfterSeconds: 1 })
      : notFound('node', node ?? '');
  return {
    async listNodes() {
      const found = await nodes.list();
      return {
        self: nodes.self,
        nodes: found.map(({ id, about, alive, shards, chains, silentMs, startedAtMs }) => ({
          id,
          version: about?.version ?? null,
          roles: [...(about?.roles ?? [])],
          alive,
          shards,
          chains: [...chains],
          lagMs: silentMs,
          since: instantOf(startedAtMs),
        })),
      };
    },
    async listActors(asked) {
      const { depth, children, node } = asked.query;
      const found = await inspect(node, '', depth);
      return found === null || found === 'unreached' ? unreached(node) : actorView(found, children);
    },
    async getActor(asked) {
      const { node } = asked.query;
      const found = await inspect(node, asked.params.path, 1);
      if (found === 'unreached') return unreached(node);
      return found === null ? notFound('actor', asked.params.path) : actorView(found, ACTOR_CHILDREN_DEFAULT);
    },
    async restartActor(asked) {
      const { path } = asked.params,
        { node } = asked.query;
      const restarted = await nodes.restart(node ?? nodes.self, path);
      if (restarted === 'unreached') return unreached(node);
      if (!restarted) return notFound('actor', path);
      log.warn(
        { requestId: asked.requestId, userId: asked.caller.bearer!.userId, path, node: node ?? nodes.self },
        'an administrator restarted an actor',
      );
      return { path, restarted: true as const };
    },
  };
}

function actorView(inspection: InspectedActor, childrenMax: number): ActorView {
  const {
    path,
    kind,
    id,
    phase,
    summary,
    mailboxDepth,
    messagesHandled,
    restarts,
    lastFault,
    childCount,
    children = [],
  } = inspection;
  return {
    path,
    kind,
    id,
    phase,
    mailboxDepth,
    messages: messagesHandled,
    restarts,
    state: summary === null ? null : { ...summary },
    lastFault: lastFault === null ? null : { ...lastFault },
    childCount,
    children: children.slice(0, childrenMax).map((child) => actorView(child, childrenMax)),
  };
}
