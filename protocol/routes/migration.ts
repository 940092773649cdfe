/** Wallets from elsewhere. */
import type { Route } from '../route.ts';
import * as migration from '../schema/migration.ts';
import { IDENTITY, signed } from './edge-signed.ts';
import { asks, LIST, POST, reads, writes } from './kinds.ts';

export const MIGRATION_ROUTES = {
  detectCase: {
    ...asks('Migration'),
    path: '/v1/migration/detect-case',
    body: migration.detectCaseBody,
    reply: migration.assessedCase,
    refusals: ['INVALID_CHAIN'],
    summary: 'Which case a company is in, what will sign, and the steps; creates nothing',
  },
  detectPath: {
    ...writes('Migration'),
    idempotent: 'store',
    method: POST,
    path: '/v1/migration/detect-path',
    body: migration.detectPathBody,
    reply: migration.detectedPath,
    refusals: ['INVALID_CHAIN', 'INVALID_ADDRESS'],
    summary: 'Path from an extended public key to a known address',
  },
  listKeySources: {
    ...reads('Migration'),
    ...LIST,
    path: '/v1/migration/key-sources',
    reply: migration.keySourcePage,
    refusals: [],
    summary: 'Key sources of the edge, and what can be signed',
  },
  registerKeySource: {
    ...signed,
    tag: 'Migration',
    status: 201,
    method: POST,
    path: '/v1/migration/key-sources',
    body: migration.registerKeySourceBody,
    reply: migration.keySourceRegistered,
    refusals: [
      ...IDENTITY,
      'INVALID_CHAIN',
      'INVALID_ADDRESS',
      'NO_SUBSCRIPTION',
      'TIER_FEATURE_LOCKED',
      'CHAIN_NOT_READY',
      'ADDRESS_LIMIT_EXCEEDED',
      'KEY_SOURCE_MISMATCH',
      'KEY_SOURCE_PURGED',
      'ADDRESS_CONFLICT',
      'CONFLICT',
    ],
    summary: 'Register public keys and addresses of a phrase or key from elsewhere',
  },
  purgeKeySource: {
    ...signed,
    tag: 'Migration',
    method: POST,
    path: '/v1/migration/key-sources/{id}/purge',
    params: migration.keySourceParams,
    reply: migration.keySource,
    refusals: [...IDENTITY, 'NOT_FOUND'],
    summary: 'The key material is gone: its addresses are watch-only from now on',
  },
} as const satisfies Record<string, Route>;
