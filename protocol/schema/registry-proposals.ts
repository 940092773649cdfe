/** Changes to the token registry that administrators propose. Treasury K8, K10, H1. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import { CHAINS, HAZARDS } from '../slugs.ts';
import { count } from './numbers.ts';
import { symbol } from './tokens.ts';
import { chain, freeText, instant, pathId, tokenText } from './values.ts';

const NAME_CHARACTERS_MAX = 100,
  SOURCE_CHARACTERS_MAX = 200,
  REASON_CHARACTERS_MAX = 500;
/** More are another proposal. */
const CHANGES_MAX = 20;

const flags = {
  monitored: z.boolean().optional().meta({ description: 'seen and credited' }),
  deprecated: z
    .boolean()
    .optional()
    .meta({ description: 'still seen, credited and swept; no payment link and no bridge takes it' }),
  bridgeable: z.boolean().optional().meta({ description: 'redeemable with its issuer on this chain' }),
  sweepable: z.boolean().optional(),
  hazards: z
    .array(z.enum(HAZARDS))
    .max(HAZARDS.length)
    .optional()
    .meta({ description: 'all of them, in place of those that are listed' }),
  symbol: symbol.optional().meta({ description: 'of the token, on all its chains' }),
  name: freeText(NAME_CHARACTERS_MAX).optional().meta({ description: 'of the token, on all its chains' }),
  source: freeText(SOURCE_CHARACTERS_MAX).optional().meta({ description: 'where it is known from' }),
};
const status = z.enum(['open', 'closed']);

export const registryChangeBody = z
  .strictObject({
    deployments: z
      .array(
        z.strictObject({
          chain,
          contract: tokenText.meta({ description: 'of a token of the registry on this chain' }),
          ...flags,
        }),
      )
      .max(CHANGES_MAX)
      .default([])
      .meta({ description: 'what is left out of one stays as it is' }),
    routes: z
      .array(z.strictObject({ symbol, from: chain, to: chain, status }))
      .max(CHANGES_MAX)
      .default([])
      .meta({ description: 'routes of a bridge that are opened or closed' }),
  })
  .meta({
    examples: [
      {
        deployments: [
          { chain: 'bsc', contract: '0xe9e7CEA3DedcA5984780Bafc599bD69ADd087D56', deprecated: true, sweepable: true },
        ],
        routes: [{ symbol: 'USDC', from: 'eth', to: 'base', status: 'open' }],
      },
    ],
  });

export const registryProposal = z.object({
  id: z.string(),
  state: z.enum(['proposed', 'published', 'withdrawn']),
  deployments: z.array(z.object({ chain: z.enum(CHAINS), contract: z.string(), ...flags })).readonly(),
  routes: z.array(z.object({ symbol: z.string(), from: z.enum(CHAINS), to: z.enum(CHAINS), status })).readonly(),
  against: count.meta({ description: 'version in force when it was proposed' }),
  version: count.nullable().meta({ description: 'as which it was published' }),
  proposedBy: z.string().meta({ description: 'id of an administrator' }),
  publishedBy: z.string().nullable().meta({ description: 'id of another one' }),
  withdrawnBy: z.string().nullable(),
  reason: z.string().nullable().meta({ description: 'why it was withdrawn' }),
  createdAt: instant,
  updatedAt: instant,
});
export const withdrawProposalBody = z
  .strictObject({ reason: freeText(REASON_CHARACTERS_MAX).meta({ description: 'why it is taken back' }) })
  .meta({ examples: [{ reason: 'the issuer keeps the old contract' }] });
export const registryProposalQuery = listQuery({});
export const registryProposalPage = z.object({
  content: z.array(registryProposal).meta({ description: 'newest first' }),
  next: z.string().nullable().meta({ description: 'cursor of what follows' }),
});
export const registryProposalParams = z.strictObject({ id: pathId('rgp') });
