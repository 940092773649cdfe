/**
 * What a page reads: kept by organization, environment, operation and input, so that nothing of one tenant is ever
 * shown under the name of another; the last good answer stays while a newer one fails. Console C6, C8.
 */
import { signal, type Signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { backoffMs } from '../../protocol/backoff.ts';
import type { Call } from '../../protocol/client.ts';
import { isRefusal, type Refusal } from '../../protocol/errors.ts';
import type { OperationId, ReplyOf } from '../../protocol/routes.ts';
import { ask, type Asking } from './ask.ts';
import { beatOf, nowMs } from './live.ts';

export interface Read<T> {
  /** The last good answer. */
  readonly data: T | null;
  readonly atMs: number | null;
  /** Why the last try failed; null after a good one. */
  readonly failure: Failed | null;
  readonly isLoading: boolean;
}
export interface Failed {
  readonly refusal: Refusal;
  readonly requestId: string | null;
}
interface Kept {
  /** Components that show it now. */
  shown: number;
  readonly read: Signal<Read<unknown>>;
  again(): Promise<void>;
  /** Reads again; where an answer is on its way, once it is there: hints that follow each other put none off. */
  hint(): void;
}

const NOTHING: Read<never> = { data: null, atMs: null, failure: null, isLoading: true };
const KEPT_MAX = 200;
/** C15's pauses. */
const AGAIN = { firstMs: 1_000, mostMs: 30_000, jitterPercent: 50 };
const cache = new Map<string, Kept>();

/** Forgets everything that was read: on sign-out. */
export function forgetReads(): void {
  cache.clear();
}

/** Reads again what is on the screen and comes from one of these operations. */
export function readAgain(...operations: OperationId[]): void {
  for (const [key, kept] of cache) {
    if (kept.shown > 0 && operations.some((name) => key.startsWith(`${name} `))) void kept.again();
  }
}

function keptOf<O extends OperationId>(operationId: O, scope: Asking, call: Call<O> | undefined): Kept {
  const key = `${operationId} ${scope?.organizationId ?? ''} ${scope?.environment ?? ''} ${JSON.stringify(call ?? {})}`;
  const known = cache.get(key);
  if (known !== undefined) return known;
  const read = signal<Read<unknown>>(NOTHING);
  let asked = 0,
    tries = 0,
    isHinted = false,
    later: ReturnType<typeof setTimeout> | undefined;
  /** Nothing was wrong with the question: it is asked again, more and more seldom, for as long as somebody looks. */
  const askLater = (): void => {
    later = setTimeout(
      () => {
        if (kept.shown > 0 && document.visibilityState === 'visible') void kept.again();
      },
      backoffMs(tries, AGAIN, Math.random()),
    );
    tries += 1;
  };
  const kept: Kept = {
    shown: 0,
    read,
    hint() {
      if (read.peek().isLoading) isHinted = true;
      else void kept.again();
    },
    async again() {
      isHinted = false;
      clearTimeout(later);
      asked += 1;
      const mine = asked;
      read.value = { ...read.peek(), isLoading: true };
      const { outcome, requestId, status } = await ask(operationId, scope, call);
      nowMs.value = Date.now(); // what was just made is not in the future
      if (mine !== asked) return; // a newer question is on its way: this answer is late
      read.value = isRefusal(outcome)
        ? { ...read.peek(), failure: { refusal: outcome, requestId }, isLoading: false }
        : { data: outcome, atMs: Date.now(), failure: null, isLoading: false };
      if (isRefusal(outcome) && status >= 500) askLater();
      else tries = 0;
      if (isHinted && kept.shown > 0) void kept.again();
    },
  };
  if (cache.size >= KEPT_MAX) cache.delete(cache.keys().next().value!);
  cache.set(key, kept);
  return kept;
}

/** Reads for as long as the component is shown; `live` reads again as things happen. */
export function useRead<O extends OperationId>(
  operationId: O,
  scope: Asking,
  call?: Call<O>,
  { live = false, skip = false }: { live?: boolean; skip?: boolean } = {},
): Read<ReplyOf<O>> & { again(): Promise<void> } {
  const input = JSON.stringify(call ?? {});
  const kept = useMemo(
    () => keptOf(operationId, scope, call),
    [operationId, scope?.organizationId, scope?.environment, input],
  );
  useEffect(() => {
    kept.shown += 1;
    if (!skip) void kept.again();
    return () => {
      kept.shown -= 1;
    };
  }, [kept, skip]);
  const beat = live && !skip ? beatOf(operationId) : 0;
  const before = useRef(beat);
  useEffect(() => {
    if (beat !== before.current && !skip) kept.hint();
    before.current = beat;
  }, [beat]);
  return { ...(kept.read.value as Read<ReplyOf<O>>), again: kept.again };
}
