/**
 * The examination of a process that runs: looked at when somebody asks, and nobody waits for it. A look costs its
 * nodes, its database and its cloud a question per check, so that one serves all who ask within five minutes. X36.
 */
import type { Examination, Verdict } from './examine.ts';

const AGAIN_MS = 300_000;

export interface Kept {
  readonly examination: Examination;
  readonly ageMs: number;
}

/** Null until the first look has ended. */
export function keepExamination(look: () => Promise<Examination>, elapsedMs: () => number): () => Kept | null {
  let last: { readonly examination: Examination; readonly atMs: number } | null = null,
    askedMs = Number.NEGATIVE_INFINITY,
    isLooking = false;
  const lookAgain = async (): Promise<void> => {
    isLooking = true;
    askedMs = elapsedMs();
    try {
      last = { examination: await look(), atMs: elapsedMs() };
    } catch {
      // What cannot be looked at at all leaves the last one, whose age says so.
    } finally {
      isLooking = false;
    }
  };
  return () => {
    if (!isLooking && elapsedMs() - askedMs >= AGAIN_MS) void lookAgain();
    return last === null ? null : { examination: last.examination, ageMs: elapsedMs() - last.atMs };
  };
}

const VALUE: Readonly<Record<Verdict, number>> = { unknown: 0, ok: 1, warn: 2, fail: 3 };

/** Values of `svc_check` by check. A look that is twice as old as it may be says nothing any more. */
export function checkValues(kept: Kept | null): readonly (readonly [check: string, value: number])[] {
  if (kept === null) return [];
  const isOld = kept.ageMs > 2 * AGAIN_MS;
  return kept.examination.checks.map(({ id, verdict }) => [id, VALUE[isOld ? 'unknown' : verdict]]);
}
