/** Chains and tokens. */
import type { Route } from '../route.ts';
import * as platform from '../schema/platform.ts';
import { GET, LIST, reads } from './kinds.ts';

export const CHAINS_ROUTES = {
  listChains: {
    ...reads('Chains'),
    ...LIST,
    path: '/v1/chains',
    reply: platform.chainPage,
    refusals: [],
    summary: 'All chains, with what is enabled and ready',
  },
  getCoverage: {
    ...reads('Chains'),
    method: GET,
    path: '/v1/chains/{chain}/coverage',
    params: platform.chainParams,
    reply: platform.coverage,
    refusals: ['INVALID_CHAIN', 'CHAIN_UNAVAILABLE'],
    summary: 'Heights that are done, unresolved heights, lag',
  },
  listTokens: {
    ...reads('Treasury'),
    method: GET,
    path: '/v1/treasury/tokens',
    query: platform.tokensQuery,
    reply: platform.tokenPage,
    refusals: ['NOT_FOUND'],
    summary: 'Token catalogue: of the version in force, or of another that was published',
  },
} as const satisfies Record<string, Route>;
