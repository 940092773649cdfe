/**
 * The EVM signer. It signs type 2 envelopes (and EIP-155 ones where the network allows them) that do exactly what the
 * instruction says: a native transfer without data, or `transfer(to, amount)` on a token of this edge's registry.
 * chains.md 1.6 and V31; the order of the checks is the order of the list there.
 */
import secp256k1 from 'secp256k1';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import { decodeTransfer } from '../../../chains/evm/abi.ts';
import { checkDestination, parseAddress } from '../../../chains/evm/address.ts';
import { addressOfPublicKey } from '../../../chains/evm/derive.ts';
import { decodeUnsigned, ethersOf, txidOf, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { GAS_LIMIT_MAX } from '../../../chains/evm/fee.ts';
import { evmOf } from '../../../chains/evm/network.ts';
import { matchSigned } from '../../../chains/evm/signed.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { checkFeeBounds } from './fee-bounds.ts';
import { checkCounter } from './lying-in-wait.ts';
import {
  checkParties,
  refusePayload,
  refuseToSign,
  type Instruction,
  type Signer,
  type SigningKey,
  type SigningPolicy,
} from './signer.ts';

/** The payment that a decoded transaction makes. */
interface Payment {
  readonly to: string;
  readonly amount: bigint;
  readonly tokenContract: string | null;
}

function check(network: Network, unsigned: Unsigned, instruction: Instruction, policy: SigningPolicy): Refusal | null {
  const parties = checkParties(network, unsigned, instruction, policy);
  if (parties !== null) return parties;
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason === 'type' ? 'transaction_type' : decoded.reason);
  const { transaction } = decoded;
  const payment = paymentOf(transaction, instruction);
  if ('ok' in payment) return payment;
  return (
    checkIdentity(network, transaction) ??
    checkPayment(network, payment, instruction, policy) ??
    checkSummary(network, unsigned, transaction, payment, instruction) ??
    checkFee(unsigned, transaction, instruction, policy) ??
    // A nonce far ahead would lie in wait: it lands when the gap is filled, long after the caller gave up.
    checkCounter(network.slug, BigInt(transaction.nonce), policy, 'nonce_outside_window') ??
    checkJournal(unsigned, transaction, instruction, policy)
  );
}

/** What the bytes pay, read as the kind of payment that was asked for. Refuses: anything beside it. */
function paymentOf({ to, value, data }: EvmTransaction, { token }: Instruction): Payment | Refusal {
  if (token === null) {
    return data === '0x' ? { to, amount: value, tokenContract: null } : refuseToSign('data_not_empty');
  }
  if (to !== token.contract) return refuseToSign('token_mismatch', { expected: token.contract, found: to });
  if (value !== 0n) return refuseToSign('value_beside_token', { expected: 0n, found: value });
  const transfer = decodeTransfer(data);
  return transfer === null ? refuseToSign('data_not_a_transfer') : { ...transfer, tokenContract: token.contract };
}

/** 1.6-6: the chain id inside the signed bytes, and an envelope that this network takes. */
function checkIdentity(network: Network, { chainId, type }: EvmTransaction): Refusal | null {
  const evm = evmOf(network);
  if (chainId !== evm.chainId) return refuseToSign('chain_id_mismatch', { expected: evm.chainId, found: chainId });
  return type === 0 && !evm.legacyEnvelope ? refuseToSign('transaction_type', { expected: 2, found: type }) : null;
}

/** 1.6-3, 1.6-4: destination, asset and amount are those of the instruction. */
function checkPayment(
  network: Network,
  payment: Payment,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { purpose, token, amount } = instruction;
  if (instruction.tag !== null || purpose === 'opt_in') return refuseToSign('not_an_evm_instruction');
  const to = parseAddress(network, instruction.to);
  if (!to.ok || payment.to !== to.canonical) {
    return refuseToSign('destination_mismatch', { expected: instruction.to, found: payment.to });
  }
  if (purpose === 'cancel') {
    if (payment.amount === 0n && token === null) return null;
    return refuseToSign('amount_mismatch', { expected: 0n, found: payment.amount });
  }
  if (checkDestination(network, to, policy.catalogue) !== null) {
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

/** What the cloud said of the payload is what it is: the spend ledger and people rely on it. */
function checkSummary(
  network: Network,
  unsigned: Unsigned,
  transaction: EvmTransaction,
  payment: Payment,
  instruction: Instruction,
): Refusal | null {
  const { to, amount, tokenContract, tag, kind, sendAll, replayKey, feeMax } = unsigned;
  const samePayment = to === payment.to && amount === payment.amount && tokenContract === payment.tokenContract;
  const sameKind = tag === null && kind === 'payment' && sendAll === (instruction.amount === 'all');
  if (!samePayment || !sameKind) return refuseToSign('summary_mismatch');
  if (replayKey.kind !== 'nonce' || replayKey.value !== transaction.nonce) {
    return refuseToSign('nonce_mismatch', { expected: replayKey.value, found: transaction.nonce });
  }
  // The rest of the stated fee is the reserve for the L1 part, which only some networks have (V35).
  const l1Reserve = feeMax - transaction.gasLimit * transaction.maxFeePerGas;
  const stated = evmOf(network).l1FeeOracle === null ? l1Reserve === 0n : l1Reserve >= 0n;
  if (!stated) {
    return refuseToSign('fee_mismatch', { expected: transaction.gasLimit * transaction.maxFeePerGas, found: feeMax });
  }
  const told = FEE_PARTS.find((part) => String(unsigned.fee[part]) !== String(transaction[part]));
  if (told === undefined) return null;
  return refuseToSign('fee_mismatch', { expected: transaction[told], found: unsigned.fee[told] });
}

/** Parts of the fee that were shown to the caller, and are in the bytes. */
const FEE_PARTS = ['type', 'gasLimit', 'maxFeePerGas', 'maxPriorityFeePerGas'] as const;

/** 1.6-5, G29: the highest fee, with the L1 part; what runs at a native destination may not burn more than that. */
function checkFee(
  { chain, feeMax }: Unsigned,
  { gasLimit, maxFeePerGas, value }: EvmTransaction,
  { token, purpose }: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  if (gasLimit > GAS_LIMIT_MAX) return refuseToSign('gas_limit', { expected: GAS_LIMIT_MAX, found: gasLimit });
  const amount = token === null && purpose !== 'cancel' ? value : null,
    nativeGas = token === null ? gasLimit : null;
  return checkFeeBounds(
    { chain, feeMax, amount, price: maxFeePerGas, nativeGas, isSweep: purpose === 'sweep' },
    policy,
  );
}

/**
 * 1.6-7, G27: an instruction is paid under one nonce, and a nonce pays one instruction. What was signed before for the
 * same instruction may differ in its fee only, and a native send-all in a lower amount (decisions 6).
 */
function checkJournal(
  unsigned: Unsigned,
  transaction: EvmTransaction,
  instruction: Instruction,
  policy: SigningPolicy,
): Refusal | null {
  const { forInstruction, withReplayKey } = policy.journal;
  const amountMayFall = unsigned.sendAll && instruction.amount === 'all' && instruction.token === null;
  for (const payload of forInstruction) {
    const earlier = decodeUnsigned(payload);
    if (!earlier.ok || earlier.transaction.nonce !== transaction.nonce) {
      return refuseToSign('instruction_signed_before');
    }
    if (!replaces(transaction, earlier.transaction, amountMayFall)) return refuseToSign('replacement_differs');
  }
  const others = withReplayKey({ kind: 'nonce', value: transaction.nonce }).filter(
    (payload) => !forInstruction.includes(payload),
  );
  const foreign = others.some((payload) => payload !== unsigned.payload);
  return foreign && instruction.purpose !== 'cancel' ? refuseToSign('nonce_used', { found: transaction.nonce }) : null;
}

function replaces(next: EvmTransaction, earlier: EvmTransaction, amountMayFall: boolean): boolean {
  const sameAmount = amountMayFall ? next.value <= earlier.value : next.value === earlier.value;
  // The chain id was held to the network: a sandbox version from before it had its own is replaced too.
  return sameAmount && next.to === earlier.to && next.data === earlier.data;
}

function sign(network: Network, unsigned: Unsigned, { privateKey }: SigningKey): Signed {
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) throw new Error(`the payload does not decode: ${decoded.reason}`);
  if (addressOfPublicKey(secp256k1.publicKeyCreate(privateKey, false)) !== unsigned.from) {
    throw new Error('the key is not that of the sender');
  }
  const ethers = ethersOf(decoded.transaction);
  // RFC 6979 nonce and low s, by the library's default.
  const { signature, recid } = secp256k1.ecdsaSign(Buffer.from(ethers.unsignedHash.slice(2), 'hex'), privateKey);
  const hex = Buffer.from(signature).toString('hex');
  ethers.signature = { r: `0x${hex.slice(0, 64)}`, s: `0x${hex.slice(64)}`, yParity: recid === 0 ? 0 : 1 };
  const payload = ethers.serialized,
    signed: Signed = { chain: network.slug, payload, txid: txidOf(payload) };
  const wrong = matchSigned(network, unsigned, signed);
  if (wrong !== null) throw new Error(`the signature does not verify: ${String(wrong.details['reason'])}`);
  return signed;
}

export const evmSigner: Signer = { check, sign };
