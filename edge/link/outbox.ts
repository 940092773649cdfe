/**
 * The edge's durable queue to the cloud: what must be reported and must survive this process. Writes of a lane leave in
 * the order in which they were appended; the cloud takes a repeated one once, because each has a subject that is unique
 * in its kind.
 *
 *   attempt   what became of one webhook attempt; subject `deliveryId/attempt`; one lane
 *   signed    a signed transaction to submit; subject `transactionId/txid`; a lane for each sender,
 *             whose counters need the order
 *
 * A write that the cloud keeps refusing stays at the head of its lane and holds that lane: `poisoned` says so, with the
 * code. An operator can set it aside, where it is kept until it is restored to its old place (edge/cli/outbox.ts).
 */
import { refuse, Refused } from '../../protocol/errors.ts';
import type { Storage } from '../storage/storage.ts';

export type OutboxKind = 'attempt' | 'signed';

export interface OutboxWrite {
  readonly seq: number;
  readonly kind: OutboxKind;
  readonly lane: string;
  readonly subject: string;
  readonly body: string;
  readonly tries: number;
  readonly createdAtMs: number;
}

/** What is appended. `lane`: one for the whole kind where absent. */
export interface NewWrite {
  readonly subject: string;
  readonly body: string;
  readonly lane?: string;
}

export interface OutboxReport {
  readonly outboxDepth: number;
  readonly outboxPoisoned: boolean;
  /** Subject and code of the oldest write that holds its lane; null when none does. */
  readonly poisonedBy: {
    readonly subject: string;
    readonly kind: OutboxKind;
    readonly code: string;
    readonly tries: number;
  } | null;
  /** Writes that an operator took out of the queue and that are kept. */
  readonly setAside: number;
}

/** A write as an operator sees it. */
export interface ListedWrite {
  readonly seq: number;
  readonly kind: OutboxKind;
  readonly subject: string;
  readonly tries: number;
  readonly lastCode: string | null;
  readonly createdAtMs: number;
}

/** Refusals of the same write after which the queue counts as poisoned. */
export const POISONED_AFTER_TRIES = 3;

export class Outbox {
  readonly #storage: Storage;
  readonly #capacity: number;
  readonly #nowMs: () => number;
  #depth: number;

  constructor(storage: Storage, settings: { capacity: number; nowMs: () => number }) {
    this.#storage = storage;
    this.#capacity = settings.capacity;
    this.#nowMs = settings.nowMs;
    this.#depth = this.#count();
  }

  /** Whether `count` more writes fit. */
  hasRoom(count: number): boolean {
    return this.#depth + count <= this.#capacity;
  }

  /**
   * Appends writes in this order, durable when it returns; a subject that waits already is left as it is.
   * Throws: Refused EDGE_OUTBOX_FULL at capacity, StorageFailed.
   */
  append(kind: OutboxKind, writes: readonly NewWrite[]): void {
    if (!this.hasRoom(writes.length))
      throw new Refused(refuse('EDGE_OUTBOX_FULL', { capacity: this.#capacity, depth: this.#depth }));
    const added = this.#storage.transaction(() => writes.reduce((sum, write) => sum + this.#insert(kind, write), 0));
    this.#depth += added;
  }

  /** As `append`, for a caller that writes more in the same transaction. */
  appendWithin(kind: OutboxKind, write: NewWrite): void {
    this.#depth += this.#insert(kind, write);
  }

  /**
   * The oldest writes of one kind and lane that leave together, of a lane that is not among `paused`: [] when none
   * waits.
   */
  head(kind: OutboxKind, limit: number, paused: readonly string[] = []): OutboxWrite[] {
    const first = this.#storage.one<{ lane: string }>(
      'select lane from outbox where kind = ? and lane not in (select value from json_each(?)) order by seq limit 1',
      kind,
      JSON.stringify(paused),
    );
    return first === null ? [] : this.laneHead(kind, first.lane, limit);
  }

  laneHead(kind: OutboxKind, lane: string, limit: number): OutboxWrite[] {
    return this.#storage.all<OutboxWrite>(
      `select seq, kind, lane, subject, body, tries, created_at_ms as createdAtMs from outbox
      where kind = ? and lane = ? order by seq limit ?`,
      kind,
      lane,
      limit,
    );
  }

  has(kind: OutboxKind, subject: string): boolean {
    return this.#storage.one('select 1 from outbox where kind = ? and subject = ?', kind, subject) !== null;
  }

  /** The cloud took these: they are forgotten. */
  taken(writes: readonly Pick<OutboxWrite, 'seq'>[]): void {
    // A report that comes back after a loss of power is sent again, and the cloud takes it once.
    this.#depth -= this.#storage.transactionSoon(() =>
      writes.reduce((sum, { seq }) => sum + this.#storage.run('delete from outbox where seq = ?', seq), 0),
    );
  }

  /** The cloud did not take the head of a lane. It is tried again: setting it aside is an operator's decision. */
  refused(write: Pick<OutboxWrite, 'seq'>, code: string): void {
    this.#storage.run('update outbox set tries = tries + 1, last_code = ? where seq = ?', code, write.seq);
  }

  report(): OutboxReport {
    this.#depth = this.#count();
    // `tries > 0` are the words of its index.
    const stuck = this.#storage.one<{ subject: string; kind: OutboxKind; last_code: string | null; tries: number }>(
      'select subject, kind, last_code, tries from outbox where tries > 0 and tries >= ? order by seq limit 1',
      POISONED_AFTER_TRIES,
    );
    const poisonedBy =
      stuck === null
        ? null
        : { subject: stuck.subject, kind: stuck.kind, code: stuck.last_code ?? 'INTERNAL_ERROR', tries: stuck.tries };
    const { count } = this.#storage.one<{ count: number }>('select count(*) as count from outbox_aside')!;
    return { outboxDepth: this.#depth, outboxPoisoned: poisonedBy !== null, poisonedBy, setAside: count };
  }

  /** Writes that wait, or that were set aside, oldest first. */
  list(which: 'waiting' | 'aside', limit: number): ListedWrite[] {
    const table = which === 'waiting' ? 'outbox' : 'outbox_aside';
    return this.#storage.all<ListedWrite>(
      `select seq, kind, subject, tries, last_code as lastCode, created_at_ms as createdAtMs from ${table} order by seq limit ?`,
      limit,
    );
  }

  /** Takes a write out of the queue and keeps it, both or neither. False when none waits under that number. */
  setAside(seq: number): boolean {
    return this.#storage.transaction(() => {
      const kept = this.#storage.run(
        `insert into outbox_aside (seq, kind, lane, subject, body, tries, last_code, created_at_ms, set_aside_at_ms)
        select seq, kind, lane, subject, body, tries, last_code, created_at_ms, ? from outbox where seq = ?`,
        this.#nowMs(),
        seq,
      );
      this.#storage.run('delete from outbox where seq = ?', seq);
      return kept === 1;
    });
  }

  /** Puts a write back in its old place, to be tried anew. False when none is kept under that number. */
  restore(seq: number): boolean {
    return this.#storage.transaction(() => {
      // The same subject may have been written again meanwhile: it is in the queue then, and once is enough.
      this.#storage.run(
        `insert into outbox (seq, kind, lane, subject, body, created_at_ms)
        select seq, kind, lane, subject, body, created_at_ms from outbox_aside where seq = ? on conflict (kind, subject) do nothing`,
        seq,
      );
      return this.#storage.run('delete from outbox_aside where seq = ?', seq) === 1;
    });
  }

  #insert(kind: OutboxKind, { subject, body, lane = '' }: NewWrite): number {
    return this.#storage.run(
      'insert into outbox (kind, lane, subject, body, created_at_ms) values (?, ?, ?, ?, ?) on conflict (kind, subject) do nothing',
      kind,
      lane,
      subject,
      body,
      this.#nowMs(),
    );
  }

  #count(): number {
    return this.#storage.one<{ count: number }>('select count(*) as count from outbox')!.count;
  }
}
