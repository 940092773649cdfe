/**
 * Output scripts, their address texts, and what unlocks them, by bitcoinjs-lib: nothing of what signs for Flock judges
 * here what it signed. Of all that the chain allows this ledger runs what one key spends: p2pkh, p2wpkh, both of them
 * in p2sh, and the key path of taproot. Source: bitcoin/bitcoin src/script/interpreter.cpp,
 * src/script/script_error.cpp.
 */
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { address as addresses, crypto, networks, payments, script as scripts, Transaction } from 'bitcoinjs-lib';

const { OPS } = scripts;
const NETWORK = networks.bitcoin;
const PROGRAM_BYTES_MIN = 2,
  PROGRAM_BYTES_MAX = 40,
  VERSION_MAX = 16;
const TAPROOT_BYTES = 32;
/** Opcode of a witness version above 0, less the version. */
const VERSIONS_FROM = OPS['OP_1']! - 1;

export interface Spent {
  readonly script: Uint8Array;
  readonly value: bigint;
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0;

/** The script that an address text of the main network pays. Throws: Error for a text that is none. */
export function scriptOf(text: string): Uint8Array {
  if (!text.toLowerCase().startsWith(`${NETWORK.bech32}1`)) {
    const { version, hash } = addresses.fromBase58Check(text);
    if (version === NETWORK.pubKeyHash) return payments.p2pkh({ hash }).output!;
    if (version === NETWORK.scriptHash) return payments.p2sh({ hash }).output!;
    throw new RangeError('version of another network');
  }
  const { version, prefix, data } = addresses.fromBech32(text);
  if (prefix !== NETWORK.bech32) throw new RangeError('address of another network');
  if (version === 0)
    return data.length === 20 ? payments.p2wpkh({ hash: data }).output! : payments.p2wsh({ hash: data }).output!;
  if (version > VERSION_MAX || data.length < PROGRAM_BYTES_MIN || data.length > PROGRAM_BYTES_MAX) {
    throw new RangeError('a witness program of 2 to 40 bytes');
  }
  return scripts.compile([VERSIONS_FROM + version, data]);
}

export interface WitnessProgram {
  readonly version: number;
  readonly program: Uint8Array;
}

/** Version and program of a witness script; null for another script. Source: CScript::IsWitnessProgram. */
export function witnessProgramOf(script: Uint8Array): WitnessProgram | null {
  const program = script.subarray(2),
    version = script[0] === OPS['OP_0'] ? 0 : script[0]! - VERSIONS_FROM;
  const isProgram =
    program.length >= PROGRAM_BYTES_MIN && program.length <= PROGRAM_BYTES_MAX && script[1] === program.length;
  return isProgram && version >= 0 && version <= VERSION_MAX ? { version, program } : null;
}

/** True for an output that nobody can ever spend. Source: CScript::IsUnspendable. */
export const isUnspendable = (script: Uint8Array): boolean => script[0] === OPS['OP_RETURN'];

/** Type and address of an output script, as Core names them. */
export function describe(script: Uint8Array): { readonly type: string; readonly address?: string } {
  if (isUnspendable(script)) return { type: 'nulldata' };
  const witness = witnessProgramOf(script);
  if (witness !== null) return describeWitness(witness);
  for (const [type, pay] of [
    ['pubkeyhash', payments.p2pkh],
    ['scripthash', payments.p2sh],
  ] as const) {
    try {
      return { type, address: pay({ output: script }).address! };
    } catch {
      /* of another type */
    }
  }
  return { type: 'nonstandard' };
}

function describeWitness({ version, program }: WitnessProgram): { readonly type: string; readonly address?: string } {
  const address = addresses.toBech32(program, version, NETWORK.bech32);
  if (version > 0) {
    return {
      type: version === 1 && program.length === TAPROOT_BYTES ? 'witness_v1_taproot' : 'witness_unknown',
      address,
    };
  }
  const type = program.length === 20 ? 'witness_v0_keyhash' : program.length === 32 ? 'witness_v0_scripthash' : null;
  return type === null ? { type: 'nonstandard' } : { type, address };
}

class ScriptError extends Error {}
function fail(text: string): never {
  throw new ScriptError(text);
}

const NULLFAIL = 'Signature must be zero for failed CHECK(MULTI)SIG operation';
const HASH_DIFFERS = 'Script failed an OP_EQUALVERIFY operation',
  PROGRAM_DIFFERS = 'Witness program hash mismatch';
const WITNESS_UNEXPECTED = 'Witness provided for non-witness script';

/** Why an input does not unlock what it spends, in the interpreter's words; null when it does. */
export function scriptErrorOf(transaction: Transaction, index: number, spent: readonly Spent[]): string | null {
  try {
    run(transaction, index, spent);
    return null;
  } catch (error) {
    return error instanceof ScriptError ? error.message : 'unknown error';
  }
}

function run(transaction: Transaction, index: number, spent: readonly Spent[]): void {
  const { script: output } = spent[index]!,
    { script: input, witness } = transaction.ins[index]!;
  const program = witnessProgramOf(output);
  if (program !== null) {
    if (input.length > 0) fail('Witness requires empty scriptSig');
    return void runWitness(transaction, index, spent, program);
  }
  const { type } = describe(output),
    pushes = pushesOf(input);
  if (type === 'pubkeyhash') {
    if (witness.length > 0) fail(WITNESS_UNEXPECTED);
    return void runKeyHash(transaction, index, output, pushes);
  }
  if (type !== 'scripthash') fail('a script that this ledger has no machine for');
  const redeem = pushes.at(-1) ?? fail('Operation not valid with the current stack size');
  if (!equal(payments.p2sh({ hash: crypto.hash160(redeem) }).output!, output)) {
    fail('Script evaluated without error but finished with a false/empty top stack element');
  }
  const inner = witnessProgramOf(redeem);
  if (inner === null) {
    if (witness.length > 0) fail(WITNESS_UNEXPECTED);
    if (describe(redeem).type !== 'pubkeyhash') fail('a script that this ledger has no machine for');
    return void runKeyHash(transaction, index, redeem, pushes.slice(0, -1));
  }
  if (!equal(input, scripts.compile([redeem]))) fail('Witness requires only-redeemscript scriptSig');
  if (inner.version !== 0) fail('a script that this ledger has no machine for');
  runWitness(transaction, index, spent, inner);
}

/** What an input script pushes; each push has to be written in the shortest way. */
function pushesOf(input: Uint8Array): readonly Uint8Array[] {
  const chunks = scripts.decompile(input) ?? fail('Opcode missing or not understood');
  if (!scripts.isPushOnly(chunks)) fail('Only push operators allowed in signatures');
  if (!equal(scripts.compile(chunks), input)) fail('Data push larger than necessary');
  return scripts.toStack(chunks);
}

function runWitness(
  transaction: Transaction,
  index: number,
  spent: readonly Spent[],
  { version, program }: WitnessProgram,
): void {
  const { witness } = transaction.ins[index]!,
    [signature, publicKey] = witness;
  if (version === 0 && program.length === 20) {
    if (witness.length !== 2) fail(PROGRAM_DIFFERS);
    const code = payments.p2pkh({ hash: program }).output!,
      { value } = spent[index]!;
    if (!equal(crypto.hash160(publicKey!), program)) fail(HASH_DIFFERS);
    if (publicKey!.length !== 33) fail('Using non-compressed keys in segwit');
    return void checkEcdsa(signature!, publicKey!, (type) => transaction.hashForWitnessV0(index, code, value, type));
  }
  if (version !== 1 || program.length !== TAPROOT_BYTES) fail('a script that this ledger has no machine for');
  if (signature === undefined) fail('Witness program was passed an empty witness');
  if (witness.length !== 1) fail('a script that this ledger has no machine for');
  checkSchnorr(transaction, index, spent, program, signature);
}

function runKeyHash(transaction: Transaction, index: number, code: Uint8Array, pushes: readonly Uint8Array[]): void {
  const [signature, publicKey] = pushes;
  if (signature === undefined || publicKey === undefined) fail('Operation not valid with the current stack size');
  if (pushes.length !== 2) fail('Stack size must be exactly one after execution');
  if (!equal(payments.p2pkh({ hash: crypto.hash160(publicKey) }).output!, code)) fail(HASH_DIFFERS);
  checkEcdsa(signature, publicKey, (type) => transaction.hashForSignature(index, code, type));
}

function checkEcdsa(signature: Uint8Array, publicKey: Uint8Array, hashOf: (type: number) => Uint8Array): void {
  if (signature.length === 0) fail('Script evaluated without error but finished with a false/empty top stack element');
  if (!scripts.isCanonicalPubKey(publicKey)) fail('Public key is neither compressed or uncompressed');
  if (!scripts.isDefinedHashType(signature.at(-1)!)) fail('Signature hash type missing or not understood');
  if (!scripts.isCanonicalScriptSignature(signature)) fail('Non-canonical DER signature');
  const { signature: compact, hashType } = scripts.signature.decode(signature);
  if (secp256k1.Signature.fromBytes(compact, 'compact').hasHighS()) {
    fail('Non-canonical signature: S value is unnecessarily high');
  }
  if (!secp256k1.verify(compact, hashOf(hashType), publicKey, { prehash: false, lowS: true })) fail(NULLFAIL);
}

/** BIP-341: 64 bytes sign by DEFAULT, a 65th names another type. */
function checkSchnorr(
  transaction: Transaction,
  index: number,
  spent: readonly Spent[],
  key: Uint8Array,
  signature: Uint8Array,
): void {
  if (signature.length !== 64 && signature.length !== 65) fail('Invalid Schnorr signature size');
  const type = signature[64] ?? Transaction.SIGHASH_DEFAULT;
  const isSingle = (type & Transaction.SIGHASH_OUTPUT_MASK) === Transaction.SIGHASH_SINGLE;
  const isKnown = signature.length === 64 || scripts.isDefinedHashType(type);
  if (!isKnown || (isSingle && index >= transaction.outs.length)) fail('Invalid Schnorr signature hash type');
  const hash = transaction.hashForWitnessV1(
    index,
    spent.map(({ script }) => script),
    spent.map(({ value }) => value),
    type,
  );
  if (!schnorr.verify(signature.subarray(0, 64), hash, key)) fail('Invalid Schnorr signature');
}
