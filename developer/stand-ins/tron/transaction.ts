/**
 * Transactions as the stand-in holds them: the bytes as they came, what they say, and the JSON that java-tron prints.
 */
import { createHash } from 'node:crypto';
import { addressOf, hexAddressOf, readRaw } from './sdk.ts';
import { allBytesAt, bytesAt, fieldsOf, integerAt, messageOf, type Fields } from './wire.ts';

type FieldRow = readonly [
  number: number,
  name: string,
  type: 'address' | 'bytes' | 'text' | 'int' | 'bool' | 'resource',
];
interface Kind {
  readonly number: bigint;
  readonly fields: readonly FieldRow[];
}

/** Kinds of contracts that the stand-in runs or prints, with their numbers and fields. Source: java-tron Tron.proto. */
const KINDS: Readonly<Record<string, Kind>> = {
  TransferContract: {
    number: 1n,
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'to_address', 'address'],
      [3, 'amount', 'int'],
    ],
  },
  TransferAssetContract: {
    number: 2n,
    fields: [
      [1, 'asset_name', 'text'],
      [2, 'owner_address', 'address'],
      [3, 'to_address', 'address'],
      [4, 'amount', 'int'],
    ],
  },
  TriggerSmartContract: {
    number: 31n,
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'contract_address', 'address'],
      [3, 'call_value', 'int'],
      [4, 'data', 'bytes'],
      [5, 'call_token_value', 'int'],
      [6, 'token_id', 'int'],
    ],
  },
  DelegateResourceContract: {
    number: 57n,
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'resource', 'resource'],
      [3, 'balance', 'int'],
      [4, 'receiver_address', 'address'],
      [5, 'lock', 'bool'],
      [6, 'lock_period', 'int'],
    ],
  },
  UnDelegateResourceContract: {
    number: 58n,
    fields: [
      [1, 'owner_address', 'address'],
      [2, 'resource', 'resource'],
      [3, 'balance', 'int'],
      [4, 'receiver_address', 'address'],
    ],
  },
};
const RESOURCES = ['BANDWIDTH', 'ENERGY', 'TRON_POWER'];
const TYPE_URL = 'type.googleapis.com/protocol.';

export interface PeerTransaction {
  readonly bytes: Buffer;
  readonly rawBytes: Buffer;
  readonly txid: string;
  readonly signatures: readonly Buffer[];
  readonly contractCount: number;
  readonly type: string;
  /** `T…` texts of addresses; amounts as integers; other bytes as hex. */
  readonly value: Readonly<Record<string, string | bigint | boolean>>;
  readonly permissionId: bigint;
  readonly refBlockBytes: string;
  readonly refBlockHash: string;
  readonly expiration: bigint;
  readonly timestamp: bigint;
  readonly feeLimit: bigint;
  readonly memo: Buffer;
}

/** Length of signatures with their keys, and of the raw data with its: what bandwidth is counted on. */
export const RESULT_BYTES = 64;

function readValue(kind: string, fields: Fields): Record<string, string | bigint | boolean> {
  return Object.fromEntries(
    KINDS[kind]!.fields.map(([number, name, type]) => {
      if (type === 'int') return [name, integerAt(fields, number)];
      if (type === 'bool') return [name, integerAt(fields, number) !== 0n];
      if (type === 'resource') return [name, RESOURCES[Number(integerAt(fields, number))] ?? 'UNRECOGNIZED'];
      const bytes = bytesAt(fields, number);
      if (type === 'text') return [name, bytes.toString('utf8')];
      // An address of another length is kept as hex: the node refuses it when it validates, not when it reads.
      const isAddress = type === 'address' && bytes.length === 21 && bytes[0] === 0x41;
      return [name, isAddress ? addressOf(bytes.subarray(1)) : bytes.toString('hex')];
    }),
  );
}

/** A transaction from its bytes. Throws: RangeError for bytes that are none. */
export function parseTransaction(bytes: Buffer): PeerTransaction {
  const outer = fieldsOf(bytes),
    rawBytes = bytesAt(outer, 1),
    raw = fieldsOf(rawBytes);
  const contracts = allBytesAt(raw, 11),
    contract = fieldsOf(contracts[0] ?? Buffer.alloc(0));
  const type = Object.keys(KINDS).find((kind) => KINDS[kind]!.number === integerAt(contract, 1)) ?? '';
  const any = fieldsOf(bytesAt(contract, 2));
  const unpacks = type !== '' && bytesAt(any, 1).toString('latin1') === TYPE_URL + type;
  const transaction: PeerTransaction = {
    bytes,
    rawBytes,
    txid: createHash('sha256').update(rawBytes).digest('hex'),
    signatures: allBytesAt(outer, 2),
    contractCount: contracts.length,
    type: unpacks ? type : '',
    value: unpacks ? readValue(type, fieldsOf(bytesAt(any, 2))) : {},
    permissionId: integerAt(contract, 5),
    refBlockBytes: bytesAt(raw, 1).toString('hex'),
    refBlockHash: bytesAt(raw, 4).toString('hex'),
    expiration: integerAt(raw, 8),
    timestamp: integerAt(raw, 14),
    feeLimit: integerAt(raw, 18),
    memo: bytesAt(raw, 10),
  };
  if (unpacks) checkReading(transaction);
  return transaction;
}

/** What tronweb says of a field, in the terms that the stand-in holds it in. */
function ofSdk(said: unknown, kind: FieldRow[2]): unknown {
  return typeof said === 'string' && kind !== 'resource' ? said.toLowerCase() : said;
}

function forSdk(held: string | bigint | boolean, kind: FieldRow[2]): unknown {
  if (typeof held === 'bigint') return Number(held);
  if (typeof held === 'boolean' || kind === 'resource') return held;
  if (kind === 'text') return Buffer.from(held, 'utf8').toString('hex');
  return held.startsWith('T') ? hexAddressOf(held) : held;
}

/**
 * Two readers of the same bytes, and one of them the chain's own. Throws: Error where they differ: a fault of this
 * file.
 */
function checkReading({ type, value, rawBytes, txid, ...own }: PeerTransaction): void {
  const read = readRaw(type, rawBytes),
    [contract] = read.contract;
  const stated: readonly (readonly [name: string, own: unknown, sdk: unknown])[] = [
    ['ref_block_bytes', own.refBlockBytes, read.ref_block_bytes.toLowerCase()],
    ['ref_block_hash', own.refBlockHash, read.ref_block_hash.toLowerCase()],
    ['expiration', Number(own.expiration), read.expiration],
    ['timestamp', Number(own.timestamp), read.timestamp],
    ['fee_limit', Number(own.feeLimit), read.fee_limit],
    ['Permission_id', Number(own.permissionId), contract!.Permission_id],
    ...KINDS[type]!.fields.map(
      ([, name, kind]) => [name, forSdk(value[name]!, kind), ofSdk(contract!.parameter.value[name], kind)] as const,
    ),
  ];
  for (const [name, mine, sdk] of stated) {
    if (mine !== sdk) throw new Error(`${txid}: ${name} is ${String(mine)}, and ${String(sdk)} to tronweb`);
  }
}

const bytesOfText = (text: string, visible: boolean): Buffer =>
  visible && text.startsWith('T') ? Buffer.from(hexAddressOf(text), 'hex') : Buffer.from(text, 'hex');

interface PackedContract {
  readonly type: string;
  readonly Permission_id?: number;
  readonly parameter: { readonly value: Readonly<Record<string, unknown>> };
}

/** Raw data as bytes, from the JSON that builders answer and `broadcasttransaction` takes. Throws: RangeError. */
export function packRaw(raw: Readonly<Record<string, unknown>>, visible: boolean): Buffer {
  const contracts = raw['contract'] as readonly PackedContract[];
  const packed = contracts.map(({ type, parameter: { value }, Permission_id: permissionId = 0 }) => {
    const kind = KINDS[type];
    if (kind === undefined) throw new RangeError(`contract type ${type}`);
    const inner = messageOf(
      ...kind.fields.map(([number, name, field]) => {
        const given = value[name] ?? (field === 'address' || field === 'bytes' || field === 'text' ? '' : 0);
        if (field === 'text') return [number, Buffer.from(String(given), 'utf8')] as const;
        if (field === 'int') return [number, BigInt(given as number | string)] as const;
        if (field === 'bool') return [number, given === true ? 1n : 0n] as const;
        if (field === 'resource') return [number, BigInt(Math.max(0, RESOURCES.indexOf(String(given))))] as const;
        return [number, bytesOfText(String(given), visible && field === 'address')] as const;
      }),
    );
    const any = messageOf([1, Buffer.from(TYPE_URL + type)], [2, inner]);
    return messageOf([1, kind.number], [2, any], [5, BigInt(permissionId)]);
  });
  const integer = (name: string): bigint => BigInt((raw[name] ?? 0) as number | string);
  return messageOf(
    [1, Buffer.from(String(raw['ref_block_bytes'] ?? ''), 'hex')],
    [4, Buffer.from(String(raw['ref_block_hash'] ?? ''), 'hex')],
    [8, integer('expiration')],
    [10, Buffer.from(String(raw['data'] ?? ''), 'hex')],
    ...packed.map((contract) => [11, contract] as const),
    [14, integer('timestamp')],
    [18, integer('fee_limit')],
  );
}

/** A transaction from raw data and its signatures. */
export function assembleTransaction(rawBytes: Buffer, signatures: readonly Buffer[]): PeerTransaction {
  return parseTransaction(messageOf([1, rawBytes], ...signatures.map((signature) => [2, signature] as const)));
}

/** What java-tron prints of a value: defaults are left out, bytes are hex, addresses hex or base58. */
function printedValue({ type, value }: PeerTransaction, visible: boolean): Record<string, unknown> {
  const rows = KINDS[type]?.fields ?? [];
  return Object.fromEntries(
    rows.flatMap(([, name, kind]) => {
      const held = value[name]!;
      if (held === 0n || held === '' || held === false || held === 'BANDWIDTH') return [];
      const isText = kind === 'address' && typeof held === 'string' && held.startsWith('T');
      return [[name, isText && !visible ? hexAddressOf(held) : held]];
    }),
  );
}

/** The JSON of a transaction, with `ret` once it was run. */
export function transactionJson(
  transaction: PeerTransaction,
  visible: boolean,
  contractRet: string | null,
): Record<string, unknown> {
  const { type, rawBytes, txid, signatures, permissionId, memo } = transaction;
  const contract = {
    parameter: { value: printedValue(transaction, visible), type_url: TYPE_URL + type },
    type,
    ...(permissionId === 0n ? {} : { Permission_id: permissionId }),
  };
  return {
    ...(contractRet === null ? {} : { ret: [{ contractRet }] }),
    ...(signatures.length === 0 ? {} : { signature: signatures.map((signature) => signature.toString('hex')) }),
    txID: txid,
    raw_data: {
      ...(memo.length === 0 ? {} : { data: memo.toString('hex') }),
      contract: [contract],
      ref_block_bytes: transaction.refBlockBytes,
      ref_block_hash: transaction.refBlockHash,
      expiration: transaction.expiration,
      ...(transaction.feeLimit === 0n ? {} : { fee_limit: transaction.feeLimit }),
      timestamp: transaction.timestamp,
    },
    raw_data_hex: rawBytes.toString('hex'),
  };
}

/** An address as an answer prints it. */
export function printedAddress(text: string, visible: boolean): string {
  return visible ? text : hexAddressOf(text);
}
