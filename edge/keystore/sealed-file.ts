/**
 * The keystore file, version 1:
 *
 *   header   one line of text: `flock-keystore 1 ` || JSON {id, wrapped} || `\n`
 *   body     sealed (sealing.ts) under a subkey of the data key, the whole header as context
 *   digest   SHA-256 of everything before it
 *
 * The digest distinguishes a damaged file from a wrong passphrase before anybody waits for scrypt; it is no protection.
 * The seal protects: header and body are authenticated, so an altered file is refused even with a matching digest.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { failpoint } from '../../protocol/node/failpoint.ts';
import { readPlainFile } from '../process/plain-file.ts';
import { KeystoreError } from './keystore-error.ts';
import type { WrappedKey } from './key-wrap.ts';
import { seal, subkey, unseal } from './sealing.ts';

const MAGIC = 'flock-keystore ';
const VERSION = '1';
const DIGEST_BYTES = 32;
const HEADER_BYTES_MAX = 4_096;
const FILE_BYTES_MAX = 64 * 1_024 * 1_024;
const MODE = 0o600;
const WRITE_ANEW = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

const hexText = z.string().regex(/^(?:[0-9a-f]{2}){8,1024}$/);
const header = z.strictObject({
  id: hexText,
  wrapped: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('passphrase'),
      kdf: z.literal('scrypt'),
      n: z.number().int(),
      r: z.number().int(),
      p: z.number().int(),
      salt: hexText,
      key: hexText,
    }),
    z.strictObject({
      kind: z.literal('pkcs11'),
      mechanism: z.literal('aes-key-wrap'),
      token: z.string().max(64),
      label: z.string().max(200),
      key: hexText,
    }),
  ]),
});

export interface SealedFile {
  readonly id: string;
  readonly wrapped: WrappedKey;
  /** The header's line, as the file has it. */
  readonly header: Buffer;
  readonly body: Buffer;
  /** Digest of the file, hex: which version of it this is. */
  readonly digest: string;
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** The header of a new keystore. */
export function newHeader(wrapped: WrappedKey): Pick<SealedFile, 'id' | 'wrapped' | 'header'> {
  const id = randomBytes(16).toString('hex');
  return { id, wrapped, header: Buffer.from(`${MAGIC}${VERSION} ${JSON.stringify({ id, wrapped })}\n`) };
}

/** Bytes of a keystore file. */
export function encodeFile(head: Buffer, dataKey: Uint8Array, plain: Uint8Array): Buffer {
  const key = subkey(dataKey, 'body');
  const content = Buffer.concat([head, seal(key, plain, head)]);
  key.fill(0);
  return Buffer.concat([content, sha256(content)]);
}

/** The parts of a keystore file. Throws: KeystoreError KEYSTORE_DAMAGED, KEYSTORE_UNSUPPORTED. */
export function decodeFile(bytes: Buffer): SealedFile {
  const content = bytes.subarray(0, -DIGEST_BYTES),
    digest = bytes.subarray(-DIGEST_BYTES);
  if (bytes.length <= DIGEST_BYTES || !sha256(content).equals(digest)) throw new KeystoreError('KEYSTORE_DAMAGED');
  const end = content.subarray(0, HEADER_BYTES_MAX).indexOf(0x0a);
  const [, version, json] =
    new RegExp(`^${MAGIC}(\\S+) (.*)$`).exec(content.subarray(0, Math.max(0, end)).toString('latin1')) ?? [];
  if (version === undefined || json === undefined) throw new KeystoreError('KEYSTORE_DAMAGED');
  if (version !== VERSION)
    throw new KeystoreError('KEYSTORE_UNSUPPORTED', `version ${/^[0-9]{1,4}$/.test(version) ? version : 'unknown'}`);
  const parsed = header.safeParse(jsonOf(json));
  if (!parsed.success) throw new KeystoreError('KEYSTORE_UNSUPPORTED', 'header');
  return {
    ...parsed.data,
    header: content.subarray(0, end + 1),
    body: content.subarray(end + 1),
    digest: digest.toString('hex'),
  };
}

/** The plaintext of the body; the caller zeroes it. Throws: KeystoreError KEYSTORE_DAMAGED. */
export function openBody({ header: head, body }: Pick<SealedFile, 'header' | 'body'>, dataKey: Uint8Array): Buffer {
  const key = subkey(dataKey, 'body');
  const plain = unseal(key, body, head);
  key.fill(0);
  if (plain === null) throw new KeystoreError('KEYSTORE_DAMAGED', 'its content is not what its key sealed');
  return plain;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The file's bytes. Throws: KeystoreError KEYSTORE_MISSING, KEYSTORE_DAMAGED (too large to be one),
 * KEYSTORE_UNAVAILABLE.
 */
export function readBytes(path: string): Buffer {
  return guarded(() => {
    const bytes = readPlainFile(path, FILE_BYTES_MAX);
    if (typeof bytes !== 'string') return bytes;
    throw bytes === 'too large'
      ? new KeystoreError('KEYSTORE_DAMAGED')
      : new KeystoreError('KEYSTORE_UNAVAILABLE', bytes);
  });
}

/** Changes whenever the file was replaced; null when there is none. */
export function fileMark(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? null : `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/**
 * Replaces the file: the new bytes are on the disk before the name points to them, and the old bytes are overwritten
 * after that, so that a purged key does not stay in a block that nobody owns. Throws: KeystoreError.
 */
export function replaceFile(path: string, bytes: Buffer): void {
  guarded(() => {
    const temporary = `${path}.new`; // the caller is alone; a killed one may have left it
    const before = openedOrNull(path);
    try {
      const file = openSync(temporary, WRITE_ANEW, MODE);
      try {
        fchmodSync(file, MODE);
        writeFileSync(file, bytes);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      failpoint('edge.keystore.written');
      renameSync(temporary, path);
      syncDirectory(path);
      failpoint('edge.keystore.renamed');
      if (before !== null) overwrite(before);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    } finally {
      if (before !== null) closeSync(before);
    }
  });
}

function openedOrNull(path: string): number | null {
  try {
    return openSync(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function overwrite(file: number): void {
  writeSync(file, Buffer.alloc(fstatSync(file).size), 0, null, 0);
  fsyncSync(file);
}

function syncDirectory(path: string): void {
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * Runs `work` while nobody else writes the keystore. The lock is SQLite's, of a file beside it that stays empty: the
 * kernel takes it back with its holder, while a process number in a file outlives a kill and is another process's
 * later, in containers above all. Throws: KeystoreError KEYSTORE_BUSY.
 */
export async function alone<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = guarded(() => writerLock(`${path}.writer`));
  try {
    failpoint('edge.keystore.locked');
    return await work();
  } finally {
    lock.close();
  }
}

/** Source: sqlite.org, result codes. */
const SQLITE_BUSY = 5;

function writerLock(path: string): DatabaseSync {
  // Made by the library it would be everyone's to read; closing it later would give up a lock that this process has.
  if (!existsSync(path)) closeSync(openSync(path, 'a', MODE));
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    throw (error as { errcode?: number }).errcode === SQLITE_BUSY ? new KeystoreError('KEYSTORE_BUSY') : error;
  }
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof KeystoreError) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw code === 'ENOENT' ? new KeystoreError('KEYSTORE_MISSING') : new KeystoreError('KEYSTORE_UNAVAILABLE', code);
  }
}
