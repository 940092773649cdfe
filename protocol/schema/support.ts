/** Support sessions. Console A45. */
import { z } from 'zod';
import { ENVIRONMENTS } from '../slugs.ts';
import { freeText, instant, pathId } from './values.ts';

export const supportParams = z.strictObject({ id: pathId('sup') });
export const supportAccessBody = z.strictObject({
  until: z.iso
    .datetime({ offset: true })
    .nullable()
    .meta({ description: 'at most 7 days ahead; null: no longer', examples: ['2026-01-02T00:00:00.000Z', null] }),
});
export const supportSession = z.object({
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  by: z.string().meta({ description: 'email of who reads' }),
  reason: z.string(),
  createdAt: instant,
  endsAt: instant,
  endedAt: instant.nullable().meta({ description: 'null where its time ends it, or will' }),
});
export const supportAccess = z.object({
  until: instant.nullable(),
  sessions: z.array(supportSession).meta({ description: 'newest first' }),
});
export const supportEnded = z.object({ id: z.string(), ended: z.literal(true) });
export const supportBody = z.strictObject({
  organizationId: pathId('org'),
  environment: z.enum(ENVIRONMENTS),
  reason: freeText(500)
    .min(1)
    .meta({ description: 'its owners read it', examples: ['ticket 4711: a deposit is missing'] }),
});
export const supportStarted = z.object({
  id: z.string(),
  organizationId: z.string(),
  environment: z.enum(ENVIRONMENTS),
  accessToken: z.string().meta({ description: 'reads as a viewer of this environment; it is not renewed' }),
  endsAt: instant,
});
