/**
 * Address texts of TRON. One account has three spellings in node answers, all of the same 20 bytes (G6):
 *
 *   base58check(41 || account(20))   what people see, `T…`, 34 characters (`visible: true`)
 *   hex(41 || account(20))           what nodes print by default
 *   hex(account(20))                 what logs and topics hold
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { BITCOIN_ALPHABET, createAddressCoder } from '../base58.ts';
import type { Catalogue, Network, ParsedAddress } from '../chain.ts';
import { ADDRESS_PREFIX } from './network.ts';

const base58check = createBase58check(sha256);
const base58 = createAddressCoder(BITCOIN_ALPHABET);
const ADDRESS_CHARACTERS = 34;
const ACCOUNT_BYTES = 20;
const HEX_ADDRESS = /^(?:41)?[0-9a-f]{40}$/;

function invalid(reason: string): Refusal {
  return refuse('INVALID_ADDRESS', { chain: 'tron', reason });
}

/** The `T…` text of a 20-byte account. */
export function addressOf(account: Uint8Array): string {
  return base58.encode(ADDRESS_PREFIX, account);
}

/**
 * The parsed form of a `T…` address; its bytes are the 20-byte account. Refuses: INVALID_ADDRESS (also hex spellings).
 */
export function parseAddress(_network: Network, text: string): ParsedAddress | Refusal {
  if (text.length !== ADDRESS_CHARACTERS) return invalid('length');
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(text);
  } catch {
    return invalid('not base58check');
  }
  if (bytes.length !== 1 + ACCOUNT_BYTES) return invalid('payload is not 20 bytes');
  if (bytes[0] !== ADDRESS_PREFIX) return invalid('prefix of another network');
  return { ok: true, canonical: text, kind: 'tron', bytes: bytes.subarray(1), tag: null };
}

/** The 20-byte account of a canonical text, unchecked. */
export function bytesOf(canonical: string): Uint8Array {
  return base58.payloadOf(canonical).subarray(1);
}

/** The `T…` text of an address as a node spells it (either hex form or base58), or null when it is not one. */
export function addressFromNode(network: Network, text: unknown): string | null {
  if (typeof text !== 'string') return null;
  if (text.length === ADDRESS_CHARACTERS) {
    const parsed = parseAddress(network, text);
    return parsed.ok ? parsed.canonical : null;
  }
  const hex = text.toLowerCase();
  // Forty digits that begin with 41 are a bare account; only forty-two carry the prefix.
  if (!HEX_ADDRESS.test(hex)) return null;
  return addressOf(Uint8Array.from(Buffer.from(hex.slice(-2 * ACCOUNT_BYTES), 'hex')));
}

/** The account of all zeros, which nobody holds the key of. Spec: chains.md 6.1. */
export const ZERO_ACCOUNT = 'T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb';

/** Refuses: INVALID_ADDRESS for the zero account and for the catalogue's own contracts. */
export function checkDestination(_network: Network, address: ParsedAddress, catalogue: Catalogue): Refusal | null {
  if (address.canonical === ZERO_ACCOUNT) return invalid('the zero account');
  if (catalogue.has(address.canonical)) return invalid('a token contract');
  return null;
}

/** The `T…` text of a TRC-20 contract. Refuses: TOKEN_NOT_SUPPORTED. */
export function parseToken(network: Network, text: string): string | Refusal {
  const parsed = parseAddress(network, text);
  return parsed.ok
    ? parsed.canonical
    : refuse('TOKEN_NOT_SUPPORTED', { chain: 'tron', reason: 'not a contract address' });
}
