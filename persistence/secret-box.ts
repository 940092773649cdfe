/** Secrets at rest: AES-256-GCM under a key from the environment or a file. */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecretBox } from '../model/ports/secret-box.ts';
import { cannotBeRead } from '../protocol/node/settings-in-files.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

interface SealKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** 32 bytes from 64 hex digits or base64. Throws: RangeError naming the setting. */
export function parseSealKey(text: string): Buffer {
  const trimmed = text.trim();
  const bytes = /^[0-9a-fA-F]{64}$/.test(trimmed) ? Buffer.from(trimmed, 'hex') : Buffer.from(trimmed, 'base64');
  if (bytes.length !== 32) throw new RangeError('SECRET_KEY must be 32 bytes as 64 hex digits or base64');
  return bytes;
}

/** The keys of SECRET_KEY or SECRET_KEY_FILE: one a line or comma; the first one seals, all of them open. */
export function readSealKeys(env: Readonly<Record<string, string | undefined>>, problems: string[]): Buffer[] {
  const { SECRET_KEY, SECRET_KEY_FILE } = env;
  if ((SECRET_KEY === undefined) === (SECRET_KEY_FILE === undefined)) {
    problems.push('SECRET_KEY or SECRET_KEY_FILE: exactly one is needed (32 bytes, hex or base64)');
    return [];
  }
  try {
    const text = SECRET_KEY ?? readFileSync(SECRET_KEY_FILE!, 'utf8');
    const parts = text.split(/[\s,]+/).filter((part) => part !== '');
    // Of an empty file, or of white space alone, the whole is the key that is none.
    return (parts.length === 0 ? [''] : parts).map(parseSealKey);
  } catch (error) {
    const reason = error instanceof RangeError ? error.message.replace(/^SECRET_KEY /, '') : cannotBeRead(error);
    problems.push(`SECRET_KEY${SECRET_KEY === undefined ? '_FILE' : ''}: ${reason}`);
    return [];
  }
}

const idOf = (key: Buffer): string => createHash('sha256').update(key).digest('hex').slice(0, 8);

/** How every secret begins that was sealed under a key. */
export const sealedPrefix = (key: Buffer): string => `v1.${idOf(key)}.`;

/**
 * Seals with the first key and opens with any, so that a key is rotated by putting a new one in front and running
 * `flock secrets reseal`. Layout: `v1.` keyId `.` base64url(nonce(12) || tag(16) || ciphertext).
 * The context is additional data: a ciphertext moved to another row or column does not open.
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const ring: SealKey[] = keys.map((bytes) => ({ id: idOf(bytes), bytes }));
  const first = ring[0];
  if (first === undefined) throw new RangeError('at least one sealing key is needed');
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', first.bytes, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return `${sealedPrefix(first.bytes)}${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
    },
    mac: (text, context) => createHmac('sha256', first.bytes).update(`${context}\n${text}`).digest('base64url'),
    open(sealed, context) {
      const [version, keyId, text] = sealed.split('.');
      const key = ring.find((candidate) => candidate.id === keyId);
      if (version !== 'v1' || key === undefined || text === undefined) {
        throw new Error('SECRET_KEY does not hold the key that a secret of this database was sealed under');
      }
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
  };
}
