/** What a project watches, its cutover, and its addresses as files. */
import type { Route } from '../route.ts';
import * as imports from '../schema/imports.ts';
import * as platform from '../schema/platform.ts';
import { GET, portal, POST, reads } from './kinds.ts';

export const CUTOVER_ROUTES = {
  getObserve: {
    ...reads('Migration'),
    method: GET,
    path: '/v1/migration/projects/{projectId}/observe',
    params: imports.projectParams,
    reply: imports.observed,
    refusals: ['NOT_FOUND'],
    summary: 'Deposits that were recorded and not announced',
  },
  activateProject: {
    ...portal('Migration', 'owner'),
    method: POST,
    path: '/v1/migration/projects/{projectId}/activate',
    params: imports.projectParams,
    body: imports.activateBody,
    reply: imports.project,
    refusals: ['NOT_FOUND', 'TOTP_REQUIRED', 'IMPORT_NOT_READY', 'CHAIN_UNAVAILABLE'],
    summary: 'The cutover: webhooks and withdrawals begin; nothing from before is announced',
  },
  deactivateProject: {
    ...portal('Migration', 'editor'),
    method: POST,
    path: '/v1/migration/projects/{projectId}/deactivate',
    params: imports.projectParams,
    reply: imports.project,
    refusals: ['NOT_FOUND', 'IMPORT_NOT_READY'],
    summary: 'Back to observe, at once',
  },
  getReconciliation: {
    ...reads('Migration'),
    method: GET,
    path: '/v1/migration/projects/{projectId}/reconciliation',
    params: imports.projectParams,
    reply: platform.anyDocument,
    bare: 'text/csv',
    refusals: ['NOT_FOUND'],
    summary: 'Every address with its path, reference, spendability and counts, as CSV',
  },
  exportProject: {
    ...reads('Migration'),
    method: GET,
    path: '/v1/migration/projects/{projectId}/export',
    params: imports.projectParams,
    query: imports.exportQuery,
    reply: platform.anyDocument,
    bare: 'text/csv',
    refusals: ['FORBIDDEN', 'IMPERSONATION_READ_ONLY', 'NOT_FOUND', 'TOTP_REQUIRED', 'CONFLICT'],
    summary: 'The addresses of the project as a file that an import reads again',
  },
  getExportPlan: {
    ...reads('Migration'),
    method: GET,
    path: '/v1/migration/projects/{projectId}/export/plan',
    params: imports.projectParams,
    query: imports.exportQuery,
    reply: imports.exportPlan,
    refusals: ['NOT_FOUND'],
    summary: 'How many rows an export has, and whether the format can say all of them',
  },
} as const satisfies Record<string, Route>;
