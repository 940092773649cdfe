/**
 * What a server's answer to a transaction means; the table is chains.md 9.2, the words are codes, so no text is matched
 * (X2). Sources: developers.stellar.org, "Result codes" of transactions and operations; stellar-rpc `sendTransaction`.
 */
import type { ErrorCode } from '../../protocol/errors.ts';
import type { ResultCodes } from './result-codes.ts';

/**
 *   look_up   the transaction may have been applied before: only its hash, the sequence and the time can decide
 *   unknown   nothing is proven: the same bytes again (G26)
 *   rejected  the server refused these bytes; `action` says what would be accepted, `needs` what decides the code
 */
export type Verdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'already_known' }
  | { readonly kind: 'look_up'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  | Rejected;

export interface Rejected {
  readonly kind: 'rejected';
  readonly code: ErrorCode;
  readonly action: Action;
  readonly reason: string;
  /** `balance`: the sender's distinguishes funds from reserve. `asset`: a native payment wants another operation. */
  readonly needs?: 'balance' | 'asset';
}

export type Action = 'reprice' | 'rebuild' | 'fund' | 'fund_destination' | 'open_line' | 'ask_issuer' | 'none';

type Row = (reason: string) => Verdict;

const rejected =
  (code: ErrorCode, action: Action, needs?: Rejected['needs']): Row =>
  (reason) => ({ kind: 'rejected', code, action, reason, ...(needs === undefined ? {} : { needs }) });
const unknown: Row = (reason) => ({ kind: 'unknown', reason });
const lookUp: Row = (reason) => ({ kind: 'look_up', reason });
const final = rejected('CHAIN_REJECTED', 'none');
const finals = (...codes: string[]): Record<string, Row> => Object.fromEntries(codes.map((code) => [code, final]));

/** Words of `sendTransaction` and of `transactions_async`. */
const STATUSES: Readonly<Record<string, Row>> = {
  PENDING: () => ({ kind: 'accepted' }),
  DUPLICATE: () => ({ kind: 'already_known' }),
  // Another transaction of this source is in the queue, or the same one was offered again too soon: wait a ledger.
  TRY_AGAIN_LATER: unknown,
};

/** By the code of the transaction. */
const TRANSACTIONS: Readonly<Record<string, Row>> = {
  // Success where a refusal is explained: two answers that contradict each other. G8.
  tx_success: lookUp,
  // The sequence is used: perhaps by our own earlier copy.
  tx_bad_seq: lookUp,
  tx_too_late: lookUp,
  tx_internal_error: unknown,
  tx_insufficient_fee: rejected('CHAIN_REJECTED', 'reprice'),
  tx_insufficient_balance: rejected('INSUFFICIENT_GAS', 'fund'),
  tx_no_source_account: rejected('CHAIN_REJECTED', 'fund'),
  ...finals(
    'tx_too_early',
    'tx_missing_operation',
    'tx_bad_auth',
    'tx_bad_auth_extra',
    'tx_bad_minseq_age_or_gap',
    'tx_soroban_invalid',
    'tx_malformed',
    'tx_not_supported',
    'tx_bad_sponsorship',
    'tx_frozen_key_accessed',
  ),
};

/** By the code of the operation, of a transaction that failed. */
const OPERATIONS: Readonly<Record<string, Row>> = {
  op_underfunded: rejected('INSUFFICIENT_FUNDS', 'fund', 'balance'),
  op_low_reserve: rejected('INSUFFICIENT_RESERVE', 'fund'),
  op_no_trust: rejected('DESTINATION_OPT_IN_REQUIRED', 'open_line'),
  op_src_no_trust: rejected('INSUFFICIENT_FUNDS', 'open_line'),
  op_no_destination: rejected('DESTINATION_OPT_IN_REQUIRED', 'fund_destination', 'asset'),
  op_already_exists: rejected('CHAIN_REJECTED', 'rebuild'),
  op_line_full: rejected('CHAIN_REJECTED', 'none'),
  op_not_authorized: rejected('CHAIN_REJECTED', 'ask_issuer'),
  op_src_not_authorized: rejected('CHAIN_REJECTED', 'ask_issuer'),
  ...finals(
    'op_malformed',
    'op_no_issuer',
    'op_too_few_offers',
    'op_over_source_max',
    'op_under_dest_min',
    'op_cross_self',
    'op_offer_cross_self',
    'op_has_sub_entries',
    'op_immutable_set',
    'op_is_sponsor',
    'op_seq_num_too_far',
    'op_dest_full',
    'op_no_account',
    'op_invalid_limit',
    'op_self_not_allowed',
    'op_trust_line_missing',
    'op_cannot_delete',
    'op_not_auth_maintain_liabilities',
    'op_bad_auth',
    'op_no_source_account',
    'op_not_supported',
    'op_too_many_subentries',
    'op_exceeded_work_limit',
    'op_too_many_sponsoring',
  ),
};

const ROW_CHARACTERS_MAX = 100;

/** The class of a status word; null for `ERROR`, whose result decides, and for a word that is not known. */
export function explainStatus(status: string): Verdict | null {
  const row = Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined;
  return row === undefined ? null : row(status.toLowerCase());
}

/** Names by which a server says that the bytes are no transaction to it. */
const UNREADABLE = new Set(['transaction_malformed', 'invalid_xdr', 'invalid_hash']);

/** The class of an error of the server instead of an answer; null where it says nothing about the bytes. */
export function explainError(name: string): Verdict | null {
  return UNREADABLE.has(name) ? final(name) : null;
}

/**
 * The class of a result. The tables are closed lists (stellar-core 23, Stellar-transaction.x; Horizon 23 `codes`): a
 * code that has no row proves nothing, and the time bound of the envelope ends it within minutes (G27).
 */
export function explainCodes({ transaction, inner, operations }: ResultCodes): Verdict {
  // The outer result says only that the inner one failed.
  const own = transaction === 'tx_fee_bump_inner_failed' && inner !== null ? inner : transaction;
  const failed = operations.find((code) => code !== 'op_success');
  if (own === 'tx_failed' && failed !== undefined)
    return rowOf(OPERATIONS, failed)(failed.slice(0, ROW_CHARACTERS_MAX));
  return rowOf(TRANSACTIONS, own)(own.slice(0, ROW_CHARACTERS_MAX));
}

function rowOf(rows: Readonly<Record<string, Row>>, code: string): Row {
  return (Object.hasOwn(rows, code) ? rows[code] : undefined) ?? unknown;
}
