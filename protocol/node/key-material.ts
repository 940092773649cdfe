/**
 * The guard that raises KEY_MATERIAL_REJECTED: does a request look as if it carried a recovery phrase or a private key?
 * Works on raw text before it is parsed, and says which rule hit and nothing else: what was found is never returned,
 * logged or kept. reliability.md 3.6, decisions 2.
 */
import { createHash } from 'node:crypto';
import { base58, base58xrp, base32nopad } from '@scure/base';
import { stringsIn, type JsonString, type JsonStrings } from '../json-strings.ts';
import { holdsPhrase, isPhraseShaped } from './phrases.ts';
import { holdsShare } from '../shares.ts';

export const KEY_MATERIAL_RULES = [
  'mnemonic',
  'extended_private_key',
  'wif',
  'stellar_seed',
  'xrp_seed',
  'secret_key_base58',
  'secret_key_bytes',
  'hex_64',
  'pem',
  'bip38',
  'keystore',
  'jwk',
  'share',
] as const;
export type KeyMaterialRule = (typeof KEY_MATERIAL_RULES)[number];

export interface Field {
  readonly name: string;
  readonly text: string;
}

/** Decisions 2: 64 hex digits may stand in a field that holds one of these. */
const HASH_FIELD = /(txid|hash|signature|fingerprint|nonce|digest|sha256)s?$/i;

/** The rule that a JSON body meets, or null. Bytes that are no JSON are read as text. */
export function findKeyMaterial(body: Uint8Array): KeyMaterialRule | null {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  const { values, keys, outside } = stringsIn(text);
  if (holdsSecretBytes(outside)) return 'secret_key_bytes';
  if (isKeystore(keys)) return 'keystore';
  if (JWK_KEYS.every((name) => keys.includes(name))) return 'jwk';
  // Every key is a long run of letters and digits, in base64 with its signs among them; most bodies have none, unless
  // one is hidden behind escapes.
  const mayHoldKey = /[0-9A-Za-z+/_-]{28}|PRIVATE|\\|\[[\s0-9,]{127}/i.test(text);
  return (
    (mayHoldKey ? inFields([...fieldsOf({ values, keys }), { name: '', text: outside }]) : null) ??
    inWords(outside, values, keys)
  );
}

/** Texts with the field of each; the name of a field has none. */
function fieldsOf({ values, keys }: Pick<JsonStrings, 'values' | 'keys'>): Field[] {
  return [...values.map(({ field, text }) => ({ name: field, text })), ...keys.map((text) => ({ name: '', text }))];
}

/** The rule that named values (a query, headers) or nameless ones (parts of a path) meet, or null. */
export function findKeyMaterialInFields(fields: readonly Field[]): KeyMaterialRule | null {
  const texts = fields.map(({ text }) => text);
  return (
    inFields(fields) ??
    (texts.some(isPhraseShaped) || holdsPhrase(texts.join(' ')) ? 'mnemonic' : null) ??
    (texts.some(holdsShare) || holdsShare(texts.join(' ')) ? 'share' : null)
  );
}

/**
 * The rule that a part of a file meets, or null: a text of many lines, in which a run of letters and digits may be
 * anything. Neither 64 hex digits nor 64 bytes in base58 are judged here: what they are, their column says.
 */
export function findKeyMaterialInWindow(text: string): KeyMaterialRule | null {
  const budget: Budget = { candidates: Number.POSITIVE_INFINITY };
  if (KEYS_MAY_BE_IN.test(text)) {
    const rule = inText(text, true, budget) ?? inTokens(text, budget);
    if (rule !== null) return rule;
  }
  return holdsPhrase(text) ? 'mnemonic' : holdsShare(text) ? 'share' : null;
}

const KEYS_MAY_BE_IN = /[0-9A-Za-z+/_-]{28}|PRIVATE|crypto|kty|\[[\s0-9,]{127}/i;

function inTokens(text: string, budget: Budget): KeyMaterialRule | null {
  for (const [token] of text.matchAll(/[A-Za-z0-9+/_-]{40,}={0,2}/g)) {
    const rule = BASE64.test(token) ? inDecoded('hash', token, budget) : null;
    if (rule !== null) return rule;
  }
  return null;
}

/**
 * The rule that one value of a file meets by itself, or null: 64 hex digits and 64 bytes in base58 are a key unless
 * its column holds hashes, and so many list words and nothing else are a phrase whatever their checksum.
 */
export function findKeyMaterialInValue(column: string, text: string): KeyMaterialRule | null {
  const name = column.replaceAll(/[\s_.-]/g, '');
  const rule =
    LONG_RUN.test(text) && !HASH_FIELD.test(name) ? inText(text, false, { candidates: CANDIDATES_MAX }) : null;
  return rule ?? (text.length >= PHRASE_CHARS_MIN && isPhraseShaped(text) ? 'mnemonic' : null);
}

const LONG_RUN = /[0-9A-Za-z]{64}/;
/** Twelve Chinese characters with separators; the others take more. */
const PHRASE_CHARS_MIN = 12;

function inWords(outside: string, values: readonly JsonString[], keys: readonly string[]): KeyMaterialRule | null {
  // Strings one after the other: a phrase may be spread over the entries of an array or over fields. Names of fields
  // count once: "index" and "address" are words of the list, and a pool repeats them a thousand times.
  const streams = [values.map((value) => value.text).join(' '), [...new Set(keys)].join(' '), outside];
  if (streams.some(holdsPhrase)) return 'mnemonic';
  if (streams.some(holdsShare)) return 'share';
  let whole = '';
  for (const [at, value] of values.entries()) {
    whole = values[at - 1]?.group === value.group ? `${whole} ${value.text}` : value.text;
    if (values[at + 1]?.group !== value.group && isPhraseShaped(whole)) return 'mnemonic';
  }
  return null;
}

/** Texts shorter than this hold no key. */
const KEY_CHARS_MIN = 28;
const BASE64 = /^(?:[A-Za-z0-9+/]{40,}={0,2}|[A-Za-z0-9_-]{40,})$/;

/**
 * Texts of the shape of a key that one body may hold: each costs a decoding and two hashes. Our own bodies hold a few;
 * one that is nothing but such shapes is refused like a key.
 */
const CANDIDATES_MAX = 1_000;
interface Budget {
  candidates: number;
}

function inFields(
  fields: readonly Field[],
  decoded = false,
  budget: Budget = { candidates: CANDIDATES_MAX },
): KeyMaterialRule | null {
  for (const { name, text } of fields) {
    if (text.length < KEY_CHARS_MIN) continue;
    const rule =
      inText(text, HASH_FIELD.test(name), budget) ??
      (!decoded && BASE64.test(text.trim()) ? inDecoded(name, text.trim(), budget) : null);
    if (rule !== null) return rule;
  }
  return null;
}

/** One layer of base64, when what is below is text. */
function inDecoded(name: string, text: string, budget: Budget): KeyMaterialRule | null {
  const plain = Buffer.from(text, 'base64').toString('utf8');
  if (/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(plain)) return null;
  const below = stringsIn(plain);
  return (
    inFields([{ name, text: plain }, ...fieldsOf(below)], true, budget) ??
    (isKeystore(below.keys) ? 'keystore' : null) ??
    (JWK_KEYS.every((part) => below.keys.includes(part)) ? 'jwk' : null) ??
    (holdsPhrase(plain) || isPhraseShaped(plain) ? 'mnemonic' : holdsShare(plain) ? 'share' : null)
  );
}

/** RFC 7468, OpenSSH and OpenPGP: any kind of private key, encrypted or not, also with the dashes lost. */
const PEM = /BEGIN[\s_-]+(?:[A-Z0-9]+[\s_-]+){0,3}PRIVATE[\s_-]+KEY/i;
/** The same without its armour: base64 of an OpenSSH key and of the DER of the common curves. */
const BARE_PEM =
  /(?<![A-Za-z0-9+/])(?:b3BlbnNzaC1rZXktdjE|MC4CAQAwBQYDK2Vw|MHcCAQEEI|MHQCAQEEI|MIGHAgEAMBMGByqGSM49|MIGEAgEAMBAGByqGSM49)[A-Za-z0-9+/]{20}/;
/** The same DER in hex, a key file of PuTTY, and one of age. */
const OTHER_KEY_FILES =
  /(?<![0-9a-f])(?:302e020100300506032b6570|30740201010420|30770201010420|308187020100301306072a8648ce3d|308184020100301006072a8648ce3d)[0-9a-f]{40}|PuTTY-User-Key-File-[0-9]|AGE-SECRET-KEY-1[0-9A-Z]{50}/i;
/** A secret, or a share of one, for a whole wallet. Source: BIP-93 (codex32). */
const CODEX32 = /(?<![A-Za-z0-9])ms1[02-9][02-9ac-hj-np-z]{44,123}(?![A-Za-z0-9])/i;
/**
 * Web3 Secret Storage (version 3), EIP-2335 and their kin: the names of the fields that hold a key under a password.
 */
const KEYSTORE_KEYS = [/^crypto$/i, /^kdf/i, /^cipher/i];

/** RFC 7517, 7518: the names that every private key of a curve or of RSA has; a public one has no `d`. */
const JWK_KEYS = ['kty', 'd'];

/** The same where a field holds it as text, whatever its quotes and escapes. */
function isJwkText(text: string): boolean {
  return /\bkty[\\"'\s]*:/.test(text) && /(?<![A-Za-z0-9_-])d[\\"'\s]*:[\\"'\s]*[A-Za-z0-9_-]{20}/.test(text);
}

/** Whether names of fields are those of a keystore file. */
function isKeystore(keys: readonly string[]): boolean {
  return KEYSTORE_KEYS.every((name) => keys.some((key) => name.test(key)));
}

/** The same where a field holds the file as text, whatever its quotes and escapes. */
function isKeystoreText(text: string): boolean {
  return (
    text.length > 60 &&
    /\bcrypto[\\"'\s]*:/i.test(text) &&
    /\bkdf(?:params)?[\\"'\s]*:/i.test(text) &&
    /\bcipher(?:text|params)?[\\"'\s]*:/i.test(text)
  );
}

function inText(text: string, hashField: boolean, budget: Budget): KeyMaterialRule | null {
  if (PEM.test(text) || BARE_PEM.test(text) || OTHER_KEY_FILES.test(text)) return 'pem';
  if (CODEX32.test(text)) return 'share';
  if (isKeystoreText(text)) return 'keystore';
  if (isJwkText(text)) return 'jwk';
  if (holdsSecretBytes(text)) return 'secret_key_bytes';
  if (!hashField && /(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])/.test(text)) return 'hex_64';
  if (/(?<![A-Za-z0-9])[xyztuvXYZTUV]prv[1-9A-HJ-NP-Za-km-z]{70,}/.test(text)) return 'extended_private_key';
  for (const { 0: token, index } of text.matchAll(/[0-9A-Za-z]{28,120}/g)) {
    const shape = shapeOf(token, hashField);
    if (shape === null) continue;
    budget.candidates -= 1;
    if (budget.candidates < 0) return shape;
    if (IS_KEY[shape](token) && !(shape === 'secret_key_base58' && isInBase64(text, index))) return shape;
  }
  return null;
}

/** So long a run of the letters of base64 is a document or a certificate, and no key with a path before it. */
const BASE64_RUN_CHARS = 400;

/**
 * 64 bytes in base58 have no checksum: of the base64 of a signed document, some run between two signs looks like them
 * now and then.
 */
function isInBase64(text: string, at: number): boolean {
  const before = /[A-Za-z0-9+/=]*$/.exec(text.slice(Math.max(0, at - BASE64_RUN_CHARS), at))![0],
    behind = /^[A-Za-z0-9+/=]*/.exec(text.slice(at, at + BASE64_RUN_CHARS))![0];
  return before.length + behind.length >= BASE64_RUN_CHARS;
}

type Shape = 'stellar_seed' | 'xrp_seed' | 'wif' | 'secret_key_base58' | 'bip38';

const IS_KEY: Readonly<Record<Shape, (token: string) => boolean>> = {
  stellar_seed: isStellarSeed,
  xrp_seed: isXrpSeed,
  wif: isWif,
  bip38: isBip38,
  secret_key_base58: (token) => base58Bytes(token)?.length === 64,
};

/** The key that a run of letters and digits may be by its length and first letter. */
function shapeOf(token: string, hashField: boolean): Shape | null {
  const { length } = token;
  if (length === 56 && token.startsWith('S')) return 'stellar_seed';
  if (length <= 31 && token.startsWith('s')) return 'xrp_seed';
  if (length === 51 || length === 52) return 'wif';
  if (length === 58 && token.startsWith('6P')) return 'bip38';
  return !hashField && length >= 86 && length <= 88 ? 'secret_key_base58' : null;
}

/** `[0,` … `0]` with 64 entries. */
const SECRET_BYTES_CHARS_MIN = 129;

/** A JSON array of exactly 64 bytes. */
function holdsSecretBytes(text: string): boolean {
  if (text.length < SECRET_BYTES_CHARS_MIN) return false;
  return [...text.matchAll(/\[([\s0-9,]{127,1024})\]/g)].some(([, list]) => {
    const parts = list!.split(',').map((part) => part.trim());
    return parts.length === 64 && parts.every((part) => /^[0-9]{1,3}$/.test(part) && Number(part) < 256);
  });
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

function base58Bytes(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}

/** payload || first 4 bytes of SHA-256(SHA-256(payload)); null where the checksum does not hold. */
function checked(bytes: Uint8Array | null): Uint8Array | null {
  if (bytes === null || bytes.length < 5) return null;
  const payload = bytes.subarray(0, -4);
  return sha256(sha256(payload)).subarray(0, 4).equals(bytes.subarray(-4)) ? payload : null;
}

/** version(1) || key(32) [|| 0x01], Base58Check. */
function isWif(token: string): boolean {
  const payload = checked(base58Bytes(token));
  return payload !== null && (payload.length === 33 || (payload.length === 34 && payload[33] === 1));
}

/** 01 || 42 or 43 || flag(1) || address hash(4) || 32 bytes under a password, Base58Check. Source: BIP-38. */
function isBip38(token: string): boolean {
  const payload = checked(base58Bytes(token));
  return payload !== null && payload.length === 39 && payload[0] === 1 && (payload[1] === 0x42 || payload[1] === 0x43);
}

/** version(1) = 0x21 or (3) = 01 e1 4b || seed(16), with XRP's alphabet. */
function isXrpSeed(token: string): boolean {
  try {
    const payload = checked(base58xrp.decode(token));
    return (
      payload !== null &&
      ((payload.length === 17 && payload[0] === 0x21) ||
        (payload.length === 19 && payload[0] === 0x01 && payload[1] === 0xe1 && payload[2] === 0x4b))
    );
  } catch {
    return false;
  }
}

/** version(1) = 0x90 || seed(32) || CRC16-XMODEM, little-endian(2), base32. Source: SEP-23. */
function isStellarSeed(token: string): boolean {
  try {
    const bytes = base32nopad.decode(token);
    let crc = 0;
    for (const byte of bytes.subarray(0, 33)) {
      crc ^= byte << 8;
      for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
    }
    return bytes.length === 35 && bytes[0] === 0x90 && bytes[33] === (crc & 0xff) && bytes[34] === crc >> 8;
  } catch {
    return false;
  }
}
