/**
 * An edge's disk: a real SQLite database that outlives the processes that open it. It can be full, it can end its
 * process right before or right after a commit, and a loss of power takes back what `transactionSoon` wrote since the
 * last commit that waited for the disk.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SCHEMA_VERSIONS } from '../../edge/storage/schema.ts';
import { StorageFailed } from '../../edge/storage/failed.ts';
import { Storage } from '../../edge/storage/storage.ts';
import type { Process } from './machine.ts';

/** Thrown into code whose process is gone; nothing of it has an effect any more. */
export class Killed extends Error {}

type OutboxColumns = Record<
  'seq' | 'kind' | 'lane' | 'subject' | 'body' | 'tries' | 'last_code' | 'created_at_ms',
  SQLInputValue
>;

export class Disk {
  readonly database = new DatabaseSync(':memory:');
  isFull = false;
  /** The next write ends the process, before or after it is committed. */
  killsAt: 'before' | 'after' | null = null;
  /** Told when a write ended the process. */
  onKill: (process: Process) => void = () => undefined;
  /** Rows that a loss of power would bring back. */
  #forgotten: OutboxColumns[] = [];

  constructor() {
    for (const sql of SCHEMA_VERSIONS) this.database.exec(sql);
    this.database.exec('pragma foreign_keys = on');
  }

  /** The disk as a process sees it. */
  open(process: Process): Storage {
    return new SimulatedStorage(this, process);
  }

  outbox(): OutboxColumns[] {
    return this.database.prepare('select * from outbox order by seq').all() as OutboxColumns[];
  }

  losePower(): number {
    const rows = this.#forgotten;
    this.#forgotten = [];
    const insert = this.database.prepare(
      'insert or ignore into outbox (seq, kind, lane, subject, body, tries, last_code, created_at_ms) values (?, ?, ?, ?, ?, ?, ?, ?)',
    );
    for (const { seq, kind, lane, subject, body, tries, last_code: code, created_at_ms: at } of rows) {
      insert.run(seq, kind, lane, subject, body, tries, code, at);
    }
    return rows.length;
  }

  committed(): void {
    this.#forgotten = [];
  }

  forgot(rows: readonly OutboxColumns[]): void {
    this.#forgotten.push(...rows);
  }
}

class SimulatedStorage extends Storage {
  readonly #disk: Disk;
  readonly #process: Process;
  #depth = 0;
  #soon = false;

  constructor(disk: Disk, process: Process) {
    super(disk.database);
    this.#disk = disk;
    this.#process = process;
  }

  override all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    this.#alive();
    return super.all<Row>(sql, ...values);
  }

  override one<Row>(sql: string, ...values: SQLInputValue[]): Row | null {
    this.#alive();
    return super.one<Row>(sql, ...values);
  }

  override run(sql: string, ...values: SQLInputValue[]): number {
    return this.#written(() => super.run(sql, ...values));
  }

  override transaction<T>(write: () => T): T {
    return this.#written(() => super.transaction(write));
  }

  override transactionSoon<T>(write: () => T): T {
    const before = this.#disk.outbox();
    this.#soon = true;
    try {
      const result = super.transactionSoon(write);
      const left = new Set(this.#disk.outbox().map(({ seq }) => seq));
      this.#disk.forgot(before.filter(({ seq }) => !left.has(seq)));
      return result;
    } finally {
      this.#soon = false;
    }
  }

  /** The database belongs to the disk; a process that ends leaves it open. */
  override close(): void {}

  #written<T>(write: () => T): T {
    this.#alive();
    if (this.#depth > 0) return write();
    if (this.#disk.isFull) throw new StorageFailed('disk_full');
    if (this.#disk.killsAt === 'before') this.#kill();
    this.#depth += 1;
    let result: T;
    try {
      result = write();
    } finally {
      this.#depth -= 1;
    }
    if (!this.#soon) this.#disk.committed();
    if (this.#disk.killsAt === 'after') this.#kill();
    return result;
  }

  #alive(): void {
    if (this.#process.dead) throw new Killed('its process is gone');
  }

  #kill(): never {
    this.#disk.killsAt = null;
    this.#disk.onKill(this.#process);
    throw new Killed('killed at a write');
  }
}
