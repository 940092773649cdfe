/**
 * Snapshots as they were stored, by any release. A state says its format; what is read is brought to the present one
 * step by step, so that no other code handles older shapes. Releases run side by side: an older one reads a newer
 * state, keeps its format and writes on in its own shape. So a step only fills what is absent, and every step is taken
 * at each reading.
 */
import { type AccountSnapshot, type AccountState, SNAPSHOT_INITIAL } from './capabilities.ts';

export const STATE_FORMAT = 3;

type Stored = Readonly<Record<string, unknown>>;

/** What fills in what each format has beyond the one before, oldest first. */
const STEPS: readonly ((stored: Stored) => Stored)[] = [
  // A capability that is younger than the state: its first slice.
  (stored) => ({ ...structuredClone(SNAPSHOT_INITIAL), ...stored }),
  // 2: before formats were numbered a pool might be without a base.
  (stored) => ({
    ...stored,
    pools: Object.fromEntries(
      Object.entries(stored['pools'] as Record<string, object>).map(([chain, pool]) => [chain, { base: 0, ...pool }]),
    ),
  }),
  // 3: sweep policies whose firings could not be held.
  (stored) => ({
    ...stored,
    sweepPolicies: (stored['sweepPolicies'] as readonly object[]).map((policy) => ({
      deferrals: 0,
      heldUntilMs: null,
      hasMore: false,
      rest: null,
      ...policy,
    })),
  }),
];

/** A stored state in the present format; one of a newer release keeps its own number. */
export function upcast<State extends AccountState | AccountSnapshot>(stored: State | Stored): State {
  const state = STEPS.reduce((filled: Stored, step) => step(filled), { ...stored }),
    format = Number(state['format'] ?? 1);
  return { ...state, format: Math.max(format, STATE_FORMAT) } as unknown as State;
}
