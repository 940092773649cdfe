/** What an application simulates. */
import type { Route } from '../route.ts';
import * as platform from '../schema/platform.ts';
import { DELETE, POST, SIMULATE, sandbox } from './kinds.ts';

export const SANDBOX_ROUTES = {
  simulateDeposit: {
    ...sandbox,
    status: 201,
    method: POST,
    path: '/v1/sandbox/simulate-deposit',
    body: platform.simulateDepositBody,
    reply: platform.simulatedDeposit,
    refusals: [
      ...SIMULATE,
      'INVALID_ADDRESS',
      'INVALID_AMOUNT',
      'NOT_FOUND',
      'TOKEN_NOT_SUPPORTED',
      'TOKEN_NOT_ON_CHAIN',
    ],
    summary: 'Pay an address on the simulated chain',
  },
  simulateConfirmation: {
    ...sandbox,
    method: POST,
    path: '/v1/sandbox/simulate-confirmation',
    body: platform.simulateConfirmationBody,
    reply: platform.simulatedConfirmation,
    refusals: [...SIMULATE, 'NOT_FOUND', 'CONFLICT'],
    summary:
      'Mine until a transaction has so many confirmations; a version that waits in the pool wins over the others',
  },
  simulateStuck: {
    ...sandbox,
    method: POST,
    path: '/v1/sandbox/simulate-stuck',
    body: platform.simulateStuckBody,
    reply: platform.simulatedStuck,
    refusals: SIMULATE,
    summary: 'Keep what is broadcast in the pool, so that it can be repriced; or let it go',
  },
  simulateReorg: {
    ...sandbox,
    method: POST,
    path: '/v1/sandbox/simulate-reorg',
    body: platform.simulateReorgBody,
    reply: platform.simulatedReorg,
    refusals: SIMULATE,
    summary: 'Replace the newest blocks',
  },
  simulateChainDown: {
    ...sandbox,
    method: POST,
    path: '/v1/sandbox/simulate-chain-down',
    body: platform.simulateChainDownBody,
    reply: platform.simulatedChainDown,
    refusals: SIMULATE,
    summary: 'Make a chain unreachable for a while',
  },
  simulateDuplicateDelivery: {
    ...sandbox,
    method: POST,
    path: '/v1/sandbox/simulate-duplicate-delivery',
    body: platform.simulateDuplicateBody,
    reply: platform.simulatedDuplicate,
    refusals: ['SANDBOX_ONLY', 'NOT_FOUND'],
    summary: 'Deliver an event a second time with the same id',
  },
  resetSandbox: {
    ...sandbox,
    method: DELETE,
    path: '/v1/sandbox/reset',
    reply: platform.sandboxReset,
    refusals: ['SANDBOX_ONLY'],
    summary: 'Forget its addresses, transactions and deliveries',
  },
} as const satisfies Record<string, Route>;
