/** Resets of the factors of people who lost all of theirs. Console A25. */
import { z } from 'zod';
import { freeText, instant, pathId } from './values.ts';

export const factorResetParams = z.strictObject({ id: pathId('frs') });
export const factorResetBody = z.strictObject({
  email: freeText(254)
    .min(1)
    .meta({ description: 'what the person signs in with', examples: ['anna@example.com'] }),
  reason: freeText(500)
    .min(1)
    .meta({
      description: 'how it was made sure who asks; the person reads it',
      examples: ['ticket 4711, called back'],
    }),
});
export const factorReset = z.object({
  id: z.string(),
  userId: z.string(),
  email: z.string(),
  status: z
    .enum(['asked', 'scheduled', 'done', 'cancelled', 'expired'])
    .meta({ description: 'asked: another administrator confirms it within 7 days; scheduled: until `dueAt`' }),
  reason: z.string(),
  askedBy: z.string().meta({ description: 'email of an administrator' }),
  askedAt: instant,
  confirmedBy: z.string().nullable().meta({ description: 'email of another one' }),
  dueAt: instant.nullable().meta({ description: '72 hours after it was confirmed' }),
  endedAt: instant.nullable(),
  cancelledBy: z.enum(['user', 'admin']).nullable().meta({ description: 'user: the person, by the link of a letter' }),
});
export const factorResets = z.object({
  content: z.array(factorReset).meta({ description: 'newest first' }),
  next: z.string().nullable(),
});
export const factorResetLink = z.strictObject({
  token: z
    .string()
    .regex(/^frs_[a-z2-7]{26}\.[A-Za-z0-9_-]{43}$/, 'no token of such a letter')
    .meta({
      description: 'what the link of the letter has behind its #',
      examples: [`frs_${'a'.repeat(26)}.${'A'.repeat(43)}`],
    }),
});
export const factorResetKept = z.object({ email: z.string(), cancelled: z.literal(true) });
