/**
 * Whether a history of one subject can be told as a sequence in which each operation took effect at one moment between
 * its beginning and its end. Source: Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; with the memory
 * of Lowe, "Testing for Linearizability", 2017.
 */
import type { Operation } from './recorder.ts';

/** What one subject is: a sequential machine. */
export interface Model<State, Input, Output> {
  readonly initial: State;
  /**
   * The state after the operation; null where it could not have answered so. `output` is null where nobody heard it.
   */
  step(state: State, input: Input, output: Output | null): State | null;
}

/** One subject has at most so many operations: the search is of their sets. */
const OPERATIONS_MAX = 30;

/** Null when it can; else the most operations that fit, in an order that does. */
export function whyNotLinearizable<State, Input, Output>(
  history: readonly Operation<Input, Output>[],
  { initial, step }: Model<State, Input, Output>,
): readonly Operation<Input, Output>[] | null {
  const operations = history.filter(({ outcome }) => outcome !== 'fail');
  if (operations.length > OPERATIONS_MAX)
    throw new RangeError(`${operations.length} operations of one subject: at most ${OPERATIONS_MAX}`);
  const answered = operations.reduce((set, { outcome }, at) => (outcome === 'ok' ? set | (1 << at) : set), 0);
  const seen = new Set<string>();
  let longest: readonly Operation<Input, Output>[] = [];
  const search = (done: number, state: State, order: readonly Operation<Input, Output>[]): boolean => {
    if ((done & answered) === answered) return true;
    const place = `${done} ${JSON.stringify(state)}`;
    if (seen.has(place)) return false;
    seen.add(place);
    if (order.length > longest.length) longest = order;
    const left = operations.flatMap((operation, at) => ((done & (1 << at)) === 0 ? [{ operation, at }] : []));
    const firstEnd = Math.min(...left.map(({ operation }) => operation.endedAt));
    for (const { operation, at } of left) {
      // What began after another one ended comes after it.
      if (operation.begunAt > firstEnd) continue;
      const next = step(state, operation.input, operation.output);
      if (next !== null && search(done | (1 << at), next, [...order, operation])) return true;
    }
    return false;
  };
  return search(0, initial, []) ? null : longest;
}

export type Answer<Reply> = { readonly reply: Reply } | { readonly conflict: true };
interface Bound<Reply> {
  readonly body: string;
  /** Null: bound by an operation that nobody heard of. */
  readonly reply: Reply | null;
}

/** An idempotency key: the first body binds it and has one answer for ever; another body is a conflict. */
export function keyModel<Reply>(): Model<Bound<Reply> | 'free', { body: string }, Answer<Reply>> {
  return {
    initial: 'free',
    step(state, { body }, output) {
      if (output === null) return state === 'free' ? { body, reply: null } : state;
      if ('conflict' in output) return state !== 'free' && state.body !== body ? state : null;
      if (state === 'free') return { body, reply: output.reply };
      if (state.body !== body) return null;
      return state.reply === null || JSON.stringify(state.reply) === JSON.stringify(output.reply)
        ? { body, reply: output.reply }
        : null;
    },
  };
}

export type RegisterInput = { readonly write: string } | 'read';

/** A value that is written and read. A write of what it is already is answered `was VALUE`, and changes nothing. */
export const registerModel = (initial: string): Model<string, RegisterInput, string> => ({
  initial,
  step(state, input, output) {
    if (input === 'read') return output === null || output === state ? state : null;
    if (output === `was ${input.write}`) return state === input.write ? state : null;
    return output === null || output === input.write ? input.write : null;
  },
});
