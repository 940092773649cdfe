/**
 * Address texts of the XRP Ledger.
 *
 *   classic    base58check(00 || account(20))                                          `r…`, 25 to 35 characters
 *   X-address  base58check(05 44 || account(20) || flag(1) || tag(8, little-endian))   `X…`; test networks: 04 93, `T…`
 *
 * flag 0 says "no tag" and is followed by zeros; flag 1 says "this tag", of 32 bits. Tag 0 is a tag.
 * Source: XRPLF/XRPL-Standards XLS-5; base58 here has the ledger's own alphabet.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { base58xrp } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { createAddressCoder, RIPPLE_ALPHABET } from '../base58.ts';
import type { Catalogue, Network, ParsedAddress } from '../chain.ts';
import { parseCurrency } from './currency.ts';

const base58 = createAddressCoder(RIPPLE_ALPHABET);
const ACCOUNT_VERSION = 0x00;
const ACCOUNT_BYTES = 20;
const CHECKSUM_BYTES = 4;
const X_MAIN = [0x05, 0x44];
const X_TEST = [0x04, 0x93];
const X_BYTES = X_MAIN.length + ACCOUNT_BYTES + 1 + 8;
/** An X-address has 47 characters; nothing longer is worth decoding. */
const ADDRESS_CHARACTERS_MAX = 50;
/** First bytes of a family seed and of an Ed25519 seed: secrets, which must not be taken for a typing error. */
const SEED_PREFIXES = [[0x21], [0x01, 0xe1, 0x4b]];
const SEED_BYTES = 16;

function invalid(reason: string): Refusal {
  return refuse('INVALID_ADDRESS', { chain: 'xrp', reason });
}

function decodeChecked(text: string): Uint8Array | null {
  let bytes: Uint8Array;
  try {
    bytes = base58xrp.decode(text);
  } catch {
    return null;
  }
  if (bytes.length <= CHECKSUM_BYTES) return null;
  const payload = bytes.subarray(0, -CHECKSUM_BYTES);
  const expected = sha256(sha256(payload)).subarray(0, CHECKSUM_BYTES);
  return expected.every((byte, index) => byte === bytes[payload.length + index]) ? payload : null;
}

/** The classic text of a 20-byte account. */
export function addressOf(account: Uint8Array): string {
  return base58.encode(ACCOUNT_VERSION, account);
}

/**
 * The parsed form of a classic address or of an X-address of the main network, whose tag it carries; canonical is
 * always the classic text. Refuses: INVALID_ADDRESS, KEY_MATERIAL_REJECTED (a seed).
 */
export function parseAddress(_network: Network, text: string): ParsedAddress | Refusal {
  if (text === '' || text.length > ADDRESS_CHARACTERS_MAX) return invalid('length');
  const payload = decodeChecked(text);
  if (payload === null) return invalid('not base58check of this ledger');
  if (isSeed(payload)) return refuse('KEY_MATERIAL_REJECTED', { chain: 'xrp', reason: 'a seed is no address' });
  if (payload.length === 1 + ACCOUNT_BYTES && payload[0] === ACCOUNT_VERSION) return parsed(payload.subarray(1), null);
  if (payload.length !== X_BYTES) return invalid('neither a classic address nor an X-address');
  if (startsWith(payload, X_TEST)) return invalid('X-address of a test network');
  if (!startsWith(payload, X_MAIN)) return invalid('unknown prefix');
  return parseTagged(payload.subarray(X_MAIN.length));
}

/** account(20) || flag(1) || tag(8) */
function parseTagged(bytes: Uint8Array): ParsedAddress | Refusal {
  const account = bytes.subarray(0, ACCOUNT_BYTES);
  const flag = bytes[ACCOUNT_BYTES];
  const view = new DataView(bytes.buffer, bytes.byteOffset + ACCOUNT_BYTES + 1, 8);
  const tag = view.getBigUint64(0, true);
  if (flag === 0) return tag === 0n ? parsed(account, null) : invalid('a tag without its flag');
  if (flag === 1) return tag <= TAG_MAX ? parsed(account, tag.toString()) : invalid('a tag above 32 bits');
  return invalid('unknown tag flag');
}

/** Destination tags have 32 bits. */
export const TAG_MAX = 0xffff_ffffn;

function parsed(account: Uint8Array, tag: string | null): ParsedAddress {
  return { ok: true, canonical: addressOf(account), kind: 'classic', bytes: account, tag };
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte);
}

function isSeed(payload: Uint8Array): boolean {
  return SEED_PREFIXES.some((prefix) => payload.length === prefix.length + SEED_BYTES && startsWith(payload, prefix));
}

/** The 20-byte account of a canonical text, unchecked. */
export function bytesOf(canonical: string): Uint8Array {
  return base58.payloadOf(canonical).subarray(1);
}

/**
 * Accounts whose key nobody holds: ACCOUNT_ZERO, ACCOUNT_ONE, the NaN address, the genesis and
 * rrrrrrrrrrrrrrrrrNAMEtxvNvQ.
 */
const BLACK_HOLES = new Set([
  'rrrrrrrrrrrrrrrrrrrrrhoLvTp',
  'rrrrrrrrrrrrrrrrrrrrBZbvji',
  'rrrrrrrrrrrrrrrrrrrn5RM1rHd',
  'rrrrrrrrrrrrrrrrrNAMEtxvNvQ',
]);

/** Refuses: INVALID_ADDRESS for accounts that nobody can spend from. */
export function checkDestination(_network: Network, address: ParsedAddress, _catalogue: Catalogue): Refusal | null {
  return BLACK_HOLES.has(address.canonical) ? invalid('an account without a key') : null;
}

/**
 * `CURRENCY:ISSUER` as the ledger spells it (three characters, or 40 hex digits in upper case). Refuses:
 * TOKEN_NOT_SUPPORTED.
 */
export function parseToken(network: Network, text: string): string | Refusal {
  const unsupported = refuse('TOKEN_NOT_SUPPORTED', { chain: 'xrp', reason: 'expected CURRENCY:ISSUER' });
  const [name, issuerText, ...rest] = text.split(':');
  if (name === undefined || issuerText === undefined || rest.length > 0) return unsupported;
  const currency = parseCurrency(name);
  const issuer = parseAddress(network, issuerText);
  if (currency === null || !issuer.ok || issuer.canonical !== issuerText) return unsupported;
  return `${currency}:${issuer.canonical}`;
}
