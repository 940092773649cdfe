/** A sandbox begins anew, and its clock goes forward. */
import type { SandboxCommand, SandboxState } from '../../model/account/sandbox.ts';
import type { SandboxSees } from '../../model/account/capabilities.ts';
import { refuse } from '../../protocol/errors.ts';
import { sandboxResets } from '../account/guards.ts';
import { accept, type AccountDecision, type Capability, type Deciding } from '../account/decision.ts';

/**
 * Forward only: one that was overtaken by another changes nothing. Refuses: SANDBOX_ONLY, SERVICE_UNAVAILABLE while a
 * reset is under way.
 */
function advanceClock({ state, command: { toAheadMs } }: Deciding<'advance_clock'>): AccountDecision<'advance_clock'> {
  if (state.environment !== 'sandbox') return refuse('SANDBOX_ONLY');
  if (state.resetting) return sandboxResets();
  if (toAheadMs <= state.aheadMs) return accept({ aheadMs: state.aheadMs });
  return accept(
    { aheadMs: toAheadMs },
    [{ type: 'clock_advanced', aheadMs: toAheadMs }],
    [{ table: 'sandbox_clocks', row: { aheadMilliseconds: toAheadMs }, key: '' }],
  );
}

/**
 * Begins anew, once its rows are gone: who comes second finds it done. Refuses: SANDBOX_ONLY; the store: while steps
 * are left. Spec §4.7.
 */
function resetSandbox({ state }: Deciding<'reset_sandbox'>): AccountDecision<'reset_sandbox'> {
  if (state.environment !== 'sandbox') return refuse('SANDBOX_ONLY');
  if (!state.resetting) return accept({ reset: true });
  return accept({ reset: true }, [{ type: 'sandbox_reset' }], [{ table: 'sandbox_reset' }]);
}

export const sandbox: Capability<SandboxCommand, SandboxSees, SandboxState> = {
  owns: ['aheadMs'],
  decide: { advance_clock: advanceClock, reset_sandbox: resetSandbox },
  folds: {
    clock_advanced: (_, { aheadMs }) => ({ aheadMs }),
    sandbox_reset: () => ({ aheadMs: 0 }),
  },
};
