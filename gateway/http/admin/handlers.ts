/** What platform administrators do, composed. */
import type { HandlerDeps } from '../surroundings.ts';
import { accountControlHandlers } from './accounts.ts';
import { adminHandlers } from './actors.ts';
import { collectionHandlers } from './collections.ts';
import { factHandlers } from './facts.ts';
import { factorResetHandlers } from './factor-resets.ts';
import { registryProposalHandlers } from './registry-proposals.ts';
import { tokenPublicationHandlers } from './token-publication.ts';
import { tokenReviewHandlers } from './token-reviews.ts';

export function administrationHandlers(deps: HandlerDeps) {
  return {
    ...adminHandlers(deps),
    ...factHandlers(deps),
    ...accountControlHandlers(deps),
    ...collectionHandlers(deps),
    ...factorResetHandlers(deps),
    ...tokenReviewHandlers(deps),
    ...tokenPublicationHandlers(deps),
    ...registryProposalHandlers(deps),
  };
}
