/**
 * Other texts of the very same transaction, made without the encoders that are tested: what a decoder that is kind
 * would read as the payload, and what a check of anything but the text would miss. found F13.
 */
import { concat, decodeRlp, getBytes, hexlify } from 'ethers/utils';
import type { FamilyChain } from './families.ts';

export interface ReEncoding {
  readonly what: string;
  readonly text: string;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const upper = (text: string): string => text.replace(/[a-f]/g, (letter) => letter.toUpperCase());

function hexTexts(text: string): ReEncoding[] {
  const prefix = text.startsWith('0x') ? '0x' : '',
    digits = text.slice(prefix.length),
    letter = /[a-f]/.exec(digits)!.index;
  return [
    { what: 'capitals', text: prefix + upper(digits) },
    { what: 'one capital', text: prefix + digits.slice(0, letter) + upper(digits[letter]!) + digits.slice(letter + 1) },
    { what: 'the other prefix', text: prefix === '' ? `0x${text}` : `0X${digits}` },
    { what: 'a line behind', text: `${text}\n` },
    { what: 'a blank before', text: ` ${text}` },
  ];
}

function base64Texts(text: string): ReEncoding[] {
  const bytes = Buffer.from(text, 'base64');
  // The bits of the last digit that belong to no byte.
  const last = text.replace(/=+$/, ''),
    spare = text.length - last.length;
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const bent = last.slice(0, -1) + digits[digits.indexOf(last.at(-1)!) + 1]! + '='.repeat(spare);
  return [
    { what: 'no padding', text: last },
    { what: 'more padding', text: `${text}==` },
    { what: 'url-safe', text: bytes.toString('base64url') },
    { what: 'a line in it', text: `${text.slice(0, 64)}\n${text.slice(64)}` },
    { what: 'blanks around', text: ` ${text} ` },
    ...(spare === 0 ? [] : [{ what: 'spare bits', text: bent }]),
  ];
}

// ── EVM ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const lengthOf = (size: number, offset: number, longest = 0): Uint8Array => {
  if (size < 56 && longest === 0) return Uint8Array.of(offset + size);
  const digits = Buffer.from(size.toString(16).padStart(2 * Math.max(longest, size > 255 ? 2 : 1), '0'), 'hex');
  return Buffer.concat([Uint8Array.of(offset + 55 + digits.length), digits]);
};
const stringOf = (bytes: Uint8Array): Uint8Array =>
  bytes.length === 1 && bytes[0]! < 0x80 ? bytes : Buffer.concat([lengthOf(bytes.length, 0x80), bytes]);

function rlpTexts(text: string): ReEncoding[] {
  const fields = decodeRlp(`0x${text.slice(4)}`) as (string | string[])[];
  const items = fields.map((field) => (typeof field === 'string' ? stringOf(getBytes(field)) : Uint8Array.of(0xc0)));
  const listOf = (parts: readonly Uint8Array[], longest = 0) => {
    const body = getBytes(concat([...parts]));
    return `0x02${hex(getBytes(concat([lengthOf(body.length, 0xc0, longest), body])))}`;
  };
  const at = (index: number, bytes: Uint8Array) => listOf(items.map((item, i) => (i === index ? bytes : item)));
  const number = (index: number) => getBytes(fields[index] as string);
  const padded = (index: number) => at(index, stringOf(Uint8Array.of(0, ...number(index))));
  return [
    { what: 'a leading zero of the nonce', text: padded(1) },
    { what: 'a leading zero of the price', text: padded(3) },
    { what: 'a leading zero of the value', text: padded(6) },
    { what: 'one byte in its long form', text: at(1, Uint8Array.of(0x81, ...number(1))) },
    { what: 'a length in its long form', text: at(5, Uint8Array.of(0xb8, 20, ...number(5))) },
    { what: 'the list in a longer form', text: listOf(items, 2) },
    { what: 'a byte behind', text: `${text}00` },
  ];
}

// ── Bitcoin ──────────────────────────────────────────────────────────────────────────────────────────────────────

type Field = readonly [key: Uint8Array, value: Uint8Array];

function psbtTexts(text: string): ReEncoding[] {
  const bytes = Buffer.from(text, 'base64');
  let at = 5;
  const size = (): number => {
    const first = bytes[at]!;
    at += first < 0xfd ? 1 : 3;
    return first < 0xfd ? first : bytes.readUInt16LE(at - 2);
  };
  const take = (length: number) => bytes.subarray(at, (at += length));
  const maps: Field[][] = [];
  while (at < bytes.length) {
    const fields: Field[] = [];
    for (let length = size(); length > 0; length = size()) fields.push([take(length), take(size())]);
    maps.push(fields);
  }
  const sized = (value: Uint8Array, long = false) =>
    Buffer.concat([
      value.length < 0xfd && !long
        ? Uint8Array.of(value.length)
        : Uint8Array.of(0xfd, value.length & 0xff, value.length >> 8),
      value,
    ]);
  const write = (changed: readonly (readonly Field[])[], long = false) =>
    base64(
      Buffer.concat([
        bytes.subarray(0, 5),
        ...changed.map((fields) =>
          Buffer.concat([
            ...fields.flatMap(([key, value]) => [sized(key, long), sized(value, long)]),
            Uint8Array.of(0),
          ]),
        ),
      ]),
    );
  const [global, input, ...rest] = maps as [Field[], Field[], ...Field[][]];
  const own = (type: number, value: readonly number[]): Field => [Uint8Array.of(type), Uint8Array.from(value)];
  return [
    { what: 'fields in another order', text: write([global, input.toReversed(), ...rest]) },
    { what: 'a field twice', text: write([global, [...input, input[0]!], ...rest]) },
    { what: 'an unknown field', text: write([[...global, own(0xfc, [1, 97, 0])], input, ...rest]) },
    { what: 'an unknown field of an input', text: write([global, [...input, own(0x42, [1])], ...rest]) },
    { what: 'an unknown field of an output', text: write([global, input, ...rest.slice(0, -1), [own(0x42, [1])]]) },
    { what: 'the version spelled out', text: write([[...global, own(0xfb, [0, 0, 0, 0])], input, ...rest]) },
    {
      what: 'the default of the signature spelled out',
      text: write([global, [...input, own(0x03, [1, 0, 0, 0])], ...rest]),
    },
    { what: 'lengths in a longer form', text: write(maps, true) },
    { what: 'a byte behind', text: base64(Buffer.concat([bytes, Uint8Array.of(0)])) },
    { what: 'version 2', text: write(versionTwo(global[0]![1], input, maps.length - 2)) },
  ];
}

/** BIP-370's form of a transaction with one input. */
function versionTwo(raw: Uint8Array, input: readonly Field[], outputs: number): Field[][] {
  const bytes = Buffer.from(raw),
    field = (type: number, value: Uint8Array): Field => [Uint8Array.of(type), value];
  const outpoint = bytes.subarray(5, 41),
    sequence = bytes.subarray(42, 46);
  let at = 47;
  const made = Array.from({ length: outputs }, () => {
    const amount = bytes.subarray(at, at + 8),
      script = bytes.subarray(at + 9, at + 9 + bytes[at + 8]!);
    at += 9 + script.length;
    return [field(3, amount), field(4, script)];
  });
  const global = [
    field(2, bytes.subarray(0, 4)),
    field(3, bytes.subarray(-4)),
    field(4, Uint8Array.of(1)),
    field(5, Uint8Array.of(outputs)),
    field(0xfb, Uint8Array.of(2, 0, 0, 0)),
  ];
  return [
    global,
    [...input, field(0x0e, outpoint.subarray(0, 32)), field(0x0f, outpoint.subarray(32)), field(0x10, sequence)],
    ...made,
  ];
}

// ── TRON ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function protobufTexts(text: string): ReEncoding[] {
  const bytes = Buffer.from(text, 'hex'),
    fields: Buffer[] = [];
  const varintEnd = (from: number): number => {
    let end = from;
    while (bytes[end]! >= 0x80) end += 1;
    return end + 1;
  };
  for (let at = 0; at < bytes.length;) {
    const head = varintEnd(at),
      body = varintEnd(head),
      isBytes = (bytes[at]! & 7) === 2;
    const end = isBytes
      ? body + bytes.subarray(head, body).reduce((sum, byte, place) => sum + (byte & 0x7f) * 128 ** place, 0)
      : body;
    fields.push(bytes.subarray(at, end));
    at = end;
  }
  const isVarint = (field: Buffer) => (field[0]! & 7) === 0,
    first = fields.findIndex(isVarint);
  const longer = Buffer.from([...fields[first]!.subarray(0, -1), fields[first]!.at(-1)! | 0x80, 0]);
  const contract = fields.findIndex((field) => field[0] === 0x5a),
    held = fields[contract]!;
  const grown = Buffer.from([held[0]!, held[1]! + 2, ...held.subarray(2), 0x28, 0]);
  const withField = (index: number, field: Buffer) =>
    hex(Buffer.concat(fields.map((one, i) => (i === index ? field : one))));
  const behind = (...more: number[]) => text + hex(Uint8Array.from(more));
  return [
    { what: 'fields in another order', text: hex(Buffer.concat(fields.toReversed())) },
    { what: 'an unknown field', text: behind(0x98, 0x06, 1) },
    { what: 'a number in a longer form', text: withField(first, longer) },
    { what: 'a field twice', text: text + hex(fields[first]!) },
    { what: 'a fee limit of zero', text: behind(0x90, 0x01, 0) },
    { what: 'an empty memo', text: behind(0x52, 0) },
    { what: 'an empty list of votes', text: behind(0x4a, 0) },
    { what: 'permission zero', text: withField(contract, grown) },
  ];
}

// ── Solana, XRP, Stellar ─────────────────────────────────────────────────────────────────────────────────────────

function messageTexts(text: string): ReEncoding[] {
  const bytes = Buffer.from(text, 'base64'),
    keys = bytes[3]!,
    end = 4 + 32 * keys;
  const of = (...parts: readonly (Uint8Array | number)[]) =>
    base64(Buffer.concat(parts.map((part) => (typeof part === 'number' ? Uint8Array.of(part) : part))));
  // The two programs change places: the last two keys, which are only read.
  const swapped = Buffer.concat([
    bytes.subarray(0, end - 64),
    bytes.subarray(end - 32, end),
    bytes.subarray(end - 64, end - 32),
    bytes.subarray(end, end + 32),
  ]);
  const steps = [...bytes.subarray(end + 32)],
    renamed: number[] = [steps[0]!];
  for (let at = 1; at < steps.length;) {
    const accounts = steps[at + 1]!,
      data = steps[at + 2 + accounts]!,
      next = at + 3 + accounts + data;
    const other = (index: number) => (index === keys - 1 ? keys - 2 : index === keys - 2 ? keys - 1 : index);
    renamed.push(
      other(steps[at]!),
      accounts,
      ...steps.slice(at + 2, at + 2 + accounts).map(other),
      data,
      ...steps.slice(at + 3 + accounts, next),
    );
    at = next;
  }
  return [
    { what: 'a count in a longer form', text: of(bytes.subarray(0, 3), keys | 0x80, 0, bytes.subarray(4)) },
    { what: 'keys in another order', text: of(swapped, Uint8Array.from(renamed)) },
    { what: 'version 0', text: of(0x80, bytes, 0) },
    { what: 'a byte behind', text: of(bytes, 0) },
  ];
}

function jsonTexts(text: string): ReEncoding[] {
  const whole = JSON.parse(text) as { tx_json: Record<string, unknown>; tx_blob: string };
  return [
    { what: 'white space', text: JSON.stringify(whole, null, 1) },
    { what: 'a line behind', text: `${text}\n` },
    { what: 'names in another order', text: JSON.stringify({ tx_blob: whole.tx_blob, tx_json: whole.tx_json }) },
    {
      what: 'fields in another order',
      text: JSON.stringify({
        tx_json: Object.fromEntries(Object.entries(whole.tx_json).reverse()),
        tx_blob: whole.tx_blob,
      }),
    },
    { what: 'a name more', text: JSON.stringify({ ...whole, hash: '' }) },
    { what: 'a name twice', text: `${text.slice(0, -1)},"tx_blob":"${whole.tx_blob}"}` },
    { what: 'an escape', text: text.replace('"tx_blob"', '"tx\\u005fblob"') },
    { what: 'small letters', text: JSON.stringify({ ...whole, tx_blob: whole.tx_blob.toLowerCase() }) },
    { what: 'a number as another text', text: text.replace(/"Sequence":(\d+)/, '"Sequence":$1.0') },
    { what: 'bytes alone', text: JSON.stringify({ tx_blob: whole.tx_blob }) },
  ];
}

function xdrTexts(text: string): ReEncoding[] {
  const bytes = Buffer.from(text, 'base64');
  return [
    { what: 'bytes behind', text: base64(Buffer.concat([bytes, Buffer.alloc(4)])) },
    { what: 'a byte behind', text: base64(Buffer.concat([bytes, Buffer.alloc(1)])) },
    { what: 'version 0', text: base64(Buffer.concat([Buffer.alloc(4), bytes.subarray(8)])) },
  ];
}

/** Other texts of an unsigned payload; a form that this one has by chance is left out. */
export function reEncodingsOf(chain: FamilyChain, payload: string): ReEncoding[] {
  return textsOf(chain, payload).filter(({ text }) => text !== payload);
}

function textsOf(chain: FamilyChain, payload: string): ReEncoding[] {
  switch (chain) {
    case 'eth':
      return [...hexTexts(payload), ...rlpTexts(payload)];
    case 'btc':
      return [...base64Texts(payload), ...psbtTexts(payload)];
    case 'tron':
      return [...hexTexts(payload), ...protobufTexts(payload)];
    case 'sol':
      return [...base64Texts(payload), ...messageTexts(payload)];
    case 'xrp':
      return jsonTexts(payload);
    case 'xlm':
      return [...base64Texts(payload), ...xdrTexts(payload)];
  }
}

/** Other texts of signed bytes. */
export function signedReEncodingsOf(chain: FamilyChain, payload: string): ReEncoding[] {
  return signedTextsOf(chain, payload).filter(({ text }) => text !== payload);
}

function signedTextsOf(chain: FamilyChain, payload: string): ReEncoding[] {
  switch (chain) {
    case 'eth':
      return [...hexTexts(payload), ...rlpTexts(payload)];
    case 'btc':
      return [
        ...hexTexts(payload),
        {
          what: 'a count in a longer form',
          text: `${payload.slice(0, 12)}fd${payload.slice(12, 14)}00${payload.slice(14)}`,
        },
      ];
    case 'tron':
      return [...hexTexts(payload), ...signatureTexts(payload), { what: 'an unknown field', text: `${payload}980601` }];
    case 'sol':
      return [
        ...base64Texts(payload),
        {
          what: 'a count in a longer form',
          text: base64(Buffer.concat([Uint8Array.of(0x81, 0), Buffer.from(payload, 'base64').subarray(1)])),
        },
      ];
    case 'xrp':
      return [
        { what: 'small letters', text: payload.toLowerCase() },
        { what: 'a line behind', text: `${payload}\n` },
        { what: 'a prefix', text: `0x${payload}` },
      ];
    case 'xlm':
      return [...base64Texts(payload), ...xdrTexts(payload).slice(0, 2)];
  }
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

function signatureTexts(payload: string): ReEncoding[] {
  const s = BigInt(`0x${payload.slice(-66, -2)}`),
    v = Number.parseInt(payload.slice(-2), 16);
  const high = hexlify(getBytes(`0x${(ORDER - s).toString(16).padStart(64, '0')}`)).slice(2);
  return [
    { what: 'the recovery id alone', text: payload.slice(0, -2) + (v - 27).toString(16).padStart(2, '0') },
    { what: 'a high s', text: payload.slice(0, -66) + high + (v === 27 ? 28 : 27).toString(16) },
  ];
}
