/** Scripts that descriptors stand for. Source: BIP-381, BIP-383, BIP-386, BIP-387; BIP-341 for the tree. */
import { schnorr } from '@noble/curves/secp256k1.js';

const OP_1 = 0x51;
const OP_CHECKSIG = 0xac;
const OP_CHECKMULTISIG = 0xae;
const OP_NUMEQUAL = 0x9c;
const OP_CHECKSIGADD = 0xba;
const LEAF_VERSION = 0xc0;

const push = (bytes: Uint8Array): number[] => [bytes.length, ...bytes];

/** A number as scripts write it: an opcode up to 16, else little-endian with a sign bit. */
function pushNumber(value: number): number[] {
  if (value <= 16) return [OP_1 - 1 + value];
  return value < 0x80 ? [1, value] : [2, value & 0xff, value >> 8];
}

/** `<key> OP_CHECKSIG` */
export function keyScript(key: Uint8Array): Uint8Array {
  return Uint8Array.from([...push(key), OP_CHECKSIG]);
}

/** `<threshold> <key>… <count> OP_CHECKMULTISIG` */
export function multiScript(threshold: number, keys: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from([
    ...pushNumber(threshold),
    ...keys.flatMap(push),
    ...pushNumber(keys.length),
    OP_CHECKMULTISIG,
  ]);
}

/** `<key> OP_CHECKSIG (<key> OP_CHECKSIGADD)… <threshold> OP_NUMEQUAL`, keys of 32 bytes */
export function multiAScript(threshold: number, keys: readonly Uint8Array[]): Uint8Array {
  const checks = keys.flatMap((key, index) => [...push(key), index === 0 ? OP_CHECKSIG : OP_CHECKSIGADD]);
  return Uint8Array.from([...checks, ...pushNumber(threshold), OP_NUMEQUAL]);
}

/** Keys in the order of their bytes. Source: BIP-67. */
export function sortedKeys(keys: readonly Uint8Array[]): Uint8Array[] {
  return [...keys].sort((a, b) => Buffer.compare(a, b));
}

function compactSize(size: number): number[] {
  return size < 0xfd ? [size] : [0xfd, size & 0xff, size >> 8];
}

/** Hash of a leaf: version(1) || size || script, tagged. */
export function leafHash(script: Uint8Array): Uint8Array {
  return schnorr.utils.taggedHash('TapLeaf', Uint8Array.from([LEAF_VERSION, ...compactSize(script.length), ...script]));
}

/** Hash of a branch: its two hashes in the order of their bytes, tagged. */
export function branchHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const [first, second] = Buffer.compare(left, right) <= 0 ? [left, right] : [right, left];
  return schnorr.utils.taggedHash('TapBranch', first, second);
}
