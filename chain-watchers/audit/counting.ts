/** Addresses that moved more than is read at once: a part of one is counted each round, in turn. Decision 85. */
import type { Uncounted } from '../../model/ports/audit-store.ts';
import type { WatcherParts } from '../ports.ts';

/** Addresses that wait to be counted; those beyond are found by the next walk. */
const WAITING_MAX = 1_000;

export class Counting {
  readonly #waiting = new Map<string, Uncounted>();

  get size(): number {
    return this.#waiting.size;
  }

  add(uncounted: readonly Uncounted[]): void {
    for (const one of uncounted) if (this.#waiting.size < WAITING_MAX) this.#waiting.set(one.addressKey, one);
  }

  /** Counts a part of the address whose turn it is. Its key once it is counted up to the height, else null. */
  async step({ audit, ledger }: Pick<WatcherParts, 'audit' | 'ledger'>, height: number): Promise<string | null> {
    const [turn] = this.#waiting.values();
    if (turn === undefined) return null;
    const isCounted = await audit.count(ledger, turn, height);
    this.#waiting.delete(turn.addressKey);
    if (!isCounted) this.#waiting.set(turn.addressKey, turn);
    return isCounted ? turn.addressKey : null;
  }
}
