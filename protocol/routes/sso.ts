/** Single sign-on: an organization's provider and domains, and signing in by them. */
import type { Route } from '../route.ts';
import * as account from '../schema/account.ts';
import * as sso from '../schema/sso.ts';
import { DELETE, LIST, POST, PUT, open, portal } from './kinds.ts';

const fresh = { ...portal('Settings', 'owner'), fresh: true } as const;

export const SSO_ROUTES = {
  listSsoConnections: {
    ...portal('Settings', 'owner'),
    ...LIST,
    path: '/v1/settings/sso',
    reply: sso.ssoPage,
    refusals: [],
    summary: 'The identity provider of the organization, if there is one',
  },
  setSsoConnection: {
    ...fresh,
    method: PUT,
    path: '/v1/settings/sso',
    body: sso.ssoBody,
    reply: sso.ssoConnection,
    refusals: ['TIER_FEATURE_LOCKED'],
    summary: 'Name the OpenID Connect provider of the organization, in place of the one before; it is asked at once',
  },
  removeSsoConnection: {
    ...fresh,
    method: DELETE,
    path: '/v1/settings/sso/{id}',
    params: sso.ssoParams,
    reply: sso.removed,
    refusals: ['NOT_FOUND'],
    summary: 'End sign-in by the provider; who came by it sets a password by a letter',
  },
  setSamlConnection: {
    ...fresh,
    method: PUT,
    path: '/v1/settings/sso/saml',
    body: sso.samlBody,
    bodyLimitBytes: 520 * 1_024, // metadata of 256 kB, as JSON text
    reply: sso.ssoConnection,
    refusals: ['TIER_FEATURE_LOCKED'],
    summary: 'Name the SAML provider of the organization by its metadata, in place of the one before',
  },
  enforceSso: {
    ...portal('Settings', 'owner'),
    method: PUT,
    path: '/v1/settings/sso/{id}/enforcement',
    bodyLimitBytes: 32 * 1_024, // the answer of a passkey
    params: sso.ssoParams,
    body: sso.enforcementBody,
    reply: sso.ssoConnection,
    refusals: ['TOTP_REQUIRED', 'TIER_FEATURE_LOCKED', 'NOT_FOUND', 'CONFLICT'],
    summary:
      'Let members of the domains in by the provider alone, or no longer; takes a code made for this, of an owner who signed in by it within 24 hours',
  },
  listDomains: {
    ...portal('Settings', 'owner'),
    ...LIST,
    path: '/v1/settings/domains',
    reply: sso.domainPage,
    refusals: [],
    summary: 'Domains of emails, verified or not',
  },
  addDomain: {
    ...fresh,
    method: POST,
    path: '/v1/settings/domains',
    body: sso.domainBody,
    reply: sso.domain,
    refusals: ['TIER_FEATURE_LOCKED', 'CONFLICT'],
    summary: 'Add a domain; the answer names the TXT record that proves it',
  },
  checkDomain: {
    ...fresh,
    method: POST,
    path: '/v1/settings/domains/{id}/check',
    params: sso.domainParams,
    reply: sso.domain,
    refusals: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMIT_EXCEEDED'],
    summary: 'Look for the TXT record of a domain, ten times an hour',
  },
  removeDomain: {
    ...fresh,
    method: DELETE,
    path: '/v1/settings/domains/{id}',
    params: sso.domainParams,
    reply: sso.removed,
    refusals: ['NOT_FOUND'],
    summary: 'Give a domain up',
  },
  discoverSso: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/sso/discover',
    body: sso.discoverBody,
    reply: sso.discovered,
    refusals: ['RATE_LIMIT_EXCEEDED'],
    summary: 'The provider of the domain of an email',
  },
  startSso: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/sso/start',
    body: sso.startSsoBody,
    reply: sso.ssoStarted,
    refusals: ['RATE_LIMIT_EXCEEDED', 'FORBIDDEN', 'NOT_FOUND', 'TIER_FEATURE_LOCKED', 'UPSTREAM_UNAVAILABLE'],
    summary: 'Begin to sign in by a provider, in this browser, within ten minutes',
  },
  finishSso: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/sso/finish',
    body: sso.finishSsoBody,
    bodyLimitBytes: 32 * 1_024, // a code of a provider has no length that all agree on
    reply: account.tokenReply,
    refusals: [
      'UNAUTHORIZED',
      'RATE_LIMIT_EXCEEDED',
      'FORBIDDEN',
      'CONFLICT',
      'TIER_FEATURE_LOCKED',
      'UPSTREAM_UNAVAILABLE',
    ],
    summary: 'Sign in with what the provider gave; `prove_account` where the email has a user who never came by it',
  },
  linkSso: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/sso/link',
    body: sso.linkSsoBody,
    reply: account.tokenReply,
    refusals: ['UNAUTHORIZED', 'TOTP_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'FORBIDDEN', 'CONFLICT', 'TIER_FEATURE_LOCKED'],
    summary: 'Prove, once, the account that a first arrival is linked with, by password and factor, and sign in',
  },
} as const satisfies Record<string, Route>;
