/**
 * Values that cross the wire, as zod schemas. Where a value has its own error code, the message of its check is that
 * code: `protocol/validation.ts` reads it there. Enumerations are lowercase slugs both ways (spec §2.2).
 */
import { z } from 'zod';
import { isRefusal, type ErrorCode } from '../errors.ts';
import { isAccountId, isId, type IdPrefix } from '../ids.ts';
import { AMOUNT_DIGITS_MAX, AMOUNT_FORM, parseAmount } from '../money.ts';
import { CHAINS } from '../slugs.ts';
import { between, count, decimals } from './numbers.ts';

/** Message of a check that has its own code. */
const code = (name: ErrorCode): string => name;

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair; anything else comes back as it was sent. */
export const storable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

export const UNSTORABLE = 'characters that cannot be stored';

/** Text of at most `max` UTF-16 units, empty too. */
export const shortText = (max: number) => z.string().max(max).refine(storable, UNSTORABLE);
/** Free text of 1 to `max` UTF-16 units. */
export const freeText = (max: number) => z.string().min(1).max(max).refine(storable, UNSTORABLE);

/** A chain slug in a body or a query. Refuses: INVALID_CHAIN for any other text, upper case too. */
export const chain = z.enum(CHAINS, {
  error: (issue) =>
    typeof issue.input === 'string'
      ? code('INVALID_CHAIN')
      : `${issue.input === undefined ? 'missing: send' : 'expected'} a chain slug: ${CHAINS.join(', ')}`,
});

const ADDRESS_CHARS_MAX = 128;
/** Text of an address; its chain decides whether it is one. Refuses: INVALID_ADDRESS. */
export const addressText = z
  .string()
  .refine((text) => text.length >= 1 && text.length <= ADDRESS_CHARS_MAX && storable(text), code('INVALID_ADDRESS'));

/** The text of an amount; a JSON number in its place is INVALID_INPUT that says what an amount is. */
const amountString = () =>
  z.string({ error: ({ input }) => (input === undefined ? `missing: ${AMOUNT_FORM}` : AMOUNT_FORM) });

/** A positive count of the smallest unit, as a string. Refuses: INVALID_AMOUNT. */
export const amount = amountString()
  .refine((text) => !isRefusal(parseAmount(text)), code('INVALID_AMOUNT'))
  .meta({ pattern: `^[1-9][0-9]{0,${AMOUNT_DIGITS_MAX - 1}}$`, description: 'smallest unit', examples: ['1500000'] });

/** `all` asks for a send-all whose amount follows the fee that is signed. */
export const amountOrAll = amountString()
  .refine((text) => text === 'all' || !isRefusal(parseAmount(text)), code('INVALID_AMOUNT'))
  .meta({
    pattern: `^(all|[1-9][0-9]{0,${AMOUNT_DIGITS_MAX - 1}})$`,
    description: 'smallest unit, or `all`',
    examples: ['1500000'],
  });

const POSITIVE_DECIMAL = /^(?:0|[1-9][0-9]{0,77})(?:\.[0-9]{1,77})?$/;
/** A positive decimal in the asset's own unit. Refuses: INVALID_AMOUNT. */
export const decimalAmount = amountString()
  .refine(
    (text) => text.length <= AMOUNT_DIGITS_MAX + 1 && POSITIVE_DECIMAL.test(text) && /[1-9]/.test(text),
    code('INVALID_AMOUNT'),
  )
  .meta({ pattern: POSITIVE_DECIMAL.source, description: "decimal in the asset's own unit", examples: ['1.5'] });

/** Contract, mint or `CODE:ISSUER`; the chain's module reads it. */
export const tokenText = freeText(160);

/** An id in a path. A text that cannot be one names nothing: NOT_FOUND. */
export const pathId = (prefix: IdPrefix) =>
  z
    .string()
    .refine((text) => isId(prefix, text), code('NOT_FOUND'))
    .meta({ pattern: `^${prefix}_[a-z2-7]{26}$` });
/** An account in a path. */
export const pathAccountId = z
  .string()
  .refine(isAccountId, code('NOT_FOUND'))
  .meta({ pattern: '^org_[a-z2-7]{26}_(live|sandbox)$' });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const pathUuid = z
  .string()
  .refine((text) => UUID.test(text), code('NOT_FOUND'))
  .meta({ format: 'uuid' });

/** An address, token or actor in a path. */
export const pathText = (max: number) =>
  z.string().refine((text) => text.length <= max && storable(text), code('NOT_FOUND'));

export const instant = z.iso.datetime({ offset: true }).meta({ description: 'ISO 8601' });
/** Six digits of an authenticator app. */
export const totpCode = z.string().regex(/^[0-9]{6}$/, 'expected the six digits of the authenticator app');
/** Six groups of four, of A–Z and 2–7; spaces, dashes and case say nothing. */
export const recoveryCode = z
  .string()
  .regex(/^(?:[A-Za-z2-7][ -]?){24}$/, 'expected the 24 letters and digits of a recovery code')
  .meta({ examples: ['ABCD-EFGH-IJKL-MNOP-QRST-UVWX'] });

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^(0|[1-9][0-9]{0,9})$/, `expected a whole number from ${min} to ${max}`)
    .transform(Number)
    .pipe(between(min, max))
    .meta({ type: 'integer', minimum: min, maximum: max });
/** A whole number in a query, where it is decimal text. */
export const queryNumber = wholeNumber;

// ── Replies ──────────────────────────────────────────────────────────────────────────────────────────────────────

export const replyAmount = z
  .string()
  .regex(/^-?[0-9]+$/)
  .meta({ description: 'smallest unit', examples: ['1500000'] });
export const money = z.object({
  amount: replyAmount,
  amountFormatted: z.string().meta({ description: 'for display only, never for arithmetic', examples: ['1.5'] }),
  decimals,
});
/** Spec §2.1: page envelope of every list. */
export const pageReply = <T extends z.ZodType>(entry: T) =>
  z.object({
    content: z.array(entry),
    page: count,
    size: count,
    totalElements: count,
    totalPages: count,
    totalCapped: z.literal(true).exactOptional().meta({
      description: 'there are more than `totalElements`: a filtered list is counted to 10,000. Walk it with `after`',
    }),
    withheld: count.exactOptional().meta({
      description:
        'at an edge: rows of this page that it left out, since its own record of what it issued contradicts them',
    }),
    next: z
      .string()
      .nullable()
      .default(null)
      .meta({ description: 'send as `after` for what follows; null at the end' }),
  });
