/** Conflicts of imports, which administrators decide on. Migration M-I7. */
import type { Route } from '../route.ts';
import * as reviews from '../schema/import-reviews.ts';
import { admin, adminWrites, GET, POST } from './kinds.ts';

export const IMPORT_REVIEW_ROUTES = {
  listImportConflicts: {
    ...admin,
    method: GET,
    path: '/v1/admin/import-conflicts',
    query: reviews.importReviewQuery,
    reply: reviews.importReviewPage,
    refusals: [],
    summary:
      'Imports with addresses that another account claims, the oldest first; open ones unless `state` says which',
  },
  getImportConflict: {
    ...admin,
    method: GET,
    path: '/v1/admin/import-conflicts/{reviewId}',
    params: reviews.importReviewParams,
    query: reviews.importClaimsQuery,
    reply: reviews.importReviewWithClaims,
    refusals: ['NOT_FOUND'],
    summary: 'Both sides of a conflict: the rows that are claimed, page by page, and whose they are',
  },
  resolveImportConflict: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/import-conflicts/{reviewId}/resolve',
    params: reviews.importReviewParams,
    body: reviews.resolveImportBody,
    reply: reviews.importReview,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Let the import go on without the claimed rows, or refuse it for good',
  },
} as const satisfies Record<string, Route>;
