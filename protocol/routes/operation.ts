/** Administrators, health, description. */
import type { Route } from '../route.ts';
import * as platform from '../schema/platform.ts';
import { GET, POST, PUT, admin, open } from './kinds.ts';

export const OPERATION_ROUTES = {
  listActors: {
    ...admin, method: GET, path: '/v1/admin/actors', query: platform.actorsQuery, reply: platform.actor, refusals: [],
    summary: 'The actor tree of this node',
  },
  getActor: {
    ...admin, method: GET, path: '/v1/admin/actors/{path}', params: platform.actorParams, reply: platform.actor,
    refusals: ['NOT_FOUND'], summary: 'One actor; slashes in its path are percent-encoded',
  },
  restartActor: {
    ...admin, method: POST, path: '/v1/admin/actors/{path}/restart', params: platform.actorParams,
    reply: platform.actorRestarted, refusals: ['NOT_FOUND'], summary: 'Forget the memory of an actor and read it again',
  },
  listFactsSetAside: {
    ...admin, method: GET, path: '/v1/admin/facts', query: platform.factsQuery, reply: platform.factsSetAside,
    refusals: [], summary: 'Facts of chains that their accounts could not take, oldest first',
  },
  retryFacts: {
    ...admin, method: POST, path: '/v1/admin/facts/retry', body: platform.retryFactsBody,
    reply: platform.factsRetried, refusals: ['NOT_FOUND'],
    summary: 'Try facts that were set aside at once: one, all of an account, or all',
  },
  setSuspension: {
    ...admin, method: PUT, path: '/v1/admin/accounts/{accountId}/suspension', params: platform.accountParams,
    body: platform.suspensionBody, reply: platform.suspension, refusals: ['NOT_FOUND'],
    summary: 'Suspend an account or take that back; deposits and webhooks go on',
  },
  setPlan: {
    ...admin, method: PUT, path: '/v1/admin/accounts/{accountId}/plan', params: platform.accountParams,
    body: platform.planBody, reply: platform.accountPlan, refusals: ['NOT_FOUND', 'ADDRESS_LIMIT_EXCEEDED'],
    summary: 'Change tier, band or subscription of an account',
  },
  getLive: {
    ...open('Health'), where: 'both', method: GET, path: '/health/live', reply: platform.live,
    summary: 'The process runs',
  },
  getReady: {
    ...open('Health'), where: 'both', method: GET, path: '/health/ready', reply: platform.ready,
    refusals: ['SERVICE_UNAVAILABLE'], summary: 'The process can serve',
  },
  getMetrics: {
    ...open('Health'), where: 'both', method: GET, path: '/metrics', reply: platform.anyDocument, bare: 'text/plain',
    summary: 'Prometheus metrics',
  },
  getDescription: {
    ...open('Health'), method: GET, path: '/v1/openapi.json', reply: platform.anyDocument, bare: 'application/json',
    summary: 'This description as OpenAPI 3.1',
  },
} as const satisfies Record<string, Route>;
