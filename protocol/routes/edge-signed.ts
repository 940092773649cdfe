/** Routes that only an edge calls, with its signature: registration, pools, and the way to a signed transaction. */
import { attestationsBody, bindBody, heartbeatBody, poolsBody, resumeBody, signedBody, syncBody } from '../frames.ts';
import type { Route } from '../route.ts';
import * as audit from '../schema/audit-log.ts';
import * as edge from '../schema/edge.ts';
import * as transactions from '../schema/transactions.ts';

const POST = 'POST';
const KIB = 1_024;

export const signed = {
  tag: 'Edge',
  where: 'cloud',
  credential: 'signed',
  role: null,
  status: 200,
} as const;

/** What an edge's request can meet beside its own refusals. */
export const IDENTITY = [
  'IDENTITY_ROTATION_PENDING',
  'RESYNC_REQUIRED',
  'EDGE_VERSION_UNSUPPORTED',
  'ACCOUNT_SUSPENDED',
] as const;

export const EDGE_ROUTES = {
  syncEdge: {
    ...signed,
    method: POST,
    path: '/v1/edge/sync',
    /** Full pools of both Ed25519 chains. */
    bodyLimitBytes: 2_048 * KIB,
    body: syncBody,
    reply: edge.syncReply,
    refusals: [
      ...IDENTITY,
      'ALREADY_ENROLLED',
      'CROSS_ENVIRONMENT_IDENTITY',
      'KEY_SOURCE_MISMATCH',
      'INVALID_ADDRESS',
      'ADDRESS_CONFLICT',
    ],
    summary: 'Enrol: register public keys and pools',
  },
  resumeEdge: {
    ...signed,
    method: POST,
    path: '/v1/edge/resume',
    body: resumeBody,
    reply: edge.resumeReply,
    refusals: IDENTITY,
    summary: 'Resume after enrolment',
  },
  resyncEdge: {
    ...signed,
    method: POST,
    path: '/v1/edge/resync',
    body: resumeBody,
    reply: edge.resumeReply,
    refusals: IDENTITY,
    summary: 'Ask for registration anew',
  },
  heartbeatEdge: {
    ...signed,
    method: POST,
    path: '/v1/edge/heartbeat',
    body: heartbeatBody,
    reply: edge.heartbeatReply,
    refusals: [...IDENTITY, 'LEASE_EPOCH_STALE'],
    summary: 'Heartbeat while the stream is down',
  },
  pushPool: {
    ...signed,
    method: POST,
    path: '/v1/edge/pools',
    bodyLimitBytes: 1_024 * KIB,
    body: poolsBody,
    reply: edge.poolReply,
    refusals: [...IDENTITY, 'INVALID_ADDRESS', 'ADDRESS_CONFLICT', 'CONFLICT'],
    summary: 'Add derived addresses to a pool',
  },
  pushAttestations: {
    ...signed,
    method: POST,
    path: '/v1/edge/attestations',
    bodyLimitBytes: 256 * KIB,
    body: attestationsBody,
    reply: edge.attestationsReply,
    refusals: IDENTITY,
    summary: 'Hand over signed statements about addresses of payers, and learn which are missing',
  },
  bindCounter: {
    ...signed,
    method: POST,
    path: '/v1/edge/transactions/{id}/counter',
    params: transactions.withdrawalParams,
    body: bindBody,
    reply: transactions.built,
    refusals: [
      ...IDENTITY,
      'NOT_FOUND',
      'CONFLICT',
      'CHAIN_UNAVAILABLE',
      'ADDRESS_IN_OBSERVE_MODE',
      'ADDRESS_WATCH_ONLY',
      'INSUFFICIENT_FUNDS',
      'TIER_FEATURE_LOCKED',
    ],
    summary: 'Bind the counter of a build that is about to be signed',
  },
  submitSigned: {
    ...signed,
    status: 201,
    method: POST,
    path: '/v1/edge/transactions/{id}/signed',
    bodyLimitBytes: 512 * KIB,
    params: transactions.withdrawalParams,
    body: signedBody,
    reply: transactions.transaction,
    refusals: [
      ...IDENTITY,
      'NOT_FOUND',
      'SIGNED_BATCH_REJECTED',
      'CONFLICT',
      'LEASE_EPOCH_STALE',
      'EDGE_NO_LEADER',
      'TIER_FEATURE_LOCKED',
    ],
    summary: 'Hand over a signed transaction',
  },
  continueAuditLog: {
    ...signed,
    method: POST,
    path: '/v1/edge/audit-log',
    body: audit.continuationBody,
    reply: audit.continuation,
    refusals: IDENTITY,
    summary:
      'The entries of the audit log behind a place in its chain, and its checkpoint, which the edge keeps; live only',
  },
} as const satisfies Record<string, Route>;
