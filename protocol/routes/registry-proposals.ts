/** Changes to the token registry: one administrator proposes, another publishes. Treasury K8, K10, H1. */
import type { Route } from '../route.ts';
import * as proposals from '../schema/registry-proposals.ts';
import { publishVersionBody, REGISTRY_BODY_BYTES, tokenVersion } from '../schema/tokens.ts';
import { admin, adminWrites, GET, POST } from './kinds.ts';

export const REGISTRY_PROPOSAL_ROUTES = {
  proposeRegistryVersion: {
    ...adminWrites,
    status: 201,
    method: POST,
    path: '/v1/admin/registry/versions',
    bodyLimitBytes: 176 * 1_024,
    body: proposals.registryChangeBody,
    reply: proposals.registryProposal,
    refusals: ['INVALID_CHAIN', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN', 'CONFLICT'],
    summary: 'Propose a change to the token registry: flags of its tokens, and which routes of a bridge are open',
  },
  listRegistryProposals: {
    ...admin,
    method: GET,
    query: proposals.registryProposalQuery,
    path: '/v1/admin/registry/versions',
    reply: proposals.registryProposalPage,
    refusals: [],
    summary: 'Changes to the token registry that administrators proposed, newest first',
  },
  getRegistryProposal: {
    ...admin,
    method: GET,
    path: '/v1/admin/registry/versions/{id}',
    params: proposals.registryProposalParams,
    reply: proposals.registryProposal,
    refusals: ['NOT_FOUND'],
    summary: 'A proposed change to the token registry, and what became of it',
  },
  getProposedVersion: {
    ...admin,
    method: GET,
    path: '/v1/admin/registry/versions/{id}/version',
    params: proposals.registryProposalParams,
    reply: tokenVersion,
    refusals: ['NOT_FOUND', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN', 'CONFLICT'],
    summary:
      'The version of the token registry that would publish a proposed change, to be signed by two registry keys',
  },
  publishRegistryProposal: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/registry/versions/{id}/publish',
    bodyLimitBytes: REGISTRY_BODY_BYTES,
    params: proposals.registryProposalParams,
    body: publishVersionBody,
    reply: proposals.registryProposal,
    refusals: ['NOT_FOUND', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN', 'CONFLICT'],
    summary: 'Publish a change that another administrator proposed, with the version that two registry keys signed',
  },
  withdrawRegistryProposal: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/registry/versions/{id}/withdraw',
    params: proposals.registryProposalParams,
    body: proposals.withdrawProposalBody,
    reply: proposals.registryProposal,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Take a proposed change back: it is not published any more',
  },
} as const satisfies Record<string, Route>;
