/**
 * The edge's disk: one SQLite file with WAL and `synchronous=FULL`, so that what was written is there after SIGKILL and
 * power loss. Everything that the edge must not forget is in it: outbox, spend ledger, instructions, journal of
 * signatures, local keys, settings. The file holds no key material and no secret of the cloud.
 */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { checkCommits, CommitMark, markedCommits } from './commit-mark.ts';
import { BUSY_TIMEOUT_MS, StorageFailed } from './failed.ts';
import { checkForms } from './record-forms.ts';
import { SCHEMA_VERSIONS } from './schema.ts';
import { seal, unseal } from '../keystore/sealing.ts';
import { sealKeyAt, sealKeyIn } from './seal-key.ts';

const FILE_NAME = 'edge.db';
/** Setting: the environment that this data directory belongs to. */
export const ENVIRONMENT_SETTING = 'environment';
const PROBE = 'disk_probe';
/** More than a page, so that room is asked for. */
const PROBE_CHARACTERS = 8_192;

/** Before a sealed setting. */
const SEALED = 'sealed:';

export class Storage {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #keyFile: string | null;
  readonly #mark: CommitMark | null;
  #open = true;

  /**
   * `keyFile`: where the key of sealed settings is kept; null where there are none. `mark`: beside a database that
   * counts its writes.
   */
  constructor(database: DatabaseSync, keyFile: string | null = null, mark: CommitMark | null = null) {
    this.#database = database;
    this.#keyFile = keyFile;
    this.#mark = mark;
  }

  /** Rows of a query. Amounts are text columns: a 64-bit integer holds no wei. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guarded(() => this.#statement(sql).all(...values) as Row[]);
  }

  one<Row>(sql: string, ...values: SQLInputValue[]): Row | null {
    return this.#guarded(() => (this.#statement(sql).get(...values) as Row | undefined) ?? null);
  }

  /** Rows changed. Throws: StorageFailed. */
  run(sql: string, ...values: SQLInputValue[]): number {
    const change = () => Number(this.#statement(sql).run(...values).changes);
    // alone, and counted, it is a transaction too
    return this.#mark === null || this.#database.isTransaction ? this.#guarded(change) : this.transaction(change);
  }

  /** All of `write` or nothing of it; durable when it returns. Throws: StorageFailed. */
  transaction<T>(write: () => T): T {
    return this.#within(write, this.#mark);
  }

  #within<T>(write: () => T, mark: CommitMark | null): T {
    return this.#guarded(() => {
      this.#database.exec('begin immediate');
      try {
        const before = this.#changes();
        const result = write();
        const count = mark === null || this.#changes() === before ? null : this.#countCommit();
        this.#database.exec('commit');
        if (count !== null) mark!.note(count);
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('rollback');
        throw error;
      }
    });
  }

  /**
   * As `transaction`, and survives the process; a loss of power may undo it. For forgetting what may come back.
   * Throws: StorageFailed.
   */
  transactionSoon<T>(write: () => T): T {
    this.#database.exec('pragma synchronous = normal');
    try {
      return this.#within(write, null); // a mark could outlive it
    } finally {
      this.#database.exec('pragma synchronous = full');
    }
  }

  setting(name: string): string | null {
    return this.one<{ value: string }>('select value from settings where name = ?', name)?.value ?? null;
  }

  setSetting(name: string, value: string | null): void {
    if (value === null) this.run('delete from settings where name = ?', name);
    else
      this.run(
        'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
        name,
        value,
      );
  }

  /**
   * A setting that is not in the database in plain. Text that cannot be unsealed is answered as none that means
   * anything: empty. Throws: StorageFailed.
   */
  sealedSetting(name: string): string | null {
    const kept = this.setting(name);
    if (kept === null || !kept.startsWith(SEALED)) return kept;
    const key = this.#guarded(() => (this.#keyFile === null ? null : sealKeyIn(this.#keyFile)));
    const plain = key && unseal(key, Buffer.from(kept.slice(SEALED.length), 'base64'), Buffer.from(name));
    return plain?.toString('utf8') ?? '';
  }

  /** Durable when it returns, its key before it. Throws: StorageFailed. */
  setSealedSetting(name: string, value: string | null): void {
    const file = this.#keyFile;
    if (value === null || file === null) return this.setSetting(name, value);
    const sealed = this.#guarded(() => seal(sealKeyAt(file), Buffer.from(value), Buffer.from(name)));
    this.setSetting(name, `${SEALED}${sealed.toString('base64')}`);
  }

  /** Whether the disk takes a write now; writes what leaves nothing behind. Null, or why it does not. */
  writeTrouble(): StorageFailed['reason'] | null {
    try {
      this.transaction(() => {
        this.setSetting(PROBE, 'x'.repeat(PROBE_CHARACTERS));
        this.setSetting(PROBE, null);
      });
      return null;
    } catch (error) {
      // Another process that writes is no trouble of the disk.
      if (error instanceof StorageFailed) return error.reason === 'locked' ? null : error.reason;
      throw error;
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#database.close();
    this.#mark?.close();
  }

  #changes(): unknown {
    return this.#statement('select total_changes() as n').get()!['n'];
  }

  #countCommit(): number {
    return this.#statement('update commits set n = n + 1 returning n').get()!['n'] as number;
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw storageFault(error);
    }
  }
}

/** SQLITE_CANTOPEN. */
const CANNOT_OPEN = 14;
/** What a file system says of a place where this user has no file to open. */
const NO_ENTRY: ReadonlySet<string> = new Set(['EACCES', 'EISDIR', 'ELOOP', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']);

/** Source: https://www.sqlite.org/rescode.html: the low byte is the primary code. */
function storageFault(error: unknown): unknown {
  const code = (error as { errcode?: unknown }).errcode;
  if (typeof code !== 'number') return error;
  const primary = code & 0xff;
  if (primary === 13) return new StorageFailed('disk_full', { cause: error });
  if (primary === 5 || primary === 6) return new StorageFailed('locked', { cause: error });
  if (primary === 11 || primary === 26) return new StorageFailed('damaged', { cause: error });
  if (primary === 10) return new StorageFailed(code === 778 ? 'disk_full' : 'io', { cause: error });
  return error;
}

/**
 * Opens, or creates, the database of a data directory, readable by its owner only. Throws: StorageFailed, also for a
 * file that is not whole: a flipped bit can take rows away without a word, and what was spent or signed with them.
 */
export function openStorage(dataDir: string): Storage {
  return openDatabase(dataDir, FILE_NAME, SCHEMA_VERSIONS, { synchronous: 'full', whole: true });
}

/** A database of another kind in a data directory. `whole`: every page of it is read first. Throws: StorageFailed. */
export function openDatabase(
  dataDir: string,
  fileName: string,
  versions: readonly string[],
  { synchronous, whole }: { synchronous: 'full' | 'normal'; whole: boolean },
): Storage {
  makeDirectory(resolve(dataDir));
  const file = join(dataDir, fileName);
  try {
    const marked = whole ? markedCommits(file) : null;
    const database = new DatabaseSync(file);
    chmodSync(file, 0o600);
    // Under a second name it would have a second log, and each would take back what the other has.
    if (statSync(file).nlink > 1) throw new StorageFailed('linked');
    database.exec(
      `pragma busy_timeout = ${BUSY_TIMEOUT_MS}; pragma journal_mode = wal; pragma synchronous = ${synchronous}; pragma foreign_keys = on`,
    );
    if (whole) checkWhole(database);
    migrate(database, versions);
    if (!whole) return new Storage(database, `${file}.key`);
    checkCommits(database, marked);
    checkForms(database);
    return new Storage(database, `${file}.key`, new CommitMark(file));
  } catch (error) {
    const { errcode, code } = error as { errcode?: number; code?: string };
    if (errcode === CANNOT_OPEN || NO_ENTRY.has(code ?? '')) throw new StorageFailed('not_opened', { cause: error });
    throw storageFault(error);
  }
}

/**
 * Makes it and what is missing above it. One by one: Node's own way asks for ever where a system says "no such entry"
 * of a parent that is there (/proc). Throws: StorageFailed.
 */
function makeDirectory(directory: string): void {
  if (existsSync(directory)) return;
  const parent = dirname(directory);
  if (parent !== directory) makeDirectory(parent);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if (existsSync(directory)) return; // another process made it meanwhile
    throw new StorageFailed('not_opened', { cause: error });
  }
}

/** Reads every page. Measured: two thirds of a second for 100,000 transactions and a full outbox, 300 MB. */
function checkWhole(database: DatabaseSync): void {
  const { integrity_check: found } = database.prepare('pragma integrity_check(1)').get() as { integrity_check: string };
  if (found !== 'ok') throw new StorageFailed('damaged');
}

function migrate(database: DatabaseSync, versions: readonly string[]): void {
  database.exec('begin immediate');
  const { user_version: at } = database.prepare('pragma user_version').get() as { user_version: number };
  if (at > versions.length) throw new StorageFailed('newer');
  for (const sql of versions.slice(at)) database.exec(sql);
  database.exec(`pragma user_version = ${versions.length}; commit`);
}
