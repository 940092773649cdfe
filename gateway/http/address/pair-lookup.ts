/**
 * Which index the next EVM address of a (userRef, tag) takes: read for many requests at once, and one after the other
 * for one pair, since each changes what the next one finds. What another node changes meanwhile the store refuses, and
 * it is read again. Spec §1.6.
 */
import type { PairAsk, ReadStore } from '../../../model/ports/read-store.ts';
import type { AccountId } from '../../../protocol/ids.ts';

type Reads = Pick<ReadStore, 'unpairedIndexes'>;

interface Asking extends PairAsk {
  readonly accountId: AccountId;
  readonly answer: (index: number | null) => void;
  readonly fail: (error: unknown) => void;
}

/** Pairs of one statement. */
const ASKED_AT_ONCE = 256;
/** Statements under way: one that waits for a slow page holds up half of what comes. */
const READS_AT_ONCE = 2;

export class PairLookup {
  readonly #reads: Reads;
  /** What waits for the next statement, of whatever accounts. */
  readonly #waiting: Asking[] = [];
  #underWay = 0;
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
      this.#waiting.push({ accountId, ...ask, answer, fail });
      // what the same turn asks shares the statement
      if (this.#waiting.length === 1) setImmediate(() => void this.#read());
    });
  }

  async #read(): Promise<void> {
    if (this.#underWay === READS_AT_ONCE) return;
    this.#underWay += 1;
    for (
      let asked = this.#waiting.splice(0, ASKED_AT_ONCE);
      asked.length > 0;
      asked = this.#waiting.splice(0, ASKED_AT_ONCE)
    ) {
      try {
        const indexes = await this.#reads.unpairedIndexes(asked);
        asked.forEach(({ answer }, at) => answer(indexes[at]!));
      } catch (error) {
        for (const { fail } of asked) fail(error);
      }
    }
    this.#underWay -= 1;
  }
}
