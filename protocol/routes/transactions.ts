/** Transactions: build, reprice, broadcast. */
import type { Route } from '../route.ts';
import * as transactions from '../schema/transactions.ts';
import { BUILD, GET, NOT_PAYABLE, NOT_SIGNED, PATCH, POST, creates, reads, writes } from './kinds.ts';

export const TRANSACTIONS_ROUTES = {
  listTransactions: {
    ...reads('Transactions'),
    method: GET,
    path: '/v1/transactions',
    query: transactions.listTransactionsQuery,
    reply: transactions.transactionPage,
    refusals: ['INVALID_CHAIN'],
    summary: 'List deposits and withdrawals, newest first',
  },
  getTransaction: {
    ...reads('Transactions'),
    method: GET,
    path: '/v1/transactions/{id}',
    params: transactions.transactionParams,
    reply: transactions.transaction,
    refusals: ['NOT_FOUND'],
    summary: 'Read one deposit or withdrawal',
  },
  buildTransaction: {
    ...creates('Transactions'),
    method: POST,
    path: '/v1/transactions/unsigned',
    body: transactions.buildBody,
    reply: transactions.built,
    refusals: BUILD,
    summary:
      'Build an unsigned transaction; nothing is signed, and nothing is held but coins: its counter is bound at the broadcast',
  },
  repriceTransaction: {
    ...writes('Transactions'),
    method: PATCH,
    path: '/v1/transactions/unsigned/{id}',
    params: transactions.withdrawalParams,
    reply: transactions.built,
    refusals: [
      'NOT_FOUND',
      'CONFLICT',
      'ADDRESS_WATCH_ONLY',
      ...NOT_PAYABLE,
      ...NOT_SIGNED,
      'TOKEN_NOT_SUPPORTED',
      'CHAIN_NOT_READY',
      'CHAIN_UNAVAILABLE',
      'ACCOUNT_SUSPENDED',
    ],
    summary: 'Price a built transaction anew',
  },
  broadcastTransaction: {
    ...writes('Transactions'),
    idempotent: 'store',
    method: POST,
    path: '/v1/transactions/{id}/broadcast',
    params: transactions.withdrawalParams,
    reply: transactions.transaction,
    refusals: [
      'NOT_FOUND',
      'CONFLICT',
      'IDENTITY_ROTATION_PENDING',
      'ADDRESS_WATCH_ONLY',
      ...NOT_PAYABLE,
      ...NOT_SIGNED,
      'EDGE_OFFLINE',
      'EDGE_NO_LEADER',
      'LEASE_HELD',
      'LEASE_EPOCH_STALE',
      'RESYNC_REQUIRED',
      'CHAIN_UNAVAILABLE',
      'TIER_FEATURE_LOCKED',
      'ACCOUNT_SUSPENDED',
    ],
    summary: 'Sign at the edge and broadcast',
  },
} as const satisfies Record<string, Route>;
