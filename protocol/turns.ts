/** Work that is done one after the other for each key, so that many asks at once of one key take turns. */

export class Turns<K> {
  /** The end of the queue of each key that something waits for. */
  readonly #ends = new Map<K, Promise<unknown>>();

  /**
   * Does the work when all that came before under this key is done, however it ended. Rejects: with what the work
   * rejects with. The work may not wait for a turn of its own key.
   */
  async take<T>(key: K, work: () => Promise<T>): Promise<T> {
    const done = (this.#ends.get(key) ?? Promise.resolve()).then(work),
      end = done.catch(() => undefined);
    this.#ends.set(key, end);
    try {
      return await done;
    } finally {
      if (this.#ends.get(key) === end) this.#ends.delete(key);
    }
  }

  /** Keys that something waits for. */
  get size(): number {
    return this.#ends.size;
  }
}
