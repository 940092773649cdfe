/** The known name that a misspelt one most likely stands for. */

/** Names that are longer are compared by nothing: nobody mistyped them. */
const CHARACTERS_MAX = 80;

/**
 * The nearest of the known names, or null where none is near: at most a third of the name differs, upper and lower case
 * do not count.
 */
export function nearestOf(name: string, known: readonly string[]): string | null {
  if (name.length > CHARACTERS_MAX) return null;
  const asked = plain(name);
  const [best] = known
    .map((each) => ({ each, steps: stepsBetween(asked, plain(each)) }))
    .toSorted((left, right) => left.steps - right.steps);
  return best !== undefined && best.steps <= Math.max(1, Math.floor(asked.length / 3)) ? best.each : null;
}

/** Letters and digits alone: `user_ref` and `userRef` count as the same name. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Letters put in, left out, exchanged or swapped with their neighbour (Damerau–Levenshtein, restricted). */
export function stepsBetween(from: string, to: string): number {
  let before: number[] = [],
    row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      next.push(
        Math.min(
          row[j]! + 1,
          next[j - 1]! + 1,
          row[j - 1]! + (isSame ? 0 : 1),
          isSwapped ? before[j - 2]! + 1 : Infinity,
        ),
      );
    }
    before = row;
    row = next;
  }
  return row[to.length]!;
}
