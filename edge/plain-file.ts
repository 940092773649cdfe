/** Files that a setting names. What is no plain file may never end (a FIFO without a writer, a device), so it is not read. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** The bytes of a plain file, or why it is not read. Throws: an error of the file system, with its code. */
export function readPlainFile(path: string, bytesMax: number): Buffer | 'no plain file' | 'too large' {
  // Without waiting for the other end of a FIFO.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'no plain file';
    return stat.size > bytesMax ? 'too large' : readFileSync(file);
  } finally {
    closeSync(file);
  }
}
