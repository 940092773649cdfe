/** Bridge policies and transfers: a policy says what its caller set; how a transfer goes on is the cloud's word. */
import type { ReplyOf } from '../../protocol/routes.ts';
import { firstFalse, type Ask } from './known.ts';

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
function falseBridge(row: ReplyOf<'getBridgePolicy'>, { body }: Ask): string | null {
  return ECHOED.find((field) => body[field] != null && row[field] !== body[field]) ?? null;
}

/** Another policy than the one that was asked about. */
function ofBridge({ id }: Pick<ReplyOf<'getBridgePolicy'>, 'id'>, { params }: Ask): string | null {
  return firstFalse(['id', id === params['policyId']]);
}

/** Another amount, or of another policy, than its caller asked to move. */
function falseTransfer({ policyId, amount }: ReplyOf<'getBridgeTransfer'>, { body }: Ask): string | null {
  return firstFalse(['policyId', policyId === body['policyId']], ['amount', amount === body['amount']]);
}

const BRIDGE_WORD = ['version', 'token', 'inFlightCount', 'inFlightValue', 'createdAt', 'updatedAt'];
const BRIDGE_ROW_WORD = [...BRIDGE_WORD, ...ECHOED];
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

const ofTransfer = ({ id }: { id: string }, { params }: Ask): string | null => firstFalse(['id', id === params['id']]);

export const BRIDGE_RULES = {
  createBridgePolicy: { falseField: falseBridge, word: ['id', ...BRIDGE_WORD] },
  listBridgePolicies: { falseField: () => null, word: ['id', ...BRIDGE_ROW_WORD] },
  getBridgePolicy: { falseField: ofBridge, word: BRIDGE_ROW_WORD },
  replaceBridgePolicy: { falseField: falseBridge, word: ['id', ...BRIDGE_WORD] },
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
