/** Billing: plans, their change, usage and statements. */
import type { Route } from '../route.ts';
import * as account from '../schema/account.ts';
import * as billing from '../schema/billing.ts';
import * as platform from '../schema/platform.ts';
import { GET, LIST, POST, portal, reads } from './kinds.ts';

const REFUSED = [
  'INVALID_INPUT',
  'FORBIDDEN',
  'TIER_FEATURE_LOCKED',
  'ADDRESS_LIMIT_EXCEEDED',
  'NO_SUBSCRIPTION',
  'CONFLICT',
] as const;

export const BILLING_ROUTES = {
  getUsage: {
    ...reads('Billing'),
    where: 'cloud',
    method: GET,
    path: '/v1/billing/usage',
    reply: account.usage,
    refusals: [],
    summary: 'Usage of the current period',
  },
  getPlans: {
    ...reads('Billing'),
    where: 'cloud',
    method: GET,
    path: '/v1/billing/plans',
    reply: billing.plans,
    refusals: [],
    summary: 'Tiers and bands, what they hold and cost',
  },
  previewPlan: {
    ...portal('Billing', 'viewer'),
    method: GET,
    path: '/v1/billing/preview',
    query: billing.previewQuery,
    reply: billing.preview,
    refusals: [],
    summary: 'What a change of plan would cost, now and by the month',
  },
  changeBand: {
    ...portal('Billing', 'owner'),
    idempotent: 'actor',
    method: POST,
    path: '/v1/billing/band',
    body: account.bandBody,
    reply: account.plan,
    refusals: REFUSED,
    summary: 'Change the band',
  },
  changePlan: {
    ...portal('Billing', 'owner'),
    idempotent: 'actor',
    method: POST,
    path: '/v1/billing/plan',
    body: billing.planBody,
    reply: account.plan,
    refusals: REFUSED,
    summary: 'Change the tier: a higher one at once, a lower one at the end of the period',
  },
  listStatements: {
    ...portal('Billing', 'viewer'),
    ...LIST,
    path: '/v1/billing/statements',
    reply: billing.statementPage,
    refusals: [],
    summary: 'Statements, newest first',
  },
  getStatement: {
    ...portal('Billing', 'viewer'),
    method: GET,
    path: '/v1/billing/statements/{id}',
    params: billing.statementParams,
    reply: billing.statement,
    refusals: ['NOT_FOUND'],
    summary: 'One statement',
  },
  listBilled: {
    ...portal('Billing', 'viewer'),
    method: GET,
    path: '/v1/billing/statements/{id}/transactions',
    params: billing.statementParams,
    query: billing.billedQuery,
    reply: billing.billedPage,
    refusals: ['NOT_FOUND'],
    summary: 'What a statement counts: each settled withdrawal of its month',
  },
  exportStatement: {
    ...portal('Billing', 'viewer'),
    method: GET,
    path: '/v1/billing/statements/{id}/document',
    params: billing.statementParams,
    query: billing.documentQuery,
    reply: platform.anyDocument,
    bare: 'text/plain',
    refusals: ['NOT_FOUND'],
    summary: 'One statement as CSV, or as a page to print whose overage leads to the withdrawals',
  },
} as const satisfies Record<string, Route>;
