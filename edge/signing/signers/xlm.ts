/**
 * The Stellar signer. It signs one payment, account creation or opt-in, alone in its transaction, and a fee bump around
 * it: what is decoded must encode to the same bytes (`envelope.ts`), so that no further operation, signer, precondition
 * or memo can hide in them. The network is in what is signed, by its passphrase (1.6-6). chains.md 1.6,
 * M20.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { DecoratedSignature } from '@stellar/stellar-sdk/xdr';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { addressOf, checkDestination, parseAddress } from '../../../chains/xlm/address.ts';
import {
  decodePayload,
  encodePayload,
  innerHashOf,
  outerHashOf,
  type OwnOperation,
  type OwnTransaction,
  type Payload,
} from '../../../chains/xlm/envelope.ts';
import { BUMPED_OPERATIONS, OPERATIONS } from '../../../chains/xlm/fee.ts';
import { INT64_MAX } from '../../../chains/xlm/payable.ts';
import { hintOf, matchSigned } from '../../../chains/xlm/signed.ts';
import { feePartsOf } from '../../../chains/xlm/unsigned.ts';
import { part, same, type Fact, type Facts, type Question, type Version } from './facts.ts';
import { checkBy } from './rules.ts';
import { HALT_MS_MAX, refusePayload, refuseToSign, type Instruction, type Signer, type SigningKey } from './signer.ts';

function* read(question: Question): Facts {
  const { unsigned, instruction } = question;
  const decoded = decodePayload(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { payload, signatures } = decoded,
    { transaction } = payload;
  if (signatures.inner.length + signatures.outer.length > 0) return refuseToSign('signed_already');
  yield* source(payload, question);
  if (instruction.purpose === 'cancel') return refuseToSign('not_a_stellar_instruction');
  yield { kind: 'listed' };
  if (instruction.purpose === 'opt_in') yield* optIn(transaction, instruction);
  else {
    const to = parseAddress(question.network, instruction.to);
    if (!to.ok || to.canonical !== instruction.to)
      return refuseToSign('destination_mismatch', { expected: instruction.to });
    yield part('destination_is_the_sender', to.canonical !== instruction.from);
    const isRefused = checkDestination(question.network, to, question.policy.catalogue) !== null;
    yield { kind: 'reachable', isRefused, found: to.canonical };
    yield* payment(transaction, instruction);
  }
  yield* summary(payload, unsigned, instruction);
  yield* fee(payload, unsigned);
  yield { kind: 'ends', unit: 'seconds', at: transaction.maxTime, after: null };
  yield { kind: 'counter', reason: 'sequence_out_of_window', value: transaction.sequence };
  yield {
    kind: 'once',
    key: unsigned.replayKey,
    own: versionOf(transaction),
    version: (text) => {
      const earlier = decodePayload(text);
      return earlier.ok ? versionOf(earlier.payload.transaction) : null;
    },
    amountMayFall: instruction.amount === 'all',
  };
  return null;
}

/**
 * The sender is the source. This edge's gas tank pays for the bump of a sweep; the sender for one around what was
 * signed for the same instruction before: what is inside can be taken out and land alone, and its hash must be one that
 * the caller was given. M21, M28, found F13.
 */
function* source(
  { transaction, bump }: Payload,
  { instruction: { from, purpose }, policy: { gasTank, journal } }: Question,
): Generator<Fact> {
  yield same('source_mismatch', from, transaction.source);
  if (bump === null || (purpose === 'sweep' && bump.feeSource === gasTank)) return;
  yield same('fee_source_mismatch', from, bump.feeSource);
  const inside = encodePayload({ transaction, bump: null });
  yield part('bump_of_unsigned', journal.forInstruction.includes(inside));
}

/** 1.6-3, 1.6-4, M20: what the operation does is what the instruction says. */
function* payment({ operation, memoId }: OwnTransaction, instruction: Instruction): Generator<Fact> {
  const { to, tag, tagOfAddress } = instruction,
    { kind } = operation;
  yield part('operation_mismatch', kind !== 'change_trust', { expected: 'payment', found: kind });
  if (kind === 'change_trust') return;
  const paid =
    operation.kind === 'create_account'
      ? { address: operation.to, id: null, asset: null, value: operation.startingBalance }
      : { ...operation.to, asset: operation.asset, value: operation.amount };
  yield { kind: 'destination', to, asked: to, found: paid.address };
  yield { kind: 'token', found: paid.asset };
  yield { kind: 'amount', found: paid.value };
  // The id of a muxed account is a part of the destination; an account that is created has no place for it but the
  // memo.
  const isMuxed = tagOfAddress === true && kind !== 'create_account';
  yield same('muxed_id_mismatch', isMuxed ? tag : null, paid.id);
  yield same('memo_mismatch', isMuxed ? null : tag, memoId);
}

/** M26: the whole of the limit, for the asset that was asked for, and nothing else. */
function* optIn({ operation, memoId }: OwnTransaction, { token, tag }: Instruction): Generator<Fact> {
  yield same('operation_mismatch', 'change_trust', operation.kind);
  if (operation.kind !== 'change_trust') return;
  const expected = token?.contract ?? null;
  yield part('token_mismatch', token !== null && operation.asset === expected, { expected, found: operation.asset });
  yield same('limit_mismatch', INT64_MAX, operation.limit);
  yield part('memo_mismatch', tag === null && memoId === null, { expected: null, found: memoId ?? tag });
}

function* summary(
  { transaction: { operation, sequence } }: Payload,
  { replayKey }: Unsigned,
  { to, tag, amount }: Instruction,
): Generator<Fact> {
  yield {
    kind: 'summary',
    of: operation.kind === 'change_trust' ? 'trustline' : 'payment',
    to,
    tag,
    amount: worthOf(operation),
    tokenContract: operation.kind === 'create_account' ? null : operation.asset,
    sendAll: amount === 'all',
  };
  const stated = replayKey.kind === 'sequence' ? replayKey.value : null;
  yield part('sequence_mismatch', stated === sequence.toString(), { expected: sequence, found: stated });
}

/** 1.6-5, M21: the stated fee is that of the bytes, and what an operation pays is within the bounds. */
function* fee(payload: Payload, { tokenContract, amount }: Unsigned): Generator<Fact> {
  const { transaction, bump } = payload,
    inner = BigInt(transaction.feeStroops),
    total = bump?.feeStroops ?? inner;
  yield { kind: 'fee_parts', inBytes: feePartsOf(payload) };
  yield { kind: 'fee', inBytes: total };
  const isNative = transaction.operation.kind !== 'change_trust' && tokenContract === null;
  const offered = (feeMax: bigint, operations: bigint): Fact<'costs'> => ({
    kind: 'costs',
    feeMax,
    amount: isNative ? amount : null,
    price: (feeMax + operations - 1n) / operations,
  });
  yield offered(total, BigInt(bump === null ? OPERATIONS : BUMPED_OPERATIONS));
  // What is inside of a bump can be taken out of it, and then its own offer counts.
  yield offered(inner, BigInt(OPERATIONS));
}

const worthOf = (operation: OwnOperation): bigint =>
  operation.kind === 'payment'
    ? operation.amount
    : operation.kind === 'create_account'
      ? operation.startingBalance
      : 0n;

/** 1.6-7: fee and time may differ, and an account that exists by now is paid. */
function versionOf({ sequence, operation }: OwnTransaction): Version {
  return { uses: [sequence.toString()], amount: worthOf(operation), rest: '' };
}

function sign(network: Network, unsigned: Unsigned, ...keys: readonly SigningKey[]): Signed {
  const decoded = decodePayload(unsigned.payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  const { payload } = decoded,
    { transaction, bump } = payload;
  const inner = [signatureOf(transaction.source, innerHashOf(network.identity, payload), keys)];
  const outerHash = outerHashOf(network.identity, payload, inner);
  const outer = bump === null ? [] : [signatureOf(bump.feeSource, outerHash, keys)];
  const signed: Signed = {
    chain: network.slug,
    payload: encodePayload(payload, { inner, outer }),
    txid: outerHash.toString('hex'),
  };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

/** The signature of the account whose key is among these. Throws: Error when it is not. */
function signatureOf(address: string, hash: Uint8Array, keys: readonly SigningKey[]): DecoratedSignature {
  const key = keys.find(({ privateKey }) => addressOf(ed25519.getPublicKey(privateKey)) === address);
  if (key === undefined) throw new Error('the key is not that of the account');
  return new DecoratedSignature({ hint: hintOf(address), signature: ed25519.sign(hash, key.privateKey) });
}

/** Who pays the fee of a bump, where it is not the sender. */
function coSigners({ payload, from }: Unsigned): readonly string[] {
  const decoded = decodePayload(payload);
  const feeSource = decoded.ok ? (decoded.payload.bump?.feeSource ?? from) : from;
  return feeSource === from ? [] : [feeSource];
}

/** What is inside of a bump can land without it: the higher of both offers. E4. */
function feeFloor({ payload }: Unsigned): bigint {
  const decoded = decodePayload(payload);
  return decoded.ok ? BigInt(decoded.payload.transaction.feeStroops) : 0n;
}

/** M19: no ledger that closes after its own `maxTime` takes it. Throws: Error for a payload that does not decode. */
function deadAtMs({ payload }: Unsigned): number {
  const decoded = decodePayload(payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  return Number(decoded.payload.transaction.maxTime) * 1_000 + HALT_MS_MAX;
}

export const xlmSigner: Signer = { check: checkBy(read), sign, coSigners, feeFloor, deadAtMs };
