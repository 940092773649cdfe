/**
 * The Solana signer. It signs legacy messages that hold a limit and a price of compute and one transfer, nothing else:
 * what is decoded must encode to the same bytes (`payment.ts`), so that no further instruction, account or flag can
 * hide in them. chains.md 1.6 and L26; the order of the checks is the order of the list there.
 *
 * The block hash is the only tie to a network (1.6-6): it dies within two minutes and no other network has it. Its last
 * valid height is the cloud's word: an instruction is signed under one block hash, once, and nobody waits for a height
 * that the chain cannot have.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import type { Network, ParsedAddress, Signed, Unsigned } from '../../../chains/chain.ts';
import { signedOn } from '../../../chains/sandbox-networks.ts';
import { checkDestination, parseAddress } from '../../../chains/sol/address.ts';
import { countedRent, priorityFeeOf, UNIT_LIMIT_MAX } from '../../../chains/sol/fee.ts';
import {
  decodeMessage,
  encodeTransaction,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
} from '../../../chains/sol/message.ts';
import { decodePayment, type Payment, type TokenAsset } from '../../../chains/sol/payment.ts';
import { associatedTokenAddress } from '../../../chains/sol/program-address.ts';
import { matchSigned, txidOf } from '../../../chains/sol/signed.ts';
import { part, same, type Fact, type Facts, type Question, type Version } from './facts.ts';
import { checkBy } from './rules.ts';
import {
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
function* read({ network, unsigned, instruction, policy }: Question): Facts {
  const bytes = bytesOf(unsigned);
  if (bytes === null) return refusePayload('not_base64');
  const decoded = decodePayment(bytes);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const paid = decoded.payment,
    { replayKey } = unsigned;
  yield* signers(paid, bytes, instruction, policy);
  const { tag, purpose, amount, from } = instruction;
  if (tag !== null || purpose === 'opt_in' || purpose === 'cancel') return refuseToSign('not_a_sol_instruction');
  const to = parseAddress(network, instruction.to);
  if (!to.ok || to.canonical === from) return refuseToSign('destination_mismatch', { expected: instruction.to });
  yield* payment(network, to, paid, instruction, policy);
  const { asset } = paid,
    tokenContract = asset.kind === 'token' ? asset.mint : null;
  const { to: asked } = instruction,
    sendAll = amount === 'all';
  yield { kind: 'summary', to: asked, amount: paid.amount, tokenContract, tag: null, of: 'payment', sendAll };
  yield part('expiry_missing', replayKey.kind === 'expiry' && /^[1-9][0-9]{0,15}$/.test(replayKey.value));
  yield { kind: 'height', reason: 'expiry', height: Number(replayKey.value), ahead: LAST_VALID_AHEAD_MAX };
  yield* fee(unsigned, paid);
  yield { kind: 'once', key: replayKey, own: versionOf(unsigned.payload), version: versionOf, amountMayFall: false };
  return null;
}

function bytesOf({ payload }: Unsigned): Uint8Array | null {
  const bytes = Buffer.from(payload, 'base64');
  return bytes.toString('base64') === payload ? new Uint8Array(bytes) : null;
}

/** Every signer is ours: the sender, and beside it the gas tank where it pays for a sweep (L30). */
function* signers(
  { feePayer, from }: Payment,
  bytes: Uint8Array,
  { purpose, from: sender }: Instruction,
  { gasTank }: SigningPolicy,
): Generator<Fact> {
  yield same('sender_mismatch', sender, from);
  const isOurs = feePayer === from || (purpose === 'sweep' && feePayer === gasTank);
  yield part('fee_payer_mismatch', isOurs, { expected: from, found: feePayer });
  const size = 1 + (feePayer === from ? 1 : 2) * SIGNATURE_BYTES + bytes.length;
  yield { kind: 'ceiling', reason: 'too_large', bound: TRANSACTION_BYTES_MAX, value: size };
}

/** 1.6-3, 1.6-4: destination, asset and amount. */
function* payment(
  network: Network,
  to: ParsedAddress,
  paid: Payment,
  instruction: Instruction,
  { catalogue }: SigningPolicy,
): Generator<Fact> {
  const { canonical } = to,
    { asset } = paid;
  yield { kind: 'reachable', isRefused: checkDestination(network, to, catalogue) !== null, found: canonical };
  yield { kind: 'amount', found: paid.amount };
  if (asset.kind === 'token') return yield* tokenPayment(asset, paid, instruction);
  yield { kind: 'token', found: null };
  yield { kind: 'destination', to: canonical, asked: canonical, found: asset.to };
}

/**
 * Mint and decimals are the registry's; both token accounts are re-derived from owner, mint and program. A wrong
 * program moves nothing: the accounts that it gives are not its own on the ledger. A receiver may be a token account
 * itself: the program takes it only if it is one of this mint.
 */
function* tokenPayment(asset: TokenAsset, { from }: Payment, { token, to }: Instruction): Generator<Fact> {
  const { mint, program, decimals, source, destination, creates } = asset;
  yield { kind: 'token', found: mint };
  yield { kind: 'listed' };
  yield same('decimals_mismatch', token?.decimals, decimals);
  yield same('source_mismatch', associatedTokenAddress({ owner: from, mint, program }), source);
  yield part('created_owner_mismatch', creates === null || creates === to, { expected: to, found: creates });
  // A payment straight into `to` would pay a token account whose owner nobody here knows. F27.
  const derived = associatedTokenAddress({ owner: to, mint, program });
  yield { kind: 'destination', to: derived, asked: derived, found: destination };
}

/** 1.6-5: the stated fee is that of the bytes, and the whole of it is within the caps. */
function* fee({ fee: stated, feeMax }: Unsigned, paid: Payment): Generator<Fact> {
  const { feePayer, from, unitLimit, microLamportsPerUnit, amount, asset } = paid,
    signatures = feePayer === from ? 1 : 2;
  yield { kind: 'ceiling', reason: 'unit_limit', bound: UNIT_LIMIT_MAX, value: unitLimit };
  yield { kind: 'fee_parts', inBytes: { feePayer, signatures, unitLimit, microLamportsPerUnit } };
  const lamports = lamportsIn(stated['feeLamports']),
    rent = lamportsIn(stated['rentLamports']);
  const least = BigInt(signatures) * LAMPORTS_PER_SIGNATURE_MIN + priorityFeeOf(paid);
  const isPaid = lamports !== null && lamports >= least;
  yield part('fee_mismatch', isPaid, { expected: least, found: stated['feeLamports'] });
  const creates = asset.kind === 'token' && asset.creates !== null,
    isRent = rent !== null && rent > 0n === creates;
  yield part('rent_mismatch', isRent, { expected: creates, found: stated['rentLamports'] });
  const total = (lamports ?? 0n) + (rent ?? 0n);
  yield { kind: 'fee', inBytes: total };
  // L29: the rent of a receiver's account is a part of the fee, the whole of it whatever was stated.
  const whole = creates ? countedRent(asset.program) : 0n;
  yield {
    kind: 'costs',
    feeMax: (rent ?? 0n) < whole ? (lamports ?? 0n) + whole : feeMax,
    amount: asset.kind === 'native' ? amount : null,
    price: microLamportsPerUnit,
  };
}

/**
 * L31, L33: two messages exclude each other by nothing, so that an instruction gets one signature for one message; what
 * died is paid by a new instruction. A message that another instruction was signed for would be paid once for both.
 */
const versionOf = (payload: string): Version => ({ uses: [payload], amount: 0n, rest: '' });

function lamportsIn(value: unknown): bigint | null {
  return typeof value === 'string' && /^(?:0|[1-9][0-9]{0,19})$/.test(value) ? BigInt(value) : null;
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

/** L29: the fee with the whole rent where an account is created, even if less rent was stated. */
function feeFloor(unsigned: Unsigned): bigint {
  const bytes = bytesOf(unsigned),
    decoded = bytes === null ? null : decodePayment(bytes);
  const asset = decoded?.ok === true ? decoded.payment.asset : null;
  return asset?.kind === 'token' && asset.creates !== null
    ? (lamportsIn(unsigned.fee['feeLamports']) ?? 0n) + countedRent(asset.program)
    : 0n;
}

/** A block hash is good for 150 blocks, two minutes at most while blocks are made. */
const deadAtMs = (_unsigned: Unsigned, nowMs: number): number => nowMs + HALT_MS_MAX;

export const solSigner: Signer = { check: checkBy(read), sign, coSigners, feeFloor, deadAtMs };
