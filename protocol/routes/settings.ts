/** Settings and billing. */
import type { Route } from '../route.ts';
import * as account from '../schema/account.ts';
import { DELETE, GET, LIST, POST, portal, reads } from './kinds.ts';

export const SETTINGS_ROUTES = {
  listApiKeys: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/api-keys', reply: account.apiKeyPage,
    refusals: [], summary: 'List API keys',
  },
  mintApiKey: {
    ...portal('Settings', 'owner'), status: 201, idempotent: 'statement', method: POST, path: '/v1/settings/api-keys',
    body: account.mintApiKeyBody, reply: account.apiKeyCreated, refusals: ['TOTP_REQUIRED'],
    summary: 'Mint an API key, shown once; needs a fresh second factor',
  },
  revokeApiKey: {
    ...portal('Settings', 'owner'), idempotent: 'store', method: DELETE, path: '/v1/settings/api-keys/{id}',
    params: account.apiKeyParams, reply: account.apiKey, refusals: ['NOT_FOUND'], summary: 'Revoke an API key',
  },
  getEdgeSetup: {
    ...portal('Settings', 'viewer'), method: GET, path: '/v1/settings/edge-setup', reply: account.edgeSetup,
    refusals: [], summary: 'Command that starts an edge for this account',
  },
  listRotations: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/rotations', reply: account.rotationPage,
    refusals: [], summary: 'Identity rotations that wait for the owner',
  },
  approveRotation: {
    ...portal('Settings', 'owner'), idempotent: 'actor', method: POST, path: '/v1/settings/rotations/{id}/approve',
    params: account.rotationParams, body: account.rotationBody, reply: account.rotationDecided,
    refusals: ['TOTP_REQUIRED', 'NOT_FOUND', 'CROSS_ENVIRONMENT_IDENTITY', 'ADDRESS_CONFLICT'],
    summary: 'Pin the new identity and register its keys',
  },
  rejectRotation: {
    ...portal('Settings', 'owner'), idempotent: 'actor', method: POST, path: '/v1/settings/rotations/{id}/reject',
    params: account.rotationParams, body: account.rotationBody, reply: account.rotationDecided,
    refusals: ['TOTP_REQUIRED', 'NOT_FOUND'], summary: 'Keep the pinned identity and discard the held keys',
  },
  listMembers: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/members', reply: account.memberPage,
    refusals: [], summary: 'Members and their roles',
  },
  getUsage: {
    ...reads('Billing'), where: 'cloud', method: GET, path: '/v1/billing/usage', reply: account.usage, refusals: [],
    summary: 'Usage of the current period',
  },
  changeBand: {
    ...portal('Billing', 'owner'), idempotent: 'actor', method: POST, path: '/v1/billing/band',
    body: account.bandBody, reply: account.plan, refusals: ['ADDRESS_LIMIT_EXCEEDED', 'NO_SUBSCRIPTION'],
    summary: 'Change the band',
  },
} as const satisfies Record<string, Route>;
