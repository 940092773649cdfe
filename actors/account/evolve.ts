/** Folding facts into the state of an account. Total: never refuses; an event that was once written always folds. */
import type { AccountEvent, AccountState } from '../../model/account/capabilities.ts';
import { CAPABILITIES } from './capabilities.ts';

type Fold = (state: AccountState, event: AccountEvent) => Partial<AccountState>;

/** The folds of all capabilities by event: a fact concerns each capability that listens to it. */
const FOLDS: ReadonlyMap<AccountEvent['type'], readonly Fold[]> = Object.values(CAPABILITIES).reduce(
  (folds, { folds: own }) => {
    for (const [type, fold] of Object.entries(own) as [AccountEvent['type'], Fold][])
      folds.set(type, [...(folds.get(type) ?? []), fold]);
    return folds;
  },
  new Map<AccountEvent['type'], Fold[]>(),
);

/** The state after one event: each capability that it concerns sees the state before it, and changes its own slice. */
export function evolve(state: AccountState, event: AccountEvent): AccountState {
  const next = { ...state, version: state.version + 1 };
  for (const fold of FOLDS.get(event.type) ?? []) Object.assign(next, fold(state, event));
  return next;
}
