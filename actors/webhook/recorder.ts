/**
 * Attempts into the store, in batches: what arrives while a statement is on its way shares the next one. A report is
 * answered when its attempts are durable. A batch that the store refuses is tried again report by report, so that
 * invalid attempts of one edge fail no other report.
 */
import type { DeliveryStore } from '../../model/ports/delivery-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { ATTEMPTS_MAX, nextStep, type Ladder } from './ladder.ts';
import type { Attempt } from './ports.ts';

/** Attempts of one statement. */
const RECORD_MAX = 2_048;
/** A longer duration is shown as this: the column is an integer of milliseconds and an attempt is cut after seconds. */
const DURATION_MS_MAX = 3_600_000;

export type RecordedAttempt = Parameters<DeliveryStore['recordAttempts']>[0][number];

interface Report {
  readonly rows: readonly RecordedAttempt[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * The row of a reported attempt with what follows from it; null for one that no ladder can have led to. A number beyond
 * this node's ladder counts: the ladder may have been longer when the attempt before it was made.
 */
export function attemptRow(
  accountId: AccountId,
  attempt: Attempt,
  { ladder, nowMs, random }: { ladder: Ladder; nowMs: number; random: number },
): RecordedAttempt | null {
  if (attempt.attempt > ATTEMPTS_MAX) return null;
  const { deliveryId, outcome } = attempt;
  const { statusCode: said } = attempt;
  const statusCode = said !== null && said >= 100 && said <= 999 ? said : null;
  return {
    accountId,
    deliveryId,
    attempt: attempt.attempt,
    statusCode,
    durationMs: Math.min(Math.round(attempt.durationMs), DURATION_MS_MAX),
    error: outcome === 'answered' ? null : outcome,
    atMs: nowMs,
    next: nextStep(ladder, { ...attempt, statusCode }, nowMs, random),
  };
}

export class Recorder {
  readonly #store: Pick<DeliveryStore, 'recordAttempts'>;
  #waiting: Report[] = [];
  #running = false;
  #run: Promise<void> = Promise.resolve();

  constructor(store: Pick<DeliveryStore, 'recordAttempts'>) {
    this.#store = store;
  }

  /** Resolves when the rows are durable. Rejects: with the store's error. */
  record(rows: readonly RecordedAttempt[]): Promise<void> {
    if (rows.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ rows, resolve, reject });
      if (!this.#running) this.#run = this.#drain();
    });
  }

  /** Resolves when nothing is waiting or under way. */
  async settled(): Promise<void> {
    while (this.#running) await this.#run;
  }

  async #drain(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      if ((await this.#write(batch)) || batch.length === 1) continue;
      for (const report of batch) await this.#write([report]);
    }
    this.#running = false; // In the same turn as the last look at what waits: nothing is left behind.
  }

  #take(): Report[] {
    let count = 0;
    const end = this.#waiting.findIndex(({ rows }, index) => {
      count += rows.length;
      return index > 0 && count > RECORD_MAX;
    });
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  /** False when the batch should be tried report by report. A report alone is answered either way. */
  async #write(batch: readonly Report[]): Promise<boolean> {
    try {
      await this.#store.recordAttempts(unique(batch.flatMap(({ rows }) => rows)));
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(error);
      return false;
    }
    for (const report of batch) report.resolve();
    return true;
  }
}

function unique(rows: readonly RecordedAttempt[]): RecordedAttempt[] {
  return [...new Map(rows.map((row) => [`${row.accountId}/${row.deliveryId}/${row.attempt}`, row])).values()];
}
