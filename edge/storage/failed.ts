/** What is thrown where the data directory cannot be relied on. */

/** Another process of the same edge (its command line) may hold the write lock this long, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5_000;

/** The disk did not take a write. `disk_full` is for the operator; nothing was written in part. */
export class StorageFailed extends Error {
  readonly reason: 'disk_full' | 'locked' | 'io' | 'not_opened' | 'newer' | 'older' | 'linked' | 'damaged';
  /** Of a damaged directory the table and column, or the setting, that cannot be read; null where it is the file. */
  readonly record: string | null;
  constructor(reason: StorageFailed['reason'], options: ErrorOptions & { readonly record?: string } = {}) {
    super(
      {
        disk_full: 'the data directory takes no more bytes (full disk, quota or file-size limit)',
        locked: `the data directory was locked by another process for ${BUSY_TIMEOUT_MS} ms`,
        io: 'the data directory cannot be written',
        not_opened: 'the data directory cannot be made, or the file edge.db in it cannot be opened',
        newer: 'the data directory was written by a newer edge than this one',
        older:
          'the data directory lost its last writes: edge.db, or its log edge.db-wal, is cut, damaged or of another time than edge.db.mark',
        linked:
          'edge.db has a second name (a hard link): each name has a log of its own, and what one has the other loses',
        damaged:
          options.record === undefined
            ? 'the data directory is damaged: rows of its journal, spend ledger or outbox may be lost; put back a whole copy of it'
            : `the data directory is damaged: what it keeps under ${options.record} cannot be read; put back a whole copy of it`,
      }[reason],
      options,
    );
    this.name = 'StorageFailed';
    this.reason = reason;
    this.record = options.record ?? null;
  }

  /** What an operator does about it. */
  get next(): string {
    return NEXT[this.reason];
  }
}

const NEXT: Readonly<Record<StorageFailed['reason'], string>> = {
  disk_full: 'free space where the data directory is, or raise its quota; the edge goes on by itself',
  locked: 'look which other process has the data directory open, and end it; one edge, one directory',
  io: 'look whether the data directory is mounted writable and its disk is well; the edge goes on by itself',
  not_opened: 'name a directory, or a place for one, in which the user of the edge may write; then start it again',
  newer: 'start the release that wrote the data directory, or a later one',
  older:
    'put back edge.db, edge.db-wal and edge.db.mark of one time; where they are gone, look up on the chain what was paid since, then delete edge.db.mark',
  linked: 'make a copy of the file in the place of the link (cp, not cp -l), and start one edge on it',
  damaged: 'stop the edge and put back a whole copy of the data directory',
};
