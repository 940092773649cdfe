/** All factors of a person are lost: two administrators, 72 hours, and a way back. Console A25. */
import { listQuery } from '../envelope.ts';
import type { Route } from '../route.ts';
import * as resets from '../schema/factor-resets.ts';
import { GET, POST, admin, adminWrites, open } from './kinds.ts';

export const FACTOR_RESET_ROUTES = {
  listFactorResets: {
    ...admin,
    method: GET,
    query: listQuery({}),
    path: '/v1/admin/factor-resets',
    reply: resets.factorResets,
    refusals: [],
    summary: 'People whose factors are reset, or were; newest first',
  },
  askFactorReset: {
    ...adminWrites,
    status: 201,
    method: POST,
    path: '/v1/admin/factor-resets',
    body: resets.factorResetBody,
    reply: resets.factorReset,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Ask that all factors of a person who lost them be taken away; the person is mailed at once',
  },
  confirmFactorReset: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/factor-resets/{id}/confirm',
    params: resets.factorResetParams,
    reply: resets.factorReset,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Confirm as another administrator: it happens in 72 hours; the person is mailed each day, with a way back',
  },
  cancelFactorReset: {
    ...adminWrites,
    method: POST,
    path: '/v1/admin/factor-resets/{id}/cancel',
    params: resets.factorResetParams,
    reply: resets.factorReset,
    refusals: ['NOT_FOUND', 'CONFLICT'],
    summary: 'Take it back, as long as it has not happened',
  },
  keepFactors: {
    ...open('Authentication'),
    method: POST,
    path: '/v1/auth/factor-reset/cancel',
    body: resets.factorResetLink,
    reply: resets.factorResetKept,
    refusals: ['RATE_LIMIT_EXCEEDED', 'NOT_FOUND', 'CONFLICT'],
    summary: 'Keep the factors, by the link of a letter about their reset',
  },
} as const satisfies Record<string, Route>;
