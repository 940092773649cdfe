/** Transactions: deposits and withdrawals as one list, the unsigned build and its broadcast. Spec §4.2. */
import { z } from 'zod';
import { listQuery } from '../envelope.ts';
import {
  CHAINS,
  DELIVERY_STATUSES,
  DEPOSIT_STATUSES,
  DIRECTIONS,
  ENVIRONMENTS,
  EVENTS,
  OPERATION_ROLES,
  WITHDRAWAL_KINDS,
  WITHDRAWAL_STATUSES,
} from '../slugs.ts';
import { tag, userRef } from './addresses.ts';
import {
  addressText,
  amountOrAll,
  chain,
  freeText,
  instant,
  money,
  pageReply,
  pathId,
  pathText,
  replyAmount,
  tokenText,
} from './values.ts';
import { count, height, outputIndex, serial, shown } from './numbers.ts';

export const TRANSACTION_STATUSES = [
  ...DEPOSIT_STATUSES,
  ...WITHDRAWAL_STATUSES.filter((status) => status !== 'confirmed'),
] as const;

/** Where a signed version of a withdrawal is. */
export const VERSION_PLACES = ['signed', 'submitted', 'node', 'block', 'replaced'] as const;

export const transaction = money.extend({
  id: z.string().meta({ description: '`dep_…` for a deposit, `txn_…` for a withdrawal' }),
  direction: z.enum(DIRECTIONS),
  kind: z.enum(WITHDRAWAL_KINDS).nullable().meta({
    description:
      '`sweep`: of the treasury itself, for a sweep or a bridge transfer, and never billed; null for a deposit',
  }),
  role: z.enum(OPERATION_ROLES).nullable().meta({
    description:
      'of a `sweep`, what it does: `fund` gas for an address, `sweep` its money home, `approve`, `burn` and `mint` of a bridge transfer; null otherwise',
  }),
  operationId: z.string().nullable().meta({
    description: 'of a `sweep`, the operation of a sweep job or the bridge transfer that it belongs to; null otherwise',
  }),
  chain: z.enum(CHAINS),
  environment: z.enum(ENVIRONMENTS),
  status: z.string().meta({
    enum: [...TRANSACTION_STATUSES],
    description:
      '`expired`: a build that nobody signed for a day, that was given up, or (btc) whose coins a newer one took',
  }),
  txid: z.string().nullable().meta({ description: 'null for a withdrawal that is not signed' }),
  outputIndex: outputIndex.nullable().meta({
    description:
      'with txid, the key to credit by; signed: below zero for native payments of EVM chains; null for a withdrawal',
  }),
  address: z.string(),
  counterparty: z
    .string()
    .nullable()
    .meta({ description: 'who is paid by a withdrawal; who paid a deposit, null where the chain does not say' }),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  tokenSymbol: z.string(),
  userRef: z.string().nullable().meta({ description: "the address's; null for an own address, as of a treasury" }),
  tag: z.string().nullable().meta({ description: "the address's; null where none was given" }),
  chainTag: z
    .string()
    .nullable()
    .meta({ description: 'destination tag or memo of the chain; null where there is none' }),
  height: height.nullable().meta({ description: 'null for a withdrawal that is in no block' }),
  blockHash: z.string().nullable().meta({ description: 'null for a withdrawal that is in no block' }),
  confirmations: count.meta({ description: '0 for what is in no block' }),
  threshold: count,
  incarnation: serial
    .nullable()
    .meta({ description: 'rises when a reversed deposit comes back; null for a withdrawal' }),
  fee: replyAmount.nullable().meta({
    description:
      'smallest native unit, as the block says; null for a deposit, and for a withdrawal that is in no block',
  }),
  failure: z
    .object({ code: z.string(), reason: z.string() })
    .nullable()
    .meta({ description: 'null unless the withdrawal failed' }),
  versions: z.array(z.object({ txid: z.string(), at: z.enum(VERSION_PLACES) })).meta({
    description:
      'signed versions of a withdrawal, oldest first; the last one is the one that is submitted. `signed`: not sent yet · ' +
      '`submitted`: sent, no node has answered that it has it · `node`: a node has it · `block`: it is in a block · ' +
      '`replaced`: a newer version took its place in the node, or another one is in a block',
  }),
  explorerUrl: z.string().nullable().meta({ description: 'null where txid is null' }),
  createdAt: instant,
  updatedAt: instant,
});
/** Steps of a deposit, then those of a withdrawal. */
export const TIMELINE_STEPS = [
  'detected',
  'moved',
  'reversed',
  'built',
  'repriced',
  'signed',
  'broadcast',
  'dropped',
  'included',
  'orphaned',
  'failed',
  'expired',
  'confirmed',
] as const;
export const timeline = z.object({
  id: z.string(),
  confirmations: count.meta({ description: 'now; at `threshold` it is final' }),
  threshold: count,
  steps: z
    .array(
      z.object({
        step: z.enum(TIMELINE_STEPS).meta({
          description:
            '`moved`: a reorg put it into another block; `reversed`, `orphaned`: a reorg took it out; `repriced`: built anew with another fee; `dropped`: a node refused one of its signed versions for good',
        }),
        at: instant,
        txid: z.string().nullable(),
        height: height.nullable(),
        reason: z.string().nullable(),
      }),
    )
    .meta({ description: 'oldest first' }),
  events: z
    .array(
      z.object({
        id: z.string(),
        event: z.enum(EVENTS),
        createdAt: instant,
        deliveries: z
          .array(
            z.object({
              id: z.string(),
              webhookId: z.string(),
              status: z.enum(DELIVERY_STATUSES),
              attempts: count,
              createdAt: instant,
            }),
          )
          .meta({ description: 'the newest 20' }),
      }),
    )
    .meta({ description: 'what was published of it; the body of one is `GET /v1/events/{id}`' }),
});
export const transactionPage = pageReply(transaction);
export const listTransactionsQuery = listQuery({
  chain: chain.exactOptional(),
  userRef: userRef.exactOptional(),
  tag: tag.exactOptional(),
  status: z.enum(TRANSACTION_STATUSES).exactOptional(),
  direction: z.enum(DIRECTIONS).exactOptional(),
  kind: z.enum(WITHDRAWAL_KINDS).exactOptional().meta({
    description: 'withdrawals of a kind; with chain, status and direction, not with userRef or tag',
  }),
});
/** A record of either direction. */
export const transactionParams = z.strictObject({ id: pathText(40) });
export const withdrawalParams = z.strictObject({ id: pathId('txn') });

export const buildBody = z.strictObject({
  chain,
  from: addressText,
  to: addressText,
  amount: amountOrAll,
  tokenContract: tokenText.nullish(),
  chainTag: freeText(30).nullish().meta({ description: 'destination tag or memo id, decimal text' }),
  paymentRef: freeText(255)
    .nullish()
    .meta({
      description:
        'your own name of the payment, as of a payout in your books. Payments of the same chain, from, to, chainTag, asset, amount and paymentRef are ' +
        'one payment to the edge: while one that was signed may land, another is refused (CONFLICT equal_payment_signed). To pay twice, name them differently; ' +
        'to try again, name it as before',
    }),
});

/** JSON form of `Unsigned` in chains/chain.ts: what the edge checks and signs. */
export const unsigned = z.object({
  chain: z.enum(CHAINS),
  payload: z.string(),
  from: z.string(),
  fromPath: z.string(),
  to: z.string(),
  amount: replyAmount,
  tokenContract: z.string().nullable(),
  tag: z.string().nullable(),
  kind: z.enum(['payment', 'trustline']),
  sendAll: z.boolean(),
  feeMax: replyAmount,
  fee: z.record(z.string(), z.union([z.string(), shown])),
  replayKey: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('nonce'), value: count }),
    z.object({ kind: z.literal('sequence'), value: z.string().regex(/^(?:0|[1-9][0-9]{0,19})$/) }),
    z.object({ kind: z.literal('outpoints'), value: z.array(z.string()) }),
    z.object({ kind: z.literal('expiry'), value: z.string() }),
  ]),
  readAtHeight: height,
});

/** A built transaction: nothing is signed or broadcast. */
export const built = money.extend({
  id: z.string(),
  chain: z.enum(CHAINS),
  status: z.enum(WITHDRAWAL_STATUSES),
  from: z.string(),
  to: z.string(),
  tokenContract: z.string().nullable().meta({ description: "null for the chain's native coin" }),
  tokenSymbol: z.string(),
  chainTag: z
    .string()
    .nullable()
    .meta({ description: 'destination tag or memo of the chain; null where there is none' }),
  feeEstimate: z.object({
    fee: replyAmount,
    feeMax: replyAmount,
    parts: z.record(z.string(), z.union([z.string(), shown])),
  }),
  unsigned,
  createdAt: instant,
  updatedAt: instant,
});
export type UnsignedJson = z.infer<typeof unsigned>;
export type BuiltJson = z.infer<typeof built>;
