/**
 * Uses of a key that are at work, known to all nodes: an effect that is stored before its answer would be made twice by
 * two nodes that get one use at once. A row beside the answers says who acts, under a method of its own.
 *
 *   nobody   --begun: the row is written by one of those who try-->   at work
 *   at work  --the answer is stored, or there is none-->              nobody
 *   at work  --its node died: CLAIM_MS later-->                       nobody
 */
import { randomUUID } from 'node:crypto';
import type { FirstAnswer } from '../../model/ports/identity-store.ts';
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { IdempotencyRow } from '../../model/rows/idempotency.ts';

/** Longer than these effects take; a key whose node died is free after it. */
const CLAIM_MS = 15_000;
/** Rows of nodes that died, which one look may meet. */
const TRIES = 3;

export interface AtWork {
  /** What ends it; null while another node acts under this key. */
  begin(use: Omit<FirstAnswer, 'status' | 'body'>): Promise<(() => Promise<void>) | null>;
}

export function createAtWork(
  reads: Pick<ReadStore, 'idempotent' | 'saveIdempotent' | 'forgetIdempotent'>,
  nowMs: () => number,
): AtWork {
  return {
    async begin({ owner, key, method: ofRoute, path, bodyHash }) {
      const method = `${ofRoute} at work`;
      for (let tries = 0; tries < TRIES; tries += 1) {
        const id = randomUUID();
        const row: IdempotencyRow = { key, method, path, bodyHash, status: 102, body: { id, atMs: nowMs() } };
        if (await reads.saveIdempotent(owner, row)) return () => reads.forgetIdempotent(owner, row, id);
        const other = (await reads.idempotent(owner, method, path, key))?.body as
          { id: string; atMs: number } | undefined;
        if (other === undefined) continue;
        if (nowMs() - other.atMs <= CLAIM_MS) return null;
        await reads.forgetIdempotent(owner, row, other.id);
      }
      return null;
    },
  };
}
