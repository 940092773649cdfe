/** Addresses, balances and fees. */
import type { Route } from '../route.ts';
import * as addresses from '../schema/addresses.ts';
import * as transactions from '../schema/transactions.ts';
import { BUILD, GET, POST, creates, reads, writes } from './kinds.ts';

export const ADDRESSES_ROUTES = {
  createAddress: {
    ...creates('Addresses'), method: POST, path: '/v1/addresses', body: addresses.createAddressBody,
    reply: addresses.address,
    refusals: [
      'INVALID_CHAIN', 'ACCOUNT_SUSPENDED', 'NO_SUBSCRIPTION', 'TIER_FEATURE_LOCKED', 'CHAIN_NOT_READY',
      'ADDRESS_LIMIT_EXCEEDED', 'EDGE_OFFLINE', 'CHAIN_UNAVAILABLE',
    ], summary: 'Issue a deposit address',
  },
  listAddresses: {
    ...reads('Addresses'), method: GET, path: '/v1/addresses', query: addresses.listAddressesQuery,
    reply: addresses.addressPage, refusals: ['INVALID_CHAIN'], summary: 'List addresses, newest first',
  },
  getAddress: {
    ...reads('Addresses'), method: GET, path: '/v1/addresses/{id}', params: addresses.addressParams,
    reply: addresses.address, refusals: ['NOT_FOUND'], summary: 'Read one address',
  },
  archiveAddress: {
    ...writes('Addresses'), method: POST, path: '/v1/addresses/{id}/archive', params: addresses.addressParams,
    reply: addresses.address, refusals: ['NOT_FOUND', 'CONFLICT', 'ACCOUNT_SUSPENDED'],
    summary: 'Archive an address: its deposits are recorded and announce nothing',
  },
  unarchiveAddress: {
    ...writes('Addresses'), method: POST, path: '/v1/addresses/{id}/unarchive', params: addresses.addressParams,
    reply: addresses.address, refusals: ['NOT_FOUND', 'CONFLICT', 'ADDRESS_LIMIT_EXCEEDED', 'TIER_FEATURE_LOCKED', 'ACCOUNT_SUSPENDED'],
    summary: 'Make an archived address active again',
  },
  createTrustline: {
    ...creates('Addresses'), method: POST, path: '/v1/addresses/{address}/trustlines',
    params: addresses.trustlineParams, body: addresses.trustlineBody, reply: transactions.built,
    refusals: BUILD, summary: 'Build the opt-in of an address to an issued asset',
  },
  listBalances: {
    ...reads('Balances'), method: GET, path: '/v1/balances', query: addresses.listBalancesQuery,
    reply: addresses.balancePage, refusals: ['INVALID_CHAIN', 'CHAIN_UNAVAILABLE'],
    summary: 'Native balances of issued addresses',
  },
  getBalance: {
    ...reads('Balances'), method: GET, path: '/v1/balances/{chain}/{address}', params: addresses.balanceParams,
    reply: addresses.balance, refusals: ['INVALID_CHAIN', 'INVALID_ADDRESS', 'NOT_FOUND', 'CHAIN_UNAVAILABLE'],
    summary: 'Native balance of one address',
  },
  getTokenBalance: {
    ...reads('Balances'), method: GET, path: '/v1/balances/{chain}/{address}/tokens/{token}',
    params: addresses.tokenBalanceParams, reply: addresses.balance,
    refusals: [
      'INVALID_CHAIN', 'INVALID_ADDRESS', 'NOT_FOUND', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN',
      'CHAIN_UNAVAILABLE',
    ], summary: 'Token balance of one address',
  },
  getFees: {
    ...reads('Transactions'), method: GET, path: '/v1/fees/{chain}', params: addresses.feeParams,
    query: addresses.feeQuery, reply: addresses.fee,
    refusals: [
      'INVALID_CHAIN', 'INVALID_ADDRESS', 'INVALID_AMOUNT', 'NOT_FOUND', 'CHAIN_NOT_READY', 'TOKEN_NOT_SUPPORTED',
      'TOKEN_NOT_ON_CHAIN', 'CHAIN_REJECTED', 'CHAIN_UNAVAILABLE',
    ], summary: 'What a transfer would cost now',
  },
} as const satisfies Record<string, Route>;
