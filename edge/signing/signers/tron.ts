/**
 * The TRON signer. It signs raw data that does exactly what the instruction says: a TRX transfer, or `transfer(to,
 * amount)` on a token of this edge's registry. Delegations of resources are decoded and refused: no instruction asks
 * for one yet. chains.md 1.6 and T13, T16 to T18; the order of the checks is the order of the list there.
 */
import secp256k1 from 'secp256k1';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { signedOn } from '../../../chains/sandbox-networks.ts';
import { checkDestination, parseAddress } from '../../../chains/tron/address.ts';
import { addressOfKey } from '../../../chains/tron/derive.ts';
import { bandwidthBytesOf, bandwidthFeeFloor } from '../../../chains/tron/fee.ts';
import { tronOf } from '../../../chains/tron/network.ts';
import { decodeRaw, txidOf, type RawData } from '../../../chains/tron/raw-transaction.ts';
import { encodeSigned, matchSigned } from '../../../chains/tron/signed.ts';
import { decodeTransfer } from '../../../chains/tron/trc20.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { checkFeeBounds } from './fee-bounds.ts';
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

/**
 * Energy of the dearest plain transfer, to an account that never held the token, and a fifth more: the limit in the
 * bytes is energy times price, and what the cloud says of the energy proves nothing. T21, faults C7-58.
 */
const TRANSFER_ENERGY_MAX = 156_000n;
/** How far ahead of this edge's clock a payload may expire (T16). One that expires later lies in wait. */
const EXPIRY_AHEAD_MS_MAX = 3_600_000;

/** The payment that decoded raw data makes. */
interface Payment {
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
}

function check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null {
  const parties = checkParties(network, unsigned, instruction, policy);
  if (parties !== null) return parties;
  const decoded = decodeRaw(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { raw } = decoded;
  if (raw.contract.owner !== instruction.from) {
    return refuseToSign('owner_mismatch', { expected: instruction.from, found: raw.contract.owner });
  }
  const payment = paymentOf(raw, instruction);
  if ('ok' in payment) return payment;
  return (
    checkPayment(network, payment, instruction, policy) ??
    checkExpiry(raw, policy) ??
    checkSummary(unsigned, raw, payment, instruction) ??
    checkFee(network, unsigned, raw, instruction, policy) ??
    checkJournal(unsigned, policy)
  );
}

/** What the bytes pay, read as the kind of payment that was asked for. Refuses: anything beside it. */
function paymentOf({ contract, feeLimit }: RawData, { token }: Instruction): Payment | Refusal {
  if (token === null) {
    if (contract.type !== 'TransferContract') {
      return refuseToSign('contract_type', { expected: 'TransferContract', found: contract.type });
    }
    // A transfer runs no code; a limit beside it would have no meaning, and none is built.
    if (feeLimit !== 0n) return refuseToSign('fee_limit', { expected: 0n, found: feeLimit });
    return { to: contract.to, amount: contract.amount, tokenContract: null };
  }
  if (contract.type !== 'TriggerSmartContract') {
    return refuseToSign('contract_type', { expected: 'TriggerSmartContract', found: contract.type });
  }
  if (contract.contract !== token.contract) {
    return refuseToSign('token_mismatch', { expected: token.contract, found: contract.contract });
  }
  if (contract.callValue !== 0n) return refuseToSign('value_beside_token', { expected: 0n, found: contract.callValue });
  if (contract.callTokenValue !== 0n || contract.tokenId !== 0n) {
    return refuseToSign('asset_beside_token', { expected: 0n, found: contract.callTokenValue });
  }
  const transfer = decodeTransfer(contract.data);
  return transfer === null ? refuseToSign('data_not_a_transfer') : { ...transfer, tokenContract: token.contract };
}

/** 1.6-3, 1.6-4: destination, asset and amount are those of the instruction. */
function checkPayment(
  network: Network,
  payment: Payment,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { purpose, token, amount, tag } = instruction;
  if (tag !== null || purpose === 'opt_in' || purpose === 'cancel') return refuseToSign('not_a_tron_instruction');
  const to = parseAddress(network, instruction.to);
  if (!to.ok || payment.to !== to.canonical) {
    return refuseToSign('destination_mismatch', { expected: instruction.to, found: payment.to });
  }
  if (to.canonical === instruction.from || checkDestination(network, to, policy.catalogue) !== null) {
    return refuseToSign('destination_refused', { found: payment.to });
  }
  if (token !== null && policy.catalogue.get(token.contract)?.decimals !== token.decimals) {
    return refuseToSign('token_not_in_registry', { found: token.contract });
  }
  if (payment.amount === 0n || (amount !== 'all' && payment.amount !== amount)) {
    return refuseToSign('amount_mismatch', { expected: amount, found: payment.amount });
  }
  return null;
}

/**
 * 1.6-6, 1.6-8, T14, T16: the reference block binds the bytes to this chain (a node of another one refuses them), and
 * they expire soon by the edge's own clock; the time that the payload states may be as false as its expiry.
 */
function checkExpiry({ expirationMs, timestampMs }: RawData, { nowMs }: SigningPolicy): Refusal | null {
  if (nowMs === undefined) return refuseToSign('no_clock');
  if (expirationMs <= timestampMs) {
    return refuseToSign('expiration_before_timestamp', { expected: `after ${timestampMs}`, found: expirationMs });
  }
  if (expirationMs <= nowMs + EXPIRY_AHEAD_MS_MAX) return null;
  return refuseToSign('expiration_too_far', {
    expected: `at most ${nowMs + EXPIRY_AHEAD_MS_MAX}`,
    found: expirationMs,
  });
}

/** What the cloud said of the payload is what it is: the spend ledger and people rely on it. */
function checkSummary(unsigned: Unsigned, raw: RawData, payment: Payment, instruction: Instruction): Refusal | null {
  const { payload, to, amount, tokenContract, tag, kind, sendAll, replayKey, feeMax, fee } = unsigned;
  const samePayment = to === payment.to && amount === payment.amount && tokenContract === payment.tokenContract;
  const sameKind = tag === null && kind === 'payment' && sendAll === (instruction.amount === 'all');
  if (!samePayment || !sameKind) return refuseToSign('summary_mismatch');
  if (replayKey.kind !== 'expiry' || replayKey.value !== String(raw.expirationMs)) {
    return refuseToSign('expiry_mismatch', { expected: replayKey.value, found: raw.expirationMs });
  }
  // Prices are the chain's and stand in no byte; what the bytes do say must be what was shown.
  const inBytes = { feeLimit: raw.feeLimit, bandwidthBytes: bandwidthBytesOf(payload) };
  const told = (['feeLimit', 'bandwidthBytes'] as const).find((part) => String(fee[part]) !== String(inBytes[part]));
  if (told !== undefined) return refuseToSign('fee_mismatch', { expected: inBytes[told], found: fee[told] });
  const parts = ['feeLimit', 'bandwidthFeeMax', 'activationFee'].map((part) => String(fee[part] ?? ''));
  if (!parts.every((part) => /^[0-9]{1,19}$/.test(part))) {
    return refuseToSign('fee_mismatch', { found: parts.join(' + ') });
  }
  const sum = parts.reduce((total, part) => total + BigInt(part), 0n);
  return feeMax === sum ? null : refuseToSign('fee_mismatch', { expected: sum, found: feeMax });
}

/**
 * 1.6-5, G29: fee limit, bandwidth and activation together against the absolute and the relative cap. A bandwidth that
 * is said to cost nothing would not be counted as spent.
 */
function checkFee(
  network: Network,
  { chain, payload, amount, feeMax, fee }: Unsigned,
  { feeLimit }: RawData,
  { token, purpose }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const floor = bandwidthFeeFloor(tronOf(network), payload),
    bandwidthFeeMax = BigInt(String(fee['bandwidthFeeMax']));
  if (bandwidthFeeMax < floor) {
    return refuseToSign('fee_mismatch', { expected: `at least ${floor}`, found: bandwidthFeeMax });
  }
  const price = token === null ? null : (feeLimit + TRANSFER_ENERGY_MAX - 1n) / TRANSFER_ENERGY_MAX;
  return checkFeeBounds(
    { chain, feeMax, amount: token === null ? amount : null, price, isSweep: purpose === 'sweep' },
    policy,
  );
}

/**
 * 1.6-7, T17, T18: nothing makes two payloads exclude each other, so an instruction is signed with one payload for
 * ever; and equal bytes are one transaction, so a payload pays one instruction.
 */
function checkJournal({ payload, replayKey }: Unsigned, { journal }: SigningPolicy): Refusal | null {
  const { forInstruction, withReplayKey } = journal;
  if (forInstruction.some((earlier) => earlier !== payload)) return refuseToSign('instruction_signed_before');
  const foreign = !forInstruction.includes(payload) && withReplayKey(replayKey).includes(payload);
  return foreign ? refuseToSign('payload_used') : null;
}

function sign(
  network: Network,
  unsigned: Unsigned,
  { privateKey }: SigningKey,
  ...coSigners: readonly SigningKey[]
): Signed {
  if (coSigners.length > 0) throw new Error('a payment from one address has one signer');
  const decoded = decodeRaw(unsigned.payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  if (addressOfKey(secp256k1.publicKeyCreate(privateKey, false)) !== unsigned.from) {
    throw new Error('the key is not that of the sender');
  }
  const txid = txidOf(unsigned.payload);
  // RFC 6979 nonce and low s, by the library's default.
  const { signature, recid } = secp256k1.ecdsaSign(signedOn(network, Buffer.from(txid, 'hex')), privateKey);
  const signed: Signed = { chain: network.slug, payload: encodeSigned(unsigned.payload, signature, recid), txid };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

/** T16: no block takes it whose parent is younger than its expiry; `check` held the summary to the bytes. */
const deadAtMs = ({ replayKey }: Unsigned): number => Number(replayKey.value) + HALT_MS_MAX;

export const tronSigner: Signer = { check, sign, deadAtMs };
