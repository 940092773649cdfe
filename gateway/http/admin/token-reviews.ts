/** What administrators decide about contracts that accounts asked for. Treasury Q3, Q5, Q6, Q8. */
import type { ReviewAsked } from '../../../model/ports/token-request-store.ts';
import type { AuditRecord } from '../../../model/rows/audit.ts';
import { isRefusal, refuse, type Refusal } from '../../../protocol/errors.ts';
import { organizationOf } from '../../../protocol/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { bearerOf, unknownIn, type Asked, type Handlers } from '../context.ts';
import type { HandlerDeps } from '../surroundings.ts';
import { walked } from '../walked.ts';
import { onChainView } from '../treasury/token-requests.ts';
import { instantOf } from '../views.ts';

/** What cannot be swept whole, or not at all, is not taken. Treasury, table of hazards. */
const DECLINED_HAZARDS: ReadonlySet<string> = new Set([
  'rebasing',
  'hook',
  'non_transferable',
  'default_frozen',
  'confidential_only',
]);

type Area = 'listTokenReviews' | 'acceptTokenRequest' | 'declineTokenRequest';
type Deciding = Asked<'acceptTokenRequest' | 'declineTokenRequest' | 'proposeTokenVersion' | 'publishTokenRequest'>;

type Deps = Pick<HandlerDeps, 'log' | 'stores'>;

/** The review, and an entry for the log of each organization that asked. Refuses as Q6 says. */
export async function decidable(
  { stores: { tokenRequests, members } }: Deps,
  asked: Deciding,
): Promise<{ review: ReviewAsked; audit: AuditRecord[] } | Refusal> {
  const { userId } = bearerOf(asked);
  const review = await tokenRequests.review(asked.params.id);
  if (review === null) return unknownIn(asked, 'token request', asked.params.id);
  const asking = new Set((await tokenRequests.askedBy(review.id)).map(organizationOf));
  const own = await members.organizationsOf(userId);
  if (own.some(({ id }) => asking.has(id)))
    return refuse(
      'FORBIDDEN',
      { reason: 'own_request' },
      'a member of an organization that asks for a token does not decide about it: another administrator does',
    );
  const { note } = asked;
  return {
    review,
    audit: note === null ? [] : [...asking].map((organizationId) => ({ ...note, target: review.id, organizationId })),
  };
}

/** Refuses: CONFLICT `state`. */
export const reviewMoved = ({ state }: ReviewAsked): Refusal =>
  refuse('CONFLICT', { reason: 'state', status: state }, `the request is ${state}: read it again`);

/** The review after a decision, which is a line of the log. */
export async function decidedView(
  { log, stores: { tokenRequests } }: Deps,
  asked: Deciding,
  { id }: ReviewAsked,
  what: string,
): Promise<ReplyOf<'acceptTokenRequest'>> {
  log.warn({ requestId: asked.requestId, userId: bearerOf(asked).userId, names: [id] }, what);
  return reviewView((await tokenRequests.review(id))!);
}

/** Null where all hazards of a contract are named and none declines it. Q8. Refuses: CONFLICT `hazard`. */
export function hazardRefusal({ facts, contract }: ReviewAsked, acknowledged: readonly string[]): Refusal | null {
  const hazards = facts?.hazards ?? [];
  const declined = hazards.find((hazard) => DECLINED_HAZARDS.has(hazard));
  if (declined !== undefined)
    return refuse(
      'CONFLICT',
      { reason: 'hazard', value: declined, tokenContract: contract },
      `a token that is ${declined} cannot be swept whole: decline it`,
    );
  return [...hazards].sort().join() === [...acknowledged].sort().join()
    ? null
    : refuse(
        'CONFLICT',
        { reason: 'hazard', value: hazards.join(', '), tokenContract: contract },
        'name exactly the hazards of the contract in acknowledgedHazards',
      );
}

export function tokenReviewHandlers(deps: Deps): Pick<Handlers, Area> {
  const { tokenRequests } = deps.stores;
  return {
    async listTokenReviews({ query }) {
      const page = await walked('token-reviews', query, {
        read: (after, limit) => tokenRequests.reviews(query.state ?? null, after ?? '', limit),
        keyOf: ({ id }) => id,
      });
      return isRefusal(page) ? page : { content: page.rows.map(reviewView), next: page.next };
    },
    async acceptTokenRequest(asked) {
      const found = await decidable(deps, asked);
      if (isRefusal(found)) return found;
      const { review, audit } = found;
      const { acknowledgedHazards } = asked.body;
      if (review.state !== 'under_review' && review.state !== 'declined') return reviewMoved(review);
      if (review.facts === null)
        return refuse(
          'CONFLICT',
          { reason: 'not_read', chain: review.chain, tokenContract: review.contract },
          review.trouble ?? 'the contract was not read yet: it is within a minute',
        );
      const hazard = hazardRefusal(review, acknowledgedHazards);
      if (hazard !== null) return hazard;
      const done = await tokenRequests.accept(review.id, bearerOf(asked).userId, acknowledgedHazards, audit);
      return done ? decidedView(deps, asked, review, 'an administrator accepted a token') : reviewMoved(review);
    },
    async declineTokenRequest(asked) {
      const found = await decidable(deps, asked);
      if (isRefusal(found)) return found;
      const { review, audit } = found;
      if (review.state !== 'under_review' && review.state !== 'accepted') return reviewMoved(review);
      const done = await tokenRequests.decline(review.id, bearerOf(asked).userId, asked.body.reason, audit);
      return done ? decidedView(deps, asked, review, 'an administrator declined a token') : reviewMoved(review);
    },
  };
}

function reviewView(review: ReviewAsked): ReplyOf<'acceptTokenRequest'> {
  const { id, accountId, chain, contract, state, requestedBy, claims, trouble, outcome, acceptedBy } = review;
  return {
    id,
    accountId,
    chain,
    contractAddress: contract,
    state,
    requestedBy,
    claims,
    onChain: onChainView(review),
    trouble,
    outcome,
    acceptedBy,
    createdAt: instantOf(review.createdAtMs),
    updatedAt: instantOf(review.updatedAtMs),
  };
}
