/**
 * Files that a setting names. What is no plain file may never end (a FIFO without a writer, a device), so it is not
 * read.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** Permissions of group and others. */
const OTHERS = 0o077;

/**
 * The bytes of a plain file, or why it is not read; `secret`: only one that is its owner's alone.
 * Throws: an error of the file system, with its code.
 */
export function readPlainFile(
  path: string,
  bytesMax: number,
  { secret = false } = {},
): Buffer | 'no plain file' | 'too large' | "not its owner's alone" {
  // Without waiting for the other end of a FIFO.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'no plain file';
    if (stat.size > bytesMax) return 'too large';
    return secret && (stat.mode & OTHERS) !== 0 ? "not its owner's alone" : readFileSync(file);
  } finally {
    closeSync(file);
  }
}
