/**
 * The wire format of protocol buffers, as far as TRON's transactions use it, and messages described as tables.
 *
 *   message = (key varint || value)*        key = number << 3 | wire type
 *   wire type 0   varint: 7 bits a byte, lowest first, high bit set on all but the last
 *   wire type 2   length varint || bytes
 * Source: protobuf.dev, Encoding.
 *
 * A node hashes the bytes as they came and keeps fields that it does not know, so a reader that skips them would sign
 * what it has not seen. This one knows a message's whole table or names what is wrong with it.
 */

/** What a field of a message holds: a non-negative integer, or raw bytes (also those of a message within). */
export type FieldKind = 'integer' | 'bytes';

/** One field of a message: its number on the wire, its name here, what it holds. In rising order of numbers. */
export type FieldRow = readonly [number: number, name: string, kind: FieldKind];

type ValueOf<Kind> = Kind extends 'integer' ? bigint : Uint8Array;

/** Values of a message by field name; proto3 leaves a default (0, no bytes) out, and reading one gives it back. */
export type Message<Rows extends readonly FieldRow[]> = { readonly [Row in Rows[number] as Row[1]]: ValueOf<Row[2]> };

/** Why bytes are no message of a table: `field` is the number of a field that the table does not have. */
export interface Misread {
  readonly ok: false;
  readonly reason: 'unreadable' | 'unknown_field' | 'repeated_field';
  readonly field?: number;
  /** An unknown field says nothing: 0, or no bytes. */
  readonly empty?: boolean;
}

const VARINT = 0;
const DELIMITED = 2;
const VARINT_BYTES_MAX = 10;
/** Integers here are int64; the upper half of its encodings is negative and no amount, time or count. */
const INTEGER_MAX = 2n ** 63n - 1n;

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return bytes;
}

/**
 * The canonical bytes of a message: fields in the table's order, defaults left out. Throws: RangeError for a negative
 * integer.
 */
export function encodeMessage<const Rows extends readonly FieldRow[]>(rows: Rows, values: Message<Rows>): Uint8Array {
  const parts = rows.flatMap(([number, name]) => {
    const value = (values as Readonly<Record<string, bigint | Uint8Array>>)[name]!;
    if (typeof value === 'bigint') {
      if (value < 0n || value > INTEGER_MAX) throw new RangeError(`${name} expected in [0, 2**63), got ${value}`);
      return value === 0n ? [] : [Buffer.from([...varint(BigInt((number << 3) | VARINT)), ...varint(value)])];
    }
    if (value.length === 0) return [];
    const head = [...varint(BigInt((number << 3) | DELIMITED)), ...varint(BigInt(value.length))];
    return [Buffer.from(head), value];
  });
  return Buffer.concat(parts);
}

interface Wire {
  readonly value: bigint;
  readonly end: number;
}

/** The varint at an offset, or null when it ends too late or is longer than any. */
function varintAt(bytes: Uint8Array, offset: number): Wire | null {
  let value = 0n;
  for (let at = 0; at < VARINT_BYTES_MAX; at += 1) {
    const byte = bytes[offset + at];
    if (byte === undefined) return null;
    value |= BigInt(byte & 0x7f) << BigInt(7 * at);
    if (byte < 0x80) return { value, end: offset + at + 1 };
  }
  return null;
}

type Field = { readonly number: number; readonly value: bigint | Uint8Array; readonly end: number };

function fieldAt(bytes: Uint8Array, offset: number): Field | null {
  const key = varintAt(bytes, offset);
  if (key === null || key.value >= 2n ** 32n) return null;
  const number = Number(key.value >> 3n),
    wire = Number(key.value & 7n),
    body = varintAt(bytes, key.end);
  if (number === 0 || body === null) return null;
  if (wire === VARINT) return { number, value: body.value, end: body.end };
  if (wire !== DELIMITED || body.value > BigInt(bytes.length - body.end)) return null;
  const end = body.end + Number(body.value);
  return { number, value: bytes.subarray(body.end, end), end };
}

/**
 * The values of a message that holds nothing but the fields of its table, each at most once. Whether the bytes are the
 * canonical ones is for the caller to ask, by encoding the values again.
 */
export function decodeMessage<const Rows extends readonly FieldRow[]>(
  rows: Rows,
  bytes: Uint8Array,
): { readonly ok: true; readonly values: Message<Rows> } | Misread {
  const values: Record<string, bigint | Uint8Array> = {};
  for (let offset = 0; offset < bytes.length;) {
    const field = fieldAt(bytes, offset);
    if (field === null) return { ok: false, reason: 'unreadable' };
    offset = field.end;
    const row = rows.find(([number]) => number === field.number);
    if (row === undefined) {
      return {
        ok: false,
        reason: 'unknown_field',
        field: field.number,
        empty: typeof field.value === 'bigint' ? field.value === 0n : field.value.length === 0,
      };
    }
    const [, name, kind] = row;
    if (name in values) return { ok: false, reason: 'repeated_field', field: field.number };
    if ((kind === 'integer') !== (typeof field.value === 'bigint')) return { ok: false, reason: 'unreadable' };
    if (typeof field.value === 'bigint' && field.value > INTEGER_MAX) return { ok: false, reason: 'unreadable' };
    values[name] = field.value;
  }
  for (const [, name, kind] of rows) values[name] ??= kind === 'integer' ? 0n : new Uint8Array(0);
  return { ok: true, values: values as Message<Rows> };
}
