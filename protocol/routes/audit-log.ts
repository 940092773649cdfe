/** The audit log of an organization. */
import type { Route } from '../route.ts';
import * as audit from '../schema/audit-log.ts';
import { GET, POST, portal } from './kinds.ts';
import * as platform from '../schema/platform.ts';

export const AUDIT_LOG_ROUTES = {
  listAuditLog: {
    ...portal('Settings', 'owner'),
    method: GET,
    path: '/v1/settings/audit-log',
    query: audit.auditQuery,
    reply: audit.auditPage,
    refusals: [],
    summary: 'Who did what, newest first',
  },
  getAuditCheckpoint: {
    ...portal('Settings', 'owner'),
    method: GET,
    path: '/v1/settings/audit-log/checkpoint',
    reply: audit.checkpoint,
    refusals: [],
    summary: 'Number and hash of the newest entry, signed: keep it, and a rewritten log is found out',
  },
  verifyAuditLog: {
    ...portal('Settings', 'owner'),
    method: POST,
    path: '/v1/settings/audit-log/verify',
    body: audit.verifyBody,
    reply: audit.verified,
    refusals: [],
    summary: 'Compute the chain of the log again, and compare it with a checkpoint from earlier',
  },
  exportAuditLog: {
    ...portal('Settings', 'owner'),
    method: GET,
    path: '/v1/settings/audit-log/export',
    query: audit.exportQuery,
    reply: platform.anyDocument,
    bare: 'text/plain',
    refusals: ['TOTP_REQUIRED', 'TIER_FEATURE_LOCKED'],
    summary: 'The whole log as JSON Lines, which `flock audit verify` checks, or CSV; needs a fresh second factor',
  },
} as const satisfies Record<string, Route>;
