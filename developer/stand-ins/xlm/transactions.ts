/**
 * Signed envelopes: what makes one valid, and what one does to the ledger. Bytes, hashes and signatures are the SDK's.
 * Order of the checks: stellar-core's TransactionFrame::checkValid.
 */
import { FeeBumpTransaction, Keypair, TransactionBuilder, type Transaction } from '@stellar/stellar-sdk/base';
import {
  ExtensionPoint,
  InnerTransactionResult,
  InnerTransactionResultExt,
  InnerTransactionResultPair,
  InnerTransactionResultResult,
  OperationMetaV2,
  SorobanTransactionMetaExt,
  SorobanTransactionMetaV2,
  TransactionMeta,
  TransactionMetaV4,
  TransactionResult,
  TransactionResultExt,
  TransactionResultPair,
  TransactionResultResult,
  type DecoratedSignature,
  type LedgerEntryChange,
  type Operation,
  type OperationResult,
  type Transaction as XdrTransaction,
  type TransactionEnvelope,
} from '@stellar/stellar-sdk/xdr';
import { classicEvents, type Called } from './contracts.ts';
import { baseOf } from './entries.ts';
import { apply } from './operations.ts';
import type { Market, Scope } from './payments.ts';
import type { State } from './state.ts';

/** Names of refusals that have no operations. */
export type Refused =
  | 'txTooEarly'
  | 'txTooLate'
  | 'txMissingOperation'
  | 'txBadSeq'
  | 'txBadAuth'
  | 'txInsufficientBalance'
  | 'txNoAccount'
  | 'txInsufficientFee'
  | 'txBadAuthExtra'
  | 'txBadSponsorship';

export interface ReadTransaction {
  readonly base64: string;
  readonly envelope: TransactionEnvelope;
  /** Hex; the outer one of a fee bump. */
  readonly hash: string;
  readonly innerHash: string | null;
  readonly inner: Transaction;
  readonly tx: XdrTransaction;
  readonly bump: FeeBumpTransaction | null;
  readonly source: string;
  readonly sequence: bigint;
  readonly operations: readonly Operation[];
  readonly feeSource: string;
  /** Offer per operation, stroops times the count below. */
  readonly offer: bigint;
  /** Operations that the offer is for: one more for a fee bump. */
  readonly count: bigint;
  readonly maxTime: bigint;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Reads an envelope. Throws: Error when it is none. */
export function readTransaction(base64: string, passphrase: string): ReadTransaction {
  const read = TransactionBuilder.fromXDR(base64, passphrase);
  const bump = read instanceof FeeBumpTransaction ? read : null,
    inner = read instanceof FeeBumpTransaction ? read.innerTransaction : read;
  const { tx } = inner;
  if (!('sourceAccount' in tx)) throw new TypeError('a transaction of version 0');
  const count = BigInt(tx.operations.length + (bump === null ? 0 : 1));
  return {
    base64,
    envelope: read.toEnvelope(),
    hash: hexOf(read.hash()),
    innerHash: bump === null ? null : hexOf(inner.hash()),
    inner,
    tx,
    bump,
    source: baseOf(tx.sourceAccount),
    sequence: tx.seqNum,
    operations: tx.operations,
    feeSource: bump === null ? baseOf(tx.sourceAccount) : baseOf(bump.tx.feeSource),
    offer: bump === null ? BigInt(tx.fee) : bump.tx.fee,
    count,
    maxTime: tx.cond.type === 'precondTime' ? tx.cond.timeBounds.maxTime : 0n,
  };
}

export interface Rules {
  readonly passphrase: string;
  readonly baseFee: bigint;
  readonly market: Market;
  readonly emitsClassicEvents: boolean;
}

/**
 * Why a transaction cannot be in a ledger that closes at `closeTime`; null when it can. The bump's own reasons are
 * `outer`.
 */
export function refusalOf(
  read: ReadTransaction,
  state: State,
  rules: Rules,
  closeTime: bigint,
): { readonly reason: Refused; readonly outer: boolean } | null {
  const { bump, inner, feeSource, offer, count, source, operations } = read,
    no = (reason: Refused, outer = bump !== null) => ({ reason, outer });
  if (offer < rules.baseFee * count) return no('txInsufficientFee');
  if (bump !== null) {
    const payer = state.account(feeSource);
    if (payer === null) return no('txNoAccount');
    if (offer * BigInt(operations.length) < BigInt(inner.fee) * count) return no('txInsufficientFee');
    if (!areSigned([feeSource], bump.hash(), bump.signatures)) return no('txBadAuth');
    if (state.spendable(payer) < offer) return no('txInsufficientBalance');
  }
  const { tx } = read;
  const bounds = tx.cond.type === 'precondTime' ? tx.cond.timeBounds : null;
  if (bounds !== null && closeTime < bounds.minTime) return no('txTooEarly', false);
  if (bounds !== null && bounds.maxTime > 0n && closeTime > bounds.maxTime) return no('txTooLate', false);
  if (operations.length === 0) return no('txMissingOperation', false);
  const account = state.account(source);
  if (account === null) return no('txNoAccount', false);
  if (read.sequence !== account.sequence + 1n) return no('txBadSeq', false);
  const signers = [
    ...new Set([
      source,
      ...operations.flatMap((one) => (one.sourceAccount === null ? [] : [baseOf(one.sourceAccount)])),
    ]),
  ];
  if (!areSigned(signers, inner.hash(), inner.signatures)) return no('txBadAuth', false);
  if (inner.signatures.length > signers.length) return no('txBadAuthExtra', false);
  return bump === null && state.spendable(account) < offer ? no('txInsufficientBalance', false) : null;
}

function areSigned(signers: readonly string[], hash: Uint8Array, signatures: readonly DecoratedSignature[]): boolean {
  return signers.every((address) => {
    const key = Keypair.fromPublicKey(address);
    return signatures.some(
      ({ hint, signature }) =>
        hexOf(hint.toBytes()) === hexOf(key.signatureHint()) && key.verify(hash, signature.toBytes()),
    );
  });
}

/** The result of a refused transaction, as `sendTransaction` reports it. */
export function refusedResult(
  read: ReadTransaction,
  { reason, outer }: { reason: Refused; outer: boolean },
  feeCharged: bigint,
): TransactionResult {
  const result =
    read.innerHash === null || outer
      ? TransactionResultResult[reason]()
      : TransactionResultResult.txFeeBumpInnerFailed(innerPair(read.innerHash, InnerTransactionResultResult[reason]()));
  return new TransactionResult({ feeCharged, result, ext: TransactionResultExt.v0() });
}

function innerPair(hash: string, result: InnerTransactionResultResult): InnerTransactionResultPair {
  const inner = new InnerTransactionResult({ feeCharged: 0n, result, ext: InnerTransactionResultExt.v0() });
  return new InnerTransactionResultPair({ transactionHash: hash, result: inner });
}

export interface Executed {
  readonly read: ReadTransaction;
  readonly success: boolean;
  readonly result: TransactionResultPair;
  readonly feeChanges: LedgerEntryChange[];
  readonly meta: TransactionMeta;
  readonly feeCharged: bigint;
  /** Of each operation, in their order, where it was looked at. */
  readonly results: readonly OperationResult[];
  readonly calls: readonly (Called | null)[];
}

/** Charges the fee: the first thing that a ledger does with each of its transactions. */
export function charge(read: ReadTransaction, state: State, feeCharged: bigint): LedgerEntryChange[] {
  return state.within(() => {
    const payer = state.account(read.feeSource)!;
    state.put({ ...payer, balance: payer.balance - feeCharged });
    return { keep: true, value: null };
  }).changes;
}

/** Applies a transaction whose fee is charged. What fails has used its sequence all the same. */
export function execute(
  read: ReadTransaction,
  state: State,
  rules: Rules,
  closeTime: bigint,
  feeCharged: bigint,
  feeChanges: LedgerEntryChange[],
): Executed {
  const refused = refusalAfterFee(read, state, rules, closeTime);
  if (refused !== null) {
    return {
      read,
      success: false,
      feeCharged,
      feeChanges,
      results: [],
      calls: [],
      meta: metaOf([], [], null),
      result: pairOf(read, refusedResult(read, { reason: refused, outer: false }, feeCharged)),
    };
  }
  const { changes: before } = state.within(() => {
    const account = state.account(read.source)!;
    state.put({ ...account, sequence: read.sequence });
    return { keep: true, value: null };
  });
  const { value: done } = state.within(() => {
    const all = applyAll(read, state, rules);
    return { keep: all.success, value: all };
  });
  const { success, results, calls, changes } = done;
  const operations = success
    ? changes.map(
        (own, i) =>
          new OperationMetaV2({
            ext: ExtensionPoint.v0(),
            changes: own,
            events: [...(calls[i]?.events ?? classicOf(rules, read, i))],
          }),
      )
    : [];
  const returnValue = success ? (calls.find((call) => call !== null)?.returnValue ?? null) : null;
  return {
    read,
    success,
    results,
    calls,
    feeCharged,
    feeChanges,
    result: pairOf(read, resultOf(read, success, results, feeCharged)),
    meta: metaOf(before, operations, returnValue),
  };
}

function classicOf({ emitsClassicEvents, passphrase }: Rules, read: ReadTransaction, index: number) {
  return emitsClassicEvents ? classicEvents(passphrase, read.source, read.operations[index]!) : [];
}

/** Time and sequence again, in the ledger itself: another transaction may have merged the account meanwhile. */
function refusalAfterFee(read: ReadTransaction, state: State, rules: Rules, closeTime: bigint): Refused | null {
  const found = refusalOf(read, state, { ...rules, baseFee: 0n }, closeTime);
  return found === null || found.reason === 'txInsufficientBalance' ? null : found.reason;
}

interface Done {
  readonly success: boolean;
  readonly results: OperationResult[];
  readonly calls: (Called | null)[];
  readonly changes: LedgerEntryChange[][];
}

function applyAll(read: ReadTransaction, state: State, { passphrase, market }: Rules): Done {
  const results: OperationResult[] = [],
    calls: (Called | null)[] = [],
    changes: LedgerEntryChange[][] = [];
  const sponsors = new Map<string, string>();
  let success = true;
  read.operations.forEach((operation, index) => {
    const scope: Scope = {
      state,
      market,
      sponsors,
      index,
      sequence: read.sequence,
      transactionSource: read.source,
      source: operation.sourceAccount === null ? read.source : baseOf(operation.sourceAccount),
    };
    const one = state.within(() => {
      const applied = apply(scope, passphrase, operation);
      return { keep: applied.success, value: applied };
    });
    success &&= one.value.success;
    results.push(one.value.result);
    calls.push(one.value.called);
    changes.push(one.changes);
  });
  return { success, results, calls, changes };
}

function resultOf(
  { innerHash }: ReadTransaction,
  success: boolean,
  results: OperationResult[],
  feeCharged: bigint,
): TransactionResult {
  const name = success ? 'txSuccess' : 'txFailed';
  const result =
    innerHash === null
      ? TransactionResultResult[name](results)
      : TransactionResultResult[success ? 'txFeeBumpInnerSuccess' : 'txFeeBumpInnerFailed'](
          innerPair(innerHash, InnerTransactionResultResult[name](results)),
        );
  return new TransactionResult({ feeCharged, result, ext: TransactionResultExt.v0() });
}

function pairOf({ hash }: ReadTransaction, result: TransactionResult): TransactionResultPair {
  return new TransactionResultPair({ transactionHash: hash, result });
}

function metaOf(
  txChangesBefore: LedgerEntryChange[],
  operations: OperationMetaV2[],
  returnValue: Called['returnValue'] | null,
): TransactionMeta {
  return TransactionMeta.v4(
    new TransactionMetaV4({
      ext: ExtensionPoint.v0(),
      txChangesBefore,
      operations,
      txChangesAfter: [],
      sorobanMeta:
        returnValue === null
          ? null
          : new SorobanTransactionMetaV2({ ext: SorobanTransactionMetaExt.v0(), returnValue }),
      events: [],
      diagnosticEvents: [],
    }),
  );
}
