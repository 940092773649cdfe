/** Local keys of an account's edge as the cloud knows them, and their revocation, which the edge signs. Console A34. */
import type { EdgeKeyRow } from '../../../model/ports/edge-store.ts';
import { isRefusal, notFound } from '../../../protocol/errors.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { accountOf, recordOf, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { instantOf, instantOrNull } from '../views.ts';

export function edgeKeyHandlers({
  edges,
  stores: { edge },
  nowMs,
}: HandlerDeps): Pick<Handlers, 'listEdgeKeys' | 'revokeEdgeKey'> {
  return {
    async listEdgeKeys(asked) {
      const page = await walked('edge-keys', asked.query, {
        read: (after, limit) => edge.edgeKeys(accountOf(asked), after, limit),
        keyOf: ({ id }) => id,
      });
      return isRefusal(page) ? page : { content: page.rows.map(viewOf), next: page.next };
    },
    async revokeEdgeKey(asked) {
      const accountId = accountOf(asked),
        { id } = asked.params;
      const changes = { status: ['active', 'revoking'] } as const;
      const row = await edge.askToRevoke(accountId, id, nowMs(), recordOf(asked, { changes }));
      if (row === null) return notFound('edge key', id);
      // Again for one that was asked for before: the frame may have been lost.
      if (row.revokedAtMs === null) await edges.revokeKeys(accountId);
      return viewOf(row);
    },
  };
}

const viewOf = (row: EdgeKeyRow): ReplyOf<'revokeEdgeKey'> => ({
  id: row.id,
  label: row.label,
  prefix: row.prefix,
  status: row.revokedAtMs !== null ? 'revoked' : row.revokeAskedAtMs !== null ? 'revoking' : 'active',
  createdAt: instantOf(row.createdAtMs),
  revokeAskedAt: instantOrNull(row.revokeAskedAtMs),
  revokedAt: instantOrNull(row.revokedAtMs),
});
