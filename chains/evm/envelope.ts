/**
 * Transaction envelopes, by ethers.
 *   type 2   0x02 || rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList])
 *   type 0   rlp([nonce, gasPrice, gasLimit, to, value, data, chainId, 0, 0])
 * Source: EIP-1559, EIP-155. Only these two are built and read; the access list is always empty (V31).
 */
import { Transaction } from 'ethers/transaction';
import { keccak256Hex } from '../keccak.ts';
import { addressOfHex } from './address.ts';

export interface EvmTransaction {
  readonly type: 0 | 2;
  readonly chainId: number;
  readonly nonce: number;
  readonly gasLimit: bigint;
  /** A type 0 transaction has its gas price in both fee fields. */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** EIP-55. */
  readonly to: string;
  readonly value: bigint;
  /** `0x` hex. */
  readonly data: string;
}

/** What makes a payload none of ours. */
export type Flaw = 'unreadable' | 'type' | 'access_list' | 'creation' | 'signed' | 'not_canonical';

export type Decoded =
  { readonly ok: true; readonly transaction: EvmTransaction } | { readonly ok: false; readonly reason: Flaw };

const no = (reason: Flaw) => ({ ok: false, reason }) as const;

/** The unsigned envelope of a transaction, `0x` hex. */
export function encodeUnsigned(transaction: EvmTransaction): string {
  return ethersOf(transaction).unsignedSerialized;
}

/** The transaction as ethers' value, for signing. */
export function ethersOf({ type, maxFeePerGas, maxPriorityFeePerGas, ...fields }: EvmTransaction): Transaction {
  return Transaction.from({
    ...fields,
    type,
    ...(type === 2 ? { maxFeePerGas, maxPriorityFeePerGas, accessList: [] } : { gasPrice: maxFeePerGas }),
  });
}

/**
 * What an unsigned payload says, and nothing that it does not: other types, creations, access lists, signed payloads
 * and encodings that are not the canonical one are named instead.
 */
export function decodeUnsigned(payload: string): Decoded {
  const read = readEnvelope(payload);
  if (!read.ok) return read;
  const { transaction, ethers } = read;
  if (ethers.isSigned()) return no('signed');
  return isCanonical(transaction, payload) ? { ok: true, transaction } : no('not_canonical');
}

function isCanonical(transaction: EvmTransaction, payload: string): boolean {
  try {
    // Hex in other letters is the same bytes and another text. found F13
    return encodeUnsigned(transaction) === payload;
  } catch {
    return false; // fields that contradict each other, e.g. a tip above the price
  }
}

/** Fields and sender of a signed payload, or the reason why it is not ours. */
export function decodeSigned(
  payload: string,
): (Decoded & { ok: false }) | { ok: true; transaction: EvmTransaction; from: string } {
  const read = readEnvelope(payload);
  if (!read.ok) return read;
  const { transaction, ethers } = read;
  try {
    if (ethers.from === null || ethers.serialized !== payload) {
      return { ok: false, reason: 'not_canonical' };
    }
  } catch {
    return no('unreadable'); // a signature that belongs to no key, or fields that contradict each other
  }
  return { ok: true, transaction, from: ethers.from };
}

/** Hash of a signed payload: the txid that every node computes. G28. */
export function txidOf(payload: string): string {
  return `0x${keccak256Hex(Buffer.from(payload.slice(2), 'hex'))}`;
}

function readEnvelope(
  payload: string,
): (Decoded & { ok: false }) | { ok: true; transaction: EvmTransaction; ethers: Transaction } {
  let ethers: Transaction;
  try {
    ethers = Transaction.from(payload);
  } catch {
    return { ok: false, reason: 'unreadable' };
  }
  const { type, chainId, nonce, gasLimit, gasPrice, to, value, data, accessList } = ethers;
  if (type !== 0 && type !== 2) return { ok: false, reason: 'type' };
  if (accessList !== null && accessList.length > 0) return { ok: false, reason: 'access_list' };
  if (to === null) return { ok: false, reason: 'creation' };
  const price = type === 0 ? gasPrice : ethers.maxFeePerGas,
    tip = type === 0 ? gasPrice : ethers.maxPriorityFeePerGas;
  if (price === null || tip === null || chainId > BigInt(Number.MAX_SAFE_INTEGER)) {
    return { ok: false, reason: 'unreadable' };
  }
  return {
    ok: true,
    ethers,
    transaction: {
      type,
      chainId: Number(chainId),
      nonce,
      gasLimit,
      maxFeePerGas: price,
      maxPriorityFeePerGas: tip,
      to: addressOfHex(to),
      value,
      data,
    },
  };
}
