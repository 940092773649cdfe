/**
 * THE route table: what both deployments serve, in the order of the documents. Validation, the OpenAPI document, the
 * docs page, the typed client and the tests are all read from it.
 */
import type { z } from 'zod';
import { pageQuery, wholeQuery } from './envelope.ts';
import { EDGE_ROUTES, IDENTITY, signed } from './edge-routes.ts';
import type { Route, Tag } from './route.ts';
import * as account from './schema/account.ts';
import * as addresses from './schema/addresses.ts';
import * as edge from './schema/edge.ts';
import * as migration from './schema/migration.ts';
import * as platform from './schema/platform.ts';
import * as transactions from './schema/transactions.ts';
import * as webhooks from './schema/webhooks.ts';

const GET = 'GET', POST = 'POST', PUT = 'PUT', PATCH = 'PATCH', DELETE = 'DELETE';
const LIST = { method: GET, query: wholeQuery } as const; // a short one: whole, unless a page is asked for

/** Read and write of an application, on both deployments. */
const reads = (tag: Tag) => ({ tag, where: 'both', credential: 'application', role: 'viewer', status: 200 }) as const;
const writes = (tag: Tag) => ({
  tag, where: 'both', credential: 'application', role: 'editor', status: 200, idempotent: 'actor',
}) as const;
const creates = (tag: Tag) => ({ ...writes(tag), status: 201 }) as const;
/** What the edge answers without the cloud: it keeps no answers, least of all one with a key in it. */
const alone = (tag: Tag) => ({ tag, where: 'edge', credential: 'application', status: 200 }) as const;
const sandbox = { ...writes('Sandbox'), sandboxOnly: true, idempotent: 'store' } as const;
const portal = (tag: Tag, role: 'owner' | 'viewer' | null) => ({
  tag, where: 'cloud', credential: 'bearer', role, status: 200,
}) as const;
const open = (tag: Tag) => ({
  tag, where: 'cloud', credential: 'none', role: null, status: 200, refusals: [],
}) as const;
const admin = { tag: 'Administration', where: 'cloud', credential: 'admin', role: null, status: 200 } as const;

/** What a chain, or its module, says of a payment that it does not take. */
const NOT_PAYABLE = [
  'INVALID_ADDRESS', 'INVALID_AMOUNT', 'INSUFFICIENT_FUNDS', 'INSUFFICIENT_GAS', 'INSUFFICIENT_RESERVE', 'DESTINATION_OPT_IN_REQUIRED', 'CHAIN_REJECTED',
] as const;
/** What an edge says of bytes that its policy or its caps do not let it sign: at the build already, and at the broadcast. */
const NOT_SIGNED = ['SIGNED_BATCH_REJECTED', 'AMOUNT_CAP_EXCEEDED'] as const;
const BUILD = [
  'INVALID_CHAIN', 'NOT_FOUND', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN', 'ACCOUNT_SUSPENDED', 'CHAIN_NOT_READY',
  ...NOT_PAYABLE, ...NOT_SIGNED, 'CHAIN_UNAVAILABLE', 'ADDRESS_WATCH_ONLY', 'TIER_FEATURE_LOCKED', 'CONFLICT',
] as const;
const SIMULATE = ['SANDBOX_ONLY', 'INVALID_CHAIN', 'CHAIN_UNAVAILABLE'] as const;

export const ROUTES = {
  // ── Addresses, balances, fees ─────────────────────────────────────────────────────────────────────────────────
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

  // ── Transactions ──────────────────────────────────────────────────────────────────────────────────────────────
  listTransactions: {
    ...reads('Transactions'), method: GET, path: '/v1/transactions', query: transactions.listTransactionsQuery,
    reply: transactions.transactionPage, refusals: ['INVALID_CHAIN'],
    summary: 'List deposits and withdrawals, newest first',
  },
  getTransaction: {
    ...reads('Transactions'), method: GET, path: '/v1/transactions/{id}', params: transactions.transactionParams,
    reply: transactions.transaction, refusals: ['NOT_FOUND'], summary: 'Read one deposit or withdrawal',
  },
  buildTransaction: {
    ...creates('Transactions'), method: POST, path: '/v1/transactions/unsigned', body: transactions.buildBody,
    reply: transactions.built, refusals: BUILD,
    summary: 'Build an unsigned transaction; nothing is signed, and nothing is held but coins: its counter is bound at the broadcast',
  },
  repriceTransaction: {
    ...writes('Transactions'), method: PATCH, path: '/v1/transactions/unsigned/{id}',
    params: transactions.withdrawalParams, reply: transactions.built,
    refusals: [
      'NOT_FOUND', 'CONFLICT', 'ADDRESS_WATCH_ONLY', ...NOT_PAYABLE, ...NOT_SIGNED, 'TOKEN_NOT_SUPPORTED', 'CHAIN_NOT_READY',
      'CHAIN_UNAVAILABLE', 'ACCOUNT_SUSPENDED',
    ], summary: 'Price a built transaction anew',
  },
  broadcastTransaction: {
    ...writes('Transactions'), idempotent: 'store', method: POST, path: '/v1/transactions/{id}/broadcast',
    params: transactions.withdrawalParams, reply: transactions.transaction,
    refusals: [
      'NOT_FOUND', 'CONFLICT', 'IDENTITY_ROTATION_PENDING', 'ADDRESS_WATCH_ONLY', ...NOT_PAYABLE, ...NOT_SIGNED, 'EDGE_OFFLINE', 'EDGE_NO_LEADER',
      'LEASE_HELD', 'LEASE_EPOCH_STALE', 'RESYNC_REQUIRED', 'CHAIN_UNAVAILABLE', 'ACCOUNT_SUSPENDED',
    ], summary: 'Sign at the edge and broadcast',
  },

  // ── Webhooks ──────────────────────────────────────────────────────────────────────────────────────────────────
  createWebhook: {
    ...creates('Webhooks'), method: POST, path: '/v1/webhooks', body: webhooks.webhookBody,
    reply: webhooks.webhookCreated, refusals: ['TIER_FEATURE_LOCKED', 'ACCOUNT_SUSPENDED'],
    summary: 'Register an endpoint; its secret is shown once',
  },
  listWebhooks: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks', query: webhooks.listWebhooksQuery,
    reply: webhooks.webhookPage, refusals: [], summary: 'List endpoints',
  },
  listDeliveries: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/deliveries', query: webhooks.listDeliveriesQuery,
    reply: webhooks.deliveryPage, refusals: [], summary: 'List deliveries with every attempt, newest first',
  },
  listDeadLetters: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/deliveries/dead-letters', query: webhooks.deadLettersQuery,
    reply: webhooks.deliveryPage, refusals: [], summary: 'List deliveries that used up their ladder',
  },
  replayDeliveries: {
    ...writes('Webhooks'), idempotent: 'store', method: POST, path: '/v1/webhooks/deliveries/replay',
    body: webhooks.replayRangeBody, reply: webhooks.replayRange, refusals: [],
    summary: 'Count, then replay, the deliveries of a time range',
  },
  replayDelivery: {
    ...writes('Webhooks'), method: POST, path: '/v1/webhooks/deliveries/{id}/replay', params: webhooks.deliveryParams,
    reply: webhooks.replayed, refusals: ['NOT_FOUND', 'CONFLICT'], summary: 'Deliver an event once more',
  },
  getWebhook: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    reply: webhooks.webhook, refusals: ['NOT_FOUND'], summary: 'Read one endpoint',
  },
  replaceWebhook: {
    ...writes('Webhooks'), method: PUT, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    body: webhooks.webhookBody, reply: webhooks.webhook, refusals: ['NOT_FOUND', 'ACCOUNT_SUSPENDED'],
    summary: 'Replace an endpoint; a disabled one is enabled again',
  },
  deleteWebhook: {
    ...writes('Webhooks'), method: DELETE, path: '/v1/webhooks/{webhookId}', params: webhooks.webhookParams,
    reply: webhooks.webhook, refusals: ['NOT_FOUND'], summary: 'Stop an endpoint at once; its history is kept',
  },
  rotateWebhookSecret: {
    ...writes('Webhooks'), method: POST, path: '/v1/webhooks/{webhookId}/secret', params: webhooks.webhookParams,
    reply: webhooks.webhookCreated, refusals: ['NOT_FOUND', 'ACCOUNT_SUSPENDED'],
    summary: 'Make a new secret; deliveries carry both signatures until the previous one is dropped',
  },
  dropPreviousWebhookSecret: {
    ...writes('Webhooks'), method: DELETE, path: '/v1/webhooks/{webhookId}/secret/previous',
    params: webhooks.webhookParams, reply: webhooks.webhook, refusals: ['NOT_FOUND', 'CONFLICT', 'ACCOUNT_SUSPENDED'],
    summary: 'End the rotation of a secret',
  },
  listWebhookDeliveries: {
    ...reads('Webhooks'), method: GET, path: '/v1/webhooks/{webhookId}/deliveries', params: webhooks.webhookParams,
    query: webhooks.deliveriesOfWebhookQuery, reply: webhooks.deliveryPage, refusals: ['NOT_FOUND'],
    summary: 'Attempt history of one endpoint',
  },

  // ── Edge ──────────────────────────────────────────────────────────────────────────────────────────────────────
  getEdgeHealth: {
    ...open('Edge'), where: 'both', method: GET, path: '/v1/edge/health', reply: edge.edgeHealth,
    summary: 'Liveness probe',
  },
  getEdgeLease: {
    ...reads('Edge'), method: GET, path: '/v1/edge/lease', reply: edge.lease, refusals: [],
    summary: 'Lease state and epoch',
  },
  getEdgeOutbox: {
    ...reads('Edge'), method: GET, path: '/v1/edge/outbox', reply: edge.outbox, refusals: [],
    summary: "Depth of the leader's outbox",
  },
  getEdgeReadiness: {
    ...reads('Edge'), ...LIST, path: '/v1/edge/readiness', reply: edge.readinessPage, refusals: [],
    summary: 'Readiness of each chain',
  },
  listEdgeSessions: {
    ...reads('Edge'), ...LIST, path: '/v1/edge/sessions', reply: edge.sessionPage, refusals: [],
    summary: 'Sessions with role, liveness and epoch',
  },
  listGasTanks: {
    ...reads('Edge'), ...LIST, path: '/v1/edge/gas-tanks', reply: edge.gasTankPage, refusals: [],
    summary: 'Gas tank address of each chain',
  },
  ...EDGE_ROUTES,
  mintLocalKey: {
    ...alone('Edge settings'), role: 'editor', status: 201, method: POST, path: '/v1/edge/keys', body: edge.localKeyBody,
    reply: edge.localKeyCreated, refusals: ['CONFLICT'], summary: 'Mint a local key, shown once; asked again it mints another',
  },
  listLocalKeys: {
    ...alone('Edge settings'), role: 'viewer', method: GET, path: '/v1/edge/keys', query: pageQuery, reply: edge.localKeyPage,
    refusals: [], summary: 'List local keys, newest first',
  },
  revokeLocalKey: {
    ...alone('Edge settings'), role: 'editor', method: DELETE, path: '/v1/edge/keys/{id}',
    params: edge.localKeyParams, reply: edge.localKeyRevoked, refusals: ['NOT_FOUND'],
    summary: 'Revoke a local key, and every key that it minted, on every replica',
  },

  // ── Chains and tokens ─────────────────────────────────────────────────────────────────────────────────────────
  listChains: {
    ...reads('Chains'), ...LIST, path: '/v1/chains', reply: platform.chainPage, refusals: [],
    summary: 'All chains, with what is enabled and ready',
  },
  getCoverage: {
    ...reads('Chains'), method: GET, path: '/v1/chains/{chain}/coverage', params: platform.chainParams,
    reply: platform.coverage, refusals: ['INVALID_CHAIN', 'CHAIN_UNAVAILABLE'],
    summary: 'Heights that are done, unresolved heights, lag',
  },
  listTokens: {
    ...reads('Treasury'), ...LIST, path: '/v1/treasury/tokens', reply: platform.tokenPage, refusals: [],
    summary: 'Token catalogue',
  },

  // ── Migration ─────────────────────────────────────────────────────────────────────────────────────────────────
  detectPath: {
    ...writes('Migration'), idempotent: 'store', method: POST, path: '/v1/migration/detect-path',
    body: migration.detectPathBody, reply: migration.detectedPath, refusals: ['INVALID_CHAIN', 'INVALID_ADDRESS'],
    summary: 'Path from an extended public key to a known address',
  },
  listKeySources: {
    ...reads('Migration'), ...LIST, path: '/v1/migration/key-sources', reply: migration.keySourcePage, refusals: [],
    summary: 'Key sources of the edge, and what can be signed',
  },
  registerKeySource: {
    ...signed, tag: 'Migration', status: 201, method: POST, path: '/v1/migration/key-sources',
    body: migration.registerKeySourceBody, reply: migration.keySourceRegistered,
    refusals: [
      ...IDENTITY, 'INVALID_CHAIN', 'INVALID_ADDRESS', 'NO_SUBSCRIPTION', 'TIER_FEATURE_LOCKED', 'CHAIN_NOT_READY',
      'ADDRESS_LIMIT_EXCEEDED', 'KEY_SOURCE_MISMATCH', 'KEY_SOURCE_PURGED', 'ADDRESS_CONFLICT', 'CONFLICT',
    ], summary: 'Register public keys and addresses of a phrase or key from elsewhere',
  },
  purgeKeySource: {
    ...signed, tag: 'Migration', method: POST, path: '/v1/migration/key-sources/{id}/purge',
    params: migration.keySourceParams, reply: migration.keySource, refusals: [...IDENTITY, 'NOT_FOUND'],
    summary: 'The key material is gone: its addresses are watch-only from now on',
  },

  // ── Sandbox ───────────────────────────────────────────────────────────────────────────────────────────────────
  simulateDeposit: {
    ...sandbox, status: 201, method: POST, path: '/v1/sandbox/simulate-deposit', body: platform.simulateDepositBody, reply: platform.simulatedDeposit,
    refusals: [...SIMULATE, 'INVALID_ADDRESS', 'INVALID_AMOUNT', 'NOT_FOUND', 'TOKEN_NOT_SUPPORTED', 'TOKEN_NOT_ON_CHAIN'],
    summary: 'Pay an address on the simulated chain',
  },
  simulateConfirmation: {
    ...sandbox, method: POST, path: '/v1/sandbox/simulate-confirmation', body: platform.simulateConfirmationBody,
    reply: platform.simulatedConfirmation, refusals: [...SIMULATE, 'NOT_FOUND', 'CONFLICT'],
    summary: 'Mine until a transaction has so many confirmations; a version that waits in the pool wins over the others',
  },
  simulateStuck: {
    ...sandbox, method: POST, path: '/v1/sandbox/simulate-stuck', body: platform.simulateStuckBody, reply: platform.simulatedStuck,
    refusals: SIMULATE, summary: 'Keep what is broadcast in the pool, so that it can be repriced; or let it go',
  },
  simulateReorg: {
    ...sandbox, method: POST, path: '/v1/sandbox/simulate-reorg', body: platform.simulateReorgBody, reply: platform.simulatedReorg,
    refusals: SIMULATE, summary: 'Replace the newest blocks',
  },
  simulateChainDown: {
    ...sandbox, method: POST, path: '/v1/sandbox/simulate-chain-down', body: platform.simulateChainDownBody,
    reply: platform.simulatedChainDown, refusals: SIMULATE, summary: 'Make a chain unreachable for a while',
  },
  simulateDuplicateDelivery: {
    ...sandbox, method: POST, path: '/v1/sandbox/simulate-duplicate-delivery', body: platform.simulateDuplicateBody, reply: platform.simulatedDuplicate,
    refusals: ['SANDBOX_ONLY', 'NOT_FOUND'], summary: 'Deliver an event a second time with the same id',
  },
  resetSandbox: {
    ...sandbox, method: DELETE, path: '/v1/sandbox/reset', reply: platform.sandboxReset, refusals: ['SANDBOX_ONLY'], summary: 'Forget its addresses, transactions and deliveries',
  },

  // ── Sign-in and organizations ─────────────────────────────────────────────────────────────────────────────────
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

  // ── Settings and billing ──────────────────────────────────────────────────────────────────────────────────────
  listApiKeys: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/api-keys', reply: account.apiKeyPage,
    refusals: [], summary: 'List API keys',
  },
  mintApiKey: {
    ...portal('Settings', 'owner'), status: 201, idempotent: 'statement', method: POST, path: '/v1/settings/api-keys',
    body: account.mintApiKeyBody, reply: account.apiKeyCreated, refusals: ['TOTP_REQUIRED'],
    summary: 'Mint an API key, shown once; needs a fresh second factor',
  },
  revokeApiKey: {
    ...portal('Settings', 'owner'), idempotent: 'store', method: DELETE, path: '/v1/settings/api-keys/{id}',
    params: account.apiKeyParams, reply: account.apiKey, refusals: ['NOT_FOUND'], summary: 'Revoke an API key',
  },
  getEdgeSetup: {
    ...portal('Settings', 'viewer'), method: GET, path: '/v1/settings/edge-setup', reply: account.edgeSetup,
    refusals: [], summary: 'Command that starts an edge for this account',
  },
  listRotations: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/rotations', reply: account.rotationPage,
    refusals: [], summary: 'Identity rotations that wait for the owner',
  },
  approveRotation: {
    ...portal('Settings', 'owner'), idempotent: 'actor', method: POST, path: '/v1/settings/rotations/{id}/approve',
    params: account.rotationParams, body: account.rotationBody, reply: account.rotationDecided,
    refusals: ['TOTP_REQUIRED', 'NOT_FOUND', 'CROSS_ENVIRONMENT_IDENTITY', 'ADDRESS_CONFLICT'],
    summary: 'Pin the new identity and register its keys',
  },
  rejectRotation: {
    ...portal('Settings', 'owner'), idempotent: 'actor', method: POST, path: '/v1/settings/rotations/{id}/reject',
    params: account.rotationParams, body: account.rotationBody, reply: account.rotationDecided,
    refusals: ['TOTP_REQUIRED', 'NOT_FOUND'], summary: 'Keep the pinned identity and discard the held keys',
  },
  listMembers: {
    ...portal('Settings', 'viewer'), ...LIST, path: '/v1/settings/members', reply: account.memberPage,
    refusals: [], summary: 'Members and their roles',
  },
  getUsage: {
    ...reads('Billing'), where: 'cloud', method: GET, path: '/v1/billing/usage', reply: account.usage, refusals: [],
    summary: 'Usage of the current period',
  },
  changeBand: {
    ...portal('Billing', 'owner'), idempotent: 'actor', method: POST, path: '/v1/billing/band',
    body: account.bandBody, reply: account.plan, refusals: ['ADDRESS_LIMIT_EXCEEDED', 'NO_SUBSCRIPTION'],
    summary: 'Change the band',
  },

  // ── Administrators, health, description ───────────────────────────────────────────────────────────────────────
  listActors: {
    ...admin, method: GET, path: '/v1/admin/actors', query: platform.actorsQuery, reply: platform.actor, refusals: [],
    summary: 'The actor tree of this node',
  },
  getActor: {
    ...admin, method: GET, path: '/v1/admin/actors/{path}', params: platform.actorParams, reply: platform.actor,
    refusals: ['NOT_FOUND'], summary: 'One actor; slashes in its path are percent-encoded',
  },
  restartActor: {
    ...admin, method: POST, path: '/v1/admin/actors/{path}/restart', params: platform.actorParams,
    reply: platform.actorRestarted, refusals: ['NOT_FOUND'], summary: 'Forget the memory of an actor and read it again',
  },
  listFactsSetAside: {
    ...admin, method: GET, path: '/v1/admin/facts', query: platform.factsQuery, reply: platform.factsSetAside,
    refusals: [], summary: 'Facts of chains that their accounts could not take, oldest first',
  },
  retryFacts: {
    ...admin, method: POST, path: '/v1/admin/facts/retry', body: platform.retryFactsBody,
    reply: platform.factsRetried, refusals: ['NOT_FOUND'],
    summary: 'Try facts that were set aside at once: one, all of an account, or all',
  },
  setSuspension: {
    ...admin, method: PUT, path: '/v1/admin/accounts/{accountId}/suspension', params: platform.accountParams,
    body: platform.suspensionBody, reply: platform.suspension, refusals: ['NOT_FOUND'],
    summary: 'Suspend an account or take that back; deposits and webhooks go on',
  },
  setPlan: {
    ...admin, method: PUT, path: '/v1/admin/accounts/{accountId}/plan', params: platform.accountParams,
    body: platform.planBody, reply: platform.accountPlan, refusals: ['NOT_FOUND', 'ADDRESS_LIMIT_EXCEEDED'],
    summary: 'Change tier, band or subscription of an account',
  },
  getLive: {
    ...open('Health'), where: 'both', method: GET, path: '/health/live', reply: platform.live,
    summary: 'The process runs',
  },
  getReady: {
    ...open('Health'), where: 'both', method: GET, path: '/health/ready', reply: platform.ready,
    refusals: ['SERVICE_UNAVAILABLE'], summary: 'The process can serve',
  },
  getMetrics: {
    ...open('Health'), where: 'both', method: GET, path: '/metrics', reply: platform.anyDocument, bare: 'text/plain',
    summary: 'Prometheus metrics',
  },
  getDescription: {
    ...open('Health'), method: GET, path: '/v1/openapi.json', reply: platform.anyDocument, bare: 'application/json',
    summary: 'This description as OpenAPI 3.1',
  },
} as const satisfies Record<string, Route>;

export type OperationId = keyof typeof ROUTES;
type Table = typeof ROUTES;
type Part<O extends OperationId, K extends string> = Table[O] extends Record<K, infer S extends z.ZodType> ? S : never;

export type ParamsOf<O extends OperationId> = z.output<Part<O, 'params'>>;
export type QueryOf<O extends OperationId> = z.output<Part<O, 'query'>>;
export type BodyOf<O extends OperationId> = z.output<Part<O, 'body'>>;
export type ReplyOf<O extends OperationId> = z.output<Part<O, 'reply'>>;
/** What a caller writes: defaults may be left out, numbers of a query are text. */
export type SentOf<O extends OperationId, K extends 'params' | 'query' | 'body'> = z.input<Part<O, K>>;

/** The table as a list, in its order. */
export const ROUTE_LIST: readonly (Route & { readonly operationId: OperationId })[] =
  Object.entries(ROUTES).map(([operationId, route]) => ({ operationId: operationId as OperationId, ...route }));

export function routeOf(operationId: OperationId): Route {
  return ROUTES[operationId];
}
