/**
 * Which scripts a transaction spends. Bitcoin Core names them at verbosity 3 (`prevout`); at verbosity 2 an input
 * still reveals the key or the script behind a hash, because spending it requires that. Only a taproot key spend and a
 * bare script reveal nothing. Used to distinguish change from a payment. Spec: chains.md G21, B9.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesIn, listIn, objectIn, type Answer } from '../node-answer.ts';
import { hash160, scriptOf } from './script.ts';

const COMPRESSED_BYTES = 33;
const UNCOMPRESSED_BYTES = 65;
/** A nested witness program is one push: length(1) || version 0(1) || length(1) || hash(20 or 32). */
const NESTED_KEY_BYTES = 23;
const NESTED_SCRIPT_BYTES = 35;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** True for the coinbase input, which spends nothing. */
export function isCoinbase(input: Answer): boolean {
  return input['coinbase'] !== undefined;
}

/** Scripts (hex) that an input spends or may spend; none for a coinbase and for an input that reveals nothing. */
export function spentScripts(input: Answer): readonly string[] {
  if (isCoinbase(input)) return [];
  const { prevout, scriptSig, txinwitness } = input;
  if (prevout !== undefined && prevout !== null) {
    const script = objectIn(objectIn(prevout, 'prevout')['scriptPubKey'], 'scriptPubKey of a prevout');
    return [hex(bytesIn(script['hex'], 'script of a prevout'))];
  }
  const signature =
    scriptSig === undefined || scriptSig === null
      ? new Uint8Array()
      : bytesIn(objectIn(scriptSig, 'scriptSig')['hex'] ?? '', 'scriptSig');
  const witness =
    txinwitness === undefined || txinwitness === null
      ? []
      : listIn(txinwitness, 'txinwitness').map((part) => bytesIn(part, 'witness'));
  return (witness.length > 0 ? revealedByWitness(signature, witness) : revealedBySignature(signature)).map(hex);
}

function revealedByWitness(signature: Uint8Array, witness: readonly Uint8Array[]): Uint8Array[] {
  if (signature.length === NESTED_KEY_BYTES || signature.length === NESTED_SCRIPT_BYTES) {
    return [scriptOf({ kind: 'p2sh', program: hash160(signature.subarray(1)) })];
  }
  const last = witness.at(-1)!;
  if (witness.length === 2 && isPublicKey(last) && last.length === COMPRESSED_BYTES) {
    return [scriptOf({ kind: 'p2wpkh', program: hash160(last) })];
  }
  return witness.length > 1 ? [scriptOf({ kind: 'p2wsh', program: sha256(last) })] : [];
}

function revealedBySignature(signature: Uint8Array): Uint8Array[] {
  const pushes = pushesOf(signature);
  const last = pushes?.at(-1);
  if (pushes === null || last === undefined) return [];
  // A redeem script may be as long as a key: both readings are kept, the wrong one matches nothing.
  const nested = scriptOf({ kind: 'p2sh', program: hash160(last) });
  const isKeySpend = pushes.length === 2 && isPublicKey(last);
  return isKeySpend ? [scriptOf({ kind: 'p2pkh', program: hash160(last) }), nested] : [nested];
}

function isPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length === COMPRESSED_BYTES) return bytes[0] === 2 || bytes[0] === 3;
  return bytes.length === UNCOMPRESSED_BYTES && bytes[0] === 4;
}

const OP_PUSHDATA1 = 0x4c;
const OP_PUSHDATA2 = 0x4d;
const OP_1NEGATE = 0x4f;
const OP_16 = 0x60;

/** The pushes of a script that only pushes, as a spend of a hash must; null for any other script. */
function pushesOf(script: Uint8Array): Uint8Array[] | null {
  const pushes: Uint8Array[] = [];
  for (let at = 0; at < script.length;) {
    const opcode = script[at]!;
    let size = opcode;
    let start = at + 1;
    if (opcode === OP_PUSHDATA1) [size, start] = [script[at + 1] ?? 0, at + 2];
    else if (opcode === OP_PUSHDATA2) [size, start] = [(script[at + 1] ?? 0) | ((script[at + 2] ?? 0) << 8), at + 3];
    else if (opcode >= OP_1NEGATE && opcode <= OP_16)
      size = 0; // a small number
    else if (opcode > OP_PUSHDATA2) return null;
    if (start + size > script.length) return null;
    pushes.push(script.subarray(start, start + size));
    at = start + size;
  }
  return pushes;
}
