/**
 * What spends an output of a single key, by its script: the hash that is signed, where signature and key go, and
 * what such an input weighs.
 *
 *   p2pkh    script: <signature> <key>            witness: –                      hash of the legacy form
 *   p2sh     script: <00 14 hash160(key)>         witness: signature, key         BIP-143 (nested p2wpkh)
 *   p2wpkh   script: –                            witness: signature, key         BIP-143
 *   p2tr     script: –                            witness: signature              BIP-341, key path
 *
 * An ECDSA signature is DER || sighash type and has at most 72 bytes, because S is low; a Schnorr one has 64.
 */
import { schnorr } from '@noble/curves/secp256k1.js';
import { Transaction } from 'bitcoinjs-lib';
import secp256k1 from 'secp256k1';
import type { Network } from '../chain.ts';
import { signedOn } from '../sandbox-networks.ts';
import { hash160, outputOf, scriptOf, type Output, type ScriptKind } from './script.ts';

/** An output that a transaction spends. */
export interface Spent {
  readonly script: Uint8Array;
  readonly value: bigint;
}

/** Signature and public key as an input carries them; on taproot the script holds the key. */
export interface Unlocking {
  readonly signature: Uint8Array;
  readonly publicKey: Uint8Array | null;
}

export type SingleKeyKind = Exclude<ScriptKind, 'p2wsh'>;

const ALL = Transaction.SIGHASH_ALL;
const KEY_BYTES = 33;
const SCHNORR_BYTES = 64;

/** Highest weight of an input, weight units: 4 × (outpoint 36 + sequence 4 + length 1 + script) + witness. */
export const INPUT_WEIGHT: Readonly<Record<SingleKeyKind, number>> = {
  p2pkh: 4 * (41 + 1 + 72 + 1 + KEY_BYTES),
  p2sh: 4 * (41 + 23) + 1 + 1 + 72 + 1 + KEY_BYTES,
  p2wpkh: 4 * 41 + 1 + 1 + 72 + 1 + KEY_BYTES,
  p2tr: 4 * 41 + 1 + 1 + SCHNORR_BYTES,
};

/**
 * Lock times from here on are instants, not heights. Source: bitcoin/bitcoin src/script/script.h LOCKTIME_THRESHOLD.
 */
const LOCKTIME_HEIGHTS_END = 500_000_000;

/** True for a lock time that is a height. */
export function isHeight(locktime: number): boolean {
  return locktime < LOCKTIME_HEIGHTS_END;
}

/** What a script pays when one key can spend it; null for a witness script and for a script without an address. */
export function singleKeyOf(script: Uint8Array): (Output & { readonly kind: SingleKeyKind }) | null {
  const output = outputOf(script);
  return output === null || output.kind === 'p2wsh' ? null : (output as Output & { readonly kind: SingleKeyKind });
}

/** The script of a key's hash that BIP-143 signs in place of a witness program. */
const keyHashScript = (hash: Uint8Array): Uint8Array => scriptOf({ kind: 'p2pkh', program: hash });

/** The hash (32 bytes) that the key of an input signs; `publicKey` names the key behind a nested script. */
export function signatureHash(
  transaction: Transaction,
  index: number,
  spent: readonly Spent[],
  publicKey: Uint8Array,
): Uint8Array {
  const { script, value } = spent[index]!;
  const output = singleKeyOf(script);
  switch (output?.kind) {
    case 'p2pkh':
      return transaction.hashForSignature(index, script, ALL);
    case 'p2wpkh':
      return transaction.hashForWitnessV0(index, keyHashScript(output.program), value, ALL);
    case 'p2sh':
      return transaction.hashForWitnessV0(index, keyHashScript(hash160(publicKey)), value, ALL);
    case 'p2tr':
      return transaction.hashForWitnessV1(
        index,
        spent.map((one) => one.script),
        spent.map((one) => one.value),
        Transaction.SIGHASH_DEFAULT,
      );
    default:
      throw new RangeError('an output that no single key spends');
  }
}

interface Form {
  readonly script: Uint8Array;
  readonly witness: readonly Uint8Array[];
}

/** Where signature and key stand for a kind of script. */
function formOf(kind: SingleKeyKind, { signature, publicKey }: Unlocking): Form {
  const none = new Uint8Array();
  if (kind === 'p2tr') return { script: none, witness: [signature] };
  const key = publicKey!;
  if (kind === 'p2pkh') {
    return { script: Uint8Array.from([signature.length, ...signature, key.length, ...key]), witness: [] };
  }
  const redeem = kind === 'p2sh' ? scriptOf({ kind: 'p2wpkh', program: hash160(key) }) : none;
  return { script: kind === 'p2sh' ? Uint8Array.of(redeem.length, ...redeem) : none, witness: [signature, key] };
}

/** Puts signature and key where the script wants them. Throws: RangeError for a script that no single key spends. */
export function unlock(transaction: Transaction, index: number, script: Uint8Array, unlocking: Unlocking): void {
  const output = singleKeyOf(script);
  if (output === null) throw new RangeError('an output that no single key spends');
  const form = formOf(output.kind, unlocking);
  transaction.setInputScript(index, form.script);
  transaction.setWitness(index, [...form.witness]);
}

/** True when the input holds, in the one form that `unlock` writes, a signature of the key that the script pays. */
export function isUnlocked(
  transaction: Transaction,
  index: number,
  spent: readonly Spent[],
  on: Pick<Network, 'digestTag'>,
): boolean {
  const output = singleKeyOf(spent[index]!.script);
  if (output === null) return false;
  const found = unlockingIn(transaction, index, output.kind);
  if (found === null) return false;
  const input = transaction.ins[index]!,
    form = formOf(output.kind, found);
  const sameForm =
    equal(input.script, form.script) &&
    input.witness.length === form.witness.length &&
    input.witness.every((part, i) => equal(part, form.witness[i]!));
  return sameForm && paysKey(output, found.publicKey) && isSignature(transaction, index, spent, { output, found, on });
}

function unlockingIn(transaction: Transaction, index: number, kind: SingleKeyKind): Unlocking | null {
  const { script, witness } = transaction.ins[index]!;
  if (kind === 'p2tr') return witness[0] === undefined ? null : { signature: witness[0], publicKey: null };
  if (kind !== 'p2pkh') {
    const [signature, publicKey] = witness;
    return signature === undefined || publicKey === undefined ? null : { signature, publicKey };
  }
  const length = script[0] ?? 0;
  return { signature: script.subarray(1, 1 + length), publicKey: script.subarray(2 + length) };
}

function paysKey({ kind, program }: Output, publicKey: Uint8Array | null): boolean {
  if (kind === 'p2tr') return true;
  if (publicKey?.length !== KEY_BYTES) return false;
  const hash = hash160(publicKey);
  return equal(kind === 'p2sh' ? hash160(scriptOf({ kind: 'p2wpkh', program: hash })) : hash, program);
}

interface Claimed {
  readonly output: Output;
  readonly found: Unlocking;
  readonly on: Pick<Network, 'digestTag'>;
}

function isSignature(
  transaction: Transaction,
  index: number,
  spent: readonly Spent[],
  { output, found: { signature, publicKey }, on }: Claimed,
): boolean {
  try {
    const hash = signedOn(on, signatureHash(transaction, index, spent, publicKey ?? output.program));
    if (output.kind === 'p2tr') {
      return signature.length === SCHNORR_BYTES && schnorr.verify(signature, hash, output.program);
    }
    if (signature.at(-1) !== ALL) return false;
    // The library takes strict DER and low S only.
    return secp256k1.ecdsaVerify(secp256k1.signatureImport(signature.subarray(0, -1)), hash, publicKey!);
  } catch {
    return false; // bytes that are no signature or no point of the curve
  }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
