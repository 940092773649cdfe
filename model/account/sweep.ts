/** What an account has swept, and when. Spec §2.10; treasury 5.1. */
import type { GAS_FUNDING_MODES, SWEEP_ENERGIES, TRIGGER_MODES } from '../../protocol/slugs.ts';
import type { Chain } from '../../protocol/slugs.ts';

/** What its owner sets. Amounts are digits of the smallest unit. */
export interface SweepSettings {
  readonly chain: Chain;
  /** Contract in the catalogue's text; null for the native coin. */
  readonly token: string | null;
  readonly enabled: boolean;
  readonly triggerMode: (typeof TRIGGER_MODES)[number];
  /** One address that reaches it fires a cycle; null where the mode has no threshold. */
  readonly minAmount: string | null;
  readonly scheduleCron: string | null;
  readonly scheduleTimeZone: string;
  readonly treasuryWalletId: string;
  readonly gasFundingMode: (typeof GAS_FUNDING_MODES)[number];
  readonly fundingWalletId: string | null;
  /** An address below it is not touched. */
  readonly dustFloor: string;
  /** Cost × 10,000 ≤ value × this; null for no bound. */
  readonly maxFeeRatioBps: number | null;
  /** Smallest native unit that one operation may cost; null for no bound. */
  readonly abortIfGasExceeds: string | null;
  readonly pauseOnConsecutiveFailures: number;
  /** Fees of a native transfer that stay after a native sweep. */
  readonly retainGasFloat: number;
  readonly closeTokenAccounts: boolean;
  readonly energy: (typeof SWEEP_ENERGIES)[number] | null;
}

export interface SweepPolicy extends SweepSettings {
  readonly id: string;
  /** Grows by one with each change of settings. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly pausedAtMs: number | null;
  /** `manual`, or the reason of the last failed cycle. */
  readonly pausedReason: string | null;
  readonly consecutiveFailures: number;
  /** Null where no schedule fires it. */
  readonly nextRunAtMs: number | null;
}

export interface SweepState {
  /** One for a chain and token at most, oldest first: bounded by the catalogue. */
  sweepPolicies: SweepPolicy[];
}

export type SweepCommand =
  | { type: 'create_sweep_policy'; id: string; settings: SweepSettings }
  | {
      type: 'replace_sweep_policy';
      id: string;
      settings: SweepSettings;
      /** The version that the caller saw; null: whichever there is. */
      version: number | null;
    }
  | { type: 'delete_sweep_policy'; id: string }
  | { type: 'pause_sweep_policy'; id: string }
  | { type: 'resume_sweep_policy'; id: string };

export type SweepEvent =
  /** Settings, pause or the next run: the whole policy as it is now. */
  { type: 'sweep_policy_set'; policy: SweepPolicy } | { type: 'sweep_policy_deleted'; id: string };

export interface SweepReplies {
  create_sweep_policy: SweepPolicy;
  replace_sweep_policy: SweepPolicy;
  delete_sweep_policy: SweepPolicy;
  pause_sweep_policy: SweepPolicy;
  resume_sweep_policy: SweepPolicy;
}

export const SWEEP_INITIAL: SweepState = { sweepPolicies: [] };
