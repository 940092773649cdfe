/** The wipe of an account. Console A48, A49. */
import { z } from 'zod';
import { CHAINS, ENVIRONMENTS } from '../slugs.ts';
import { count } from './numbers.ts';
import { passkeyAnswer } from './passkeys.ts';
import { freeText, instant, totpCode } from './values.ts';

export const wipeBody = z.strictObject({
  environment: z.enum(ENVIRONMENTS).meta({ description: 'the one that the request is about, as a confirmation' }),
  confirm: freeText(200).meta({ description: "the organization's name, letter by letter", examples: ['Example'] }),
  totp: totpCode.optional(),
  passkey: passkeyAnswer.optional(),
});
const holding = z.object({
  chain: z.enum(CHAINS),
  token: z.string().nullable().meta({ description: 'contract; null for the native coin' }),
  amount: z.string().meta({ description: 'smallest unit, by the ledger', examples: ['1500000'] }),
});
export const wipe = z.object({
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  status: z.enum(['scheduled', 'closing', 'running', 'done', 'cancelled']),
  scheduledFor: instant,
  askedAt: instant,
  askedBy: z.string().meta({ description: 'id of the user' }),
  beganAt: instant.nullable().meta({ description: 'from then on it cannot be taken back' }),
  endedAt: instant.nullable(),
  step: z
    .string()
    .nullable()
    .meta({ description: 'the table that is gone through now', examples: ['address'] }),
  addresses: count.meta({ description: 'that are watched no more', examples: [12] }),
  holdings: z
    .array(holding)
    .nullable()
    .meta({ description: 'what lay on the addresses when it was counted; null while it is counted' }),
});
export const wipeState = z.object({ wipe: wipe.nullable().meta({ description: 'the newest; null for none' }) });
export const wipeScheduled = z.object({
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  scheduledFor: instant,
});
export const wipeCancelled = z.object({ id: z.string(), cancelled: z.literal(true) });
