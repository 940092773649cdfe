/** What an account has swept, and when. Spec §2.10; treasury 5.1. */
import type { GAS_FUNDING_MODES, SWEEP_ENERGIES, TRIGGER_MODES } from '../../protocol/slugs.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { StoredWrite } from '../rows/stored.ts';
import type {
  StoredJobState,
  SweepJobRow,
  SweepOperationRow,
  SweepOperationState,
  SweepPolicyRow,
} from '../rows/sweep.ts';

/** What a cycle came to. */
export interface LastCycle {
  readonly atMs: number;
  readonly result: 'COMPLETED' | 'PARTIAL' | 'FAILED' | 'nothing_due' | 'deferred';
  /** Of a failed or deferred one, or of most of what was skipped; null for none. */
  readonly reason: string | null;
  readonly jobId: string | null;
}

/** A setting of the edge that keeps it from signing, with what it is and what is needed. Treasury S27. */
export interface Blocked {
  readonly reason: string;
  readonly setting: string | null;
  readonly cap: string | null;
  readonly spent: string | null;
  readonly required: string | null;
  readonly windowSeconds: number | null;
}

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
  /** Null where no job of it is open; there is one at most. */
  readonly openJobId: string | null;
  readonly lastCycle: LastCycle | null;
  /** Firings in a row that had to wait, and until when; a cycle that could be planned ends them. Treasury S8. */
  readonly deferrals: number;
  readonly heldUntilMs: number | null;
  /** The open job is full: what is left is planned when it ends. Treasury S9. */
  readonly hasMore: boolean;
  /** What a full job left, as its cycle was fired: it is planned next. Null where nothing is left. */
  readonly rest: 'schedule' | 'threshold' | null;
  /**
   * The last address that a cycle looked at which found too little to take among as many as it looks at: the next one
   * goes on behind it. Absent, or null: from the largest on.
   */
  readonly lookedTo?: SweepPlace | null;
  readonly blocked: Blocked | null;
}

/** An address among the candidates of a policy, with what is credited there, digits of the smallest unit. */
export interface SweepPlace {
  readonly amount: string;
  readonly address: string;
}

/** An address of a cycle, as the plan found it; with a reason it is skipped. */
export interface PlannedOperation {
  readonly id: string;
  readonly address: string;
  readonly amount: bigint;
  readonly estimate: bigint;
  /** What the tank keeps for it. */
  readonly promised: bigint;
  readonly reason: string | null;
  /** What the edge has against it, where that is a setting. */
  readonly blocked: Blocked | null;
  readonly fundId: string;
  readonly sweepId: string;
}

/** What all operations of a job came to. */
export interface JobOutcome {
  readonly confirmed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Failed, or skipped for what may pass without another deposit. Treasury S20. */
  readonly left: number;
  /** Smallest unit of the asset, of what is confirmed. */
  readonly amount: bigint;
  /** Smallest native unit. */
  readonly estimate: bigint;
  readonly paid: bigint;
  /** The reason that most failed operations have, and what the edge said to one of them. */
  readonly reason: string | null;
  readonly blocked: Blocked | null;
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
  | { type: 'resume_sweep_policy'; id: string }
  /** A cycle: a job of what can be taken. `version`: the policy that the plan was made of. */
  | {
      type: 'run_sweep_policy';
      id: string;
      version: number;
      trigger: SweepJobRow['trigger'];
      jobId: string;
      operations: readonly PlannedOperation[];
      /** Firings by threshold that the plan has seen; null where it was not made for one. */
      seen: number | null;
      /** Open jobs of the chain whose promises the plan has read; null where it asks nothing of the tank. */
      beside: readonly string[] | null;
      /** As `SweepPolicy.lookedTo`. */
      lookedTo?: SweepPlace | null;
    }
  /** A firing that has to wait for what the reason names. Treasury S8. */
  | { type: 'defer_sweep_policy'; id: string; reason: string }
  /** A run by schedule that nobody was there for, too long ago to be made up for. Treasury S11. */
  | { type: 'skip_sweep_run'; id: string }
  /** The row of a policy that another release changed, or deleted, without writing it. */
  | { type: 'note_sweep_policy'; id: string }
  | {
      type: 'move_sweep_operation';
      known: SweepOperationRow;
      to: SweepOperationState;
      reason: string | null;
      paid?: bigint;
      /** What arrived, where that is not what was built last. */
      amount?: bigint;
      details?: string;
      /** Of a build that is given back: the next one's id. */
      sweepId?: string;
    }
  /** Operations of a job that a reorg took a sweep back of have followed their transactions. Treasury S22. */
  | { type: 'settle_sweep_job'; known: SweepJobRow; outcome: JobOutcome }
  /** All operations ended. */
  | { type: 'end_sweep_job'; known: SweepJobRow; symbol: string; outcome: JobOutcome }
  /** What failed, once more: `fundIds` and `sweepIds` of the new attempts, in their order. */
  | {
      type: 'retry_sweep_job';
      known: SweepJobRow;
      failed: readonly SweepOperationRow[];
      fundIds: readonly string[];
      sweepIds: readonly string[];
      /** Until when a signed payload of one of them may land all the same; null where none may. */
      mayLandUntilMs: number | null;
    };

export type SweepEvent =
  /** Settings, pause or the next run: the whole policy as it is now. */
  | { type: 'sweep_policy_set'; policy: SweepPolicy }
  | { type: 'sweep_policy_deleted'; id: string }
  | { type: 'sweep_job_ended'; id: string; state: StoredJobState }
  | { type: 'sweep_operation_moved'; id: string; state: SweepOperationState; reason: string | null };

/** Rows that it writes. */
export type SweepWrite =
  | StoredWrite<'sweep_policies', SweepPolicyRow>
  | StoredWrite<'sweep_jobs', SweepJobRow>
  | StoredWrite<'sweep_operations', SweepOperationRow>;

export interface SweepReplies {
  create_sweep_policy: SweepPolicy;
  replace_sweep_policy: SweepPolicy;
  delete_sweep_policy: SweepPolicy;
  pause_sweep_policy: SweepPolicy;
  resume_sweep_policy: SweepPolicy;
  /** `jobId` null where nothing is due; the open one where there is one. */
  run_sweep_policy: { jobId: string | null; policy: SweepPolicy };
  defer_sweep_policy: SweepPolicy;
  skip_sweep_run: SweepPolicy;
  note_sweep_policy: Record<string, never>;
  move_sweep_operation: SweepOperationRow;
  settle_sweep_job: SweepJobRow;
  end_sweep_job: SweepJobRow;
  retry_sweep_job: SweepJobRow;
}

export const SWEEP_INITIAL: SweepState = { sweepPolicies: [] };
