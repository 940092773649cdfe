/** An honest answer of every route that an edge passes on, to be falsified field by field. */
import type { ForwardedOperation } from '../../../edge/answers/rules.ts';
import { newId } from '../../../protocol/node/ids.ts';
import type { ReplyOf } from '../../../protocol/routes.ts';
import { builtFor, RECEIVER, transactionFor } from './built.ts';
import { FIRST, GAS_TANK } from './edges.ts';
import { CAPACITY, CASE_SAMPLE, PROJECT, UPLOAD_ID } from './migration-answers.ts';

export interface Sample<O extends ForwardedOperation = ForwardedOperation> {
  readonly params?: Record<string, string>;
  readonly query?: string;
  readonly body?: unknown;
  readonly data: ReplyOf<O>;
}

const AT = '2026-01-01T00:00:00.000Z';
const ADR = newId('adr', 1),
  TXN = newId('txn', 1),
  DEP = newId('dep', 1),
  DLV = newId('dlv', 1),
  EVT = `evt_${'2'.repeat(26)}`;
/** Of the test phrase at m/44'/60'/0'/1/1. */
const TREASURY = '0x26db4d065800Bd118928848E69A1cBF956Cff1D0';
const WEBHOOK = '0192f0a0-0000-7000-8000-000000000001';
export const USDC_CONTRACT = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const page = <T>(...content: T[]) => ({
  content,
  page: 0,
  size: 20,
  totalElements: content.length,
  totalPages: 1,
  next: null,
});
const whole = <T>(...content: T[]) => ({ ...page(...content), size: Math.max(1, content.length) });

const NO_ADDRESS = { addressMode: 'per_payer', address: null, derivationPath: null } as const;
const paymentLink: ReplyOf<'getPaymentLink'> = {
  id: newId('lnk', 1),
  url: 'https://pay.example/pay/help-us',
  slug: 'help-us',
  mode: 'donation',
  addressMode: 'shared',
  chain: 'eth',
  asset: 'ETH',
  tokenContract: null,
  decimals: 18,
  amount: null,
  thresholdAmount: '5',
  minAmount: null,
  maxAmount: null,
  closesAt: null,
  maxUses: null,
  uses: 0,
  title: 'Help',
  description: null,
  collectEmail: false,
  successUrl: null,
  metadata: {},
  status: 'active',
  closedReason: null,
  closedAt: null,
  monitorUntil: null,
  amountRaised: '0',
  paymentCount: 0,
  address: FIRST,
  derivationPath: "m/44'/60'/0'/0/0",
  createdAt: AT,
  updatedAt: AT,
};
const tokenRequest: ReplyOf<'requestToken'> = {
  id: newId('tkr', 1),
  chain: 'eth',
  contractAddress: '0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c',
  symbol: 'EURC',
  decimals: 6,
  state: 'under_review',
  monitored: false,
  outcome: null,
  onChain: { symbol: 'EURC', name: 'Euro Coin', decimals: 6, hazards: ['blocklist'], readAt: AT },
  createdAt: AT,
  updatedAt: AT,
};
const treasuryWallet: ReplyOf<'createTreasuryWallet'> = {
  id: newId('wal', 1),
  chain: 'eth',
  source: 'derived',
  address: TREASURY,
  tag: null,
  derivationPath: "m/44'/60'/0'/1/1",
  label: 'home',
  createdAt: AT,
};
const fundingWallet: ReplyOf<'createFundingWallet'> = {
  id: newId('fwl', 1),
  chain: 'eth',
  address: GAS_TANK,
  derivationPath: "m/44'/60'/0'/1/0",
  label: 'gas',
  balance: '10',
  available: '10',
  lowBalance: '5',
  isLow: false,
  estimatedSweepsRemaining: 2,
  reason: null,
  asOf: AT,
  createdAt: AT,
};
const sweepPolicy: ReplyOf<'getSweepPolicy'> = {
  id: '0198c0de-0000-7000-8000-000000000002',
  version: 1,
  chain: 'eth',
  token: USDC_CONTRACT,
  enabled: true,
  triggerMode: 'THRESHOLD_AND_SCHEDULE',
  minAmount: '50000000',
  scheduleCron: '0 0 3 * * *',
  scheduleTimeZone: 'Europe/Rome',
  treasuryWalletId: treasuryWallet.id,
  gasFundingMode: 'FUNDING_WALLET',
  fundingWalletId: fundingWallet.id,
  dustFloor: '1000000',
  maxFeeRatioBps: 500,
  abortIfGasExceeds: '9000000000000000',
  pauseOnConsecutiveFailures: 5,
  retainGasFloat: 7,
  closeTokenAccounts: true,
  energy: 'BURN',
  pausedAt: AT,
  pausedReason: 'manual',
  consecutiveFailures: 2,
  nextRunAt: AT,
  createdAt: AT,
  updatedAt: AT,
};
const POLICY_ID = { policyId: sweepPolicy.id };
const policyBody = Object.fromEntries(
  Object.entries(sweepPolicy).filter(
    ([field]) => !['id', 'version', 'pausedReason', 'consecutiveFailures'].includes(field) && !field.endsWith('At'),
  ),
);
const treasuryBalance: ReplyOf<'getBalance'> = {
  amount: '25000000',
  amountFormatted: '25',
  decimals: 6,
  chain: 'eth',
  address: TREASURY,
  tokenContract: USDC_CONTRACT,
  tokenSymbol: 'USDC',
  reserved: '0',
  available: '25000000',
  accountExists: true,
};

const address: ReplyOf<'getAddress'> = {
  id: ADR,
  chain: 'eth',
  address: FIRST,
  derivationPath: "m/44'/60'/0'/0/0",
  environment: 'live',
  userRef: 'customer-1',
  tag: 'vip',
  label: 'first',
  status: 'active',
  createdAt: AT,
};
const TXID = `0x${'ab'.repeat(32)}`;
const deposit: ReplyOf<'getTransaction'> = {
  amount: '25000000',
  amountFormatted: '25',
  decimals: 6,
  id: DEP,
  direction: 'in',
  chain: 'eth',
  environment: 'live',
  status: 'confirmed',
  txid: TXID,
  outputIndex: 0,
  address: FIRST,
  counterparty: RECEIVER,
  tokenContract: USDC_CONTRACT,
  tokenSymbol: 'USDC',
  userRef: 'customer-1',
  tag: 'vip',
  chainTag: null,
  height: 7,
  blockHash: `0x${'cd'.repeat(32)}`,
  confirmations: 12,
  threshold: 12,
  incarnation: 1,
  fee: null,
  failure: null,
  versions: [],
  explorerUrl: `https://etherscan.io/tx/${TXID}`,
  createdAt: AT,
  updatedAt: AT,
};
/** What `Known` of the tests has an instruction for: one ether to the receiver. */
export const WITHDRAWAL: ReplyOf<'getTransaction'> = {
  ...deposit,
  amount: '1000000000000000000',
  amountFormatted: '1',
  decimals: 18,
  id: TXN,
  direction: 'out',
  status: 'broadcast',
  outputIndex: null,
  counterparty: RECEIVER,
  tokenContract: null,
  tokenSymbol: 'ETH',
  userRef: null,
  tag: null,
  incarnation: null,
  versions: [{ txid: TXID, at: 'submitted' }],
};
export const WITHDRAWAL_TXID = TXID;
const wanted = { from: FIRST, to: RECEIVER, amount: 10n ** 18n };
const built: ReplyOf<'buildTransaction'> = builtFor(wanted, transactionFor(wanted), TXN);
const balance: ReplyOf<'getBalance'> = {
  amount: '1500000000000000000',
  amountFormatted: '1.5',
  decimals: 18,
  chain: 'eth',
  address: FIRST,
  tokenContract: null,
  tokenSymbol: 'ETH',
  reserved: '0',
  available: '1500000000000000000',
  accountExists: true,
};
const webhook: ReplyOf<'getWebhook'> = {
  id: WEBHOOK,
  url: 'https://shop.example/hooks',
  events: ['deposit_confirmed'],
  status: 'enabled',
  secretPreview: 'whsec_…abcd',
  rotating: false,
  createdAt: AT,
  updatedAt: AT,
};
const endpoint = { url: webhook.url, events: webhook.events };
const delivery: ReplyOf<'listDeliveries'>['content'][number] = {
  id: DLV,
  eventId: EVT,
  event: 'deposit_confirmed',
  webhookId: WEBHOOK,
  url: webhook.url,
  replay: 0,
  status: 'dead_lettered',
  heldReason: null,
  nextAttemptAt: AT,
  createdAt: AT,
  attempts: [{ attempt: 1, statusCode: 500, durationMs: 12, error: 'answered', at: AT }],
};

export const SAMPLES: { readonly [O in ForwardedOperation]: Sample<O> } = {
  createAddress: { body: { chain: 'eth', userRef: 'customer-1', tag: 'vip', label: 'first' }, data: address },
  listAddresses: { query: '?chain=eth&userRef=customer-1&tag=vip&status=active', data: page(address) },
  getAddress: { params: { id: ADR }, data: address },
  archiveAddress: { params: { id: ADR }, data: { ...address, status: 'archived' } },
  unarchiveAddress: { params: { id: ADR }, data: address },
  createTrustline: { params: { address: FIRST }, body: { chain: 'eth', asset: USDC_CONTRACT }, data: built },
  listBalances: { query: '?chain=eth', data: page(balance) },
  getBalance: { params: { chain: 'eth', address: FIRST }, data: balance },
  getTokenBalance: {
    params: { chain: 'eth', address: FIRST, token: USDC_CONTRACT },
    data: {
      ...balance,
      amount: '2500000',
      amountFormatted: '2.5',
      decimals: 6,
      tokenContract: USDC_CONTRACT,
      tokenSymbol: 'USDC',
      available: '2500000',
    },
  },
  getFees: {
    params: { chain: 'eth' },
    data: {
      chain: 'eth',
      symbol: 'ETH',
      decimals: 18,
      fee: '21000000000000',
      feeFormatted: '0.000021',
      feeMax: '42000000000000',
      feeMaxFormatted: '0.000042',
      parts: { gasLimit: '21000' },
    },
  },
  listTransactions: { query: '?chain=eth&direction=in&status=confirmed', data: page(deposit) },
  getTransaction: { params: { id: DEP }, data: deposit },
  buildTransaction: { body: { chain: 'eth', from: FIRST, to: RECEIVER, amount: '1000000000000000000' }, data: built },
  repriceTransaction: { params: { id: TXN }, data: built },
  broadcastTransaction: { params: { id: TXN }, data: WITHDRAWAL },
  createWebhook: { body: endpoint, data: { ...webhook, secret: 'whsec_c2VjcmV0' } },
  listWebhooks: { data: page(webhook) },
  listDeliveries: { query: `?webhookId=${WEBHOOK}&event=deposit_confirmed&status=dead_lettered`, data: page(delivery) },
  listDeadLetters: { data: page(delivery) },
  replayDeliveries: { body: { from: AT, to: AT, dryRun: true }, data: { count: 3, replayed: 0, dryRun: true } },
  replayDelivery: { params: { id: DLV }, data: { deliveryId: DLV } },
  getWebhook: { params: { webhookId: WEBHOOK }, data: webhook },
  replaceWebhook: { params: { webhookId: WEBHOOK }, body: endpoint, data: webhook },
  deleteWebhook: { params: { webhookId: WEBHOOK }, data: { ...webhook, status: 'deleted' } },
  rotateWebhookSecret: {
    params: { webhookId: WEBHOOK },
    data: { ...webhook, rotating: true, secret: 'whsec_c2VjcmV0' },
  },
  dropPreviousWebhookSecret: { params: { webhookId: WEBHOOK }, data: webhook },
  listWebhookDeliveries: { params: { webhookId: WEBHOOK }, data: page(delivery) },
  getEdgeLease: { data: { state: 'held', epoch: 3, holder: newId('ses', 1), expiresAt: AT } },
  getEdgeReadiness: {
    data: whole({ chain: 'sol' as const, state: 'ready' as const, reason: 'none', xpub: null, poolLevelPercent: 90 }),
  },
  listEdgeSessions: {
    data: whole({
      id: newId('ses', 1),
      role: 'leader' as const,
      edgeVersion: '1.0.0',
      liveness: 'live' as const,
      leaseEpoch: 3,
      outboxMode: 'durable',
      outboxDepth: 0,
      outboxPoisoned: false,
      podHint: 'pod',
      lastHeartbeatAt: AT,
      startedAt: AT,
      endedAt: AT,
    }),
  },
  listChains: {
    data: whole({
      chain: 'eth' as const,
      enabled: true,
      symbol: 'ETH',
      decimals: 18,
      threshold: 12,
      readiness: 'ready' as const,
      explorerUrl: 'https://etherscan.io',
      status: 'degraded' as const,
      reason: 'eth-2: down',
      next: 'start the node',
    }),
  },
  getCoverage: {
    params: { chain: 'eth' },
    data: {
      chain: 'eth',
      completeHeight: 5,
      headHeight: 7,
      headAt: AT,
      heardAt: AT,
      ageSeconds: 3,
      lag: 2,
      unresolved: [{ height: 6, reason: 'empty', tries: 1, since: AT }],
      endpoints: [
        {
          endpoint: 'eth-1',
          state: 'down' as const,
          reason: 'connection failed',
          next: 'start the node',
          since: AT,
          nextLookAt: AT,
        },
      ],
    },
  },
  listTokens: {
    data: whole({
      symbol: 'USDC',
      unsupportedChains: [{ chain: 'btc' as const, reason: 'not deployed' }],
      deployments: [
        {
          chain: 'eth' as const,
          contractAddress: USDC_CONTRACT,
          decimals: 6,
          monitored: true,
          deprecated: false,
          bridgeable: true,
        },
      ],
    }),
  },
  createPaymentLink: {
    body: {
      mode: 'donation',
      addressMode: 'shared',
      chain: 'eth',
      asset: 'ETH',
      thresholdAmount: '5.0',
      title: 'Help',
    },
    data: paymentLink,
  },
  listPaymentLinks: { data: page(paymentLink, { ...paymentLink, ...NO_ADDRESS }) },
  getPaymentLink: { params: { id: paymentLink.id }, data: paymentLink },
  changePaymentLink: { params: { id: paymentLink.id }, body: { title: 'Help' }, data: paymentLink },
  pausePaymentLink: { params: { id: paymentLink.id }, body: {}, data: { ...paymentLink, status: 'paused' } },
  resumePaymentLink: { params: { id: paymentLink.id }, body: {}, data: paymentLink },
  closePaymentLink: {
    params: { id: paymentLink.id },
    body: {},
    data: { ...paymentLink, status: 'closed', closedReason: 'manual', closedAt: AT, monitorUntil: AT },
  },
  requestToken: {
    body: { chain: 'eth', contractAddress: tokenRequest.contractAddress, symbol: 'EURC', decimals: 6 },
    data: tokenRequest,
  },
  listTokenRequests: { data: whole(tokenRequest) },
  listTokenRoutes: {
    data: {
      registryVersion: 1,
      routes: [
        {
          symbol: 'USDC',
          from: 'eth',
          to: 'base',
          status: 'closed',
          reason: 'not_offered',
          protocol: null,
          seconds: null,
          burnMax: null,
        },
      ],
    },
  },
  createTreasuryWallet: {
    body: { chain: 'eth', source: 'derived', label: 'home' },
    data: treasuryWallet,
  },
  listTreasuryWallets: { data: whole(treasuryWallet) },
  getTreasuryWalletBalances: {
    params: { id: treasuryWallet.id },
    data: whole(treasuryBalance),
  },
  createFundingWallet: { body: { chain: 'eth', label: 'gas', lowBalance: '5' }, data: fundingWallet },
  listFundingWallets: { data: whole(fundingWallet) },
  createSweepPolicy: { body: policyBody, data: sweepPolicy },
  listSweepPolicies: { data: whole(sweepPolicy) },
  getSweepPolicy: { params: POLICY_ID, data: sweepPolicy },
  replaceSweepPolicy: { params: POLICY_ID, body: policyBody, data: sweepPolicy },
  deleteSweepPolicy: { params: POLICY_ID, data: sweepPolicy },
  pauseSweepPolicy: { params: POLICY_ID, data: sweepPolicy },
  resumeSweepPolicy: { params: POLICY_ID, data: sweepPolicy },
  detectCase: CASE_SAMPLE,
  detectPath: {
    body: {},
    data: {
      candidates: [
        {
          belowKey: '0/0',
          template: "m/84'/0'/0'/0/i",
          path: "m/84'/0'/0'/0/0",
          guessed: ['purpose', 'coin'],
          script: 'p2wpkh',
          standard: true,
          wallets: ['Electrum'],
          confirmed: false,
        },
      ],
      indexesTried: 100,
      shapesTried: ['0/i'],
      hints: [],
    },
  },
  createMigrationProject: { body: { name: 'old wallet' }, data: PROJECT },
  listMigrationProjects: { data: whole(PROJECT) },
  getMigrationCapacity: { params: { projectId: PROJECT.id }, data: CAPACITY },
  createUpload: {
    body: { filename: 'addresses.csv' },
    data: { uploadId: UPLOAD_ID, uploadUrl: 'https://cloud.example/x', deadline: AT, maxBytes: 5 },
  },
  completeUpload: {
    params: { uploadId: UPLOAD_ID },
    body: {},
    data: { uploadId: UPLOAD_ID, bytes: 5, sha256: 'ab'.repeat(32), format: 'csv' },
  },
  resolveKeySource: {
    data: {
      keySourceId: newId('ks', 1),
      state: 'done',
      checked: 2,
      traced: 1,
      spendable: 1,
      watchOnly: [{ reason: 'no_key', count: 1 }],
    },
  },
  listKeySources: {
    data: whole({
      id: newId('ks', 1),
      fingerprint: '0123456789abcdef',
      label: 'old wallet',
      kind: 'phrase' as const,
      keystore: 'file' as const,
      chains: ['eth' as const],
      basePath: "m/44'/60'/0'",
      keys: [{ chains: ['eth' as const], path: "m/44'/60'/0'", xpub: 'xpub6CUG…r2NQ', publicKey: '02ab' }],
      addresses: 1,
      status: 'active' as const,
      signing: [{ chain: 'eth' as const, signs: true, reason: 'source_purged' as const }],
      pass: { state: 'done' as const, checked: 2, traced: 1 },
      traced: [{ chain: 'eth' as const, spendable: 1, watchOnly: 0 }],
      createdAt: AT,
      purgedAt: AT,
    }),
  },
  simulateToken: {
    body: {
      chain: 'eth',
      contractAddress: tokenRequest.contractAddress,
      symbol: 'EURC',
      decimals: 6,
      hazards: ['pausable'],
    },
    data: {
      chain: 'eth',
      contractAddress: tokenRequest.contractAddress,
      symbol: 'EURC',
      decimals: 6,
      hazards: ['pausable'],
    },
  },
  simulateDeposit: { body: {}, data: { txid: TXID, outputIndex: 0, height: 7 } },
  simulateConfirmation: { body: {}, data: { confirmations: 3 } },
  simulateStuck: { body: {}, data: { stuck: false, mined: [TXID] } },
  simulateReorg: { body: {}, data: { depth: 2 } },
  simulateChainDown: { body: {}, data: { until: AT } },
  simulateDuplicateDelivery: { body: {}, data: { deliveryIds: [DLV] } },
  resetSandbox: { data: { reset: true } },
};
