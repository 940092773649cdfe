/** The wipe of an account. Console A48, A49. */
import type { Route } from '../route.ts';
import * as wipe from '../schema/wipe.ts';
import { DELETE, GET, POST, portal } from './kinds.ts';

export const WIPE_ROUTES = {
  getWipe: {
    ...portal('Settings', 'viewer'),
    method: GET,
    path: '/v1/settings/wipe',
    reply: wipe.wipeState,
    refusals: [],
    summary: 'The newest wipe of the environment, how far it is, and what lay on the addresses',
  },
  scheduleWipe: {
    ...portal('Settings', 'owner'),
    idempotent: 'actor',
    status: 201,
    method: POST,
    path: '/v1/settings/wipe',
    body: wipe.wipeBody,
    reply: wipe.wipeScheduled,
    refusals: ['TOTP_REQUIRED', 'CONFLICT', 'ACCOUNT_SUSPENDED'],
    summary: 'Wipe the environment in 72 hours; takes a code made for this, and any owner can take it back',
  },
  cancelWipe: {
    ...portal('Settings', 'owner'),
    method: DELETE,
    path: '/v1/settings/wipe',
    reply: wipe.wipeCancelled,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Take the scheduled wipe back, as long as nothing is deleted',
  },
} as const satisfies Record<string, Route>;
