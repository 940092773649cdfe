/**
 * Partially signed transactions without signatures: what the cloud hands to the edge. Version 0 is built, 2 is read
 * too.
 *
 *   psbt   "psbt" ff || global map || a map per input || a map per output
 *   map    (keylen || key || valuelen || value)… || 00          key = type(compact size) || key data
 *
 *   global   00 unsigned transaction (v0) · fb version of the format
 *            02 version, 03 fallback lock time, 04 inputs, 05 outputs, 06 modifiable (v2)
 *   input    00 whole previous transaction · 01 output that is spent · 03 sighash type
 *            0e, 0f, 10 outpoint and sequence (v2)
 *   output   03 amount, 04 script (v2)
 *
 * Source: BIP-174, BIP-370. Any other field is named as unexpected: whoever signs must not meet what nobody checked.
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

export interface PsbtOutput { readonly value: bigint; readonly script: Uint8Array }

export interface Psbt {
  readonly version: 0 | 2;
  readonly txVersion: number;
  readonly locktime: number;
  readonly inputs: readonly PsbtInput[];
  readonly outputs: readonly PsbtOutput[];
}

export type DecodedPsbt =
  | { readonly ok: true; readonly psbt: Psbt }
  | { readonly ok: false; readonly reason: 'unreadable' | 'unexpected_field' | 'signed' | 'not_canonical' };

const MAGIC = Uint8Array.of(0x70, 0x73, 0x62, 0x74, 0xff);
const GLOBAL = {
  transaction: 0x00, txVersion: 0x02, locktime: 0x03, inputs: 0x04, outputs: 0x05, modifiable: 0x06, version: 0xfb,
};
const INPUT = { previous: 0x00, witnessUtxo: 0x01, sighash: 0x03, txid: 0x0e, vout: 0x0f, sequence: 0x10 };
const OUTPUT = { amount: 0x03, script: 0x04 };
/** Input fields that hold signatures or what they became: partial, final, taproot. */
const SIGNATURES = new Set([0x02, 0x07, 0x08, 0x13, 0x14]);
const SEQUENCE_FINAL = 0xffff_ffff;
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
  constructor(bytes: Uint8Array) { this.#bytes = Buffer.from(bytes); }

  get done(): boolean { return this.#at === this.#bytes.length; }

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

/** One map; every key here is a bare type, so that a key with data is an unexpected field. */
function readMap(reader: Reader, known: readonly number[]): FieldMap {
  const fields = new Map<number, Buffer>();
  for (;;) {
    const length = reader.compactSize();
    if (length === 0) return fields;
    const key = reader.take(length), value = reader.take(reader.compactSize()), type = key[0]!;
    if (!known.includes(type)) throw new Unexpected(SIGNATURES.has(type) ? 'signed' : 'unexpected_field');
    if (key.length !== 1) throw new Unexpected('unexpected_field');
    if (fields.has(type)) throw new RangeError('a field stands twice');
    fields.set(type, value);
  }
}

function number(fields: FieldMap, type: number, otherwise?: number): number {
  const value = fields.get(type);
  if (value === undefined && otherwise !== undefined) return otherwise;
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
    // Our own version has one form only; writers of the other one differ in order and in what they leave out.
    const isCanonical = psbt.version === 2 || encodePsbt(psbt) === payload;
    return isCanonical ? { ok: true, psbt } : { ok: false, reason: 'not_canonical' };
  } catch (error) {
    return { ok: false, reason: error instanceof Unexpected ? error.reason : 'unreadable' };
  }
}

function readPsbt(reader: Reader): Psbt {
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new RangeError('no magic bytes');
  const fields = readMap(reader, Object.values(GLOBAL));
  const version = number(fields, GLOBAL.version, 0);
  const psbt = version === 0 ? readVersion0(reader, fields) : version === 2 ? readVersion2(reader, fields) : null;
  if (psbt === null || !reader.done) throw new RangeError('another version, or more bytes than maps');
  return psbt;
}

const idOf = (hash: Uint8Array): string => Buffer.from(hash).reverse().toString('hex');

function readVersion0(reader: Reader, fields: FieldMap): Psbt {
  const raw = fields.get(GLOBAL.transaction);
  if (raw === undefined) throw new RangeError('no transaction');
  for (const type of fields.keys()) if (type !== GLOBAL.transaction) throw new Unexpected('unexpected_field');
  const transaction = Transaction.fromBuffer(raw);
  if (transaction.hasWitnesses() || transaction.ins.some(({ script }) => script.length > 0)) {
    throw new Unexpected('signed');
  }
  const inputs = transaction.ins.map(({ hash, index, sequence }) => {
    const fields = readMap(reader, [INPUT.previous, INPUT.witnessUtxo, INPUT.sighash]);
    return { txid: idOf(hash), vout: index, sequence, ...spentIn(fields) };
  });
  const outputs = transaction.outs.map(({ value, script }) => ({ value, script: Uint8Array.from(script) }));
  for (const _output of outputs) readMap(reader, []);
  return { version: 0, txVersion: transaction.version, locktime: transaction.locktime, inputs, outputs };
}

function readVersion2(reader: Reader, fields: FieldMap): Psbt {
  if (fields.has(GLOBAL.transaction) || fields.has(GLOBAL.modifiable)) throw new Unexpected('unexpected_field');
  const counts = [GLOBAL.inputs, GLOBAL.outputs].map(
    (type) => new Reader(fields.get(type) ?? Buffer.alloc(0)).compactSize()
  );
  const inputs = Array.from({ length: counts[0]! }, () => {
    const map = readMap(reader, Object.values(INPUT)), hash = map.get(INPUT.txid);
    if (hash?.length !== 32) throw new RangeError('a txid has 32 bytes');
    return {
      txid: idOf(hash), vout: number(map, INPUT.vout), sequence: number(map, INPUT.sequence, SEQUENCE_FINAL),
      ...spentIn(map),
    };
  });
  const outputs = Array.from({ length: counts[1]! }, () => {
    const map = readMap(reader, Object.values(OUTPUT));
    const amount = map.get(OUTPUT.amount);
    const script = map.get(OUTPUT.script);
    if (amount?.length !== 8 || script === undefined) throw new RangeError('an output has amount and script');
    return { value: valueIn(amount.readBigInt64LE()), script: Uint8Array.from(script) };
  });
  return {
    version: 2, txVersion: number(fields, GLOBAL.txVersion), locktime: number(fields, GLOBAL.locktime, 0), inputs,
    outputs,
  };
}

function valueIn(value: bigint): bigint {
  if (value < 0n || value > VALUE_MAX) throw new RangeError('an amount beyond the supply');
  return value;
}

function spentIn(map: FieldMap): Pick<PsbtInput, 'previous' | 'witnessUtxo' | 'sighash'> {
  const witness = map.get(INPUT.witnessUtxo), previous = map.get(INPUT.previous);
  return {
    previous: previous === undefined ? null : Uint8Array.from(previous),
    witnessUtxo: witness === undefined ? null : readOutput(new Reader(witness)),
    sighash: map.has(INPUT.sighash) ? number(map, INPUT.sighash) : null,
  };
}

function readOutput(reader: Reader): PsbtOutput {
  const value = valueIn(reader.take(8).readBigInt64LE()), script = Uint8Array.from(reader.take(reader.compactSize()));
  if (!reader.done) throw new RangeError('more bytes than an output');
  return { value, script };
}

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Field = readonly [type: number, value: Uint8Array];

const mapBytes = (fields: readonly Field[]): Uint8Array =>
  Buffer.concat([...fields.flatMap(([type, value]) => [Uint8Array.of(1, type), prefixed(value)]), Uint8Array.of(0)]);

/** The payload as base64, fields in the order of their types. */
export function encodePsbt(psbt: Psbt): string {
  const { version, inputs, outputs } = psbt;
  const global: Field[] = version === 0 ? [[GLOBAL.transaction, transactionOf(psbt).toBuffer()]] : [
    [GLOBAL.txVersion, u32(psbt.txVersion)], [GLOBAL.locktime, u32(psbt.locktime)],
    [GLOBAL.inputs, compactSize(inputs.length)], [GLOBAL.outputs, compactSize(outputs.length)],
    [GLOBAL.version, u32(2)],
  ];
  const maps = [
    mapBytes(global),
    ...inputs.map((input) => mapBytes([...spentFields(input), ...(version === 0 ? [] : placeFields(input))])),
    ...outputs.map(
      (output) => mapBytes(
        version === 0 ? [] : [[OUTPUT.amount, outputBytes(output).subarray(0, 8)], [OUTPUT.script, output.script]]
      )
    ),
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

const placeFields = ({ txid, vout, sequence }: PsbtInput): Field[] =>
  [[INPUT.txid, Buffer.from(txid, 'hex').reverse()], [INPUT.vout, u32(vout)], [INPUT.sequence, u32(sequence)]];

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
