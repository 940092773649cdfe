/** Bridge policies and transfers: a policy says what its caller set; how a transfer goes on is the cloud's word. */
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, isTokenAsked, itself, type Ask, type Known } from './known.ts';

/** Settings of a policy that its caller writes and its answer repeats as they are. */
const ECHOED = [
  'fromChain',
  'toChain',
  'sourceWalletId',
  'destinationWalletId',
  'maxSingleTransfer',
  'maxInFlightValue',
  'maxInFlightCount',
  'enabled',
] as const;

/** A policy that says something else than its caller set: another treasury, a higher limit. */
function falseBridge(row: ReplyOf<'getBridgePolicy'>, { body }: Ask, { catalogueOf }: Known): string | null {
  const other = ECHOED.find((field) => body[field] != null && row[field] !== body[field]);
  const { fromChain, token } = row;
  const isAsked =
    body['token'] == null || isTokenAsked(fromChain, { asked: body['token'], said: token }, catalogueOf(fromChain));
  return other ?? firstFalse(['token', isAsked]);
}

/** Another policy than the one that was asked about. */
const ofBridge = itself('policyId');

/** Another amount, or of another policy, than its caller asked to move. */
function falseTransfer({ policyId, amount }: ReplyOf<'getBridgeTransfer'>, { body }: Ask): string | null {
  return firstFalse(['policyId', policyId === body['policyId']], ['amount', amount === body['amount']]);
}

const BRIDGE_WORD = ['version', 'inFlightCount', 'inFlightValue', 'createdAt', 'updatedAt'];
const BRIDGE_ROW_WORD = [...BRIDGE_WORD, 'token', ...ECHOED];
const TRANSFER_WORD = [
  'fromChain',
  'toChain',
  'token',
  'source',
  'recipient',
  'maxFee',
  'received',
  'state',
  'reason',
  'stalled',
  'stalled.since',
  'stalled.reason',
  'blocked',
  'blocked.reason',
  'blocked.setting',
  'blocked.cap',
  'blocked.spent',
  'blocked.required',
  'approveTransactionId',
  'burnTransactionId',
  'mintTransactionId',
  'createdAt',
  'updatedAt',
  'endedAt',
];

const ofTransfer = itself('id');

export const BRIDGE_RULES = {
  createBridgePolicy: { falseField: falseBridge, word: ['id', ...BRIDGE_WORD] },
  listBridgePolicies: { falseField: () => null, word: ['id', ...BRIDGE_ROW_WORD] },
  getBridgePolicy: { falseField: ofBridge, word: BRIDGE_ROW_WORD },
  replaceBridgePolicy: {
    falseField: (row: ReplyOf<'getBridgePolicy'>, ask: Ask, known: Known) =>
      ofBridge(row, ask) ?? falseBridge(row, ask, known),
    word: BRIDGE_WORD,
  },
  deleteBridgePolicy: { falseField: ofBridge, word: BRIDGE_ROW_WORD },
  createBridgeTransfer: { falseField: falseTransfer, word: ['id', ...TRANSFER_WORD] },
  listBridgeTransfers: {
    falseField: ({ policyId }: ReplyOf<'getBridgeTransfer'>, { query }: Ask) =>
      firstFalse(['policyId', query['policyId'] === undefined || policyId === query['policyId']]),
    word: ['id', 'policyId', 'amount', ...TRANSFER_WORD],
  },
  getBridgeTransfer: { falseField: ofTransfer, word: ['policyId', 'amount', ...TRANSFER_WORD] },
  retryBridgeTransfer: { falseField: ofTransfer, word: ['policyId', 'amount', ...TRANSFER_WORD] },
} as const;
