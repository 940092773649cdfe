/**
 * Decisions about replaced blocks. No I/O: reads come in as values or as a predicate.
 *
 *   kept links 100…91, the chain agrees at 97 and below → fork point 97, depth 3, found with reads at 100, 99, 97, 98
 *   window 256, nothing agrees in [0, 256) links         → too deep: the chain is stopped (G17)
 */
import type { BlockLink, Cursor } from '../../model/ports/watch-store.ts';

/** Stands for the hash of a height that the chain proves to have skipped (L19). */
export const SKIPPED = 'skipped';

/** What one endpoint says about the height of our cursor. */
export interface Witness {
  readonly headHeight: number;
  /** `SKIPPED` where its chain holds no block there, null when it cannot know. */
  readonly hash: string | null;
}

/** The first time that an endpoint contradicted our cursor. */
export interface Suspicion {
  readonly cursor: Cursor;
  readonly theirs: string | null;
  readonly sinceMs: number;
}

export type Verdict = 'ours' | 'reorg' | 'unproven';

export interface Patience {
  /** One endpoint that says the same again after this time counts as a second read. */
  readonly secondReadMs: number;
  /** Endpoints that disagree for this long are decided by the higher head. */
  readonly contestedMs: number;
}

/**
 * Whether our block was replaced. Endpoints below its height have no say. Two that agree on one other hash, and are
 * more than those that hold ours, prove it; a single one proves it by saying the same again after one block time. G10.
 * Where endpoints contradict each other for long, the branch whose head is higher is the chain: a node that froze on a
 * replaced block must not stop the ledger for ever.
 */
export function judge(suspicion: Suspicion, witnesses: readonly Witness[], nowMs: number, patience: Patience): Verdict {
  const entitled = witnesses.filter(({ headHeight, hash }) => headHeight >= suspicion.cursor.height && hash !== null);
  const ours = entitled.filter(({ hash }) => hash === suspicion.cursor.hash);
  const byHash = Map.groupBy(
    entitled.filter((witness) => !ours.includes(witness)),
    ({ hash }) => hash,
  );
  const others = [...byHash.values()].sort((a, b) => b.length - a.length)[0] ?? [];
  if (others.length === 0) return ours.length > 0 ? 'ours' : 'unproven';
  if (others.length >= 2 && others.length > ours.length) return 'reorg';
  if (others[0]!.hash !== suspicion.theirs) return 'unproven';
  const waitedMs = nowMs - suspicion.sinceMs;
  if (entitled.length === 1) return waitedMs >= patience.secondReadMs ? 'reorg' : 'unproven';
  const highest = (side: readonly Witness[]) => Math.max(...side.map(({ headHeight }) => headHeight), -1);
  return waitedMs >= patience.contestedMs && highest(others) > highest(ours) ? 'reorg' : 'unproven';
}

/**
 * Index of the newest link on which the chain agrees, or null when none of them is on it. Links run from newest to
 * oldest; below a link that agrees all agree, so the walk doubles its steps and then halves them: O(log n) reads.
 */
export async function forkIndex(
  links: readonly BlockLink[],
  agrees: (link: BlockLink) => Promise<boolean>,
): Promise<number | null> {
  let differs = -1; // newest side: known to differ
  let probe = 0;
  for (let step = 1; ; step *= 2) {
    if (probe >= links.length) probe = links.length - 1;
    if (probe <= differs) return null;
    if (await agrees(links[probe]!)) break;
    differs = probe;
    probe += step;
  }
  let same = probe;
  while (same - differs > 1) {
    const middle = Math.floor((same + differs) / 2);
    if (await agrees(links[middle]!)) same = middle;
    else differs = middle;
  }
  return same;
}

/**
 * The newest link that more than half of the endpoints hold, or null when none of them is on any. `indexes` is the fork
 * point of each. One that holds none of our links has no say while another one shares some: it is of another history,
 * or lies, and must neither stop the chain nor call it replaced from its beginning.
 *
 *   3, 3 → 3 · 3, 20 → 20: deeper than it is, within the window, and each block is read from both again · 3, 3, 20 → 3
 *   3, null → 3 · null, null → null
 */
export function commonIndex(indexes: readonly (number | null)[]): number | null {
  const held = indexes.filter((index) => index !== null).toSorted((a, b) => a - b);
  return held[Math.floor(held.length / 2)] ?? null;
}

export type Walk =
  | { readonly kind: 'fork'; readonly forkPoint: Cursor; readonly depth: number }
  /** The first block that was ever recorded is replaced: the new branch begins at its height. */
  | { readonly kind: 'below_start'; readonly start: BlockLink; readonly depth: number }
  /** G17: stop, page a person, never resume from the head. */
  | { readonly kind: 'too_deep'; readonly depth: number };

/**
 * What a walk-back means. `links` were all that exist below the old head, at most `window` of them; fewer than that
 * reach the start of the ledger. G15, G17.
 */
export function walkOf(links: readonly BlockLink[], index: number | null, window: number): Walk {
  if (index !== null) {
    const { height, hash } = links[index]!;
    return { kind: 'fork', forkPoint: { height, hash }, depth: index };
  }
  const start = links.at(-1);
  if (start !== undefined && links.length < window) return { kind: 'below_start', start, depth: links.length };
  return { kind: 'too_deep', depth: links.length };
}
