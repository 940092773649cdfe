/**
 * Strkeys: base32 (RFC 4648, no padding) of version(1) || payload || crc16(2, little-endian).
 * The text must be the one that its bytes encode to; spare bits are zero. Source: SEP-0023.
 */
import { base32nopad } from '@scure/base';

/** First byte, five bits of which are the first letter. */
const VERSIONS = {
  account: 6 << 3, // G
  muxed: 12 << 3, // M
  contract: 2 << 3, // C
  seed: 18 << 3, // S
  pre_auth: 19 << 3, // T
  hash_x: 23 << 3, // X
  signed_payload: 15 << 3, // P
  pool: 11 << 3, // L
  claimable_balance: 1 << 3, // B
} as const;

export type StrkeyKind = keyof typeof VERSIONS;

const KEY_BYTES = 32;
const MUXED_BYTES = KEY_BYTES + 8;
const CLAIMABLE_BYTES = 1 + KEY_BYTES;
const PAYLOAD_LENGTH_BYTES = 4;
const SIGNED_PAYLOAD_MAX = 64;
/** The longest strkey is a signed payload of 64 bytes: 103 bytes, 165 characters. */
const STRKEY_CHARACTERS_MAX = 165;

export interface Strkey {
  readonly kind: StrkeyKind;
  readonly payload: Uint8Array;
}

/** CRC16 with polynomial 0x1021 and initial value 0 (XMODEM), byte by byte. */
const CRC_OF_BYTE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

function crc16(bytes: Uint8Array, length: number): number {
  let crc = 0;
  for (let at = 0; at < length; at += 1) crc = ((crc << 8) & 0xffff) ^ CRC_OF_BYTE[(crc >> 8) ^ bytes[at]!]!;
  return crc;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS_OF_LETTER = 5;

/** A ledger names thousands of accounts, so the letters are made here; a test holds them to @scure/base. */
function base32(bytes: Uint8Array): string {
  let text = '',
    bits = 0,
    value = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    value = ((value << 8) | bytes[at]!) & 0xfff;
    for (bits += 8; bits >= BITS_OF_LETTER; bits -= BITS_OF_LETTER)
      text += ALPHABET[(value >> (bits - BITS_OF_LETTER)) & 31];
  }
  return bits === 0 ? text : text + ALPHABET[(value << (BITS_OF_LETTER - bits)) & 31];
}

/** The text of a payload. */
export function encodeStrkey(kind: StrkeyKind, payload: Uint8Array): string {
  const checked = new Uint8Array(payload.length + 3);
  checked[0] = VERSIONS[kind];
  checked.set(payload, 1);
  const crc = crc16(checked, payload.length + 1);
  checked[payload.length + 1] = crc & 0xff;
  checked[payload.length + 2] = crc >> 8;
  return base32(checked);
}

/** The parts of a strkey, or null when the text is not a strkey. */
export function decodeStrkey(text: string): Strkey | null {
  if (text.length > STRKEY_CHARACTERS_MAX || !/^[A-Z2-7]+$/.test(text)) return null;
  let bytes: Uint8Array;
  try {
    bytes = base32nopad.decode(text);
  } catch {
    return null;
  }
  const kind = (Object.keys(VERSIONS) as StrkeyKind[]).find((name) => VERSIONS[name] === bytes[0]);
  if (kind === undefined || bytes.length < 3) return null;
  const payload = bytes.subarray(1, -2);
  return hasShape(kind, payload) && encodeStrkey(kind, payload) === text ? { kind, payload } : null;
}

function hasShape(kind: StrkeyKind, payload: Uint8Array): boolean {
  switch (kind) {
    case 'muxed':
      return payload.length === MUXED_BYTES;
    case 'claimable_balance':
      return payload.length === CLAIMABLE_BYTES && payload[0] === 0;
    case 'signed_payload':
      return isSignedPayload(payload);
    default:
      return payload.length === KEY_BYTES;
  }
}

/** key(32) || length(4, big-endian) || payload, padded with zeros to a multiple of four */
function isSignedPayload(payload: Uint8Array): boolean {
  if (payload.length < KEY_BYTES + PAYLOAD_LENGTH_BYTES) return false;
  const view = new DataView(payload.buffer, payload.byteOffset, payload.length);
  const length = view.getUint32(KEY_BYTES);
  const start = KEY_BYTES + PAYLOAD_LENGTH_BYTES;
  if (length === 0 || length > SIGNED_PAYLOAD_MAX || payload.length !== start + Math.ceil(length / 4) * 4) return false;
  return payload.subarray(start + length).every((byte) => byte === 0);
}
