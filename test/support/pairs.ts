/** Pairs of answers that must say the same: rows of docs/chains/pairs.md, each made to contradict itself. G8. */
import { readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { ChainUnavailable, MalformedReply } from '../../chains/chain.ts';

/** Ids of the rows of docs/chains/pairs.md that a test goes through, by their first letter. */
export function pairsOf(letter: string): ReadonlySet<string> {
  const text = readFileSync(new URL('../../docs/chains/pairs.md', import.meta.url), 'utf8');
  return new Set([...text.matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, id]) => id!).filter((id) => id.startsWith(letter)));
}

export interface Contradiction<Said> {
  /** Row of docs/chains/pairs.md. */
  readonly pair: string;
  readonly what: string;
  /** Changes answers of the unchanged kind. */
  change(said: Said): unknown;
}

/**
 * Goes through all pairs of a family: unchanged, the answers prove their movements; changed in any way, they prove
 * nothing. That is an error, never an empty list and never a movement.
 */
export async function contradict<Said>(
  t: ExecutionContext,
  letter: string,
  fresh: () => Said,
  read: (said: Said) => unknown,
  contradictions: readonly Contradiction<Said>[],
): Promise<void> {
  const proven = await read(fresh());
  t.truthy(proven, 'the control: what agrees is proven');
  for (const { pair, what, change } of contradictions) {
    const said = fresh();
    change(said);
    const error = await Promise.resolve()
      .then(() => read(said))
      .then(
        () => null,
        (fault: unknown) => fault,
      );
    t.true(
      error instanceof ChainUnavailable || error instanceof MalformedReply,
      `${pair} ${what}: ${error === null ? 'something was proven' : String(error)}`,
    );
  }
  t.deepEqual(
    [...new Set(contradictions.map(({ pair }) => pair))].sort(),
    [...pairsOf(letter)].sort(),
    'every row of docs/chains/pairs.md, and no other',
  );
}
