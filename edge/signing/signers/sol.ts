/**
 * The Solana signer. It signs legacy messages that hold a limit and a price of compute and one transfer, nothing else:
 * what was decoded encodes to the very bytes again (`payment.ts`), so that no further instruction, account or flag can
 * hide in them. chains.md 1.6 and L26; the order of the checks is the order of the list there.
 *
 * The block hash is the only tie to a network (1.6-6): it dies within two minutes and no other network has it. Its last
 * valid height is the cloud's word: an instruction is signed under one block hash, once, and nobody waits for a height
 * that the chain cannot have.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { signedOn } from '../../../chains/sandbox-networks.ts';
import { checkDestination, parseAddress } from '../../../chains/sol/address.ts';
import { priorityFeeOf, UNIT_LIMIT_MAX } from '../../../chains/sol/fee.ts';
import {
  decodeMessage,
  encodeTransaction,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
} from '../../../chains/sol/message.ts';
import { decodePayment, type Payment, type TokenAsset } from '../../../chains/sol/payment.ts';
import { associatedTokenAddress } from '../../../chains/sol/program-address.ts';
import { matchSigned, txidOf } from '../../../chains/sol/signed.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { checkFeeBounds } from './fee-bounds.ts';
import { checkHeight } from './lying-in-wait.ts';
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

/** Lowest base fee of a signature, lamports; a cloud that states less would hide it from the spend ledger. L27. */
const LAMPORTS_PER_SIGNATURE_MIN = 5_000n;
/** Blocks for which a block hash is good. L31. */
const LAST_VALID_AHEAD_MAX = 150;
/**
 * Rent of a token account of 165 bytes, lamports. It is the chain's to lower, so it is counted and not asked for. L29.
 */
const TOKEN_ACCOUNT_RENT = 2_039_280n;

function check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null {
  const parties = checkParties(network, unsigned, instruction, policy);
  if (parties !== null) return parties;
  const bytes = bytesOf(unsigned);
  if (bytes === null) return refusePayload('not_base64');
  const decoded = decodePayment(bytes);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { payment } = decoded;
  return (
    checkSigners(payment, bytes, instruction, policy) ??
    checkPayment(network, payment, instruction, policy) ??
    checkSummary(unsigned, payment, instruction) ??
    checkHeight(network.slug, Number(unsigned.replayKey.value), policy, 'expiry', LAST_VALID_AHEAD_MAX) ??
    checkFee(unsigned, payment, instruction, policy) ??
    checkJournal(unsigned, instruction, policy)
  );
}

function bytesOf({ payload }: Unsigned): Uint8Array | null {
  const bytes = Buffer.from(payload, 'base64');
  return bytes.toString('base64') === payload ? new Uint8Array(bytes) : null;
}

/** Every signer is ours: the sender, and beside it the gas tank where it pays for a sweep (L30). */
function checkSigners(
  { feePayer, from }: Payment,
  bytes: Uint8Array,
  { purpose, ...instruction }: Instruction,
  { gasTank }: SigningPolicy,
): Refusal | null {
  if (from !== instruction.from) return refuseToSign('sender_mismatch', { expected: instruction.from, found: from });
  if (feePayer !== from && (purpose !== 'sweep' || feePayer !== gasTank)) {
    return refuseToSign('fee_payer_mismatch', { expected: from, found: feePayer });
  }
  const size = 1 + (feePayer === from ? 1 : 2) * SIGNATURE_BYTES + bytes.length;
  return size > TRANSACTION_BYTES_MAX
    ? refuseToSign('too_large', { expected: TRANSACTION_BYTES_MAX, found: size })
    : null;
}

/** 1.6-3, 1.6-4: destination, asset and amount are those of the instruction. */
function checkPayment(
  network: Network,
  payment: Payment,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { purpose, token, amount, tag, from } = instruction;
  if (tag !== null || purpose === 'opt_in' || purpose === 'cancel') return refuseToSign('not_a_sol_instruction');
  const to = parseAddress(network, instruction.to);
  if (!to.ok || to.canonical === from) return refuseToSign('destination_mismatch', { expected: instruction.to });
  if (checkDestination(network, to, policy.catalogue) !== null) {
    return refuseToSign('destination_refused', { found: to.canonical });
  }
  if (payment.amount === 0n || (amount !== 'all' && payment.amount !== amount)) {
    return refuseToSign('amount_mismatch', { expected: amount, found: payment.amount });
  }
  const { asset } = payment;
  if (asset.kind === 'token') return checkToken(asset, payment, instruction, policy);
  if (token !== null) return refuseToSign('token_mismatch', { expected: token.contract, found: null });
  return asset.to === to.canonical
    ? null
    : refuseToSign('destination_mismatch', { expected: to.canonical, found: asset.to });
}

/**
 * Mint and decimals are the registry's; both token accounts are re-derived from owner, mint and program. A wrong
 * program moves nothing: the accounts that it gives are not its own on the ledger. A receiver may be a token account
 * itself: the program takes it only if it is one of this mint.
 */
function checkToken(
  asset: TokenAsset,
  { from }: Payment,
  { token, to }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { mint, program, decimals, source, destination, creates } = asset;
  if (token === null || mint !== token.contract) {
    return refuseToSign('token_mismatch', { expected: token?.contract ?? null, found: mint });
  }
  const listed = policy.catalogue.get(mint);
  if (listed === undefined || listed.decimals !== token.decimals) {
    return refuseToSign('token_not_in_registry', { found: mint });
  }
  if (decimals !== listed.decimals) {
    return refuseToSign('decimals_mismatch', { expected: listed.decimals, found: decimals });
  }
  const expected = associatedTokenAddress({ owner: from, mint, program });
  if (source !== expected) return refuseToSign('source_mismatch', { expected, found: source });
  const derived = associatedTokenAddress({ owner: to, mint, program });
  if (creates !== null && creates !== to) {
    return refuseToSign('created_owner_mismatch', { expected: to, found: creates });
  }
  // A payment straight into `to` would pay a token account whose owner nobody here knows. F27.
  return destination === derived
    ? null
    : refuseToSign('destination_mismatch', { expected: derived, found: destination });
}

/** What the cloud said of the payload is what it is: the spend ledger and people rely on it. */
function checkSummary(unsigned: Unsigned, { amount, asset }: Payment, instruction: Instruction): Refusal | null {
  const mint = asset.kind === 'token' ? asset.mint : null;
  const samePayment = unsigned.to === instruction.to && unsigned.amount === amount && unsigned.tokenContract === mint;
  const sameKind =
    unsigned.tag === null && unsigned.kind === 'payment' && unsigned.sendAll === (instruction.amount === 'all');
  if (!samePayment || !sameKind) return refuseToSign('summary_mismatch');
  const { replayKey } = unsigned;
  return replayKey.kind === 'expiry' && /^[1-9][0-9]{0,15}$/.test(replayKey.value)
    ? null
    : refuseToSign('expiry_missing');
}

/** 1.6-5, G29: what was told of the fee stands in the bytes, and the whole of it is within the caps. */
function checkFee(
  { chain, fee, feeMax }: Unsigned,
  payment: Payment,
  { purpose }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { feePayer, from, unitLimit, microLamportsPerUnit, amount, asset } = payment;
  if (unitLimit > UNIT_LIMIT_MAX) return refuseToSign('unit_limit', { expected: UNIT_LIMIT_MAX, found: unitLimit });
  const signatures = feePayer === from ? 1 : 2;
  const told = { feePayer, signatures, unitLimit, microLamportsPerUnit };
  const wrong = (Object.keys(told) as (keyof typeof told)[]).find((part) => String(fee[part]) !== String(told[part]));
  if (wrong !== undefined) return refuseToSign('fee_mismatch', { expected: told[wrong], found: fee[wrong] });
  const lamports = lamportsIn(fee['feeLamports']),
    rent = lamportsIn(fee['rentLamports']);
  const least = BigInt(signatures) * LAMPORTS_PER_SIGNATURE_MIN + priorityFeeOf(payment);
  if (lamports === null || lamports < least) {
    return refuseToSign('fee_mismatch', { expected: least, found: fee['feeLamports'] });
  }
  const creates = asset.kind === 'token' && asset.creates !== null;
  if (rent === null || rent > 0n !== creates) {
    return refuseToSign('rent_mismatch', { expected: creates, found: fee['rentLamports'] });
  }
  if (feeMax !== lamports + rent) return refuseToSign('fee_mismatch', { expected: lamports + rent, found: feeMax });
  // L29: the rent of a receiver's account is a part of the fee, the whole of it whatever was told.
  const whole = creates && rent < TOKEN_ACCOUNT_RENT ? lamports + TOKEN_ACCOUNT_RENT : feeMax;
  return checkFeeBounds(
    {
      chain,
      feeMax: whole,
      amount: asset.kind === 'native' ? amount : null,
      price: microLamportsPerUnit,
      isSweep: purpose === 'sweep',
    },
    policy,
  );
}

function lamportsIn(value: unknown): bigint | null {
  return typeof value === 'string' && /^(?:0|[1-9][0-9]{0,19})$/.test(value) ? BigInt(value) : null;
}

/**
 * 1.6-7, L31, L33: two messages exclude each other by nothing, so that an instruction gets one signature for one
 * message; what died is paid by a new instruction. A message that another instruction was signed for would be paid once
 * for both.
 */
function checkJournal(unsigned: Unsigned, _instruction: Instruction, { journal }: SigningPolicy): Refusal | null {
  if (journal.forInstruction.some((payload) => payload !== unsigned.payload)) {
    return refuseToSign('instruction_signed_before');
  }
  const isOwn = journal.forInstruction.length > 0;
  const used = journal.withReplayKey(unsigned.replayKey).includes(unsigned.payload);
  return used && !isOwn ? refuseToSign('payload_used') : null;
}

function sign(network: Network, unsigned: Unsigned, ...keys: readonly SigningKey[]): Signed {
  const bytes = bytesOf(unsigned),
    message = bytes === null ? null : decodeMessage(bytes);
  if (bytes === null || message === null || !message.ok) throw new Error('the payload does not decode');
  const addressOf = (key: Uint8Array) => base58.encode(ed25519.getPublicKey(key));
  const byAddress = new Map(keys.map(({ privateKey }) => [addressOf(privateKey), privateKey]));
  const signatures = message.signers.map((signer) => {
    const key = byAddress.get(signer);
    if (key === undefined) throw new Error(`no key of the signer ${signer}`);
    return ed25519.sign(signedOn(network, bytes), key);
  });
  const payload = Buffer.from(encodeTransaction(signatures, bytes)).toString('base64');
  const signed: Signed = { chain: network.slug, payload, txid: txidOf(signatures) };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

/** The payer of the fee, where it is not the sender. */
function coSigners(unsigned: Unsigned): readonly string[] {
  const bytes = bytesOf(unsigned),
    message = bytes === null ? null : decodeMessage(bytes);
  return message === null || !message.ok ? [] : message.signers.filter((signer) => signer !== unsigned.from);
}

/** L29: the fee with the whole rent where an account is created, whatever was told of the rent. */
function feeFloor(unsigned: Unsigned): bigint {
  const bytes = bytesOf(unsigned),
    decoded = bytes === null ? null : decodePayment(bytes);
  const asset = decoded?.ok === true ? decoded.payment.asset : null;
  return asset?.kind === 'token' && asset.creates !== null
    ? (lamportsIn(unsigned.fee['feeLamports']) ?? 0n) + TOKEN_ACCOUNT_RENT
    : 0n;
}

/** A block hash is good for 150 blocks, two minutes at most while blocks are made. */
const deadAtMs = (_unsigned: Unsigned, nowMs: number): number => nowMs + HALT_MS_MAX;

export const solSigner: Signer = { check, sign, coSigners, feeFloor, deadAtMs };
