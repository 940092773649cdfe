/** Conflicts of imports, for administrators: nobody else sees a line or a name. Migration M-I7. */
import type { ClaimedRow, ImportReview } from '../../../model/ports/conflict-store.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { organizationOf } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { bearerOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { instantOf, instantOrNull } from '../views.ts';

type Area = 'listImportConflicts' | 'getImportConflict' | 'resolveImportConflict';

export function reviewHandlers({
  log,
  stores: { conflicts },
}: Pick<HandlerDeps, 'log' | 'stores'>): Pick<Handlers, Area> {
  async function reviewOf(
    asked: Pick<Asked<'getImportConflict'>, 'caller' | 'params'>,
  ): Promise<ImportReview | Refusal> {
    const { reviewId } = asked.params;
    return (await conflicts.review(reviewId)) ?? unknownIn(asked, 'review', reviewId);
  }
  return {
    async listImportConflicts({ query }) {
      const page = await walked('import-reviews', query, {
        read: (after, limit) => conflicts.reviews(query.state ?? 'open', after ?? '', limit),
        keyOf: ({ id }) => id,
      });
      return isRefusal(page) ? page : { content: page.rows.map(reviewView), next: page.next };
    },
    async getImportConflict(asked) {
      const review = await reviewOf(asked);
      if (isRefusal(review)) return review;
      const page = await walked('import-claims', asked.query, {
        read: (after, limit) => conflicts.claims(review.id, Number(after ?? 0), limit),
        keyOf: ({ n }) => String(n),
      });
      if (isRefusal(page)) return page;
      return { ...reviewView(review), claims: page.rows.map(claimView), next: page.next };
    },
    async resolveImportConflict(asked) {
      const review = await reviewOf(asked);
      if (isRefusal(review)) return review;
      const { id, accountId } = review,
        { decision } = asked.body,
        { userId } = bearerOf(asked);
      const { note } = asked,
        record = note === null ? undefined : { ...note, target: id, organizationId: organizationOf(accountId) };
      const isDecided = await conflicts.decide(id, decision === 'drop_rows' ? 'dropped' : 'refused', userId, record);
      const now = (await conflicts.review(id)) ?? review;
      if (!isDecided)
        return refuse('CONFLICT', { reason: 'state', status: now.state }, `the review is ${now.state}: read it again`);
      log.warn(
        { requestId: asked.requestId, userId, names: [id], status: now.state },
        'an administrator decided on a conflict of an import',
      );
      return reviewView(now);
    },
  };
}

function reviewView(review: ImportReview): ReplyOf<'resolveImportConflict'> {
  const { id, state, accountId, projectId, batchId, conflicts, adoptable, openedAtMs, decidedAtMs, decidedBy } = review;
  return {
    id,
    reviewId: id,
    state,
    organizationId: organizationOf(accountId),
    accountId,
    projectId,
    batchId,
    conflicts,
    adoptable,
    openedAt: instantOf(openedAtMs),
    decidedAt: instantOrNull(decidedAtMs),
    decidedBy,
  };
}

const claimView = ({ line, chain, address, claimedBy, claimedAtMs, batchId, isUsed }: ClaimedRow) => ({
  line,
  chain,
  address,
  claimedBy,
  claimedAt: instantOrNull(claimedAtMs),
  adoptedBy: batchId,
  isUsed,
});
