/** Reading by staff, with the consent of an owner. Console A45. */
import type { Route } from '../route.ts';
import * as support from '../schema/support.ts';
import { DELETE, GET, POST, PUT, adminWrites, portal } from './kinds.ts';

export const SUPPORT_ROUTES = {
  getSupportAccess: {
    ...portal('Settings', 'viewer'),
    method: GET,
    path: '/v1/settings/support-access',
    reply: support.supportAccess,
    refusals: [],
    summary: 'Until when staff may read, and their newest 50 sessions',
  },
  setSupportAccess: {
    ...portal('Settings', 'owner'),
    method: PUT,
    path: '/v1/settings/support-access',
    body: support.supportAccessBody,
    reply: support.supportAccess,
    refusals: [],
    summary: 'Let staff read until an instant, at most 7 days ahead; null ends it, and their open sessions',
  },
  endSupportSession: {
    ...portal('Settings', 'owner'),
    method: DELETE,
    path: '/v1/settings/support-sessions/{id}',
    params: support.supportParams,
    reply: support.supportEnded,
    refusals: ['NOT_FOUND'],
    summary: 'End a session of staff at once',
  },
  startSupportSession: {
    ...adminWrites,
    status: 201,
    method: POST,
    path: '/v1/admin/support-sessions',
    body: support.supportBody,
    reply: support.supportStarted,
    refusals: ['NOT_FOUND', 'IMPERSONATION_FORBIDDEN'],
    summary: 'Begin to read an account, for an hour at most; its owners are mailed',
  },
} as const satisfies Record<string, Route>;
