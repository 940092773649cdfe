/** Scans for used addresses, and the limits that administrators decide on. */
import { listQuery } from '../envelope.ts';
import type { Route } from '../route.ts';
import * as imports from '../schema/imports.ts';
import * as scans from '../schema/scans.ts';
import { admin, adminWrites, DELETE, GET, POST, reads, writes } from './kinds.ts';

export const SCAN_ROUTES = {
  discover: {
    ...writes('Migration'),
    idempotent: 'claimed',
    status: 202,
    method: POST,
    path: '/v1/migration/{projectId}/discover',
    bodyLimitBytes: 2_304 * 1_024,
    params: imports.projectParams,
    body: scans.discoverBody,
    reply: scans.scan,
    refusals: [
      'NOT_FOUND',
      'INVALID_CHAIN',
      'CHAIN_UNAVAILABLE',
      'TOKEN_NOT_SUPPORTED',
      'TOKEN_NOT_ON_CHAIN',
      'ACCOUNT_SUSPENDED',
      'CONFLICT',
    ],
    summary: 'Begins a scan for used addresses below the keys of a source; ask for it again to see how far it is',
  },
  getScan: {
    ...reads('Migration'),
    method: GET,
    path: '/v1/migration/scans/{scanId}',
    params: scans.scanParams,
    reply: scans.scan,
    refusals: ['NOT_FOUND'],
    summary: 'How far a scan is, what it found and what it cannot see',
  },
  cancelScan: {
    ...writes('Migration'),
    idempotent: 'store',
    method: DELETE,
    path: '/v1/migration/scans/{scanId}',
    params: scans.scanParams,
    reply: scans.scan,
    refusals: ['NOT_FOUND'],
    summary: 'Ends a scan that is under way; one that has ended stays as it is',
  },
  listScanAddresses: {
    ...reads('Migration'),
    method: GET,
    query: listQuery({}),
    path: '/v1/migration/scans/{scanId}/addresses',
    params: scans.scanParams,
    reply: scans.scanAddressPage,
    refusals: ['NOT_FOUND'],
    summary: 'Every index up to the last that is used or has a reference, unused ones too',
  },
  listScanLimits: {
    ...admin,
    method: GET,
    query: listQuery({}),
    path: '/v1/admin/scan-limits',
    reply: scans.scanLimits,
    refusals: [],
    summary: 'Scans that were asked to go further than goes without staff, the oldest first',
  },
  approveScanLimit: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/scan-limits/{scanId}/approve',
    params: scans.scanParams,
    reply: scans.scan,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'The scan may go as far as was asked, from where it stopped',
  },
  declineScanLimit: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/scan-limits/{scanId}/decline',
    params: scans.scanParams,
    reply: scans.scan,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'The scan stays at the limit that goes without staff',
  },
} as const satisfies Record<string, Route>;
