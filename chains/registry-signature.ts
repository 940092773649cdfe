/**
 * Who may publish a version of the token registry: two of the platform's registry keys sign each, so that no one person
 * adds a token. Ed25519 over `flock-registry-v1`, version and hash, joined by `\n`. Treasury K7.
 */
import { createPublicKey, verify } from 'node:crypto';
import { registryHash, type Registry } from './catalogue.ts';

export interface RegistrySignature {
  /** 64 hex digits, lower case. */
  readonly key: string;
  /** 128 hex digits. */
  readonly signature: string;
}

/** Two people: a version with one key's signature is nobody's. */
export const REGISTRY_SIGNATURES_MIN = 2;

/** DER header of an Ed25519 public key: what follows is the 32-byte key. Source: RFC 8410 §4. */
const SPKI_HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** What a registry key signs. */
export function registrySigningText(from: Registry): Buffer {
  return Buffer.from(`flock-registry-v1\n${from.version}\n${registryHash(from)}`);
}

/** Whether two different keys of these signed a version. */
export function isRegistrySigned(
  from: Registry,
  signatures: readonly RegistrySignature[],
  keys: ReadonlySet<string>,
): boolean {
  const text = registrySigningText(from);
  const signers = new Set(
    signatures.flatMap(({ key, signature }) => (keys.has(key) && isSignatureOf(key, text, signature) ? [key] : [])),
  );
  return signers.size >= REGISTRY_SIGNATURES_MIN;
}

/** Which of these keys made each signature; those of nobody are left out. */
export function signersOf(from: Registry, signatures: readonly string[], keys: readonly string[]): RegistrySignature[] {
  const text = registrySigningText(from);
  return keys.flatMap((key) => {
    const signature = signatures.find((one) => isSignatureOf(key, text, one));
    return signature === undefined ? [] : [{ key, signature }];
  });
}

function isSignatureOf(key: string, text: Buffer, signature: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(key) || !/^[0-9a-f]{128}$/.test(signature)) return false;
  try {
    const der = Buffer.concat([SPKI_HEADER, Buffer.from(key, 'hex')]);
    return verify(
      null,
      text,
      createPublicKey({ key: der, format: 'der', type: 'spki' }),
      Buffer.from(signature, 'hex'),
    );
  } catch {
    return false; // 32 bytes that are no point of the curve
  }
}
