/**
 * Key expressions of output descriptors.
 *
 *   [fingerprint/step/…]? key /step/… /<step;step;…>? /*?      steps below an extended public key are never hardened
 *
 * Source: BIP-380 (keys and origins), BIP-386 (32-byte keys inside tr), BIP-389 (multipath).
 */
import { HDKey } from '@scure/bip32';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { refuse, Refused } from '../../protocol/errors.ts';
import { HARDENED, parseXpub } from '../secp256k1.ts';
import { base58check } from './script.ts';

export interface DescriptorKey {
  /** Ends with `/*`: one key per index. */
  readonly ranged: boolean;
  /** Alternatives of its multipath step, 1 without one. */
  readonly branches: number;
  readonly form: 'compressed' | 'uncompressed' | 'x-only';
  /** Public key bytes: 33, 65 or 32 by form. */
  keyAt(branch: number, index: number): Uint8Array;
}

/** Throws: Refused INVALID_INPUT with the reason; the text is never repeated. */
export function invalidDescriptor(reason: string): never {
  throw new Refused(refuse('INVALID_INPUT', { reason }));
}

const ORIGIN = /^\[([^[\]]*)\](.*)$/;
const ORIGIN_FORM = /^[0-9a-fA-F]{8}(?:\/[0-9]{1,10}['h]?)*$/;
const STEP = /^([0-9]{1,10})(['h]?)$/;
const MULTIPATH = /^<([^<>]*)>$/;
/** BIP-32 counts depth in one byte. */
const STEPS_MAX = 255;
const BRANCHES_MAX = 100;

/** WIF: version(1) || key(32) || 01 if compressed; an extended private key begins with `?prv`. */
const WIF_VERSIONS = [0x80, 0xef];

/** True for the texts that keys are exported in: they are refused before anything else is said of them. */
export function looksPrivate(text: string): boolean {
  if (/[a-zA-Z]prv/.test(text)) return true;
  const bytes = decodeBase58(text);
  return bytes !== null && (bytes.length === 33 || bytes.length === 34) && WIF_VERSIONS.includes(bytes[0]!);
}

/** A WIF has 51 or 52 characters; decoding takes time with the square of the length. */
const WIF_CHARACTERS_MAX = 64;

function decodeBase58(text: string): Uint8Array | null {
  if (text.length > WIF_CHARACTERS_MAX) return null;
  try {
    return base58check.decode(text);
  } catch {
    return null;
  }
}

/** Throws: Refused INVALID_INPUT. */
export function parseDescriptorKey(expression: string): DescriptorKey {
  let text = expression;
  if (text.startsWith('[')) {
    const origin = ORIGIN.exec(text) ?? invalidDescriptor('key origin');
    if (!ORIGIN_FORM.test(origin[1]!)) invalidDescriptor('key origin');
    for (const step of origin[1]!.split('/').slice(1)) stepOf(step);
    text = origin[2]!;
  }
  const [key = '', ...steps] = text.split('/');
  if (looksPrivate(key)) invalidDescriptor('holds a private key');
  return /^[0-9a-fA-F]*$/.test(key) ? plainKey(key, steps) : extendedKey(key, steps);
}

function plainKey(hex: string, steps: readonly string[]): DescriptorKey {
  if (steps.length > 0) invalidDescriptor('steps below a plain key');
  const forms = { 66: 'compressed', 130: 'uncompressed', 64: 'x-only' } as const;
  const form = forms[hex.length as keyof typeof forms] ?? invalidDescriptor('length of a public key');
  const bytes = Uint8Array.from(Buffer.from(hex, 'hex'));
  const point = form === 'x-only' ? Uint8Array.of(2, ...bytes) : bytes;
  if (!secp256k1.utils.isValidPublicKey(point)) invalidDescriptor('a public key that is not on the curve');
  return { ranged: false, branches: 1, form, keyAt: () => bytes };
}

function extendedKey(text: string, steps: readonly string[]): DescriptorKey {
  const parsed = parseXpub(text);
  // BIP-380 knows one public version of the main network; ypub and zpub would contradict the script they stand in.
  if (!parsed.ok || parsed.version !== 'xpub') return invalidDescriptor('extended key');
  if (steps.length > STEPS_MAX) invalidDescriptor('too many steps');
  const ranged = steps.at(-1) === '*';
  if (/^\*['h]$/.test(steps.at(-1) ?? '')) invalidDescriptor('hardened step below a public key');
  const alternatives = (ranged ? steps.slice(0, -1) : steps).map(alternativesOf);
  const multiple = alternatives.filter((choices) => choices.length > 1);
  if (multiple.length > 1) invalidDescriptor('more than one multipath step');
  const branches = multiple[0]?.length ?? 1;
  const root = HDKey.fromExtendedKey(parsed.xpub);
  const parents = Array.from({ length: branches }, (_, branch) =>
    alternatives.reduce((node, choices) => node.deriveChild(choices[choices.length > 1 ? branch : 0]!), root),
  );
  return {
    ranged,
    branches,
    form: 'compressed',
    keyAt: (branch, index) => {
      const parent = parents[branches === 1 ? 0 : branch]!;
      return (ranged ? parent.deriveChild(index) : parent).publicKey!;
    },
  };
}

function alternativesOf(step: string): readonly number[] {
  const multipath = MULTIPATH.exec(step)?.[1];
  const choices = (multipath === undefined ? [step] : multipath.split(';')).map(publicStep);
  if (multipath !== undefined && (choices.length < 2 || choices.length > BRANCHES_MAX)) {
    invalidDescriptor('multipath step');
  }
  if (new Set(choices).size !== choices.length) invalidDescriptor('a multipath step names an index twice');
  return choices;
}

function publicStep(text: string): number {
  const { index, hardened } = stepOf(text);
  return hardened ? invalidDescriptor('hardened step below a public key') : index;
}

function stepOf(text: string): { index: number; hardened: boolean } {
  const [, digits, mark] = STEP.exec(text) ?? invalidDescriptor('derivation step');
  const index = Number(digits);
  if (index >= HARDENED) invalidDescriptor('derivation index out of range');
  return { index, hardened: mark !== '' };
}
