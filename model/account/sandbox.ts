/**
 * A sandbox: a reset lets it begin anew (spec §4.7), and it has a clock of its own (ecosystem X75). What falls due
 * for it (retries, ends of links and of payments, schedules, timers of simulated payments) is compared with the real
 * time and `aheadMs`. Sign-ins, signatures, limits and bills go by the real time alone.
 */
import type { StoredWrite } from '../rows/stored.ts';

export interface SandboxState {
  /** How far the account's time is ahead of the real one, milliseconds; 0 in live, and after a reset. */
  aheadMs: number;
}

export type SandboxCommand = { type: 'reset_sandbox' } | { type: 'advance_clock'; toAheadMs: number };

export type SandboxEvent = { type: 'sandbox_reset' } | { type: 'clock_advanced'; aheadMs: number };

export interface SandboxReplies {
  reset_sandbox: { reset: true };
  advance_clock: { aheadMs: number };
}

export type SandboxWrite =
  // What reset_step left, and the mark; its own addresses and pools stay. Refused while steps are left.
  { table: 'sandbox_reset' } | StoredWrite<'sandbox_clocks', { aheadMilliseconds: number }>;

export const SANDBOX_INITIAL: SandboxState = { aheadMs: 0 };
