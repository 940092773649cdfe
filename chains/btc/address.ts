/** Address texts of the Bitcoin family. Spec: chains.md 4.1; BIP-13, BIP-173, BIP-350. */
import { bech32, bech32m } from '@scure/base';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import type { Catalogue, ParsedAddress } from '../chain.ts';
import { bitcoin, litecoinRegtest, type BtcNetwork } from './network.ts';
import { addressOf, base58, base58check, scriptOf, type Output } from './script.ts';

/** BIP-173: "at most 90 characters long"; no base58 address is longer than 35. */
const ADDRESS_CHARACTERS_MAX = 90;
const HASH_BYTES = 20;
const WITNESS_SCRIPT_BYTES = 32;

function invalid(reason: string): Refusal {
  return refuse('INVALID_ADDRESS', { chain: 'btc', reason });
}

/**
 * The parsed form of an address of this network; its bytes are the script that pays it.
 * Refuses: INVALID_ADDRESS (also testnet versions, the wrong checksum for a witness version, and versions above 1,
 * which the format allows and we do not pay).
 */
export function parseAddress(network: BtcNetwork, text: string): ParsedAddress | Refusal {
  if (text === '' || text.length > ADDRESS_CHARACTERS_MAX) return invalid('length');
  const segwit = text.toLowerCase().startsWith(`${network.prefixes.bech32}1`);
  const output = segwit ? parseSegwit(network, text) : parseBase58(network, text);
  if ('ok' in output) return output;
  return {
    ok: true,
    canonical: addressOf(network.prefixes, output),
    kind: output.kind,
    bytes: scriptOf(output),
    tag: null,
  };
}

/** version(1) || hash(20) || checksum(4) */
function parseBase58(network: BtcNetwork, text: string): Output | Refusal {
  let bytes: Uint8Array;
  try {
    bytes = base58check.decode(text);
  } catch {
    return invalid('not base58check');
  }
  if (bytes.length !== 1 + HASH_BYTES) return invalid('payload is not 20 bytes');
  const program = bytes.subarray(1);
  if (bytes[0] === network.prefixes.p2pkh) return { kind: 'p2pkh', program };
  if (bytes[0] === network.prefixes.p2sh) return { kind: 'p2sh', program };
  return invalid('version of another network');
}

/** version(5 bits) || program || checksum(30 bits); version 0 in bech32, all later ones in bech32m. */
function parseSegwit(network: BtcNetwork, text: string): Output | Refusal {
  const decoded = decodeWords(text);
  if (decoded === null) return invalid('not bech32 or bech32m');
  const { prefix, words, modified } = decoded;
  if (prefix !== network.prefixes.bech32) return invalid('human-readable part of another network');
  const version = words[0];
  if (version === undefined) return invalid('empty data part');
  if ((version === 0) === modified) return invalid('checksum of another witness version');
  let program: Uint8Array;
  try {
    program = bech32.fromWords(words.slice(1));
  } catch {
    return invalid('padding');
  }
  if (version === 0 && program.length === HASH_BYTES) return { kind: 'p2wpkh', program };
  if (version === 0 && program.length === WITNESS_SCRIPT_BYTES) return { kind: 'p2wsh', program };
  if (version === 1 && program.length === WITNESS_SCRIPT_BYTES) return { kind: 'p2tr', program };
  return invalid(version > 1 ? 'witness version above 1' : 'length of the witness program');
}

function decodeWords(text: string): { prefix: string; words: number[]; modified: boolean } | null {
  for (const [coder, modified] of [
    [bech32, false],
    [bech32m, true],
  ] as const) {
    const decoded = coder.decodeUnsafe(text, ADDRESS_CHARACTERS_MAX);
    if (decoded !== undefined) return { prefix: decoded.prefix, words: [...decoded.words], modified };
  }
  return null;
}

const P2PKH_VERSIONS = [bitcoin, litecoinRegtest].map(({ prefixes }) => prefixes.p2pkh);

/** The script of a canonical text of either network, unchecked. */
export function bytesOf(canonical: string): Uint8Array {
  const decoded = decodeWords(canonical);
  if (decoded === null) {
    const payload = base58.payloadOf(canonical);
    return scriptOf({ kind: P2PKH_VERSIONS.includes(payload[0]!) ? 'p2pkh' : 'p2sh', program: payload.subarray(1) });
  }
  const program = bech32.fromWords(decoded.words.slice(1));
  const kind = decoded.modified ? 'p2tr' : program.length === HASH_BYTES ? 'p2wpkh' : 'p2wsh';
  return scriptOf({ kind, program });
}

/** Every well-formed address may be paid; null. */
export function checkDestination(_network: BtcNetwork, _address: ParsedAddress, _catalogue: Catalogue): Refusal | null {
  return null;
}

/** Refuses: TOKEN_NOT_SUPPORTED, always: no token on this chain has an issuer that we list (chains.md part 11). */
export function parseToken(_network: BtcNetwork, _text: string): Refusal {
  return refuse('TOKEN_NOT_SUPPORTED', { chain: 'btc', reason: 'no tokens on this chain' });
}
