/**
 * The Stellar signer. It signs one payment, account creation or opt-in, alone in its transaction, and a fee bump around
 * it: what was decoded encodes to the very bytes again (`envelope.ts`), so that no further operation, signer,
 * precondition or memo can hide in them. The network is in what is signed, by its passphrase (1.6-6). chains.md 1.6,
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
import type { Refusal } from '../../../protocol/errors.ts';
import { checkFeeBounds } from './fee-bounds.ts';
import { checkCounter } from './lying-in-wait.ts';
import {
  checkParties,
  HALT_MS_MAX,
  refusePayload,
  refuseToSign,
  type Instruction,
  type Signer,
  type SigningKey,
  type SigningPolicy,
} from './signer.ts';

/** Seconds for which a signature may be good: M19, "at most an hour". */
const LIFETIME_SECONDS_MAX = 3_600n;

function check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null {
  const parties = checkParties(network, unsigned, instruction, policy);
  if (parties !== null) return parties;
  const decoded = decodePayload(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { payload, signatures } = decoded;
  if (signatures.inner.length + signatures.outer.length > 0) return refuseToSign('signed_already');
  return (
    checkSource(payload, instruction, policy) ??
    checkOperation(network, payload.transaction, instruction, policy) ??
    checkSummary(unsigned, payload, instruction) ??
    checkFee(unsigned, payload, instruction, policy) ??
    checkTime(payload, policy) ??
    checkCounter(network.slug, payload.transaction.sequence, policy, 'sequence_out_of_window') ??
    checkJournal(unsigned, payload, instruction, policy)
  );
}

/**
 * The sender is the source. This edge's gas tank pays for the bump of a sweep; the sender for one around what was
 * signed for the same instruction before: what is inside can be taken out and land alone, and its hash must be one that
 * the caller was given. M21, M28, found F13.
 */
function checkSource(
  { transaction, bump }: Payload,
  { from, purpose }: Instruction,
  { gasTank, journal }: SigningPolicy,
): Refusal | null {
  if (transaction.source !== from)
    return refuseToSign('source_mismatch', { expected: from, found: transaction.source });
  if (bump === null || (purpose === 'sweep' && bump.feeSource === gasTank)) return null;
  if (bump.feeSource !== from) return refuseToSign('fee_source_mismatch', { expected: from, found: bump.feeSource });
  return journal.forInstruction.includes(encodePayload({ transaction, bump: null }))
    ? null
    : refuseToSign('bump_of_unsigned');
}

/** 1.6-3, 1.6-4, M20: what the operation does is what the instruction says. */
function checkOperation(
  network: Network,
  transaction: OwnTransaction,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { operation, memoId } = transaction,
    { purpose, token } = instruction;
  if (purpose === 'cancel') return refuseToSign('not_a_stellar_instruction');
  const listed = token === null ? undefined : policy.catalogue.get(token.contract);
  if (token !== null && listed?.decimals !== token.decimals)
    return refuseToSign('token_not_in_registry', { found: token.contract });
  if (purpose === 'opt_in') return checkOptIn(operation, memoId, instruction);
  const to = parseAddress(network, instruction.to);
  if (!to.ok || to.canonical !== instruction.to)
    return refuseToSign('destination_mismatch', { expected: instruction.to });
  if (to.canonical === instruction.from) return refuseToSign('destination_is_the_sender');
  if (checkDestination(network, to, policy.catalogue) !== null)
    return refuseToSign('destination_refused', { found: to.canonical });
  return checkPayment(operation, memoId, instruction);
}

function checkPayment(operation: OwnOperation, memoId: string | null, instruction: Instruction): Refusal | null {
  const { to, amount, token, tag, tagOfAddress } = instruction;
  if (operation.kind === 'change_trust')
    return refuseToSign('operation_mismatch', { expected: 'payment', found: operation.kind });
  const isCreation = operation.kind === 'create_account';
  const paid = isCreation
    ? { address: operation.to, id: null, asset: null, value: operation.startingBalance }
    : { ...operation.to, asset: operation.asset, value: operation.amount };
  if (paid.address !== to) return refuseToSign('destination_mismatch', { expected: to, found: paid.address });
  const contract = token?.contract ?? null;
  if (paid.asset !== contract) return refuseToSign('token_mismatch', { expected: contract, found: paid.asset });
  if (paid.value <= 0n || (amount !== 'all' && paid.value !== amount)) {
    return refuseToSign('amount_mismatch', { expected: amount, found: paid.value });
  }
  // The id of a muxed account is a part of the destination; an account that is created has no place for it but the
  // memo.
  const isMuxed = tagOfAddress === true && !isCreation;
  const expectedId = isMuxed ? tag : null,
    expectedMemo = isMuxed ? null : tag;
  if (paid.id !== expectedId) return refuseToSign('muxed_id_mismatch', { expected: expectedId, found: paid.id });
  return memoId === expectedMemo ? null : refuseToSign('memo_mismatch', { expected: expectedMemo, found: memoId });
}

/** M26: the whole of the limit, for the asset that was asked for, and nothing else. */
function checkOptIn(operation: OwnOperation, memoId: string | null, { token, tag }: Instruction): Refusal | null {
  if (operation.kind !== 'change_trust')
    return refuseToSign('operation_mismatch', { expected: 'change_trust', found: operation.kind });
  if (token === null || operation.asset !== token.contract) {
    return refuseToSign('token_mismatch', { expected: token?.contract ?? null, found: operation.asset });
  }
  if (operation.limit !== INT64_MAX)
    return refuseToSign('limit_mismatch', { expected: INT64_MAX, found: operation.limit });
  return tag === null && memoId === null
    ? null
    : refuseToSign('memo_mismatch', { expected: null, found: memoId ?? tag });
}

/** What the cloud said of the payload is what it is: the spend ledger and people rely on it. */
function checkSummary(unsigned: Unsigned, { transaction }: Payload, instruction: Instruction): Refusal | null {
  const { operation, sequence } = transaction,
    { to, tag } = instruction;
  const isOptIn = operation.kind === 'change_trust';
  const amount = isOptIn ? 0n : operation.kind === 'payment' ? operation.amount : operation.startingBalance;
  const asset = operation.kind === 'create_account' ? null : operation.asset;
  const samePayment =
    unsigned.to === to && unsigned.amount === amount && unsigned.tokenContract === asset && unsigned.tag === tag;
  const sameKind =
    unsigned.kind === (isOptIn ? 'trustline' : 'payment') && unsigned.sendAll === (instruction.amount === 'all');
  if (!samePayment || !sameKind) return refuseToSign('summary_mismatch');
  const { replayKey } = unsigned,
    told = replayKey.kind === 'sequence' ? replayKey.value : null;
  return told === sequence.toString() ? null : refuseToSign('sequence_mismatch', { expected: sequence, found: told });
}

/** 1.6-5, G29, M21: what was told of the fee stands in the bytes, and what an operation pays is within the bounds. */
function checkFee(
  unsigned: Unsigned,
  payload: Payload,
  { purpose }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { transaction, bump } = payload,
    told = feePartsOf(payload);
  const wrong = Object.keys(told).find((part) => String(unsigned.fee[part]) !== String(told[part]));
  if (wrong !== undefined) return refuseToSign('fee_mismatch', { expected: told[wrong], found: unsigned.fee[wrong] });
  const inner = BigInt(transaction.feeStroops),
    total = bump?.feeStroops ?? inner;
  if (unsigned.feeMax !== total) return refuseToSign('fee_mismatch', { expected: total, found: unsigned.feeMax });
  const isNative = transaction.operation.kind !== 'change_trust' && unsigned.tokenContract === null;
  const around = { chain: unsigned.chain, amount: isNative ? unsigned.amount : null, isSweep: purpose === 'sweep' };
  const offered = (feeMax: bigint, operations: number) =>
    checkFeeBounds({ ...around, feeMax, price: (feeMax + BigInt(operations) - 1n) / BigInt(operations) }, policy);
  // What is inside of a bump can be taken out of it, and then its own offer counts.
  return offered(total, bump === null ? OPERATIONS : BUMPED_OPERATIONS) ?? offered(inner, OPERATIONS);
}

/** 1.6-8, M19: a time after which nothing can land, and soon. */
function checkTime({ transaction: { maxTime } }: Payload, { nowMs }: SigningPolicy): Refusal | null {
  if (nowMs === undefined) return refuseToSign('no_clock');
  const now = BigInt(Math.floor(nowMs / 1_000));
  if (maxTime <= now) return refuseToSign('expired', { expected: `after ${now}`, found: maxTime });
  const latest = now + LIFETIME_SECONDS_MAX;
  return maxTime > latest ? refuseToSign('expires_too_late', { expected: latest, found: maxTime }) : null;
}

/**
 * 1.6-7, G27: what was signed before for the same instruction has the same sequence, so that at most one of them lands,
 * and pays the same, a send-all not more (decisions 6). A sequence that was used for another instruction is not used
 * again.
 */
function checkJournal(
  unsigned: Unsigned,
  payload: Payload,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { transaction } = payload,
    { journal } = policy;
  for (const earlier of journal.forInstruction) {
    const decoded = decodePayload(earlier);
    if (!decoded.ok || decoded.payload.transaction.sequence !== transaction.sequence)
      return refuseToSign('instruction_signed_before');
    if (!paysTheSame(decoded.payload.transaction, transaction, instruction)) return refuseToSign('replacement_differs');
  }
  const foreign = journal
    .withReplayKey(unsigned.replayKey)
    .some((other) => other !== unsigned.payload && !journal.forInstruction.includes(other));
  return foreign ? refuseToSign('sequence_used', { found: transaction.sequence }) : null;
}

/**
 * The same but for the fee, the time, and the amount of a send-all downwards; an account that exists by now is paid.
 */
function paysTheSame(before: OwnTransaction, now: OwnTransaction, { amount }: Instruction): boolean {
  const worth = ({ operation }: OwnTransaction) =>
    operation.kind === 'payment'
      ? operation.amount
      : operation.kind === 'create_account'
        ? operation.startingBalance
        : 0n;
  return amount === 'all' ? worth(now) <= worth(before) : worth(now) === worth(before);
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

/** M19: no ledger that closes after its own `maxTime` takes it. Throws: Error for a payload that does not decode. */
function deadAtMs({ payload }: Unsigned): number {
  const decoded = decodePayload(payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  return Number(decoded.payload.transaction.maxTime) * 1_000 + HALT_MS_MAX;
}

export const xlmSigner: Signer = { check, sign, coSigners, deadAtMs };
