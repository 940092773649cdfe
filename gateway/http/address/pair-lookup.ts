/**
 * Which index the next EVM address of a (userRef, tag) takes: read for many requests at once, and one after the other for
 * one pair, since each changes what the next one finds. What another node changes meanwhile the store refuses, and it is
 * read again. Spec §1.6.
 */
import type { PairAsk, ReadStore } from '../../../model/ports/read-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

type Reads = Pick<ReadStore, 'unpairedIndexes'>;

interface Asking extends PairAsk { readonly answer: (index: number | null) => void; readonly fail: (error: unknown) => void }

/** Pairs of one statement. */
const ASKED_AT_ONCE = 256;

export class PairLookup {
  readonly #reads: Reads;
  /** What waits for the next statement of an account; one is under way for each account that is in here. */
  readonly #waiting = new Map<AccountId, Asking[]>();
  /** Last of the requests of a pair. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(reads: Reads) {
    this.#reads = reads;
  }

  /** Runs `issue` when no other request of the pair is at work. */
  async inTurn<T>(accountId: AccountId, { userRef, tag }: PairAsk, issue: () => Promise<T>): Promise<T> {
    const pair = JSON.stringify([accountId, userRef, tag]);
    const before = this.#turns.get(pair) ?? Promise.resolve();
    const turn = before.then(issue, issue);
    this.#turns.set(pair, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(pair) === turn) this.#turns.delete(pair);
    }
  }

  /** The index, null for a new one. Rejects when the store cannot be read. */
  indexFor(accountId: AccountId, ask: PairAsk): Promise<number | null> {
    return new Promise((answer, fail) => {
      const waiting = this.#waiting.get(accountId), asking = { ...ask, answer, fail };
      if (waiting !== undefined) return void waiting.push(asking);
      this.#waiting.set(accountId, [asking]);
      void this.#read(accountId);
    });
  }

  async #read(accountId: AccountId): Promise<void> {
    for (;;) {
      const waiting = this.#waiting.get(accountId)!, asked = waiting.splice(0, ASKED_AT_ONCE);
      if (asked.length === 0) return void this.#waiting.delete(accountId);
      try {
        const indexes = await this.#reads.unpairedIndexes(accountId, asked);
        asked.forEach(({ answer }, at) => answer(indexes[at]!));
      } catch (error) {
        for (const { fail } of asked) fail(error);
      }
    }
  }
}
