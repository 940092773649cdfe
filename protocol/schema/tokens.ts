/** Requests for tokens, and the ways of tokens between chains. Spec §2.6, §4.5; treasury Q, H1. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { CHAINS, HAZARDS, TOKEN_REQUEST_STATES } from '../slugs.ts';
import { between, count, decimals } from './numbers.ts';
import { chain, freeText, instant, pageReply, pathId, replyAmount, tokenText } from './values.ts';

const SYMBOL = /^[\x21-\x7e]{1,20}$/;
const DECIMALS_MAX = 36;
export const symbol = z
  .string()
  .regex(SYMBOL, 'expected 1 to 20 printable characters without spaces')
  .meta({ description: '1 to 20 printable ASCII characters' });

export const tokenRequestBody = z
  .strictObject({
    chain,
    contractAddress: tokenText.meta({ description: 'contract, mint, CURRENCY:ISSUER (xrp) or CODE:ISSUER (xlm)' }),
    symbol,
    decimals: between(0, DECIMALS_MAX).meta({ description: 'compared with what the contract says' }),
  })
  .meta({
    examples: [
      { chain: 'eth', contractAddress: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c', symbol: 'EURC', decimals: 6 },
    ],
  });

const onChain = z
  .object({
    symbol: z.string(),
    name: z.string(),
    decimals,
    hazards: z
      .array(z.string())
      .readonly()
      .meta({ description: `of ${HAZARDS.join(', ')}` }),
    readAt: instant,
  })
  .nullable()
  .meta({ description: 'what the contract itself says; null while it was not read' });

export const tokenRequest = z.object({
  id: z.string(),
  chain: z.enum(CHAINS),
  contractAddress: z.string(),
  symbol: z.string(),
  decimals,
  state: z.enum(TOKEN_REQUEST_STATES),
  monitored: z.boolean().meta({ description: 'true once it is published' }),
  outcome: z.string().nullable().meta({ description: 'why it was declined' }),
  onChain,
  createdAt: instant,
  updatedAt: instant,
});
export const tokenRequestPage = pageReply(tokenRequest);

export const tokenReview = z.object({
  id: z.string(),
  accountId: z
    .string()
    .nullable()
    .meta({ description: 'whose simulated ledger it is on; null of a contract of the chain' }),
  chain: z.enum(CHAINS),
  contractAddress: z.string(),
  state: z.enum(TOKEN_REQUEST_STATES),
  requestedBy: count.meta({ description: 'accounts that asked for it, each once' }),
  claims: z.array(z.object({ symbol: z.string(), decimals })).readonly(),
  onChain,
  trouble: z
    .string()
    .nullable()
    .meta({ description: 'why the chain could not be read; it is tried again each minute' }),
  outcome: z.string().nullable(),
  acceptedBy: z.string().nullable(),
  createdAt: instant,
  updatedAt: instant,
});
export const tokenReviewQuery = listQuery({ state: z.enum(TOKEN_REQUEST_STATES).optional() });
export const tokenReviewPage = z.object({
  content: z.array(tokenReview),
  next: z.string().nullable().meta({ description: 'cursor of what follows' }),
});
export const tokenReviewParams = z.strictObject({ id: pathId('tkr') });
export const acceptTokenBody = z.strictObject({
  acknowledgedHazards: z.array(z.enum(HAZARDS)).max(HAZARDS.length).default([]),
});
export const tokenVersionQuery = z.strictObject({
  kind: z
    .enum(['native', 'bridged', 'pegged'])
    .default('native')
    .meta({ description: '`native`: redeemable with its issuer on this chain' }),
});
export const tokenVersion = z.object({
  version: count,
  content: z.string().meta({ description: 'the registry as it is signed: JSON with keys in order and no spaces' }),
  hash: z.string().meta({ description: 'SHA-256 of the content' }),
  signingText: z.string().meta({ description: 'what two registry keys sign: `flock registry sign`' }),
  differences: z
    .array(
      z.object({
        symbol: z.string(),
        chain: z
          .enum(CHAINS)
          .nullable()
          .meta({ description: 'null of what is the token’s on all its chains; where a route comes from' }),
        to: z.enum(CHAINS).nullable().meta({ description: 'where a route leads; null of a token' }),
        contract: z.string().nullable(),
        field: z.string(),
        was: z.string().nullable().meta({ description: 'null where it was not there' }),
        becomes: z.string().nullable(),
      }),
    )
    .meta({ description: 'what it has otherwise than the version in force' }),
});
/** Today's registry has 20,000. */
const REGISTRY_CHARACTERS_MAX = 200_000;
const SIGNATURES_MAX = 16;
const SIGNED = {
  content: freeText(REGISTRY_CHARACTERS_MAX).meta({ description: 'what was signed' }),
  signatures: z
    .array(z.string().regex(/^[0-9a-f]{128}$/, 'expected 128 hex digits'))
    .min(2)
    .max(SIGNATURES_MAX)
    .meta({ description: 'of two different keys of REGISTRY_KEYS' }),
};
/** What a registry takes, and signatures. */
export const REGISTRY_BODY_BYTES = 1_280 * 1_024;
const SIGNED_EXAMPLE = {
  content: '{"publishedAt":"2026-11-30T10:00:00.000Z","routes":[],"tokens":[],"version":2}',
  signatures: ['0'.repeat(128), '1'.repeat(128)],
};
export const publishVersionBody = z.strictObject(SIGNED).meta({ examples: [SIGNED_EXAMPLE] });
export const publishTokenBody = z
  .strictObject({
    ...SIGNED,
    acknowledgedHazards: z.array(z.enum(HAZARDS)).max(HAZARDS.length).default([]),
  })
  .meta({ examples: [SIGNED_EXAMPLE] });
export const declineTokenBody = z.strictObject({ reason: freeText(500) });

const wholeFromOne = z
  .string()
  .regex(/^[1-9][0-9]{0,77}$/, 'expected a positive whole number as text')
  .meta({ examples: ['3000'] });
export const rateBody = z
  .strictObject({
    chain,
    tokenContract: tokenText.meta({ description: 'of a token of the registry on this chain' }),
    numerator: wholeFromOne.meta({
      description:
        'a cost of so many smallest native units is ⌈cost × numerator ÷ denominator⌉ smallest units of the token',
    }),
    denominator: wholeFromOne,
    observedAt: instant.meta({ description: 'when it was true; it counts for 24 hours from then' }),
  })
  .meta({
    examples: [
      {
        chain: 'eth',
        tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        numerator: '3000',
        denominator: '1000000000000',
        observedAt: '2026-11-30T10:00:00.000Z',
      },
    ],
  });
export const tokenRate = z.object({
  chain: z.enum(CHAINS),
  tokenContract: z.string(),
  numerator: z.string(),
  denominator: z.string(),
  observedAt: instant,
  validUntil: instant,
  setBy: z.string().nullable().meta({ description: 'the administrator; null where RATES_FILE said it' }),
  setAt: instant,
});
export const tokenRates = z.object({
  content: z.array(tokenRate).meta({ description: 'one for each token that has one, stale ones too' }),
});

export const ROUTE_REASONS = [
  'not_bridgeable',
  'deprecated',
  'no_issuer_bridge',
  'recipient_checks_missing',
  'not_offered',
  'not_in_sandbox',
] as const;
export const tokenRoute = z.object({
  symbol: z.string(),
  from: z.enum(CHAINS),
  to: z.enum(CHAINS),
  status: z.enum(['open', 'closed']),
  reason: z.enum(ROUTE_REASONS).nullable().meta({ description: 'why it is closed' }),
  protocol: z.string().nullable(),
  seconds: count.nullable().meta({ description: 'typical time to the attestation' }),
  burnMax: replyAmount.nullable().meta({ description: 'most that one transfer may move, smallest unit' }),
});
export const routeMatrix = z.object({ registryVersion: count, routes: z.array(tokenRoute) });

export const simulateTokenBody = z.strictObject({
  chain,
  contractAddress: tokenText,
  symbol,
  decimals: between(0, DECIMALS_MAX),
  hazards: z.array(z.enum(HAZARDS)).max(HAZARDS.length).default([]),
});
export const simulatedToken = z.object({
  chain: z.enum(CHAINS),
  contractAddress: z.string(),
  symbol: z.string(),
  decimals,
  hazards: z.array(z.string()).readonly(),
});
