/**
 * The transactions of this service, as bytes and as values. Only what we build has a value: everything else is refused
 * by name. What was decoded encodes to the very bytes again, so nothing can hide in a payload. chains.md M19 to M21.
 *
 *   payload   a TransactionV1 envelope without signatures, or a fee-bump envelope around one, base64
 *   hash      SHA-256(network id || envelope type || transaction): what is signed, and the txid (G3: the outer one)
 */
import { createHash } from 'node:crypto';
import {
  ChangeTrustAsset,
  ChangeTrustOp,
  CreateAccountOp,
  DecoratedSignature,
  FeeBumpTransaction,
  FeeBumpTransactionEnvelope,
  FeeBumpTransactionExt,
  FeeBumpTransactionInnerTx,
  Memo,
  Operation,
  OperationBody,
  PaymentOp,
  Preconditions,
  TimeBounds,
  Transaction,
  TransactionEnvelope,
  TransactionExt,
  TransactionV1Envelope,
} from '@stellar/stellar-sdk/xdr';
import type { Account } from './records.ts';
import { accountKey, accountText, assetOf, assetText, hexOf, muxedAccount, muxedText } from './xdr.ts';

/** Operations of a transaction, stroops and seconds; an account is canonical text. */
export type OwnOperation =
  | { readonly kind: 'payment'; readonly to: Account; readonly asset: string | null; readonly amount: bigint }
  | { readonly kind: 'create_account'; readonly to: string; readonly startingBalance: bigint }
  | { readonly kind: 'change_trust'; readonly asset: string; readonly limit: bigint };

export interface OwnTransaction {
  readonly source: string;
  readonly feeStroops: number;
  readonly sequence: bigint;
  /** Unix seconds of the last ledger that may hold it. There is no lower bound. */
  readonly maxTime: bigint;
  /** Id of the memo, decimal text; null without a memo. */
  readonly memoId: string | null;
  readonly operation: OwnOperation;
}

export interface Bump {
  readonly feeSource: string;
  readonly feeStroops: bigint;
}

export interface Payload {
  readonly transaction: OwnTransaction;
  readonly bump: Bump | null;
}

/** Signatures of a payload: over the inner transaction, and over the fee bump where there is one. */
export interface Signatures {
  readonly inner: readonly DecoratedSignature[];
  readonly outer: readonly DecoratedSignature[];
}

const UNSIGNED: Signatures = { inner: [], outer: [] };

export type DecodedPayload =
  | { readonly ok: true; readonly payload: Payload; readonly signatures: Signatures }
  | { readonly ok: false; readonly reason: string };

const no = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

/** The payload of an envelope in base64, which must be the one that its values encode to. */
export function decodePayload(base64: string): DecodedPayload {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.toString('base64') !== base64) return no('not_base64');
  let envelope: TransactionEnvelope;
  try {
    envelope = TransactionEnvelope.fromXdr(bytes);
  } catch {
    return no('not_an_envelope');
  }
  const decoded = payloadOf(envelope);
  if (!decoded.ok) return decoded;
  const again = encodePayload(decoded.payload, decoded.signatures);
  return again === base64 ? decoded : no('not_canonical');
}

function payloadOf(envelope: TransactionEnvelope): DecodedPayload {
  if (envelope.type === 'envelopeTypeTx') {
    const transaction = transactionOf(envelope.v1.tx);
    return 'ok' in transaction
      ? transaction
      : { ok: true, payload: { transaction, bump: null }, signatures: { inner: envelope.v1.signatures, outer: [] } };
  }
  if (envelope.type !== 'envelopeTypeTxFeeBump') return no('envelope_type');
  const { tx, signatures: outer } = envelope.feeBump;
  const { tx: innerTx, signatures: inner } = tx.innerTx.v1;
  const transaction = transactionOf(innerTx);
  if ('ok' in transaction) return transaction;
  if (tx.feeSource.type !== 'keyTypeEd25519') return no('muxed_fee_source');
  const bump: Bump = { feeSource: muxedText(tx.feeSource).address, feeStroops: tx.fee };
  return { ok: true, payload: { transaction, bump }, signatures: { inner, outer } };
}

function transactionOf(tx: Transaction): OwnTransaction | { readonly ok: false; readonly reason: string } {
  const { sourceAccount, fee, seqNum, cond, memo, operations, ext } = tx;
  if (sourceAccount.type !== 'keyTypeEd25519') return no('muxed_source');
  if (cond.type !== 'precondTime') return no('preconditions');
  if (cond.timeBounds.minTime !== 0n) return no('minimum_time');
  if (memo.type !== 'memoNone' && memo.type !== 'memoId') return no('memo_type');
  if (ext.type !== 'v0') return no('contract_data');
  const [only, ...more] = operations;
  if (only === undefined || more.length > 0) return no('operation_count');
  // One operation, and its source is the transaction's: 1.6-4, M20.
  if (only.sourceAccount !== null) return no('operation_source');
  const operation = operationOf(only.body);
  return 'ok' in operation
    ? operation
    : {
        source: muxedText(sourceAccount).address,
        feeStroops: fee,
        sequence: seqNum,
        maxTime: cond.timeBounds.maxTime,
        memoId: memo.type === 'memoId' ? memo.id.toString() : null,
        operation,
      };
}

function operationOf(body: OperationBody): OwnOperation | { readonly ok: false; readonly reason: string } {
  switch (body.type) {
    case 'payment': {
      const { destination, asset, amount } = body.paymentOp;
      return { kind: 'payment', to: muxedText(destination), asset: assetText(asset), amount };
    }
    case 'createAccount': {
      const { destination, startingBalance } = body.createAccountOp;
      return { kind: 'create_account', to: accountText(destination), startingBalance };
    }
    case 'changeTrust': {
      const { line, limit } = body.changeTrustOp;
      if (line.type === 'assetTypePoolShare') return no('pool_share');
      const asset = assetText(line);
      return asset === null ? no('trustline_for_the_native_coin') : { kind: 'change_trust', asset, limit };
    }
    default:
      return no('operation_type');
  }
}

function bodyOf(operation: OwnOperation): OperationBody {
  switch (operation.kind) {
    case 'payment': {
      const { to, asset, amount } = operation;
      return OperationBody.payment(new PaymentOp({ destination: muxedAccount(to), asset: assetOf(asset), amount }));
    }
    case 'create_account': {
      const { to, startingBalance } = operation;
      return OperationBody.createAccount(new CreateAccountOp({ destination: accountKey(to), startingBalance }));
    }
    case 'change_trust': {
      const line = assetOf(operation.asset);
      if (line.type === 'assetTypeNative') throw new TypeError('a trust line is for an issued asset');
      const trusted =
        line.type === 'assetTypeCreditAlphanum4'
          ? ChangeTrustAsset.assetTypeCreditAlphanum4(line.alphaNum4)
          : ChangeTrustAsset.assetTypeCreditAlphanum12(line.alphaNum12);
      return OperationBody.changeTrust(new ChangeTrustOp({ line: trusted, limit: operation.limit }));
    }
  }
}

function xdrOf({ source, feeStroops, sequence, maxTime, memoId, operation }: OwnTransaction): Transaction {
  return new Transaction({
    sourceAccount: muxedAccount({ address: source, id: null }),
    fee: feeStroops,
    seqNum: sequence,
    cond: Preconditions.precondTime(new TimeBounds({ minTime: 0n, maxTime })),
    memo: memoId === null ? Memo.memoNone() : Memo.memoId(BigInt(memoId)),
    operations: [new Operation({ sourceAccount: null, body: bodyOf(operation) })],
    ext: TransactionExt.v0(),
  });
}

function bumpOf(
  { transaction, bump }: Payload & { readonly bump: Bump },
  signatures: Signatures['inner'],
): FeeBumpTransaction {
  const inner = new TransactionV1Envelope({ tx: xdrOf(transaction), signatures: [...signatures] });
  return new FeeBumpTransaction({
    feeSource: muxedAccount({ address: bump.feeSource, id: null }),
    fee: bump.feeStroops,
    innerTx: FeeBumpTransactionInnerTx.envelopeTypeTx(inner),
    ext: FeeBumpTransactionExt.v0(),
  });
}

/** The envelope in base64; without signatures it is the payload that the edge gets. */
export function encodePayload({ transaction, bump }: Payload, { inner, outer }: Signatures = UNSIGNED): string {
  const envelope =
    bump === null
      ? TransactionEnvelope.envelopeTypeTx(
          new TransactionV1Envelope({ tx: xdrOf(transaction), signatures: [...inner] }),
        )
      : TransactionEnvelope.envelopeTypeTxFeeBump(
          new FeeBumpTransactionEnvelope({ tx: bumpOf({ transaction, bump }, inner), signatures: [...outer] }),
        );
  return Buffer.from(envelope.toXdr()).toString('base64');
}

/** Envelope types, as prefixed to the hashed bytes. Source: Stellar-transaction.x, TransactionSignaturePayload. */
const ENVELOPE_TX = 2;
const ENVELOPE_FEE_BUMP = 5;

/** SHA-256(network id || envelope type || transaction), 32 bytes: what the source signs. */
export function innerHashOf(passphrase: string, { transaction }: Payload): Buffer {
  return signatureBase(passphrase, ENVELOPE_TX, xdrOf(transaction).toXdr());
}

/**
 * What a fee source signs, over the inner envelope with its signatures; of a payload without a bump the hash of the
 * transaction. This is the txid (G3, M15).
 */
export function outerHashOf(passphrase: string, payload: Payload, inner: Signatures['inner']): Buffer {
  const { transaction, bump } = payload;
  if (bump === null) return innerHashOf(passphrase, payload);
  return signatureBase(passphrase, ENVELOPE_FEE_BUMP, bumpOf({ transaction, bump }, inner).toXdr());
}

function signatureBase(passphrase: string, type: number, transaction: Uint8Array): Buffer {
  const tag = Buffer.alloc(4);
  tag.writeUInt32BE(type);
  return createHash('sha256').update(networkIdOf(passphrase)).update(tag).update(transaction).digest();
}

/** SHA-256 of the passphrase. chains.md 9.1. */
export function networkIdOf(passphrase: string): Buffer {
  return createHash('sha256').update(passphrase).digest();
}

export interface EnvelopeHashes {
  readonly txid: string;
  readonly innerTxid: string | null;
}

/** Both hashes of any envelope of the ledger; the inner one only of a fee bump. */
export function hashesOf(passphrase: string, envelope: TransactionEnvelope): EnvelopeHashes {
  const hash = (type: number, transaction: Uint8Array) => hexOf(signatureBase(passphrase, type, transaction));
  switch (envelope.type) {
    case 'envelopeTypeTx':
      return { txid: hash(ENVELOPE_TX, envelope.v1.tx.toXdr()), innerTxid: null };
    case 'envelopeTypeTxV0':
      return { txid: hash(ENVELOPE_TX, fromV0(envelope.v0.tx.toXdr())), innerTxid: null };
    case 'envelopeTypeTxFeeBump': {
      const { tx } = envelope.feeBump;
      return { txid: hash(ENVELOPE_FEE_BUMP, tx.toXdr()), innerTxid: hash(ENVELOPE_TX, tx.innerTx.v1.tx.toXdr()) };
    }
  }
}

/** A version-0 transaction is hashed as the version-1 one that it means: the key gets the type that it had not. */
function fromV0(transaction: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.alloc(4), transaction]);
}
