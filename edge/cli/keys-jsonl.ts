/**
 * `flock-edge keys --jsonl`: addresses and public keys from a phrase, asked and answered in lines of JSON. Phrases come
 * from standard input only, and nothing of them is ever written: not in an answer, not in an error, not in a log.
 * No network, no data directory; what recovery from the phrase alone begins with.
 */
import { SCRIPT_TYPES, type ScriptType } from '../../chains/btc/derive.ts';
import { refuse, type Refusal } from '../../protocol/errors.ts';
import { answersTo, writeAnswers, type Operation, type Request } from '../../protocol/node/json-lines.ts';
import {
  chainField,
  optionalTextField,
  refuseField,
  textField,
  wordField,
} from '../../protocol/node/request-fields.ts';
import { accountXpub, curveOf, identityKeyPair, isMnemonic, seedOf } from '../keystore/keys.ts';
import { addressAt, canonicalPath, isHardened, rootSolanaAddress, scriptOfPath } from '../keystore/phrase-address.ts';

/** A phrase of 24 words takes 215 characters. */
const LINE_BYTES_MAX = 65_536;

/** The operations by name; tests call them without a process. */
export const operations: Readonly<Record<string, Operation>> = { derive, xpub, identity, mnemonic };

/** `{address, path}`. Refuses: INVALID_CHAIN, INVALID_INPUT. */
function derive(request: Request): object | Refusal {
  const chain = chainField(request);
  // Some wallets use a phrase on Solana without any path, which a request says with null.
  if (chain === 'sol' && request['path'] === null)
    return withSeed(request, (seed) => ({ address: rootSolanaAddress(seed), path: null }));
  const path = pathField(request);
  if (curveOf(chain) === 'ed25519' && !isHardened(path))
    refuseField('path', 'hardened steps only, as Ed25519 needs them');
  const script = chain === 'btc' ? scriptField(request, scriptOfPath(path)) : undefined;
  return withSeed(request, (seed) => ({ address: addressAt(seed, chain, path, script), path }));
}

/** `{xpub}`. Refuses: INVALID_CHAIN, INVALID_INPUT. */
function xpub(request: Request): object | Refusal {
  const chain = chainField(request);
  if (curveOf(chain) === 'ed25519') return refuse('INVALID_INPUT', {}, `chain: ${chain} has no extended public keys`);
  const path = pathField(request);
  return withSeed(request, (seed) => ({ xpub: accountXpub(seed, path) }));
}

/** `{publicKey}`, 64 hex digits: what the cloud pins of this phrase's edge. Refuses: INVALID_INPUT. */
function identity(request: Request): object {
  return withSeed(request, (seed) => {
    const { privateKey, publicKey } = identityKeyPair(seed);
    privateKey.fill(0);
    return { publicKey };
  });
}

const WORD_COUNTS = [12, 15, 18, 21, 24];

/** `{valid: true}`, or `{valid: false, reason}`. Refuses: INVALID_INPUT. */
function mnemonic(request: Request): object {
  const phrase = textField(request, 'mnemonic');
  if (isMnemonic(phrase)) return { valid: true };
  const count = phrase.split(' ').length;
  return {
    valid: false,
    reason: WORD_COUNTS.includes(count) ? 'a word that is not in the list, or the checksum' : 'number of words',
  };
}

/** Gives the seed of the request's phrase to `use`, and zeroes it. Throws: Refused for a phrase that is none. */
function withSeed<T>(request: Request, use: (seed: Uint8Array) => T): T {
  const phrase = textField(request, 'mnemonic');
  const passphrase = optionalTextField(request, 'passphrase', '');
  if (!isMnemonic(phrase)) refuseField('mnemonic', 'an English BIP-39 phrase with its checksum');
  const seed = seedOf(phrase, passphrase);
  try {
    return use(seed);
  } finally {
    seed.fill(0);
  }
}

function pathField(request: Request): string {
  return canonicalPath(textField(request, 'path')) ?? refuseField('path', "an absolute path such as m/44'/60'/0'/0/0");
}

/** `p2sh` is read as the one form that a single key has there. */
function scriptField(request: Request, fallback: ScriptType): ScriptType {
  const word = wordField(request, 'script', [...SCRIPT_TYPES, 'p2sh'] as const, fallback);
  return word === 'p2sh' ? 'p2sh-p2wpkh' : word;
}

/** Answers standard input until it ends. Answers the exit code: 0, or 2 for a wrong invocation. */
export async function keysJsonl(args: readonly string[]): Promise<number> {
  if (args.length !== 1 || args[0] !== '--jsonl') {
    // The arguments are not repeated: a phrase may be among them.
    console.error('usage: flock-edge keys --jsonl, phrases on standard input only');
    return 2;
  }
  await writeAnswers(answersTo(process.stdin, { operations, lineBytesMax: LINE_BYTES_MAX }), process.stdout);
  return 0;
}
