/** Address texts of Stellar. Spec: chains.md 9.1; SEP-0023. */
import { base32nopad } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Catalogue, Network, ParsedAddress } from '../chain.ts';
import { decodeStrkey, encodeStrkey, type StrkeyKind } from './strkey.ts';

const KEY_BYTES = 32;

function invalid(reason: string): Refusal {
  return refuse('INVALID_ADDRESS', { chain: 'xlm', reason });
}

/** Why a strkey of this kind is no account. */
const NOT_AN_ACCOUNT: Readonly<Record<Exclude<StrkeyKind, 'account' | 'muxed' | 'seed'>, string>> = {
  contract: 'a contract',
  pre_auth: 'a pre-authorised transaction',
  hash_x: 'a hash',
  signed_payload: 'a signed payload',
  pool: 'a liquidity pool',
  claimable_balance: 'a claimable balance',
};

/** The `G…` text of a 32-byte key. */
export function addressOf(key: Uint8Array): string {
  return encodeStrkey('account', key);
}

/**
 * The parsed form of a `G…` account, the only form that a deposit address has. Refuses: as `parseAddress`, and `M…`.
 */
export function parseAccount(network: Network, text: string): ParsedAddress | Refusal {
  const parsed = parseAddress(network, text);
  return parsed.ok && parsed.canonical !== text ? invalid('a muxed account') : parsed;
}

/**
 * The parsed form of a `G…` account or of an `M…` destination, whose id becomes the tag; canonical is always `G…`.
 * Refuses: INVALID_ADDRESS (contracts too: only a contract call pays them), KEY_MATERIAL_REJECTED (a seed).
 */
export function parseAddress(_network: Network, text: string): ParsedAddress | Refusal {
  const strkey = decodeStrkey(text);
  if (strkey === null) return invalid('not a strkey');
  const { kind, payload } = strkey;
  switch (kind) {
    case 'account':
      return { ok: true, canonical: text, kind: 'account', bytes: payload, tag: null };
    case 'muxed':
      return muxed(payload);
    case 'seed':
      return refuse('KEY_MATERIAL_REJECTED', { chain: 'xlm', reason: 'a secret seed is no address' });
    default:
      return invalid(NOT_AN_ACCOUNT[kind]);
  }
}

/** key(32) || id(8, big-endian) */
function muxed(payload: Uint8Array): ParsedAddress {
  const key = payload.subarray(0, KEY_BYTES);
  const id = new DataView(payload.buffer, payload.byteOffset + KEY_BYTES, 8).getBigUint64(0);
  return { ok: true, canonical: addressOf(key), kind: 'account', bytes: key, tag: id.toString() };
}

/** The 32-byte key of a canonical text, unchecked. */
export function bytesOf(canonical: string): Uint8Array {
  return base32nopad.decode(canonical).subarray(1, 1 + KEY_BYTES);
}

/** The account whose key is all zeros, which nobody holds. */
const ZERO_ACCOUNT = 'GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAWHF';

/** Refuses: INVALID_ADDRESS for the account of all zeros. */
export function checkDestination(_network: Network, address: ParsedAddress, _catalogue: Catalogue): Refusal | null {
  return address.canonical === ZERO_ACCOUNT ? invalid('an account without a key') : null;
}

const ASSET_CODE = /^[A-Za-z0-9]{1,12}$/;

/** `CODE:ISSUER`, both parts of which name the asset. Refuses: TOKEN_NOT_SUPPORTED. */
export function parseToken(network: Network, text: string): string | Refusal {
  const [code, issuer, ...rest] = text.split(':');
  const wellFormed =
    code !== undefined &&
    issuer !== undefined &&
    rest.length === 0 &&
    ASSET_CODE.test(code) &&
    parseAccount(network, issuer).ok;
  return wellFormed ? text : refuse('TOKEN_NOT_SUPPORTED', { chain: 'xlm', reason: 'expected CODE:ISSUER' });
}
