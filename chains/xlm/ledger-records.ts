/**
 * Records of one ledger, in Horizon's form, made of its own bytes: envelopes, results and, where the server gives it,
 * the meta. Both sources go through here, so that a payment reads the same from either; what the bytes say is never
 * taken from a server's own records. Spec: chains.md 9.2, M3, M5, M14, M15.
 */
import {
  TransactionEnvelope,
  type MuxedAccount,
  type Operation,
  type OperationBody,
  type OperationResult,
  type Transaction,
  type TransactionMeta,
  type TransactionResultPair,
  type TransactionV0,
} from '@stellar/stellar-sdk/xdr';
import { formatAmount } from '../../protocol/money.ts';
import { ChainUnavailable } from '../chain.ts';
import type { Answer } from '../node-answer.ts';
import { addressOf } from './address.ts';
import { balanceChanges } from './asset-events.ts';
import { hashesOf } from './envelope.ts';
import type { ProvenHeader } from './header.ts';
import { movementsOf, provenEvents, tracesOf, type Trace } from './meta.ts';
import { STELLAR_DECIMALS } from './network.ts';
import type { Account } from './records.ts';
import { codesOf, isSuccess, operationResults, snake } from './result-codes.ts';
import type { XlmLedger } from './transfers.ts';
import { accountText, assetText, hexOf, muxedText } from './xdr.ts';

/** A transaction as it was applied. `meta` is null where the server does not give it. */
export interface Applied {
  readonly envelope: TransactionEnvelope;
  readonly result: TransactionResultPair;
  readonly meta: TransactionMeta | null;
}

/** What only a server's own records show where it gives no meta. */
export interface ServerRecords {
  /** Asset movements of a contract call, by the operation's id. */
  readonly balanceChanges: ReadonlyMap<string, unknown>;
  readonly effects: readonly Answer[];
}

/**
 * The ledger's records. Throws: ChainUnavailable for an envelope that is not the one of its result, and for a contract
 * call whose movements no source shows.
 */
export function ledgerRecords(
  passphrase: string,
  { height }: ProvenHeader,
  applied: readonly Applied[],
  server: ServerRecords | null,
): XlmLedger {
  const operations: Answer[] = [],
    effects: Answer[] = [...(server?.effects ?? [])],
    transactions: Answer[] = [];
  applied.forEach(({ envelope, result, meta }, order) => {
    const { txid, innerTxid } = hashesOf(passphrase, envelope);
    if (txid !== hexOf(result.transactionHash.toBytes()))
      throw new ChainUnavailable('xlm', `an envelope that is not ${txid}`);
    const tx = transactionIn(envelope),
      success = isSuccess(result.result);
    transactions.push(transactionRecord(tx, result, { txid, innerTxid }));
    const results = operationResults(result.result),
      traces = meta === null || !success ? [] : tracesOf(meta);
    tx.operations.forEach((operation, index) => {
      const id = toid(height, order + 1, index + 1);
      const common = {
        id,
        type: snake(operation.body.type),
        transaction_hash: txid,
        transaction_successful: success,
        source_account: sourceOf(tx, operation).address,
      };
      if (!success) {
        operations.push(common);
        return;
      }
      const trace = traces[index],
        outcome = results[index];
      const calls =
        operation.body.type === 'invokeHostFunction'
          ? {
              asset_balance_changes:
                server === null ? balanceChanges(passphrase, provenEvents(outcome, trace)) : reportedBy(server, id),
            }
          : {};
      operations.push({ ...common, ...fieldsOf(operation.body, sourceOf(tx, operation), outcome), ...calls });
      if (trace !== undefined)
        effects.push(...effectRecords(id, sourceOf(tx, operation), operation.body, outcome, trace));
    });
  });
  return { operations, effects, transactions };
}

function reportedBy({ balanceChanges: changes }: ServerRecords, id: string): unknown {
  const own = changes.get(id);
  if (own === undefined) throw new ChainUnavailable('xlm', `no record of the contract call ${id}`);
  return own;
}

/** ledger(32) || transaction(20) || operation(12), both counted from 1. Source: Horizon, TOID. */
export function toid(height: number, transaction: number, operation: number): string {
  return ((BigInt(height) << 32n) | (BigInt(transaction) << 12n) | BigInt(operation)).toString();
}

type AnyTransaction = Transaction | TransactionV0;

/** The transaction whose operations are done: the inner one of a fee bump. */
export function transactionIn(envelope: TransactionEnvelope): AnyTransaction {
  switch (envelope.type) {
    case 'envelopeTypeTx':
      return envelope.v1.tx;
    case 'envelopeTypeTxV0':
      return envelope.v0.tx;
    case 'envelopeTypeTxFeeBump':
      return envelope.feeBump.tx.innerTx.v1.tx;
  }
}

function sourceOf(tx: AnyTransaction, { sourceAccount }: Operation): Account {
  if (sourceAccount !== null) return muxedText(sourceAccount);
  return 'sourceAccount' in tx
    ? muxedText(tx.sourceAccount)
    : { address: addressOf(tx.sourceAccountEd25519.toBytes()), id: null };
}

function transactionRecord(
  { memo }: AnyTransaction,
  { result }: TransactionResultPair,
  { txid, innerTxid }: { txid: string; innerTxid: string | null },
): Answer {
  return {
    hash: txid,
    successful: isSuccess(result),
    fee_charged: result.feeCharged.toString(),
    ...(memo.type === 'memoId' ? { memo_type: 'id', memo: memo.id.toString() } : { memo_type: 'none' }),
    ...(innerTxid === null ? {} : { fee_bump_transaction: { hash: txid }, inner_transaction: { hash: innerTxid } }),
    ...(isSuccess(result) ? {} : { result_codes: codesOf(result) }),
  };
}

const amountText = (amount: bigint): string => formatAmount(amount, STELLAR_DECIMALS);
const named = (field: string, { address, id }: Account): Answer => ({
  [field]: address,
  ...(id === null ? {} : { [`${field}_muxed_id`]: id }),
});
const account = (muxed: MuxedAccount): Account => muxedText(muxed);

function fieldsOf(body: OperationBody, source: Account, outcome: OperationResult | undefined): Answer {
  const pays = (to: MuxedAccount, asset: string | null, amount: bigint) => ({
    ...named('from', source),
    ...named('to', account(to)),
    asset: asset ?? 'native',
    amount: amountText(amount),
  });
  switch (body.type) {
    case 'payment':
      return pays(body.paymentOp.destination, assetText(body.paymentOp.asset), body.paymentOp.amount);
    case 'pathPaymentStrictReceive': {
      const { destination, destAsset, destAmount } = body.pathPaymentStrictReceiveOp;
      return pays(destination, assetText(destAsset), destAmount);
    }
    case 'pathPaymentStrictSend': {
      const { destination, destAsset } = body.pathPaymentStrictSendOp;
      return pays(destination, assetText(destAsset), arrivedBy(outcome));
    }
    case 'createAccount': {
      const { destination, startingBalance } = body.createAccountOp;
      return {
        funder: source.address,
        account: accountText(destination),
        starting_balance: amountText(startingBalance),
      };
    }
    case 'accountMerge':
      return { account: source.address, ...named('into', account(body.destination)) };
    case 'claimClaimableBalance':
      return named('claimant', source);
    default:
      return {};
  }
}

/** M3: the operation only names a minimum; the result says what arrived. */
function arrivedBy(outcome: OperationResult | undefined): bigint {
  const result =
    outcome?.type === 'opInner' && outcome.tr.type === 'pathPaymentStrictSend'
      ? outcome.tr.pathPaymentStrictSendResult
      : null;
  if (result?.type !== 'pathPaymentStrictSendSuccess')
    throw new ChainUnavailable('xlm', 'a path payment without its result');
  return result.success.last.amount;
}

type Effect = {
  readonly type: string;
  readonly account: string;
  readonly asset: string | null;
  readonly amount: bigint;
};

/**
 * Effects as far as payments need them: what accounts were credited with and debited, and claimed balances. What a
 * merge paid is in its result, which is proven; the entries must agree (M5). Throws: ChainUnavailable.
 */
function effectRecords(
  id: string,
  source: Account,
  body: OperationBody,
  outcome: OperationResult | undefined,
  trace: Trace,
): Answer[] {
  const { movements, removed } = movementsOf(trace.changes);
  const moved = movements.map(({ account: holder, asset, delta }): Effect => ({
    type: delta > 0n ? 'account_credited' : 'account_debited',
    account: holder,
    asset,
    amount: delta > 0n ? delta : -delta,
  }));
  const own: Effect[] =
    body.type === 'accountMerge'
      ? [mergedInto(account(body.destination).address, outcome, moved)]
      : body.type !== 'claimClaimableBalance'
        ? []
        : removed.map(({ asset, amount }) => ({
            type: 'claimable_balance_claimed',
            account: source.address,
            asset,
            amount,
          }));
  const others = moved.filter(
    (one) =>
      !own.some(({ type, account: to, asset }) => type === one.type && to === one.account && asset === one.asset),
  );
  return [...own, ...others].map(({ asset, amount, ...effect }, ordinal) => ({
    id: `${id.padStart(19, '0')}-${String(ordinal + 1).padStart(10, '0')}`,
    ...effect,
    asset: asset ?? 'native',
    amount: amountText(amount),
  }));
}

function mergedInto(into: string, outcome: OperationResult | undefined, moved: readonly Effect[]): Effect {
  const result =
    outcome?.type === 'opInner' && outcome.tr.type === 'accountMerge' ? outcome.tr.accountMergeResult : null;
  if (result?.type !== 'accountMergeSuccess') throw new ChainUnavailable('xlm', 'a merge without its result');
  const amount = result.sourceAccountBalance;
  const arrived =
    moved.find((one) => one.account === into && one.asset === null && one.type === 'account_credited')?.amount ?? 0n;
  if (arrived !== amount) throw new ChainUnavailable('xlm', 'a merge whose entries differ from its result');
  return { type: 'account_credited', account: into, asset: null, amount };
}
