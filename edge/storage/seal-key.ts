/**
 * The key of what a database of the data directory keeps sealed, in a file beside it: a copy of the database alone does
 * not reveal it, the whole directory does.
 */
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { KEY_BYTES } from '../keystore/sealing.ts';

const OWNER_ONLY = 0o600;

/** The key of the file; null where there is none, or no whole one. Throws: what the file system says. */
export function sealKeyIn(file: string): Buffer | null {
  try {
    const key = readFileSync(file);
    return key.length === KEY_BYTES ? key : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The key of the file, which is made where there is none; durable when it returns. */
export function sealKeyAt(file: string): Buffer {
  const known = sealKeyIn(file);
  if (known !== null) return known;
  const key = randomBytes(KEY_BYTES);
  const handle = openSync(file, 'w', OWNER_ONLY);
  try {
    writeSync(handle, key);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  const directory = openSync(dirname(file), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
  return key;
}
