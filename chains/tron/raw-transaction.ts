/**
 * What is signed on TRON: the `raw_data` of a transaction, with exactly one contract of the four kinds that this
 * service has a use for. Only their fields are written, and nothing else is read (T13, T16).
 *
 *   raw_data   1 ref_block_bytes || 4 ref_block_hash || 8 expiration || 11 contract || 14 timestamp || 18 fee_limit
 *   contract   1 type || 2 parameter = (1 type_url || 2 value)
 * Source: java-tron protocol/src/main/protos/core/Tron.proto and core/contract/{balance,smart}_contract.proto.
 */
import { createHash } from 'node:crypto';
import { ADDRESS_PREFIX } from './network.ts';
import { addressOf, bytesOf } from './address.ts';
import { decodeMessage, encodeMessage, type FieldRow, type Misread } from './protobuf.ts';

const RAW = [
  [1, 'refBlockBytes', 'bytes'],
  [4, 'refBlockHash', 'bytes'],
  [8, 'expiration', 'integer'],
  [11, 'contract', 'bytes'],
  [14, 'timestamp', 'integer'],
  [18, 'feeLimit', 'integer'],
] as const satisfies readonly FieldRow[];
const CONTRACT = [
  [1, 'type', 'integer'],
  [2, 'parameter', 'bytes'],
] as const satisfies readonly FieldRow[];
const ANY = [
  [1, 'typeUrl', 'bytes'],
  [2, 'value', 'bytes'],
] as const satisfies readonly FieldRow[];

const TRANSFER = [
  [1, 'owner', 'bytes'],
  [2, 'to', 'bytes'],
  [3, 'amount', 'integer'],
] as const satisfies readonly FieldRow[];
const TRIGGER = [
  [1, 'owner', 'bytes'],
  [2, 'contract', 'bytes'],
  [3, 'callValue', 'integer'],
  [4, 'data', 'bytes'],
  [5, 'callTokenValue', 'integer'],
  [6, 'tokenId', 'integer'],
] as const satisfies readonly FieldRow[];
const DELEGATE = [
  [1, 'owner', 'bytes'],
  [2, 'resource', 'integer'],
  [3, 'balance', 'integer'],
  [4, 'receiver', 'bytes'],
  [5, 'lock', 'integer'],
  [6, 'lockPeriod', 'integer'],
] as const satisfies readonly FieldRow[];
const UNDELEGATE = [
  [1, 'owner', 'bytes'],
  [2, 'resource', 'integer'],
  [3, 'balance', 'integer'],
  [4, 'receiver', 'bytes'],
] as const satisfies readonly FieldRow[];

export type TronContract =
  | { readonly type: 'TransferContract'; readonly owner: string; readonly to: string; readonly amount: bigint }
  | {
      readonly type: 'TriggerSmartContract';
      readonly owner: string;
      readonly contract: string;
      readonly callValue: bigint;
      /** Hex. */
      readonly data: string;
      readonly callTokenValue: bigint;
      readonly tokenId: bigint;
    }
  | {
      readonly type: 'DelegateResourceContract';
      readonly owner: string;
      readonly resource: bigint;
      readonly balance: bigint;
      readonly receiver: string;
      readonly lock: boolean;
      readonly lockPeriod: bigint;
    }
  | {
      readonly type: 'UnDelegateResourceContract';
      readonly owner: string;
      readonly resource: bigint;
      readonly balance: bigint;
      readonly receiver: string;
    };

/** Number of each kind in `ContractType`. */
const NUMBERS = {
  TransferContract: 1n,
  TriggerSmartContract: 31n,
  DelegateResourceContract: 57n,
  UnDelegateResourceContract: 58n,
} as const satisfies Record<TronContract['type'], bigint>;
const TYPE_URL = 'type.googleapis.com/protocol.';

/** Addresses are `T…` texts, hashes hex, times milliseconds, the fee limit sun. */
export interface RawData {
  /** Bytes 6..8 of the reference block's number, 4 hex digits. T14. */
  readonly refBlockBytes: string;
  /** Bytes 8..16 of the reference block's id, 16 hex digits. */
  readonly refBlockHash: string;
  readonly expirationMs: number;
  readonly timestampMs: number;
  readonly feeLimit: bigint;
  readonly contract: TronContract;
}

/** What makes a payload none of ours. */
export type Flaw =
  | 'unreadable'
  | 'unknown_field'
  | 'repeated_field'
  | 'memo'
  | 'permission_id'
  | 'contract_count'
  | 'contract_type'
  | 'address'
  | 'reference_block'
  | 'time'
  | 'not_canonical';

export type DecodedRaw = { readonly ok: true; readonly raw: RawData } | { readonly ok: false; readonly reason: Flaw };

const no = (reason: Flaw) => ({ ok: false, reason }) as const;

const REF_BLOCK_BYTES = 2;
const REF_BLOCK_HASH_BYTES = 8;
const ADDRESS_BYTES = 21;

const wireAddress = (address: string): Uint8Array => Uint8Array.of(ADDRESS_PREFIX, ...bytesOf(address));
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytesOfHex = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

/** The payload of a transaction, hex: what is hashed and signed. Throws: RangeError for a negative number. */
export function encodeRaw({
  refBlockBytes,
  refBlockHash,
  expirationMs,
  timestampMs,
  feeLimit,
  contract,
}: RawData): string {
  const typeUrl = Buffer.from(TYPE_URL + contract.type, 'ascii');
  const parameter = encodeMessage(ANY, { typeUrl, value: encodeContract(contract) });
  return hexOf(
    encodeMessage(RAW, {
      refBlockBytes: bytesOfHex(refBlockBytes),
      refBlockHash: bytesOfHex(refBlockHash),
      expiration: BigInt(expirationMs),
      contract: encodeMessage(CONTRACT, { type: NUMBERS[contract.type], parameter }),
      timestamp: BigInt(timestampMs),
      feeLimit,
    }),
  );
}

function encodeContract(contract: TronContract): Uint8Array {
  const owner = wireAddress(contract.owner);
  switch (contract.type) {
    case 'TransferContract':
      return encodeMessage(TRANSFER, { owner, to: wireAddress(contract.to), amount: contract.amount });
    case 'TriggerSmartContract': {
      const { callValue, callTokenValue, tokenId } = contract;
      const called = { contract: wireAddress(contract.contract), data: bytesOfHex(contract.data) };
      return encodeMessage(TRIGGER, { owner, callValue, callTokenValue, tokenId, ...called });
    }
    case 'DelegateResourceContract': {
      const { resource, balance, lockPeriod } = contract;
      const lock = contract.lock ? 1n : 0n;
      return encodeMessage(DELEGATE, {
        owner,
        resource,
        balance,
        receiver: wireAddress(contract.receiver),
        lock,
        lockPeriod,
      });
    }
    case 'UnDelegateResourceContract': {
      const { resource, balance } = contract;
      return encodeMessage(UNDELEGATE, { owner, resource, balance, receiver: wireAddress(contract.receiver) });
    }
  }
}

/** Fields that a transaction may have and ours never do, by the name that the refusal gives them. */
const FORBIDDEN_OF_RAW: Readonly<Record<number, Flaw>> = { 10: 'memo' };
const FORBIDDEN_OF_CONTRACT: Readonly<Record<number, Flaw>> = { 5: 'permission_id' };

/** A default that is spelled out is another text of the same transaction. */
function flawOf({ reason, field = 0, empty = false }: Misread, named: Readonly<Record<number, Flaw>>): Flaw {
  return reason === 'unknown_field' && !empty ? (named[field] ?? reason) : reason;
}

/**
 * What a payload says, and nothing that it does not: a memo, a permission, a second contract, an unknown field or kind
 * and any encoding but the canonical one are named instead.
 */
export function decodeRaw(payload: string): DecodedRaw {
  if (!/^(?:[0-9a-f]{2})+$/.test(payload)) return no('unreadable');
  const outer = decodeMessage(RAW, bytesOfHex(payload));
  if (!outer.ok) {
    const isContract = outer.reason === 'repeated_field' && outer.field === 11;
    return no(isContract ? 'contract_count' : flawOf(outer, FORBIDDEN_OF_RAW));
  }
  const { refBlockBytes, refBlockHash, expiration, timestamp, feeLimit, contract: held } = outer.values;
  if (held.length === 0) return no('contract_count');
  if (refBlockBytes.length !== REF_BLOCK_BYTES || refBlockHash.length !== REF_BLOCK_HASH_BYTES) {
    return no('reference_block');
  }
  const expirationMs = Number(expiration),
    timestampMs = Number(timestamp);
  if (!Number.isSafeInteger(expirationMs) || !Number.isSafeInteger(timestampMs)) return no('time');
  const contract = decodeContract(held);
  if (typeof contract === 'string') return no(contract);
  const raw = {
    refBlockBytes: hexOf(refBlockBytes),
    refBlockHash: hexOf(refBlockHash),
    expirationMs,
    timestampMs,
    feeLimit,
    contract,
  };
  return encodeRaw(raw) === payload ? { ok: true, raw } : no('not_canonical');
}

function decodeContract(held: Uint8Array): TronContract | Flaw {
  const outer = decodeMessage(CONTRACT, held);
  if (!outer.ok) return flawOf(outer, FORBIDDEN_OF_CONTRACT);
  const any = decodeMessage(ANY, outer.values.parameter);
  if (!any.ok) return any.reason;
  const { typeUrl, value } = any.values;
  const type = (Object.keys(NUMBERS) as TronContract['type'][]).find((one) => NUMBERS[one] === outer.values.type);
  // The number decides what a node runs, the URL what it unpacks: they must name one kind.
  if (type === undefined || Buffer.from(typeUrl).toString('latin1') !== TYPE_URL + type) return 'contract_type';
  return READERS[type](value);
}

/** The `T…` text of a 21-byte address, or null. */
function addressIn(bytes: Uint8Array): string | null {
  return bytes.length === ADDRESS_BYTES && bytes[0] === ADDRESS_PREFIX ? addressOf(bytes.subarray(1)) : null;
}

const READERS: Readonly<Record<TronContract['type'], (bytes: Uint8Array) => TronContract | Flaw>> = {
  TransferContract(bytes) {
    const read = decodeMessage(TRANSFER, bytes);
    if (!read.ok) return read.reason;
    const owner = addressIn(read.values.owner),
      to = addressIn(read.values.to);
    return owner === null || to === null
      ? 'address'
      : { type: 'TransferContract', owner, to, amount: read.values.amount };
  },
  TriggerSmartContract(bytes) {
    const read = decodeMessage(TRIGGER, bytes);
    if (!read.ok) return read.reason;
    const { callValue, data, callTokenValue, tokenId } = read.values;
    const owner = addressIn(read.values.owner),
      contract = addressIn(read.values.contract);
    if (owner === null || contract === null) return 'address';
    return { type: 'TriggerSmartContract', owner, contract, callValue, data: hexOf(data), callTokenValue, tokenId };
  },
  DelegateResourceContract(bytes) {
    const read = decodeMessage(DELEGATE, bytes);
    if (!read.ok) return read.reason;
    const { resource, balance, lock, lockPeriod } = read.values;
    const owner = addressIn(read.values.owner),
      receiver = addressIn(read.values.receiver);
    if (owner === null || receiver === null) return 'address';
    return { type: 'DelegateResourceContract', owner, resource, balance, receiver, lock: lock === 1n, lockPeriod };
  },
  UnDelegateResourceContract(bytes) {
    const read = decodeMessage(UNDELEGATE, bytes);
    if (!read.ok) return read.reason;
    const { resource, balance } = read.values;
    const owner = addressIn(read.values.owner),
      receiver = addressIn(read.values.receiver);
    if (owner === null || receiver === null) return 'address';
    return { type: 'UnDelegateResourceContract', owner, resource, balance, receiver };
  },
};

/** SHA-256 of a payload: the txid, and the digest that is signed. T13, G28. */
export function txidOf(payload: string): string {
  return createHash('sha256').update(bytesOfHex(payload)).digest('hex');
}
