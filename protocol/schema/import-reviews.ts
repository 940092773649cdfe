/** Conflicts of imports, as administrators read and decide them. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { REVIEW_DECISIONS, REVIEW_STATES } from '../migration/words.ts';
import { CHAINS } from '../slugs.ts';
import { count } from './numbers.ts';
import { instant, pathId } from './values.ts';

export const importReviewParams = z.strictObject({ reviewId: pathId('rvw') });
export const importReviewQuery = listQuery({ state: z.enum(REVIEW_STATES).exactOptional() });
export const importClaimsQuery = listQuery({});
export const resolveImportBody = z.strictObject({
  decision: z.enum(REVIEW_DECISIONS).meta({
    description: '`drop_rows`: the import can be validated again and leaves the claimed rows out; `refuse`: never',
  }),
});
export const importReview = z.object({
  id: z.string(),
  reviewId: z.string(),
  state: z.enum(REVIEW_STATES),
  organizationId: z.string(),
  accountId: z.string(),
  projectId: z.string(),
  batchId: z.string(),
  conflicts: count.meta({ description: 'rows that another account claims' }),
  adoptable: count.meta({ description: 'rows of the import without them' }),
  openedAt: instant,
  decidedAt: instant.nullable(),
  decidedBy: z.string().nullable().meta({ description: 'the administrator' }),
});
const next = z.string().nullable().meta({ description: 'cursor of what follows' });
export const importReviewPage = z.object({ content: z.array(importReview), next });
export const importReviewWithClaims = importReview.extend({
  claims: z.array(
    z.object({
      line: count,
      chain: z.enum(CHAINS),
      address: z.string(),
      claimedBy: z.string().nullable().meta({ description: 'the account; null for a claim that a sandbox simulates' }),
      claimedAt: instant.nullable(),
      adoptedBy: z.string().nullable().meta({ description: 'the import it came by; null where it was issued' }),
      isUsed: z.boolean().meta({ description: 'whether it has received anything' }),
    }),
  ),
  next,
});
