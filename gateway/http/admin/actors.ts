/** Actor inspection for platform administrators: tree, one actor, restart. Issue 2 point 10. */
import type { Inspection } from '../../../actors/kernel/index.ts';
import { notFound } from '../../../protocol/errors.ts';
import { ACTOR_CHILDREN_DEFAULT, type ActorView } from '../../../protocol/schema/platform.ts';
import type { Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';

export function adminHandlers({
  actors,
  log,
}: HandlerDeps): Pick<Handlers, 'listActors' | 'getActor' | 'restartActor'> {
  return {
    async listActors(asked) {
      const { depth, children } = asked.query;
      return actorView(actors.inspect('', depth)!, children);
    },
    async getActor(asked) {
      const found = actors.inspect(asked.params.path, 1);
      return found === null ? notFound('actor', asked.params.path) : actorView(found, ACTOR_CHILDREN_DEFAULT);
    },
    async restartActor(asked) {
      const { path } = asked.params;
      if (!actors.restart(path)) return notFound('actor', path);
      log.warn(
        { requestId: asked.requestId, userId: asked.caller.bearer!.userId, path },
        'an administrator restarted an actor',
      );
      return { path, restarted: true as const };
    },
  };
}

function actorView(inspection: Inspection, childrenMax: number): ActorView {
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
