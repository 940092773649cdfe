/** Passkeys: signing in by one, adding and removing them, and what they are asked as a proof. */
import type { Route } from '../route.ts';
import * as account from '../schema/account.ts';
import * as passkeys from '../schema/passkeys.ts';
import { DELETE, LIST, POST, open, portal } from './kinds.ts';

export const PASSKEY_ROUTES = {
  beginPasskeySignIn: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/passkeys/login/options',
    reply: passkeys.passkeyQuestion,
    refusals: ['RATE_LIMIT_EXCEEDED', 'CONFLICT'],
    summary: 'What a browser asks an authenticator to sign in with a passkey',
  },
  signInByPasskey: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/passkeys/login',
    body: passkeys.passkeySignInBody,
    reply: account.tokenReply,
    refusals: ['UNAUTHORIZED', 'RATE_LIMIT_EXCEEDED', 'CONFLICT', 'FORBIDDEN'],
    summary: 'Sign in with a passkey; it counts as a fresh second factor',
  },
  beginPasskey: {
    ...portal('Authentication', null),
    method: POST,
    path: '/v1/auth/passkeys/options',
    body: passkeys.beginPasskeyBody,
    reply: passkeys.passkeyCreation,
    refusals: ['TOTP_REQUIRED', 'RATE_LIMIT_EXCEEDED', 'CONFLICT'],
    summary: 'What a browser asks an authenticator to make a passkey; takes a fresh second factor where there is one',
  },
  addPasskey: {
    ...portal('Authentication', null),
    method: POST,
    path: '/v1/auth/passkeys',
    body: passkeys.addPasskeyBody,
    reply: passkeys.passkey,
    refusals: ['CONFLICT'],
    summary: 'Add the passkey that an authenticator made, under a name',
  },
  listPasskeys: {
    ...portal('Authentication', null),
    ...LIST,
    path: '/v1/auth/passkeys',
    reply: passkeys.passkeyPage,
    refusals: [],
    summary: 'Your passkeys',
  },
  removePasskey: {
    ...portal('Authentication', null),
    method: DELETE,
    path: '/v1/auth/passkeys/{id}',
    params: passkeys.passkeyParams,
    reply: passkeys.passkeyRemoved,
    refusals: ['NOT_FOUND', 'TOTP_REQUIRED', 'CONFLICT'],
    summary: 'Remove one of your passkeys; takes a fresh second factor',
  },
  askPasskey: {
    ...portal('Authentication', null),
    method: POST,
    path: '/v1/auth/passkeys/ask',
    body: passkeys.askPasskeyBody,
    bodyLimitBytes: 64 * 1_024, // holds the body that the proof is for
    reply: passkeys.passkeyQuestion,
    refusals: ['TOTP_REQUIRED', 'CONFLICT'],
    summary: 'A question for your passkey: for a step-up, or as the proof of one request',
  },
} as const satisfies Record<string, Route>;
