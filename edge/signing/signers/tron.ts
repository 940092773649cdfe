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
import { tron, tronOf } from '../../../chains/tron/network.ts';
import { decodeRaw, txidOf, type RawData } from '../../../chains/tron/raw-transaction.ts';
import { encodeSigned, matchSigned } from '../../../chains/tron/signed.ts';
import { decodeTransfer } from '../../../chains/tron/trc20.ts';
import type { Refusal } from '../../../protocol/errors.ts';
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

/**
 * Energy of the dearest plain transfer, to an account that never held the token, and a fifth more: the limit in the
 * bytes is energy times price, and what the cloud says of the energy proves nothing. T21, faults C7-58.
 */
const TRANSFER_ENERGY_MAX = 156_000n;

/** The payment that decoded raw data makes. */
interface Payment {
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
}

function* read({ network, unsigned, instruction, policy }: Question): Facts {
  const decoded = decodeRaw(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason);
  const { raw } = decoded,
    { tag, purpose } = instruction;
  yield same('owner_mismatch', instruction.from, raw.contract.owner);
  const paid = paymentOf(raw, instruction);
  if ('ok' in paid) return paid;
  if (tag !== null || purpose === 'opt_in' || purpose === 'cancel') return refuseToSign('not_a_tron_instruction');
  yield* payment(network, paid, instruction, policy);
  // 1.6-6, T14, T16: the reference block binds the bytes to this chain (a node of another one refuses them), and they
  // end soon by the edge's own clock; the time that the payload states may be as false as its end.
  yield { kind: 'ends', unit: 'milliseconds', at: BigInt(raw.expirationMs), after: BigInt(raw.timestampMs) };
  yield { kind: 'summary', ...paid, tag: null, of: 'payment', sendAll: instruction.amount === 'all' };
  const { replayKey } = unsigned,
    isItsEnd = replayKey.kind === 'expiry' && replayKey.value === String(raw.expirationMs);
  yield part('expiry_mismatch', isItsEnd, { expected: replayKey.value, found: raw.expirationMs });
  yield* fee(network, unsigned, raw, instruction);
  yield { kind: 'once', key: replayKey, own: versionOf(unsigned.payload), version: versionOf, amountMayFall: false };
  return null;
}

/** The payment in the bytes, read as the kind that was asked for. Refuses: anything else in them. */
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

/** 1.6-3, 1.6-4: destination, asset and amount. */
function* payment(
  network: Network,
  { to: found, amount }: Payment,
  { from, to: asked }: Instruction,
  { catalogue }: SigningPolicy,
): Generator<Fact> {
  const to = parseAddress(network, asked);
  yield { kind: 'destination', to: to.ok ? to.canonical : null, asked, found };
  const isRefused = found === from || (to.ok && checkDestination(network, to, catalogue) !== null);
  yield { kind: 'reachable', isRefused, found };
  yield { kind: 'listed' };
  yield { kind: 'amount', found: amount };
}

/**
 * 1.6-5: fee limit, bandwidth and activation together. Prices are the chain's and stand in no byte: what the bytes do
 * say must be what was shown, a bandwidth that is said to cost nothing would not be counted as spent, and an activation
 * that is said to cost too much would use up what the caps leave.
 */
function* fee(
  network: Network,
  { payload, amount, feeMax, fee: stated }: Unsigned,
  { feeLimit }: RawData,
  { token }: Instruction,
): Generator<Fact> {
  yield { kind: 'fee_parts', inBytes: { feeLimit, bandwidthBytes: bandwidthBytesOf(payload) } };
  const parts = ['feeLimit', 'bandwidthFeeMax', 'activationFee'].map((name) => String(stated[name] ?? ''));
  const areNumbers = parts.every((text) => /^[0-9]{1,19}$/.test(text));
  yield part('fee_mismatch', areNumbers, { found: parts.join(' + ') });
  yield { kind: 'fee', inBytes: parts.reduce((total, text) => total + BigInt(text), 0n) };
  const floor = bandwidthFeeFloor(tronOf(network), payload),
    bandwidthFeeMax = BigInt(parts[1]!);
  yield part('fee_mismatch', bandwidthFeeMax >= floor, { expected: `at least ${floor}`, found: bandwidthFeeMax });
  // T7: a token that arrives creates no account.
  const activationMost = token === null ? tronOf(network).activationSunMax : 0n;
  const isLikely = BigInt(parts[2]!) <= activationMost;
  yield part('fee_mismatch', isLikely, { expected: `at most ${activationMost}`, found: parts[2] });
  const price = token === null ? null : (feeLimit + TRANSFER_ENERGY_MAX - 1n) / TRANSFER_ENERGY_MAX;
  yield { kind: 'costs', feeMax, amount: token === null ? amount : null, price };
}

/**
 * T17, T18: nothing makes two payloads exclude each other, so an instruction is signed with one payload for ever; and
 * equal bytes are one transaction, so a payload pays one instruction.
 */
const versionOf = (payload: string): Version => ({ uses: [payload], amount: 0n, rest: '' });

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

/**
 * T20: TRX makes an account where there is none, and no byte says whether it does. A funding goes to whichever path the
 * cloud names, so it counts as if it did, even if nothing of it was stated; a treasury is made once.
 */
function feeFloor({ feeMax, fee: stated, tokenContract }: Unsigned, { isSweep }: { isSweep: boolean }): bigint {
  if (tokenContract !== null || isSweep) return 0n;
  return feeMax - BigInt(stated['activationFee'] ?? 0) + tron.activationSunFloor;
}

export const tronSigner: Signer = { check: checkBy(read), sign, feeFloor, deadAtMs };
