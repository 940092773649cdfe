/**
 * Address texts of Solana: base58 of 32 bytes, without a checksum, so that a typing error can still decode.
 * A point of Ed25519 is a wallet, whose key can exist; any other text of 32 bytes belongs to a program.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Catalogue, Network, ParsedAddress } from '../chain.ts';

const KEY_BYTES = 32;
/** 32 bytes take 32 (all zero) to 44 base58 characters. */
const ADDRESS_CHARACTERS_MIN = 32;
const ADDRESS_CHARACTERS_MAX = 44;
/** A secret key is 64 bytes, 86 to 88 characters. */
const SECRET_BYTES = 64;
const SECRET_CHARACTERS_MIN = 80;
const SECRET_CHARACTERS_MAX = 88;

function invalid(reason: string): Refusal {
  return refuse('INVALID_ADDRESS', { chain: 'sol', reason });
}

function decode(text: string): Uint8Array | null {
  try {
    return base58.decode(text);
  } catch {
    return null;
  }
}

/**
 * True when the 32 bytes are a point of Ed25519, as the network itself decides it (any sign bit, any y below 2^255).
 */
export function onCurve(key: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(key, true);
    return true;
  } catch {
    return false;
  }
}

/**
 * The parsed form of an address; `pda` when no key can exist for it. Refuses: INVALID_ADDRESS, KEY_MATERIAL_REJECTED.
 */
export function parseAddress(_network: Network, text: string): ParsedAddress | Refusal {
  if (
    text.length >= SECRET_CHARACTERS_MIN &&
    text.length <= SECRET_CHARACTERS_MAX &&
    decode(text)?.length === SECRET_BYTES
  ) {
    // A signature has the same form; neither is an address, and only one of them must not be repeated.
    return refuse('KEY_MATERIAL_REJECTED', { chain: 'sol', reason: '64 bytes: a signature or a secret key' });
  }
  if (text.length < ADDRESS_CHARACTERS_MIN || text.length > ADDRESS_CHARACTERS_MAX) return invalid('length');
  const bytes = decode(text);
  if (bytes === null) return invalid('not base58');
  if (bytes.length !== KEY_BYTES) return invalid('not 32 bytes');
  if (base58.encode(bytes) !== text) return invalid('not the canonical text');
  return { ok: true, canonical: text, kind: onCurve(bytes) ? 'wallet' : 'pda', bytes, tag: null };
}

/** The 32 bytes of a canonical text, unchecked; the curve is not looked at, which takes longer than all the rest. */
export function bytesOf(canonical: string): Uint8Array {
  return base58.decode(canonical);
}

/** Programs, loaders and the incinerator: what is sent there is gone. Source: solana-labs/solana sdk/program. */
const DEAD_ENDS = new Set([
  '11111111111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'ComputeBudget111111111111111111111111111111',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  'Vote111111111111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Config1111111111111111111111111111111111111',
  'AddressLookupTab1e1111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'KeccakSecp256k11111111111111111111111111111',
  'NativeLoader1111111111111111111111111111111',
  'BPFLoader1111111111111111111111111111111111',
  'BPFLoader2111111111111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'LoaderV411111111111111111111111111111111111',
]);

/** Refuses: INVALID_ADDRESS for programs, sysvars, the incinerator and the catalogue's mints. Spec: chains.md 7.1. */
export function checkDestination(_network: Network, address: ParsedAddress, catalogue: Catalogue): Refusal | null {
  if (DEAD_ENDS.has(address.canonical) || address.canonical.startsWith('Sysvar'))
    return invalid('a program or a sysvar');
  if (catalogue.has(address.canonical)) return invalid('a mint');
  return null;
}

/** The mint of a token. Refuses: TOKEN_NOT_SUPPORTED. */
export function parseToken(network: Network, text: string): string | Refusal {
  const parsed = parseAddress(network, text);
  return parsed.ok ? parsed.canonical : refuse('TOKEN_NOT_SUPPORTED', { chain: 'sol', reason: 'not a mint' });
}
