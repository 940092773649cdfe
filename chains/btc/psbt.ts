/**
 * Partially signed transactions without signatures: what the cloud hands to the edge. Version 0 only: a transaction has
 * one text here, the one that is checked, signed and stored (found F13); version 2 and any other order or form are none
 * of ours.
 *
 *   psbt   "psbt" ff || global map || a map per input || a map per output
 *   map    (keylen || key || valuelen || value)… || 00          key = type(compact size) || key data
 *
 *   global   00 unsigned transaction
 *   input    00 whole previous transaction · 01 output that is spent · 03 sighash type
 *
 * Source: BIP-174. Any other field is reported as unexpected: a signer must not meet an unchecked field.
 */
import { Transaction } from 'bitcoinjs-lib';

export interface PsbtInput {
  /** Display order, lower case. */
  readonly txid: string;
  readonly vout: number;
  readonly sequence: number;
  /** The whole transaction that made the output: the only proof of its amount. B12. */
  readonly previous: Uint8Array | null;
  readonly witnessUtxo: PsbtOutput | null;
  /** Null leaves the type to the signer: ALL, or DEFAULT on taproot. */
  readonly sighash: number | null;
}

export interface PsbtOutput {
  readonly value: bigint;
  readonly script: Uint8Array;
}

export interface Psbt {
  readonly txVersion: number;
  readonly locktime: number;
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly PsbtOutput[];
}

export type DecodedPsbt =
  | { readonly ok: true; readonly psbt: Psbt }
  | { readonly ok: false; readonly reason: 'unreadable' | 'unexpected_field' | 'signed' | 'not_canonical' };

const MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff);
const GLOBAL = { transaction: 0x00 };
const INPUT = { previous: 0x00, witnessUtxo: 0x01, sighash: 0x03 };
/** Input fields that hold signatures or what they became: partial, final, taproot. */
const SIGNATURES = new Set([0x02, 0x07, 0x08, 0x13, 0x14]);
/** Largest supply in satoshi; no output holds more. */
const VALUE_MAX = 2_100_000_000_000_000n;

// ── Bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────

const u32 = (value: number): Uint8Array => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};

function compactSize(value: number): Uint8Array {
  if (value < 0xfd) return Uint8Array.of(value);
  if (value <= 0xffff) return Uint8Array.of(0xfd, value & 0xff, value >> 8);
  return Buffer.concat([Uint8Array.of(0xfe), u32(value)]);
}

const prefixed = (bytes: Uint8Array): Uint8Array => Buffer.concat([compactSize(bytes.length), bytes]);

/** value(8) || length || script */
function outputBytes({ value, script }: PsbtOutput): Uint8Array {
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(value);
  return Buffer.concat([amount, prefixed(script)]);
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  get done(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError('the bytes end early');
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return bytes;
  }

  /** Throws: RangeError for a length that is not in its shortest form. */
  compactSize(): number {
    const first = this.take(1)[0]!;
    if (first < 0xfd) return first;
    const width = first === 0xfd ? 2 : first === 0xfe ? 4 : 8;
    const bytes = this.take(width);
    const value = width === 8 ? Number(bytes.readBigUInt64LE()) : bytes.readUIntLE(0, width);
    if (value < (width === 2 ? 0xfd : width === 4 ? 0x1_0000 : 0x1_0000_0000)) {
      throw new RangeError('a length in a longer form');
    }
    return value;
  }
}

type FieldMap = ReadonlyMap<number, Buffer>;

class Unexpected extends Error {
  readonly reason: 'unexpected_field' | 'signed';
  constructor(reason: 'unexpected_field' | 'signed') {
    super(reason);
    this.reason = reason;
  }
}

/**
 * One map; every key here is a bare type, so that a key with data is an unexpected field. Only inputs hold
 * `signatures`.
 */
function readMap(reader: Reader, known: readonly number[], signatures: ReadonlySet<number> = new Set()): FieldMap {
  const fields = new Map<number, Buffer>();
  for (;;) {
    const length = reader.compactSize();
    if (length === 0) return fields;
    const key = reader.take(length),
      value = reader.take(reader.compactSize()),
      type = key[0]!;
    if (!known.includes(type)) throw new Unexpected(signatures.has(type) ? 'signed' : 'unexpected_field');
    if (key.length !== 1) throw new Unexpected('unexpected_field');
    if (fields.has(type)) throw new RangeError('a field occurs twice');
    fields.set(type, value);
  }
}

function number(fields: FieldMap, type: number): number {
  const value = fields.get(type);
  if (value?.length !== 4) throw new RangeError('a field of four bytes');
  return value.readUInt32LE();
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * What a payload says, and nothing that it does not: other fields, signatures and encodings of its own kind are named.
 */
export function decodePsbt(payload: string): DecodedPsbt {
  try {
    const bytes = Buffer.from(payload, 'base64');
    if (bytes.toString('base64') !== payload) return { ok: false, reason: 'unreadable' };
    const psbt = readPsbt(new Reader(bytes));
    return encodePsbt(psbt) === payload ? { ok: true, psbt } : { ok: false, reason: 'not_canonical' };
  } catch (error) {
    return { ok: false, reason: error instanceof Unexpected ? error.reason : 'unreadable' };
  }
}

function readPsbt(reader: Reader): Psbt {
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new RangeError('no magic bytes');
  const raw = readMap(reader, Object.values(GLOBAL)).get(GLOBAL.transaction);
  if (raw === undefined) throw new RangeError('no transaction');
  const transaction = Transaction.fromBuffer(raw);
  if (transaction.hasWitnesses() || transaction.ins.some(({ script }) => script.length > 0)) {
    throw new Unexpected('signed');
  }
  const inputs = transaction.ins.map(({ hash, index, sequence }) => {
    const fields = readMap(reader, Object.values(INPUT), SIGNATURES);
    return { txid: idOf(hash), vout: index, sequence, ...spentIn(fields) };
  });
  const outputs = transaction.outs.map(({ value, script }) => ({ value, script: Uint8Array.from(script) }));
  for (const _output of outputs) readMap(reader, []);
  if (!reader.done) throw new RangeError('more bytes than maps');
  return { txVersion: transaction.version, locktime: transaction.locktime, inputs, outputs };
}

const idOf = (hash: Uint8Array): string => Buffer.from(hash).reverse().toString('hex');

function valueIn(value: bigint): bigint {
  if (value < 0n || value > VALUE_MAX) throw new RangeError('an amount beyond the supply');
  return value;
}

function spentIn(map: FieldMap): Pick<PsbtInput, 'previous' | 'witnessUtxo' | 'sighash'> {
  const witness = map.get(INPUT.witnessUtxo),
    previous = map.get(INPUT.previous);
  return {
    previous: previous === undefined ? null : Uint8Array.from(previous),
    witnessUtxo: witness === undefined ? null : readOutput(new Reader(witness)),
    sighash: map.has(INPUT.sighash) ? number(map, INPUT.sighash) : null,
  };
}

function readOutput(reader: Reader): PsbtOutput {
  const value = valueIn(reader.take(8).readBigInt64LE()),
    script = Uint8Array.from(reader.take(reader.compactSize()));
  if (!reader.done) throw new RangeError('more bytes than an output');
  return { value, script };
}

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Field = readonly [type: number, value: Uint8Array];

const mapBytes = (fields: readonly Field[]): Uint8Array =>
  Buffer.concat([...fields.flatMap(([type, value]) => [Uint8Array.of(1, type), prefixed(value)]), Uint8Array.of(0)]);

/** The payload as base64, fields in the order of their types. */
export function encodePsbt(psbt: Psbt): string {
  const maps = [
    mapBytes([[GLOBAL.transaction, transactionOf(psbt).toBuffer()]]),
    ...psbt.inputs.map((input) => mapBytes(spentFields(input))),
    ...psbt.outputs.map(() => mapBytes([])),
  ];
  return Buffer.concat([MAGIC, ...maps]).toString('base64');
}

function spentFields({ previous, witnessUtxo, sighash }: PsbtInput): Field[] {
  return [
    ...(previous === null ? [] : [[INPUT.previous, previous] as const]),
    ...(witnessUtxo === null ? [] : [[INPUT.witnessUtxo, outputBytes(witnessUtxo)] as const]),
    ...(sighash === null ? [] : [[INPUT.sighash, u32(sighash)] as const]),
  ];
}

/** The transaction that a payload describes, unsigned. */
export function transactionOf({ txVersion, locktime, inputs, outputs }: Psbt): Transaction {
  const transaction = new Transaction();
  transaction.version = txVersion;
  transaction.locktime = locktime;
  for (const { txid, vout, sequence } of inputs) {
    transaction.addInput(Buffer.from(txid, 'hex').reverse(), vout, sequence);
  }
  for (const { script, value } of outputs) transaction.addOutput(script, value);
  return transaction;
}
