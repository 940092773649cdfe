/**
 * Differences that must be found twice. A balance is read at one moment and the facts at another: a payment on its way,
 * a withdrawal whose account has not taken its fact yet, a block replaced in between all look like a difference once.
 * The same difference again, deeper than a payment needs to be confirmed, is one.
 *
 *   threshold 12 · +5 at 100 → waits · +5 at 111 → waits · +5 at 112 → proven · +6 at 112 → begins again
 */

/** Differences that wait at once; beyond it the next pass finds them. */
const WAITING_MAX = 10_000;

export interface RepeatProofs {
  /** Notes a difference (0n clears it); true when it is proven, and then it is forgotten here. */
  note(key: string, difference: bigint, height: number): boolean;
  /** Keys whose second look is due at a height, oldest first. */
  due(height: number, limit: number): string[];
  readonly waiting: number;
}

/** A difference is proven when it is found again `depth` blocks later. */
export function createRepeatProofs(depth: number): RepeatProofs {
  const first = new Map<string, { difference: bigint; height: number }>();
  return {
    note(key, difference, height) {
      const earlier = first.get(key);
      if (difference === 0n) first.delete(key);
      else if (earlier?.difference !== difference) {
        first.delete(key);
        if (first.size < WAITING_MAX) first.set(key, { difference, height });
      } else if (height - earlier.height >= depth) {
        first.delete(key);
        return true;
      }
      return false;
    },
    due(height, limit) {
      const keys: string[] = [];
      for (const [key, seen] of first) {
        if (keys.length === limit) break;
        if (height - seen.height >= depth) keys.push(key);
      }
      return keys;
    },
    get waiting() {
      return first.size;
    },
  };
}
