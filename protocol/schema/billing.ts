/** Plans, what they cost, what is owed. Spec §2.9, §3.8, §8; console part 3. Amounts are US dollars as decimal text. */
import { z } from 'zod';
import { walkQuery } from '../envelope.ts';
import { BANDS, CHAINS, TIERS } from '../slugs.ts';
import { plan } from './account.ts';
import { between, count } from './numbers.ts';
import { instant, pageReply, pathAccountId, pathId, storable, totpCode, UNSTORABLE } from './values.ts';

const dollars = z
  .string()
  .regex(/^-?(0|[1-9][0-9]*)\.[0-9]{2}$/)
  .meta({ description: 'US dollars, two decimals', examples: ['499.00'] });
const rate = z
  .string()
  .regex(/^(0|[1-9][0-9]*)\.[0-9]{3}$/)
  .meta({ description: 'US dollars, three decimals', examples: ['0.050'] });
const currency = z.literal('USD');
const month = z
  .string()
  .regex(/^[0-9]{4}-(0[1-9]|1[0-2])$/)
  .meta({ description: 'calendar month, UTC', examples: ['2026-11'] });
const bought = z.object({ tier: z.enum(TIERS), band: z.enum(BANDS), monthlyFee: dollars });

export const planBody = z.strictObject({ tier: z.enum(TIERS), band: z.enum(BANDS).optional() });
export const previewQuery = z.strictObject({ tier: z.enum(TIERS).optional(), band: z.enum(BANDS).optional() });

const terms = z.object({
  addresses: count,
  monthlyFee: dollars,
  includedTransactions: count,
  overageRate: rate,
  requestsPerMinute: count,
});
const limits = z.object({
  chains: count.nullable(),
  addresses: count.nullable().meta({ description: 'null: by band' }),
  settledTransactions: count.nullable().meta({ description: 'null: by band' }),
  webhooks: count.nullable(),
  edgeSessions: count.nullable(),
  auditDays: count.nullable(),
  requestsPerMinute: count.nullable(),
});
export const plans = z.object({
  tiers: z.array(limits.extend({ tier: z.enum(TIERS) })),
  bands: z.array(terms.extend({ band: z.enum(BANDS) })),
  currency,
});

export const preview = z.object({
  plan: plan.meta({ description: 'as it would be after the change' }),
  effectiveAt: instant.nullable().meta({ description: 'now, the end of the period, or null: nothing would change' }),
  proration: dollars.meta({ description: 'charged for the rest of the month' }),
  overage: z
    .object({ transactions: count, amount: rate })
    .meta({ description: 'what is used above the present band, which its change fixes at its rate' }),
  monthlyFee: dollars,
  terms: terms.nullable().meta({ description: 'of the band; null for a tier without one' }),
  loses: z
    .array(z.enum(['sso']))
    .readonly()
    .meta({ description: 'what is in use and comes to an end: with `sso` its people set a password by a reset' }),
  refusal: z
    .object({ code: z.string(), details: z.record(z.string(), z.unknown()) })
    .nullable()
    .meta({ description: 'what the change itself would answer' }),
  currency,
});

const line = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('base'), tier: z.enum(TIERS), band: z.enum(BANDS), amount: dollars }),
  z.object({
    kind: z.literal('proration'),
    at: instant,
    from: bought,
    to: bought,
    remainingMs: count,
    periodMs: count,
    amount: dollars,
  }),
  z.object({
    kind: z.literal('overage'),
    band: z.enum(BANDS),
    quantity: count,
    included: count,
    rate,
    amount: dollars,
  }),
]);
export const documentQuery = z.strictObject({ format: z.enum(['csv', 'html']).default('csv') });
export const statementParams = z.strictObject({ id: pathId('stm') });
export const statement = z.object({
  id: z.string(),
  number: z.string(),
  period: month,
  lines: z.array(line),
  total: dollars,
  currency,
  settledTransactions: count,
  issuedAt: instant,
  dueAt: instant,
  paid: dollars.meta({ description: 'as administrators or the provider of payments recorded it' }),
  left: dollars.meta({ description: 'to pay; 14 days after it was due the subscription lapses' }),
  payment: z
    .object({
      provider: z.enum(['manual', 'stripe']).meta({ description: 'who says what was paid: administrators, or Stripe' }),
      page: z
        .string()
        .nullable()
        .meta({
          description: "the provider's own page to pay what is left; null where none is open",
          examples: ['https://invoice.stripe.com/i/acct_1/test_1'],
        }),
      bankDetails: z
        .string()
        .nullable()
        .meta({
          description: "the operator's account for a transfer, naming the number; null where it says none",
          examples: ['Example Bank, IBAN GB33BUKB20201555555555'],
        }),
    })
    .meta({ description: 'how it is paid' }),
});
export const billedQuery = walkQuery;
export const billedPage = z.object({
  content: z.array(
    z.object({
      transactionId: z.string(),
      counted: between(-1, 1).meta({
        description: '1, or -1 for one that failed after all: it takes one off the month',
      }),
      chain: z.enum(CHAINS),
      createdAt: instant,
    }),
  ),
  next: z.string().nullable().meta({ description: 'cursor of what follows' }),
});
export const statementPage = pageReply(statement);

export const accountStatementParams = z.strictObject({ accountId: pathAccountId, id: pathId('stm') });
export const collectionBody = z.strictObject({
  amount: z
    .string()
    .regex(/^(0|[1-9][0-9]{0,12})\.[0-9]{2}$/)
    .refine((amount) => /[1-9]/.test(amount), 'more than nothing')
    .meta({ description: 'US dollars, two decimals; a part of what is left, or all of it', examples: ['499.00'] }),
  reason: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine(storable, UNSTORABLE)
    .meta({ description: 'where the money came in, for the books' }),
  reference: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine(storable, UNSTORABLE)
    .meta({ description: "the payment's own, once for each statement" }),
  totp: totpCode.optional(),
});
