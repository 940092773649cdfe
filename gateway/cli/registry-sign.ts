/**
 * `flock registry keygen` and `flock registry sign`: the platform's registry keys, in the hands of two people. They
 * work without the cloud and without a network. Treasury K7.
 */
import { createPrivateKey, createPublicKey, randomBytes, sign, type KeyObject } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseRegistry, registryHash, registryText } from '../../chains/catalogue.ts';
import { registrySigningText } from '../../chains/registry-signature.ts';
import { isRefusal } from '../../protocol/errors.ts';

interface Output {
  write(text: string): unknown;
}

const RAW_KEY_BYTES = 32;
/** DER header of an Ed25519 key: what follows are its 32 bytes. Source: RFC 8410 §7. */
const PKCS8_HEADER = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicHex = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-RAW_KEY_BYTES).toString('hex');

/** A new private key, as a file has it. */
export const newRegistryKey = (): string => {
  const der = Buffer.concat([PKCS8_HEADER, randomBytes(RAW_KEY_BYTES)]);
  const made = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  return made.export({ format: 'pem', type: 'pkcs8' }).toString();
};

/** The public half of a private key, as REGISTRY_KEYS names it. */
export const publicRegistryKey = (pem: string): string => publicHex(createPrivateKey(pem));

/** Makes a key in a new file that only its owner reads. The exit code: 0 made, 2 no file was named, or it exists. */
export function registryKeygen(args: readonly string[], out: Output, err: Output): number {
  const { values } = parseArgs({ args: [...args], strict: true, options: { 'key-file': { type: 'string' } } });
  const file = values['key-file'];
  if (file === undefined) {
    err.write('--key-file is needed: where the private key goes\n');
    return 2;
  }
  const made = newRegistryKey();
  try {
    writeFileSync(file, made, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    err.write(`--key-file: ${(error as Error).message}\n`);
    return 2;
  }
  out.write(`${JSON.stringify({ key: publicRegistryKey(made) })}\n`);
  return 0;
}

/**
 * Signs a version: `--content` is what `GET /v1/admin/token-requests/{id}/version`, or that of `/v1/admin/registry/
 * versions`, answered, or its `content` alone.
 * Standard output gets version, hash, key and signature. The exit code: 0 signed, 2 a file is none of its kind.
 */
export function registrySign(args: readonly string[], out: Output, err: Output): number {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: { 'key-file': { type: 'string' }, content: { type: 'string' } },
  });
  const { 'key-file': keyFile, content: contentFile } = values;
  if (keyFile === undefined || contentFile === undefined) {
    err.write('--key-file and --content are needed: the private key, and the version that is signed\n');
    return 2;
  }
  try {
    if ((statSync(keyFile).mode & 0o077) !== 0)
      throw new Error(`--key-file: ${keyFile} can be read by others: chmod 600 it`);
    const key = createPrivateKey(readFileSync(keyFile));
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('--key-file: no Ed25519 key');
    const registry = registryIn(readFileSync(contentFile, 'utf8'));
    const signature = sign(null, registrySigningText(registry), key).toString('hex');
    const { version } = registry;
    out.write(`${JSON.stringify({ version, hash: registryHash(registry), key: publicHex(key), signature })}\n`);
    return 0;
  } catch (error) {
    err.write(`registry sign: ${(error as Error).message}\n`);
    return 2;
  }
}

function registryIn(text: string) {
  const value = JSON.parse(text) as { data?: { content?: unknown }; content?: unknown; version?: unknown };
  const content = value.data?.content ?? value.content;
  const canonical = typeof content === 'string' ? content : text.trim();
  const parsed = parseRegistry(JSON.parse(canonical));
  if (isRefusal(parsed)) throw new Error(`--content: ${String(parsed.details['reason'])}`);
  if (registryText(parsed) !== canonical) throw new Error('--content: not the bytes that are signed');
  return parsed;
}
