/**
 * What a transaction's result says, in the words that Horizon uses for it (`tx_bad_seq`, `op_underfunded`), so that
 * both kinds of server are explained by one table. Source: Stellar-transaction.x; stellar/go `codes` package.
 */
import type { OperationResult, TransactionResult } from '@stellar/stellar-sdk/xdr';

export interface ResultCodes {
  /** Of the transaction, or of the fee bump around it. */
  readonly transaction: string;
  /** Of the transaction inside of a fee bump. */
  readonly inner: string | null;
  /** One for each operation that was looked at; none when the transaction itself was refused. */
  readonly operations: readonly string[];
}

/** Transactions whose Horizon name is not their XDR name. */
const TRANSACTION_NAMES: Readonly<Record<string, string>> = {
  tx_no_account: 'tx_no_source_account',
  tx_bad_min_seq_age_or_gap: 'tx_bad_minseq_age_or_gap',
};

/** Operations whose Horizon name is not what is left of their XDR name. */
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  op_already_exist: 'op_already_exists',
  op_seqnum_too_far: 'op_seq_num_too_far',
  op_over_sendmax: 'op_over_source_max',
  op_under_destmin: 'op_under_dest_min',
};

/** `paymentSrcNoTrust` → `payment_src_no_trust`. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** True for a result whose operations were all done. */
export function isSuccess({ result: { type } }: TransactionResult): boolean {
  return type === 'txSuccess' || type === 'txFeeBumpInnerSuccess';
}

/** Results of the operations, those of the inner transaction for a fee bump; none when the transaction was refused. */
export function operationResults({ result }: TransactionResult): readonly OperationResult[] {
  switch (result.type) {
    case 'txSuccess':
    case 'txFailed':
      return result.results;
    case 'txFeeBumpInnerSuccess':
    case 'txFeeBumpInnerFailed': {
      const inner = result.innerResultPair.result.result;
      return inner.type === 'txSuccess' || inner.type === 'txFailed' ? inner.results : [];
    }
    default:
      return [];
  }
}

const transactionName = (type: string): string => TRANSACTION_NAMES[snake(type)] ?? snake(type);

/** The codes of a result. */
export function codesOf(result: TransactionResult): ResultCodes {
  const { result: outer } = result;
  const inner =
    outer.type === 'txFeeBumpInnerFailed' || outer.type === 'txFeeBumpInnerSuccess'
      ? transactionName(outer.innerResultPair.result.result.type)
      : null;
  return { transaction: transactionName(outer.type), inner, operations: operationResults(result).map(operationCode) };
}

function operationCode(result: OperationResult): string {
  if (result.type !== 'opInner') return result.type === 'opNoAccount' ? 'op_no_source_account' : snake(result.type);
  const { type, value } = result.tr;
  // A passive offer answers with the codes of an active one.
  const prefix = value.type.startsWith(type) ? type : 'manageSellOffer';
  const code = `op${snake(value.type.slice(prefix.length))}`;
  return OPERATION_NAMES[code] ?? code;
}
