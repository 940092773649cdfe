/** Records of a Horizon server: operations, effects and transactions of one ledger. Spec: chains.md 9.2, M13 to M15. */
import { integerOf } from '../../protocol/lossless-json.ts';
import { parseDecimal } from '../../protocol/money.ts';
import { hashIn, listIn, malformed, objectIn, textIn, type Answer } from '../node-answer.ts';
import { STELLAR_DECIMALS } from './network.ts';
import { decodeStrkey, encodeStrkey } from './strkey.ts';

/** Records of an answer: a list, or a page `{_embedded: {records}}`. Throws: MalformedReply. */
export function recordsIn(answer: unknown): readonly Answer[] {
  const list = Array.isArray(answer)
    ? answer
    : objectIn(objectIn(answer, 'page')['_embedded'], 'page of records')['records'];
  return listIn(list, 'records').map((record) => objectIn(record, 'record'));
}

/** Low 12 bits of an operation id: the operation's place in its transaction, counted from 1. Source: Horizon, TOID. */
const OPERATION_BITS = 12n;

/** Place of an operation in its transaction, counted from 0 (M14). Throws: MalformedReply. */
export function operationIndexOf(id: unknown): number {
  const toid = integerOf(id) ?? malformed('id of an operation', id);
  const place = Number(toid & ((1n << OPERATION_BITS) - 1n));
  return toid > 0n && place > 0 ? place - 1 : malformed('id of an operation', id);
}

/**
 * Stroops from a decimal text with seven places. Throws: MalformedReply for a negative amount or one above int64 (M10).
 */
export function stroopsIn(value: unknown, what: string): bigint {
  const amount = parseDecimal(textIn(value, what), STELLAR_DECIMALS);
  return typeof amount === 'bigint' && amount < 2n ** 63n ? amount : malformed(what, value);
}

/** `CODE:ISSUER` of a record's asset fields, null for the native coin. Throws: MalformedReply. */
export function assetIn(record: Answer): string | null {
  const { asset, asset_type: type } = record;
  if (type === 'native' || asset === 'native') return null;
  if (typeof asset === 'string') return asset;
  return `${textIn(record['asset_code'], 'asset_code')}:${textIn(record['asset_issuer'], 'asset_issuer')}`;
}

export interface Account {
  readonly address: string;
  /** Id of a muxed account, decimal text. */
  readonly id: string | null;
}

/** An account field with its muxed companions (`to`, `to_muxed`, `to_muxed_id`); null for what is no account. */
export function accountIn(record: Answer, field: string): Account | null {
  const text = textIn(record[field], field);
  const own = decodeAccount(text);
  if (own === null) return null;
  const id = record[`${field}_muxed_id`];
  return id === undefined || id === null ? own : { address: own.address, id: idText(id) };
}

/** The form of an account; its checksum is the node's business, because a wrong text is nobody's address. */
const ACCOUNT = /^G[A-Z2-7]{55}$/;

function decodeAccount(text: string): Account | null {
  if (ACCOUNT.test(text)) return { address: text, id: null };
  const strkey = decodeStrkey(text);
  if (strkey?.kind !== 'muxed') return null;
  const { payload } = strkey;
  const id = new DataView(payload.buffer, payload.byteOffset + 32, 8).getBigUint64(0);
  return { address: encodeStrkey('account', payload.subarray(0, 32)), id: id.toString() };
}

/** A 64-bit id as decimal text. Throws: MalformedReply. */
export function idText(value: unknown): string {
  const id = integerOf(value);
  return id !== null && id >= 0n && id < 2n ** 64n ? id.toString() : malformed('a 64-bit id', value);
}

const FAILURE_CHARACTERS_MAX = 200;

export interface TransactionNames {
  readonly txid: string;
  readonly innerTxid: string | null;
  /** Memo of type id, the only one that is a number. */
  readonly memoId: string | null;
  /** Stroops, where the record gives it. */
  readonly fee: bigint | null;
  /** Why it failed, where the record says it. */
  readonly failure: string | null;
  /** Whether it succeeded, where the record says it. */
  readonly successful: boolean | null;
}

/** Hashes and memo of a transaction record. A fee bump is known by its outer hash (M15). */
export function namesOf(transaction: Answer): TransactionNames {
  const {
    fee_bump_transaction: outer,
    inner_transaction: inner,
    memo_type: memoType,
    memo,
    fee_charged: fee,
    result_codes: codes,
  } = transaction;
  const hash = hashIn(transaction['hash'], 'hash of a transaction');
  return {
    txid: outer === undefined ? hash : hashIn(objectIn(outer, 'fee_bump_transaction')['hash'], 'hash of a fee bump'),
    innerTxid:
      inner === undefined ? null : hashIn(objectIn(inner, 'inner_transaction')['hash'], 'hash of an inner transaction'),
    memoId: memoType === 'id' ? idText(memo) : null,
    fee: fee === undefined ? null : integerOf(fee),
    failure: codes === undefined ? null : failureText(objectIn(codes, 'result_codes')),
    successful: typeof transaction['successful'] === 'boolean' ? transaction['successful'] : null,
  };
}

/** `tx_failed: op_underfunded`, from codes as Horizon names them. */
function failureText({ transaction, operations }: Answer): string {
  const failed = Array.isArray(operations) ? operations.filter((code) => code !== 'op_success') : [];
  return [String(transaction), ...failed.map(String)].join(': ').slice(0, FAILURE_CHARACTERS_MAX);
}

/** Transactions by each hash that an operation may name them by. */
export function namesByHash(transactions: readonly Answer[]): ReadonlyMap<string, TransactionNames> {
  return new Map(
    transactions.flatMap((transaction) => {
      const names = namesOf(transaction);
      return [names.txid, names.innerTxid ?? names.txid].map((hash) => [hash, names] as const);
    }),
  );
}
