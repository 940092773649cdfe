/**
 * Which facts of an answer are the edge's own to compute, by route. `falseField` names the first that is not what the
 * edge knows or its caller asked; `word` lists what is the cloud's word alone. A field in neither fails a test.
 */
import { factsOf, networkOf } from '../../chains/registry.ts';
import { isRefusal } from '../../protocol/errors.ts';
import { isId } from '../../protocol/ids.ts';
import { MIGRATION_RULES } from './migration-rules.ts';
import type { ReplyOf, ROUTES } from '../../protocol/routes.ts';
import { falseAddress, falseNewAddress } from './address-rules.ts';
import { SANDBOX_RULES } from './sandbox-rules.ts';
import { firstFalse, falseMoney, isCount, maskedXpub, word, type Ask, type Known } from './known.ts';
import {
  falseChangedLink,
  falseLink,
  falseNewLink,
  LINK_WORD,
  linkIn,
  PAYMENT_RULES,
  READINESS_WORD,
} from './link-rules.ts';
import { BRIDGE_RULES } from './bridge-rules.ts';
import { INVOICE_RULES } from './invoice-rules.ts';
import { falseChain, falseFee, falseToken, TOKEN_WORD } from './network-rules.ts';
import { falseNewWallet, falseTank, falseWallet } from './wallet-rules.ts';
import { falseNewRequest, falseRequest, falseSimulatedToken } from './request-rules.ts';
import {
  falsePolicy,
  JOB_SETTINGS,
  JOB_WORD,
  ofJob,
  ofPolicy,
  OPERATION_WORD,
  POLICY_SET_WORD,
  POLICY_WORD,
  PREVIEW_WORD,
} from './sweep-rules.ts';
import { falseBuild, falseTransaction, signedThough } from './transaction-rules.ts';

type Table = typeof ROUTES;
/** Answered by the edge itself. */
export const ANSWERED_HERE = ['getEdgeOutbox', 'listGasTanks'] as const;
/** Files, which are looked at as they stream: `sheet.ts`. */
export const STREAMED = ['getReconciliation', 'exportProject'] as const;
/** Routes whose answer is the cloud's. */
export type ForwardedOperation = Exclude<
  {
    [O in keyof Table]: Table[O] extends { where: 'both'; credential: 'application' } ? O : never;
  }[keyof Table],
  (typeof ANSWERED_HERE)[number] | (typeof STREAMED)[number]
>;

/** An entry of a list, else the answer itself. */
export type RowOf<O extends ForwardedOperation> = ReplyOf<O> extends { content: (infer Row)[] } ? Row : ReplyOf<O>;

export interface AnswerRule<Row> {
  falseField(row: Row, ask: Ask, known: Known): Promise<string | null> | string | null;
  /** The row as this edge knows better, and whether the cloud must know it too; null where it has nothing to add. */
  asKnown?(row: Row, known: Known): { readonly row: Row; readonly wasTaken: boolean } | null;
  /** Paths of fields; `*` stands for every entry of a list and every name of a record. */
  readonly word: readonly string[];
}

/** Facts of a page that are the cloud's word. */
export const PAGE_WORD = ['totalElements', 'totalPages', 'next', 'totalCapped'] as const;
/** Filters of lists, and the field of a row that must then be so. */
export const FILTERS = ['chain', 'userRef', 'tag', 'status', 'direction', 'kind', 'webhookId', 'event'] as const;

const ADDRESS_WORD = ['status', 'createdAt', 'label', 'projectId', 'batchId', 'mode', 'spendable'];
const MONEY_WORD = ['amount'];
const TRANSACTION_WORD = [
  ...MONEY_WORD,
  'status',
  'txid',
  'outputIndex',
  'address',
  'counterparty',
  'tokenContract',
  'userRef',
  'tag',
  'chainTag',
  'height',
  'blockHash',
  'confirmations',
  'threshold',
  'incarnation',
  'fee',
  'failure',
  'failure.code',
  'failure.reason',
  'versions',
  'versions.*',
  'versions.*.txid',
  'versions.*.at',
  'createdAt',
  'updatedAt',
];
const WEBHOOK_WORD = ['status', 'secretPreview', 'rotating', 'createdAt', 'updatedAt'];
const DELIVERY_WORD = [
  'id',
  'eventId',
  'event',
  'webhookId',
  'url',
  'replay',
  'status',
  'heldReason',
  'nextAttemptAt',
  'createdAt',
  'attempts',
  'attempts.*',
  'attempts.*.attempt',
  'attempts.*.statusCode',
  'attempts.*.durationMs',
  'attempts.*.error',
  'attempts.*.at',
];
const TEST_WORD = ['signature', 'eventId', 'statusCode', 'durationMs', 'error', 'at', 'passed'].map(
  (field) => `attempts.*.${field}`,
);
const BALANCE_WORD = [...MONEY_WORD, 'reserved', 'accountExists'];
const TANK_WORD = ['balance', 'available', 'lowBalance', 'isLow', 'estimatedSweepsRemaining', 'reason', 'asOf'];
const REQUEST_WORD = [
  'symbol',
  'decimals',
  'state',
  'outcome',
  'onChain',
  'onChain.symbol',
  'onChain.name',
  'onChain.decimals',
  'onChain.hazards',
  'onChain.hazards.*',
  'onChain.readAt',
  'createdAt',
  'updatedAt',
];
type WebhookJson = RowOf<'getWebhook'>;
const sameEvents = (left: readonly string[], right: unknown): boolean =>
  JSON.stringify([...left].sort()) === JSON.stringify(Array.isArray(right) ? [...right].sort() : right);
const falseEndpoint = ({ url, events }: WebhookJson, { body }: Ask): string | null =>
  firstFalse(['url', url === body['url']], ['events', sameEvents(events, body['events'])]);
const ofWebhook = ({ id }: WebhookJson, { params }: Ask): string | null =>
  firstFalse(['id', id === params['webhookId']]);

/** An attempt of a test passed by its status alone. */
function isJudgedByStatus({ signature, statusCode, passed }: RowOf<'testWebhook'>['attempts'][number]): boolean {
  const [least, most] = signature === 'good' ? [200, 299] : [400, 499];
  return passed === (statusCode !== null && statusCode >= least && statusCode <= most);
}

type BalanceJson = RowOf<'getBalance'>;
function falseBalance(row: BalanceJson, _ask: Ask, { catalogueOf }: Known): string | null {
  const { amount, reserved, available } = row;
  if (!isCount(reserved) || !isCount(available)) return isCount(reserved) ? 'available' : 'reserved';
  const rest = isCount(amount) ? BigInt(amount) - BigInt(reserved) : 0n;
  return (
    falseMoney(row, row, catalogueOf(row.chain)) ??
    firstFalse(['available', BigInt(available) === (rest > 0n ? rest : 0n)])
  );
}
/** A caller may write address and token otherwise than in their canonical texts; the answer may not. */
function ofAddress(row: BalanceJson, { params }: Ask): string | null {
  if (row.chain !== params['chain']) return 'chain';
  const facts = factsOf(row.chain),
    network = networkOf(row.chain);
  const address = facts.parseAddress(network, params['address'] ?? ''),
    token = params['token'] === undefined ? null : facts.parseToken(network, params['token']);
  return firstFalse(
    ['address', !isRefusal(address) && row.address === address.canonical],
    ['tokenContract', row.tokenContract === token],
  );
}

export const ANSWER_RULES: { readonly [O in ForwardedOperation]: AnswerRule<RowOf<O>> } = {
  createAddress: { falseField: falseNewAddress, word: ['id', 'createdAt'] },
  listAddresses: { falseField: falseAddress, word: ['id', 'chain', 'userRef', 'tag', ...ADDRESS_WORD] },
  getAddress: { falseField: falseAddress, word: ['userRef', 'tag', ...ADDRESS_WORD] },
  archiveAddress: {
    falseField: async (row, ask, known) =>
      firstFalse(['status', row.status === 'archived']) ?? (await falseAddress(row, ask, known)),
    word: ['userRef', 'tag', ...ADDRESS_WORD.filter((field) => field !== 'status')],
  },
  unarchiveAddress: {
    falseField: async (row, ask, known) =>
      firstFalse(['status', row.status === 'active']) ?? (await falseAddress(row, ask, known)),
    word: ['userRef', 'tag', ...ADDRESS_WORD.filter((field) => field !== 'status')],
  },
  createTrustline: {
    falseField: falseBuild,
    word: [
      'feeEstimate.fee',
      'feeEstimate.parts',
      'feeEstimate.parts.*',
      'unsigned.fee.*',
      'unsigned.readAtHeight',
      'createdAt',
      'updatedAt',
    ],
  },
  listBalances: { falseField: falseBalance, word: ['chain', 'address', ...BALANCE_WORD, 'tokenContract'] },
  getBalance: {
    falseField: (row, ask, known) => ofAddress(row, ask) ?? falseBalance(row, ask, known),
    word: BALANCE_WORD,
  },
  getTokenBalance: {
    falseField: (row, ask, known) => ofAddress(row, ask) ?? falseBalance(row, ask, known),
    word: BALANCE_WORD,
  },
  getFees: { falseField: falseFee, word: ['fee', 'feeMax', 'parts', 'parts.*'] },
  listTransactions: {
    falseField: falseTransaction,
    asKnown: signedThough,
    word: ['id', 'chain', 'direction', ...TRANSACTION_WORD],
  },
  getTransaction: { falseField: falseTransaction, asKnown: signedThough, word: ['chain', ...TRANSACTION_WORD] },
  buildTransaction: {
    falseField: falseBuild,
    word: [
      'feeEstimate.fee',
      'feeEstimate.parts',
      'feeEstimate.parts.*',
      'unsigned.fee.*',
      'unsigned.readAtHeight',
      'createdAt',
      'updatedAt',
    ],
  },
  repriceTransaction: {
    falseField: falseBuild,
    word: [
      'feeEstimate.fee',
      'feeEstimate.parts',
      'feeEstimate.parts.*',
      'unsigned.fee.*',
      'unsigned.readAtHeight',
      'createdAt',
      'updatedAt',
    ],
  },
  broadcastTransaction: { falseField: falseTransaction, asKnown: signedThough, word: TRANSACTION_WORD },
  createWebhook: {
    falseField: (row, ask) =>
      falseEndpoint(row, ask) ??
      firstFalse(['status', row.status === 'enabled'], ['secret', row.secret.startsWith('whsec_')]),
    word: ['id', 'secretPreview', 'rotating', 'createdAt', 'updatedAt', 'secret'],
  },
  listWebhooks: word('id', 'url', 'events', 'events.*', ...WEBHOOK_WORD),
  listDeliveries: word(...DELIVERY_WORD),
  listDeadLetters: {
    falseField: ({ status }) => firstFalse(['status', status === 'dead_lettered']),
    word: DELIVERY_WORD.filter((field) => field !== 'status'),
  },
  replayDeliveries: {
    falseField: ({ count, replayed, dryRun }, { body }) =>
      firstFalse(
        ['dryRun', dryRun === (body['dryRun'] ?? true)],
        ['replayed', replayed >= 0 && replayed <= count && (!dryRun || replayed === 0)],
      ),
    word: ['count', 'replayed'],
  },
  replayDelivery: {
    falseField: ({ deliveryId }) => firstFalse(['deliveryId', isId('dlv', deliveryId)]),
    word: ['deliveryId'],
  },
  getWebhook: { falseField: ofWebhook, word: ['url', 'events', 'events.*', ...WEBHOOK_WORD] },
  replaceWebhook: {
    falseField: (row, ask) =>
      ofWebhook(row, ask) ?? falseEndpoint(row, ask) ?? firstFalse(['status', row.status === 'enabled']),
    word: WEBHOOK_WORD.filter((field) => field !== 'status'),
  },
  deleteWebhook: {
    falseField: (row, ask) => ofWebhook(row, ask) ?? firstFalse(['status', row.status === 'deleted']),
    word: ['url', 'events', 'events.*', ...WEBHOOK_WORD.filter((field) => field !== 'status')],
  },
  rotateWebhookSecret: {
    falseField: (row, ask) => ofWebhook(row, ask) ?? firstFalse(['secret', row.secret.startsWith('whsec_')]),
    word: ['url', 'events', 'events.*', ...WEBHOOK_WORD, 'secret'],
  },
  dropPreviousWebhookSecret: {
    falseField: (row, ask) => ofWebhook(row, ask) ?? firstFalse(['rotating', !row.rotating]),
    word: ['url', 'events', 'events.*', ...WEBHOOK_WORD.filter((field) => field !== 'rotating')],
  },
  testWebhook: {
    falseField: ({ webhookId, passed, attempts }, { params }) =>
      firstFalse(
        ['webhookId', webhookId === params['webhookId']],
        ['passed', passed === attempts.every((attempt) => attempt.passed)],
        ['attempts', attempts.every(isJudgedByStatus)],
      ),
    word: ['url', ...TEST_WORD],
  },
  listWebhookDeliveries: {
    falseField: ({ webhookId }, { params }) => firstFalse(['webhookId', webhookId === params['webhookId']]),
    word: DELIVERY_WORD.filter((field) => field !== 'webhookId'),
  },
  getEdgeLease: word('state', 'epoch', 'holder', 'expiresAt'),
  getEdgeReadiness: {
    falseField: ({ chain, xpub }, _ask, known) =>
      firstFalse(['xpub', xpub === null || xpub === maskedXpub(known, chain)]),
    word: ['chain', 'state', 'reason', 'poolLevelPercent'],
  },
  listEdgeSessions: word(
    'id',
    'role',
    'edgeVersion',
    'liveness',
    'leaseEpoch',
    'outboxMode',
    'outboxDepth',
    'outboxPoisoned',
    'registryVersion',
    'podHint',
    'lastHeartbeatAt',
    'startedAt',
    'endedAt',
  ),
  listChains: {
    falseField: falseChain,
    word: ['chain', 'enabled', 'threshold', 'readiness', 'status', 'reason', 'next'],
  },
  getCoverage: {
    falseField: ({ chain }, { params }) => firstFalse(['chain', chain === params['chain']]),
    word: [
      'completeHeight',
      'headHeight',
      'headAt',
      'heardAt',
      'ageSeconds',
      'lag',
      'unresolved',
      'unresolved.*',
      'unresolved.*.height',
      'unresolved.*.reason',
      'unresolved.*.tries',
      'unresolved.*.since',
      'endpoints',
      'endpoints.*',
      'endpoints.*.endpoint',
      'endpoints.*.state',
      'endpoints.*.reason',
      'endpoints.*.next',
      'endpoints.*.since',
      'endpoints.*.nextLookAt',
    ],
  },
  listTokens: { falseField: falseToken, word: TOKEN_WORD },
  createPaymentLink: {
    falseField: falseNewLink,
    word: [
      'uses',
      'closedReason',
      'closedAt',
      'monitorUntil',
      'amountRaised',
      'paymentCount',
      'createdAt',
      'updatedAt',
    ],
  },
  listPaymentLinks: { falseField: falseLink, word: LINK_WORD },
  getPaymentLink: { falseField: falseLink, word: LINK_WORD },
  changePaymentLink: { falseField: falseChangedLink, word: LINK_WORD },
  pausePaymentLink: linkIn('paused'),
  resumePaymentLink: linkIn('active'),
  closePaymentLink: linkIn('closed'),
  requestToken: { falseField: falseNewRequest, word: ['id', ...REQUEST_WORD] },
  listTokenRequests: { falseField: falseRequest, word: ['id', 'chain', 'contractAddress', ...REQUEST_WORD] },
  listTokenRoutes: word(
    'registryVersion',
    'routes',
    'routes.*',
    'routes.*.symbol',
    'routes.*.from',
    'routes.*.to',
    'routes.*.status',
    'routes.*.reason',
    'routes.*.protocol',
    'routes.*.seconds',
    'routes.*.burnMax',
  ),
  ...PAYMENT_RULES,
  ...INVOICE_RULES,
  getPaymentReadiness: word(...READINESS_WORD),
  createTreasuryWallet: {
    falseField: (row, ask, known) => falseNewWallet(row, ask, known),
    word: ['id', 'allowlisted', 'warnings', 'createdAt'],
  },
  listTreasuryWallets: {
    falseField: (row, _ask, known) => falseWallet(row, known),
    word: ['id', 'chain', 'source', 'tag', 'label', 'allowlisted', 'warnings', 'createdAt'],
  },
  getTreasuryWalletBalances: {
    falseField: falseBalance,
    word: [...BALANCE_WORD, 'chain', 'address', 'tokenContract'],
  },
  createFundingWallet: {
    falseField: (row, { body }, known) =>
      firstFalse(
        ['chain', row.chain === body['chain']],
        ['label', row.label === (body['label'] ?? null)],
        ['lowBalance', body['lowBalance'] == null || row.lowBalance === body['lowBalance']],
      ) ?? falseTank(row, known),
    word: [...TANK_WORD.filter((field) => field !== 'lowBalance'), 'id', 'createdAt'],
  },
  listFundingWallets: {
    falseField: (row, _ask, known) => falseTank(row, known),
    word: [...TANK_WORD, 'id', 'chain', 'label', 'createdAt'],
  },
  createSweepPolicy: { falseField: falsePolicy, word: POLICY_SET_WORD },
  listSweepPolicies: word(...POLICY_WORD),
  getSweepPolicy: { falseField: ofPolicy, word: POLICY_WORD.slice(1) },
  replaceSweepPolicy: {
    falseField: (row, ask, known) => ofPolicy(row, ask) ?? falsePolicy(row, ask, known),
    word: POLICY_SET_WORD.slice(1),
  },
  deleteSweepPolicy: { falseField: ofPolicy, word: POLICY_WORD.slice(1) },
  pauseSweepPolicy: { falseField: ofPolicy, word: POLICY_WORD.slice(1) },
  resumeSweepPolicy: { falseField: ofPolicy, word: POLICY_WORD.slice(1) },
  previewSweep: word(...PREVIEW_WORD),
  runSweepPolicy: word('jobId', 'result', 'reason'),
  listSweepJobs: {
    falseField: ({ policyId }, { query }) =>
      firstFalse(['policyId', query['policyId'] === undefined || policyId === query['policyId']]),
    word: ['id', ...JOB_WORD],
  },
  getSweepJob: {
    falseField: ofJob,
    word: [
      ...JOB_WORD,
      'settings',
      ...JOB_SETTINGS.map((field) => `settings.${field}`),
      'amount',
      'estimate',
      'paid',
      'counts',
      'counts.*',
      'operations',
      'operations.*',
      ...OPERATION_WORD.map((field) => `operations.*.${field}`),
    ],
  },
  retrySweepJob: { falseField: ofJob, word: JOB_WORD },
  ...BRIDGE_RULES,
  ...MIGRATION_RULES,
  simulateToken: { falseField: falseSimulatedToken, word: ['hazards.*'] },
  ...SANDBOX_RULES,
};
