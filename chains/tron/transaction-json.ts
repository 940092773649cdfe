/**
 * A signed transaction as the JSON that `broadcasttransaction` takes: addresses and bytes as hex, as nodes print them.
 */
import { bytesOf } from './address.ts';
import { ADDRESS_PREFIX } from './network.ts';
import type { RawData, TronContract } from './raw-transaction.ts';

const hexAddress = (address: string): string => Buffer.from([ADDRESS_PREFIX, ...bytesOf(address)]).toString('hex');

/** Amounts fit a JSON number only up to 2^53; java-tron takes the digits as text just the same. */
function numberOf(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString();
}

function valueOf(contract: TronContract): Record<string, unknown> {
  const owner = { owner_address: hexAddress(contract.owner) };
  if (contract.type === 'TransferContract') {
    return { ...owner, to_address: hexAddress(contract.to), amount: numberOf(contract.amount) };
  }
  if (contract.type === 'TriggerSmartContract') {
    const { contract: called, data, callValue } = contract;
    return {
      ...owner,
      contract_address: hexAddress(called),
      data,
      ...(callValue === 0n ? {} : { call_value: numberOf(callValue) }),
    };
  }
  const { resource, balance, receiver } = contract;
  const shared = {
    ...owner,
    resource: RESOURCES[Number(resource)],
    balance: numberOf(balance),
    receiver_address: hexAddress(receiver),
  };
  if (contract.type === 'UnDelegateResourceContract') return shared;
  return { ...shared, lock: contract.lock, lock_period: numberOf(contract.lockPeriod) };
}

/** Names of the resource codes. Source: java-tron core/contract/common.proto. */
const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];

/** A signature is hex, 65 bytes. */
export interface SignedParts {
  readonly raw: RawData;
  readonly payload: string;
  readonly signature: string;
  readonly txid: string;
}

/**
 * The JSON of a transaction; a node makes the bytes from `raw_data`, so nothing that they hold may be missing in it.
 */
export function jsonOf({ raw, payload, signature, txid }: SignedParts): Record<string, unknown> {
  const { refBlockBytes, refBlockHash, expirationMs, timestampMs, feeLimit, contract } = raw;
  const parameter = { value: valueOf(contract), type_url: `type.googleapis.com/protocol.${contract.type}` };
  return {
    visible: false,
    txID: txid,
    raw_data_hex: payload,
    signature: [signature],
    raw_data: {
      contract: [{ parameter, type: contract.type }],
      ref_block_bytes: refBlockBytes,
      ref_block_hash: refBlockHash,
      expiration: expirationMs,
      timestamp: timestampMs,
      ...(feeLimit === 0n ? {} : { fee_limit: numberOf(feeLimit) }),
    },
  };
}
