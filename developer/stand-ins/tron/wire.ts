/**
 * Protocol buffers as a node reads them: unknown fields are kept in the bytes and skipped, a repeated scalar's last
 * value counts. Written apart from `chains/tron/`, so that a fault there does not find its mirror here.
 */

export type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

/** Fields of a message by number, in order of appearance. Throws: RangeError for bytes that are no message. */
export function fieldsOf(bytes: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError('truncated message');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new RangeError('malformed varint');
  };
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw new RangeError('truncated message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  const valueOf = (kind: number): bigint | Buffer => {
    if (kind === 0) return varint();
    if (kind === 1) return take(8);
    if (kind === 2) return take(Number(varint()));
    if (kind === 5) return take(4);
    throw new RangeError(`wire type ${kind}`);
  };
  while (at < bytes.length) {
    const key = Number(varint()),
      number = key >>> 3;
    if (number === 0) throw new RangeError('field number 0');
    const kind = key & 7;
    fields.set(number, [...(fields.get(number) ?? []), valueOf(kind)]);
  }
  return fields;
}

/** The last integer of a field as an int64; 0 where it is absent. */
export function integerAt(fields: Fields, number: number): bigint {
  const value = fields.get(number)?.at(-1);
  return typeof value === 'bigint' ? BigInt.asIntN(64, value) : 0n;
}

/** The last bytes of a field; empty where it is absent. */
export function bytesAt(fields: Fields, number: number): Buffer {
  const value = fields.get(number)?.at(-1);
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

/** Every bytes value of a field. */
export function allBytesAt(fields: Fields, number: number): readonly Buffer[] {
  return (fields.get(number) ?? []).filter((value): value is Buffer => Buffer.isBuffer(value));
}

function varintOf(value: bigint): Buffer {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 0x7fn) | 0x80);
  }
}

/** A message from its fields in the order given; proto3 leaves defaults out. */
export function messageOf(...fields: readonly (readonly [number: number, value: bigint | Buffer])[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === 'bigint') return value === 0n ? [] : [varintOf(BigInt(number) << 3n), varintOf(value)];
      return value.length === 0 ? [] : [varintOf((BigInt(number) << 3n) | 2n), varintOf(BigInt(value.length)), value];
    }),
  );
}
