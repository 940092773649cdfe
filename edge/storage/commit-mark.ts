/**
 * How many writes a database took, once more beside it. SQLite stops reading its log at the first frame that is not
 * whole, without a word: a flipped bit in `edge.db-wal`, or a copy without that file, takes back all that was written
 * since the last checkpoint, the newest signatures and spends among it. A database that counted fewer writes than its
 * mark lost some, and nothing is signed by what is left of it.
 *
 * The mark follows the write and is not flushed: after a loss of power it may be behind, and finds less.
 */
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { StorageFailed } from './failed.ts';
import { damaged, markFields, markNumber, markText } from './record-forms.ts';

const OWNER_ONLY = 0o600;
/** One length for all counts: a mark is written over in place, within one sector. */
const MARK_BYTES = 64;
/** Marks have had their sum from the first. */
const NO_FORMER = /^$/;

export const markFileOf = (file: string): string => `${file}.mark`;

/** The writes that the mark has seen; null where there is none. Throws: StorageFailed for a damaged one. */
export function markedCommits(file: string): number | null {
  let kept: string;
  try {
    kept = readFileSync(markFileOf(file), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (kept === '') return null; // made, and never written
  const [count] = markFields(kept.trimEnd(), 'edge.db.mark', 1, NO_FORMER);
  return markNumber(count!, 'edge.db.mark');
}

/** The writes that the database counted itself. */
export function countedCommits(database: DatabaseSync): number {
  const row = database.prepare('select n from commits').get() as { n: number } | undefined;
  if (row === undefined) throw damaged('commits.n');
  return row.n;
}

/**
 * `marked` was read before the database was: another process of this directory may write meanwhile. Throws:
 * StorageFailed.
 */
export function checkCommits(database: DatabaseSync, marked: number | null): void {
  if (marked !== null && countedCommits(database) < marked) throw new StorageFailed('older');
}

/** Writes the mark. Without it the database works as ever, so that what the disk says against it is no fault. */
export class CommitMark {
  readonly #file: string;
  #handle: number | null = null;

  constructor(file: string) {
    this.#file = markFileOf(file);
  }

  note(count: number): void {
    try {
      this.#handle ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY);
      const isNew = fstatSync(this.#handle).size === 0;
      writeSync(this.#handle, markText([count]).padEnd(MARK_BYTES), 0);
      if (isNew) fsyncSync(this.#handle);
    } catch {
      this.close(); // the earlier mark is kept, and finds less
    }
  }

  close(): void {
    if (this.#handle !== null) closeSync(this.#handle);
    this.#handle = null;
  }
}
