/** Sign-in and organizations. */
import type { Route } from '../route.ts';
import * as account from '../schema/account.ts';
import { GET, LIST, POST, open, portal } from './kinds.ts';

export const SIGN_IN_ROUTES = {
  login: {
    ...open('Authentication'), method: POST, path: '/v1/auth/login', body: account.loginBody,
    reply: account.tokenReply, refusals: ['UNAUTHORIZED', 'TOTP_REQUIRED', 'RATE_LIMIT_EXCEEDED'],
    summary: 'Sign in with email, password and code',
  },
  refresh: {
    ...open('Authentication'), method: POST, path: '/v1/auth/refresh', reply: account.tokenReply,
    refusals: ['UNAUTHORIZED'], summary: 'New access token for the refresh cookie',
  },
  logout: {
    ...open('Authentication'), method: POST, path: '/v1/auth/logout', reply: account.signedOut,
    summary: 'Forget the refresh cookie',
  },
  switchOrganization: {
    ...portal('Authentication', null), method: POST, path: '/v1/auth/switch', body: account.switchBody,
    reply: account.tokenReply, refusals: ['NOT_FOUND'], summary: 'Access token for another of your organizations',
  },
  stepUp: {
    ...portal('Authentication', null), method: POST, path: '/v1/auth/step-up', body: account.stepUpBody,
    reply: account.tokenReply, refusals: ['TOTP_REQUIRED'], summary: 'Prove the second factor again',
  },
  enrolTotp: {
    ...portal('Authentication', null), method: POST, path: '/v1/auth/totp/enroll', reply: account.totpEnrolled,
    refusals: ['TOTP_REQUIRED'], summary: 'Begin to enrol a second factor',
  },
  confirmTotp: {
    ...portal('Authentication', null), method: POST, path: '/v1/auth/totp/confirm', body: account.stepUpBody,
    reply: account.tokenReply, refusals: ['TOTP_REQUIRED', 'CONFLICT'],
    summary: 'Confirm the second factor with a first code',
  },
  getJwks: {
    ...open('Authentication'), method: GET, path: '/.well-known/jwks.json', reply: account.jwks,
    bare: 'application/json', summary: 'Public keys of the built-in issuer',
  },
  createOrganization: {
    ...portal('Organizations', null), status: 201, idempotent: 'statement', method: POST, path: '/v1/organizations',
    body: account.createOrganizationBody, reply: account.organization, refusals: [],
    summary: 'Create a tenant; the caller becomes its owner',
  },
  listOrganizations: {
    ...portal('Organizations', null), ...LIST, path: '/v1/organizations', reply: account.organizationPage,
    refusals: [], summary: 'Your organizations',
  },
} as const satisfies Record<string, Route>;
