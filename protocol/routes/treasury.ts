/** Treasury wallets. */
import type { Route } from '../route.ts';
import * as treasury from '../schema/treasury.ts';
import { GET, LIST, POST, creates, reads } from './kinds.ts';

export const TREASURY_ROUTES = {
  createTreasuryWallet: {
    ...creates('Treasury'),
    method: POST,
    path: '/v1/treasury/wallets',
    body: treasury.walletBody,
    reply: treasury.wallet,
    refusals: [
      'INVALID_CHAIN',
      'INVALID_ADDRESS',
      'ACCOUNT_SUSPENDED',
      'CHAIN_NOT_READY',
      'CONFLICT',
      'CHAIN_UNAVAILABLE',
    ],
    summary: 'Register where sweeps go: a derived wallet at M/1/1, or an address of your own',
  },
  listTreasuryWallets: {
    ...reads('Treasury'),
    ...LIST,
    path: '/v1/treasury/wallets',
    reply: treasury.walletPage,
    refusals: [],
    summary: 'Treasury wallets',
  },
  getTreasuryWalletBalances: {
    ...reads('Treasury'),
    method: GET,
    path: '/v1/treasury/wallets/{id}/balances',
    params: treasury.walletParams,
    query: treasury.walletBalancesQuery,
    reply: treasury.walletBalancePage,
    refusals: ['NOT_FOUND', 'CHAIN_NOT_READY', 'CHAIN_UNAVAILABLE'],
    summary: 'Native coin and every catalogued token of a treasury wallet; all of them are read, or none is reported',
  },
  createFundingWallet: {
    ...creates('Treasury'),
    method: POST,
    path: '/v1/treasury/funding-wallets',
    body: treasury.fundingWalletBody,
    reply: treasury.fundingWallet,
    refusals: ['INVALID_CHAIN', 'INVALID_AMOUNT', 'ACCOUNT_SUSPENDED', 'CHAIN_NOT_READY', 'CONFLICT'],
    summary: 'Look after the gas tank of a chain: its balance, and how many sweeps it still pays for',
  },
  listFundingWallets: {
    ...reads('Treasury'),
    ...LIST,
    path: '/v1/treasury/funding-wallets',
    reply: treasury.fundingWalletPage,
    refusals: [],
    summary: 'Gas tanks that are looked after',
  },
} as const satisfies Record<string, Route>;
