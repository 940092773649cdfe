/**
 * Snapshots as they were stored, by any release. A state says its format; one that is older is brought to the present one step by
 * step when it is read, so that no other code knows of older shapes. A release of an older format reads a newer one as well:
 * a step adds and fills fields, it takes none away.
 */
import type { AccountSnapshot, AccountState } from './commands.ts';

export const STATE_FORMAT = 2;

type Stored = Record<string, unknown>;

/** What brings a state of a format to the next one. */
const STEPS: Readonly<Record<number, (stored: Stored) => Stored>> = {
  // Before formats were numbered: fields that came later may be absent.
  1: (stored) => ({
    pendingBand: null, retired: [], keySources: {}, webhookSeals: {}, ...stored,
    pools: Object.fromEntries(Object.entries(stored['pools'] as Record<string, object>).map(([chain, pool]) => [chain, { base: 0, ...pool }])),
  }),
};

/** A stored state in the present format. Throws: RangeError for one of no release that this one knows. */
export function upcast<State extends AccountState | AccountSnapshot>(stored: State | Stored): State {
  let state: Stored = { ...stored }, format = typeof state['format'] === 'number' ? state['format'] : 1;
  while (format < STATE_FORMAT) {
    const step = STEPS[format];
    if (step === undefined) throw new RangeError(`no way from format ${format} of an account's state`);
    state = step(state);
    format += 1;
  }
  return { ...state, format: Math.max(format, STATE_FORMAT) } as unknown as State;
}
