/**
 * Output scripts and their address texts. A script is what the chain pays; an address is only its spelling.
 *
 *   p2pkh   76 a9 14 hash(20) 88 ac      base58check(version || hash)
 *   p2sh    a9 14 hash(20) 87            base58check(version || hash)
 *   p2wpkh  00 14 hash(20)               bech32(hrp, 0 || hash)
 *   p2wsh   00 20 hash(32)               bech32(hrp, 0 || hash)
 *   p2tr    51 20 key(32)                bech32m(hrp, 1 || key)
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { BITCOIN_ALPHABET, createAddressCoder } from '../base58.ts';
import type { AddressPrefixes } from './network.ts';

export type ScriptKind = 'p2pkh' | 'p2sh' | 'p2wpkh' | 'p2wsh' | 'p2tr';

export interface Output {
  readonly kind: ScriptKind;
  /** The 20- or 32-byte hash or key that the script pays. */
  readonly program: Uint8Array;
}

/** For texts of any length, as people type them. */
export const base58check = createBase58check(sha256);

/** For the addresses of blocks. */
export const base58 = createAddressCoder(BITCOIN_ALPHABET);

/** RIPEMD-160 of SHA-256, 20 bytes. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

const SHAPES: Readonly<Record<ScriptKind, { head: readonly number[]; size: number; tail: readonly number[] }>> = {
  p2pkh: { head: [0x76, 0xa9, 0x14], size: 20, tail: [0x88, 0xac] },
  p2sh: { head: [0xa9, 0x14], size: 20, tail: [0x87] },
  p2wpkh: { head: [0x00, 0x14], size: 20, tail: [] },
  p2wsh: { head: [0x00, 0x20], size: 32, tail: [] },
  p2tr: { head: [0x51, 0x20], size: 32, tail: [] },
};

/** The script that pays an output. */
export function scriptOf(output: Output): Uint8Array {
  const { head, tail } = SHAPES[output.kind];
  return Uint8Array.from([...head, ...output.program, ...tail]);
}

const KINDS = Object.keys(SHAPES) as ScriptKind[];
const PATTERNS = KINDS.map((kind) => {
  const { head, size, tail } = SHAPES[kind];
  const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex');
  return { kind, hexLength: 2 * (head.length + size + tail.length), head: hex(head), tail: hex(tail) };
});

/** What a script in lower-case hex pays, or null for a script without an address. */
export function outputOfHex(script: string): Output | null {
  for (const { kind, hexLength, head, tail } of PATTERNS) {
    if (script.length !== hexLength || !script.startsWith(head) || !script.endsWith(tail)) continue;
    return { kind, program: Buffer.from(script.slice(head.length, script.length - tail.length), 'hex') };
  }
  return null;
}

/** What a script pays, or null for a script without an address (bare keys, bare multisig, data, unknown versions). */
export function outputOf(script: Uint8Array): Output | null {
  return outputOfHex(Buffer.from(script).toString('hex'));
}

/** The one address text of an output on a network; segwit in lower case. */
export function addressOf(prefixes: AddressPrefixes, { kind, program }: Output): string {
  switch (kind) {
    case 'p2pkh':
      return base58.encode(prefixes.p2pkh, program);
    case 'p2sh':
      return base58.encode(prefixes.p2sh, program);
    case 'p2wpkh':
    case 'p2wsh':
      return bech32.encode(prefixes.bech32, [0, ...bech32.toWords(program)]);
    case 'p2tr':
      return bech32m.encode(prefixes.bech32, [1, ...bech32m.toWords(program)]);
  }
}
