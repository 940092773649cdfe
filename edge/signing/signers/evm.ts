/**
 * The EVM signer. It signs type 2 envelopes (and EIP-155 ones where the network allows them) that do exactly what the
 * instruction says: a native transfer without data, or `transfer(to, amount)` on a token of this edge's registry.
 * chains.md 1.6 and V31; the order of the checks is the order of the list there.
 */
import secp256k1 from 'secp256k1';
import type { Network, Signed, Unsigned } from '../../../chains/chain.ts';
import type { ContractCall } from '../../../chains/contract-call.ts';
import { decodeTransfer } from '../../../chains/evm/abi.ts';
import { checkDestination, parseAddress } from '../../../chains/evm/address.ts';
import { addressOfPublicKey } from '../../../chains/evm/derive.ts';
import { decodeUnsigned, ethersOf, txidOf, type EvmTransaction } from '../../../chains/evm/envelope.ts';
import { GAS_LIMIT_MAX } from '../../../chains/evm/fee.ts';
import { evmOf } from '../../../chains/evm/network.ts';
import { matchSigned } from '../../../chains/evm/signed.ts';
import type { Refusal } from '../../../protocol/errors.ts';
import { part, type Fact, type Facts, type Question, type Version } from './facts.ts';
import { checkBy } from './rules.ts';
import {
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

function* read({ network, unsigned, instruction, policy }: Question): Facts {
  const decoded = decodeUnsigned(unsigned.payload);
  if (!decoded.ok) return refusePayload(decoded.reason === 'type' ? 'transaction_type' : decoded.reason);
  const { transaction } = decoded;
  const paid = paymentOf(transaction, instruction);
  if ('ok' in paid) return paid;
  const foreign = checkIdentity(network, transaction);
  if (foreign !== null) return foreign;
  if (instruction.tag !== null || instruction.purpose === 'opt_in') return refuseToSign('not_an_evm_instruction');
  yield* payment(network, paid, instruction, policy);
  yield* summary(network, unsigned, transaction, paid, instruction);
  yield* costs(unsigned, transaction, instruction);
  yield { kind: 'counter', reason: 'nonce_outside_window', value: BigInt(transaction.nonce) };
  yield {
    kind: 'once',
    key: { kind: 'nonce', value: transaction.nonce },
    own: versionOf(transaction),
    version: (text) => {
      const earlier = decodeUnsigned(text);
      return earlier.ok ? versionOf(earlier.transaction) : null;
    },
    amountMayFall: instruction.amount === 'all' && instruction.token === null,
  };
  return null;
}

/** The payment in the bytes, read as the kind that was asked for. Refuses: anything else in them. */
function paymentOf({ to, value, data }: EvmTransaction, instruction: Instruction): Payment | Refusal {
  const { token, call } = instruction;
  if (call !== undefined) return calledOf({ to, value, data }, instruction, call);
  if (token === null) {
    return data === '0x' ? { to, amount: value, tokenContract: null } : refuseToSign('data_not_empty');
  }
  if (to !== token.contract) return refuseToSign('token_mismatch', { expected: token.contract, found: to });
  if (value !== 0n) return refuseToSign('value_beside_token', { expected: 0n, found: value });
  const transfer = decodeTransfer(data);
  return transfer === null ? refuseToSign('data_not_a_transfer') : { ...transfer, tokenContract: token.contract };
}

/** A bridge's call is byte for byte the one that this edge made; what it moves is what the instruction says. E5. */
function calledOf(
  { to, value, data }: Pick<EvmTransaction, 'to' | 'value' | 'data'>,
  { to: named, amount, token }: Instruction,
  call: ContractCall,
): Payment | Refusal {
  if (to !== call.contract) return refuseToSign('call_mismatch', { expected: call.contract, found: to });
  if (value !== 0n) return refuseToSign('value_beside_token', { expected: 0n, found: value });
  if (data !== call.data) return refuseToSign('call_mismatch', { expected: call.data, found: data });
  return { to: named, amount: BigInt(amount), tokenContract: token?.contract ?? null };
}

/** 1.6-6: the chain id inside the signed bytes, and an envelope that this network takes. */
function checkIdentity(network: Network, { chainId, type }: EvmTransaction): Refusal | null {
  const evm = evmOf(network);
  if (chainId !== evm.chainId) return refuseToSign('chain_id_mismatch', { expected: evm.chainId, found: chainId });
  return type === 0 && !evm.legacyEnvelope ? refuseToSign('transaction_type', { expected: 2, found: type }) : null;
}

/** 1.6-3, 1.6-4: destination, asset and amount. V38: a cancellation moves nothing. */
function* payment(
  network: Network,
  { to: found, amount }: Payment,
  { purpose, to: asked, token }: Instruction,
  { catalogue }: SigningPolicy,
): Generator<Fact> {
  const to = parseAddress(network, asked);
  yield { kind: 'destination', to: to.ok ? to.canonical : null, asked, found };
  if (purpose === 'cancel') {
    yield { kind: 'amount', found: amount, wanted: 'nothing' };
    return;
  }
  yield { kind: 'reachable', isRefused: to.ok && checkDestination(network, to, catalogue) !== null, found };
  yield { kind: 'listed' };
  // A mint moves nothing of its sender.
  yield { kind: 'amount', found: amount, ...(purpose === 'bridge' && token === null ? { wanted: 'nothing' } : {}) };
}

function* summary(
  network: Network,
  { replayKey }: Unsigned,
  transaction: EvmTransaction,
  paid: Payment,
  { amount }: Instruction,
): Generator<Fact> {
  yield { kind: 'summary', ...paid, tag: null, of: 'payment', sendAll: amount === 'all' };
  const { nonce, gasLimit, maxFeePerGas, type, maxPriorityFeePerGas } = transaction;
  yield part('nonce_mismatch', replayKey.kind === 'nonce' && replayKey.value === nonce, {
    expected: replayKey.value,
    found: nonce,
  });
  // The rest of the stated fee is the reserve for the L1 part, which only some networks have (V35).
  yield { kind: 'fee', inBytes: gasLimit * maxFeePerGas, orMore: evmOf(network).l1FeeOracle !== null };
  yield { kind: 'fee_parts', inBytes: { type, gasLimit, maxFeePerGas, maxPriorityFeePerGas } };
}

/** 1.6-5: the highest fee, with the L1 part; what runs at a native destination may not burn more than that. */
function* costs(
  { feeMax }: Unsigned,
  { gasLimit, maxFeePerGas, value, data }: EvmTransaction,
  { token, purpose }: Instruction,
): Generator<Fact> {
  const least = intrinsicGas(data);
  yield part('gas_below_minimum', gasLimit >= least, { expected: least, found: gasLimit });
  yield { kind: 'ceiling', reason: 'gas_limit', bound: GAS_LIMIT_MAX, value: gasLimit };
  const isCall = purpose === 'bridge',
    amount = token === null && purpose !== 'cancel' && !isCall ? value : null,
    nativeGas = token === null && !isCall ? gasLimit : null;
  yield { kind: 'costs', feeMax, amount, price: maxFeePerGas, nativeGas };
}

/**
 * Below this no block takes it: the payment would be signed, and stand in the way of its like for good. Source:
 * Ethereum Yellow Paper, 6.2.
 */
function intrinsicGas(data: string): bigint {
  const bytes = Buffer.from(data.slice(2), 'hex');
  return bytes.reduce((gas, byte) => gas + (byte === 0 ? 4n : 16n), 21_000n);
}

/** The chain id was held to the network: a sandbox version from before it had its own is replaced too. */
function versionOf({ nonce, value, to, data }: EvmTransaction): Version {
  return { uses: [String(nonce)], amount: value, rest: `${to} ${data}` };
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

export const evmSigner: Signer = { check: checkBy(read), sign };
