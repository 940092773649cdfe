/** Edges of an account, and the local keys of one. */
import { pageQuery } from '../envelope.ts';
import type { Route } from '../route.ts';
import * as edge from '../schema/edge.ts';
import { DELETE, GET, LIST, POST, alone, open, reads } from './kinds.ts';

export const EDGES_ROUTES = {
  getEdgeHealth: {
    ...open('Edge'),
    where: 'both',
    method: GET,
    path: '/v1/edge/health',
    reply: edge.edgeHealth,
    summary: 'Liveness probe',
  },
  getEdgeLease: {
    ...reads('Edge'),
    method: GET,
    path: '/v1/edge/lease',
    reply: edge.lease,
    refusals: [],
    summary: 'Lease state and epoch',
  },
  getEdgeOutbox: {
    ...reads('Edge'),
    method: GET,
    path: '/v1/edge/outbox',
    reply: edge.outbox,
    refusals: [],
    summary: "Depth of the leader's outbox",
  },
  getEdgeReadiness: {
    ...reads('Edge'),
    ...LIST,
    path: '/v1/edge/readiness',
    reply: edge.readinessPage,
    refusals: [],
    summary: 'Readiness of each chain',
  },
  listEdgeSessions: {
    ...reads('Edge'),
    ...LIST,
    path: '/v1/edge/sessions',
    reply: edge.sessionPage,
    refusals: [],
    summary: 'Sessions with role, liveness and epoch',
  },
  listGasTanks: {
    ...reads('Edge'),
    ...LIST,
    path: '/v1/edge/gas-tanks',
    reply: edge.gasTankPage,
    refusals: [],
    summary: 'Gas tank address of each chain',
  },
  mintLocalKey: {
    ...alone('Edge settings'),
    role: 'editor',
    status: 201,
    method: POST,
    path: '/v1/edge/keys',
    body: edge.localKeyBody,
    reply: edge.localKeyCreated,
    refusals: ['CONFLICT'],
    summary: 'Mint a local key, shown once; asked again it mints another',
  },
  listLocalKeys: {
    ...alone('Edge settings'),
    role: 'viewer',
    method: GET,
    path: '/v1/edge/keys',
    query: pageQuery,
    reply: edge.localKeyPage,
    refusals: [],
    summary: 'List local keys, newest first',
  },
  revokeLocalKey: {
    ...alone('Edge settings'),
    role: 'editor',
    method: DELETE,
    path: '/v1/edge/keys/{id}',
    params: edge.localKeyParams,
    reply: edge.localKeyRevoked,
    refusals: ['NOT_FOUND'],
    summary: 'Revoke a local key, and every key that it minted, on every replica',
  },
} as const satisfies Record<string, Route>;
