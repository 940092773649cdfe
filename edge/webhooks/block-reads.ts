/**
 * What is read of blocks at the company's own nodes. Deliveries that were held back come together, some thousand of
 * some hundred blocks: a node that were asked for all of them at once would answer none in time, and be asked for all
 * of them again. found part 2.
 *
 *   first question about a block   waits for its turn among those of its chain, then the block is read
 *   further ones meanwhile         get the same answer, however many other blocks are asked for
 *   read                           kept while it is among the newest; what failed is read anew
 */

/** Blocks that are kept of all chains: the deliveries of one block come together. */
const KEPT_MAX = 16;
/** Blocks of one chain that its nodes are asked for at one time. */
const AT_ONCE = 8;

/** So many at one time for each key; the others wait in the order in which they came. */
class Gate<K> {
  readonly #most: number;
  readonly #running = new Map<K, number>();
  readonly #waiting = new Map<K, (() => void)[]>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Rejects: with what the work rejects with. The work may not wait for a turn of its own key. */
  async run<T>(key: K, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? 0;
    if (running < this.#most) this.#running.set(key, running + 1);
    else await this.#turn(key);
    try {
      return await work();
    } finally {
      this.#next(key);
    }
  }

  #turn(key: K): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#waiting.get(key);
      if (queue === undefined) this.#waiting.set(key, [resolve]);
      else queue.push(resolve);
    });
  }

  /** The place of one that ended is the next one's, or free. */
  #next(key: K): void {
    const queue = this.#waiting.get(key),
      next = queue?.shift();
    if (queue?.length === 0) this.#waiting.delete(key);
    if (next !== undefined) return next();
    const running = this.#running.get(key)! - 1;
    if (running === 0) this.#running.delete(key);
    else this.#running.set(key, running);
  }
}

export class BlockReads<T> {
  readonly #gate = new Gate<string>(AT_ONCE);
  /** Oldest first; what is under way is never dropped. */
  readonly #blocks = new Map<string, { readonly read: Promise<T>; isRead: boolean }>();

  /** What was read of a block, or is being read. Rejects: with what reading rejects with. */
  async of(chain: string, key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#blocks.get(key);
    if (known !== undefined) return known.read;
    const block = { read: this.#gate.run(chain, read), isRead: false };
    this.#blocks.set(key, block);
    try {
      const answer = await block.read;
      block.isRead = true;
      this.#dropOldest();
      return answer;
    } catch (error) {
      this.#blocks.delete(key);
      throw error;
    }
  }

  /** It is asked for anew. */
  forget(key: string): void {
    if (this.#blocks.get(key)?.isRead === true) this.#blocks.delete(key);
  }

  #dropOldest(): void {
    const read = [...this.#blocks].filter(([, { isRead }]) => isRead);
    for (const [key] of read.slice(0, Math.max(0, read.length - KEPT_MAX))) this.#blocks.delete(key);
  }
}
