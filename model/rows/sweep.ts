/** Jobs of sweep policies and their operations, one for an address. Treasury 5.3. */
import type { SWEEP_OPERATION_STATES, SWEEP_TRIGGERS } from '../../protocol/slugs.ts';
import type { Chain } from '../../protocol/slugs.ts';

export type SweepOperationState = (typeof SWEEP_OPERATION_STATES)[number];
/** As it is stored: where an open job is follows from its operations (actors/sweep/job-state.ts). */
export type StoredJobState = 'PLANNED' | 'COMPLETED' | 'PARTIAL' | 'FAILED';

/** When a policy fires: what the worker looks for, without reading accounts. Written with each change of its policy. */
export interface SweepPolicyRow {
  readonly id: string;
  readonly chain: Chain;
  /** Empty for the native coin. */
  readonly tokenContract: string;
  /** An address that holds so much fires it; null where none does now. */
  readonly minAmount: bigint | null;
  readonly nextRunAtMs: number | null;
  readonly heldUntilMs: number | null;
  /** Firings by threshold that a plan has seen; null changes nothing. */
  readonly seen: number | null;
  /** It fires once more, whatever its threshold is. */
  readonly again: boolean;
  /** False where only a person begins its cycles: what fired is forgotten. */
  readonly fires: boolean;
  readonly isGone: boolean;
}

export interface SweepJobRow {
  readonly id: string;
  /** Grows by one with each write; another one refuses the append. */
  readonly version: number;
  readonly policyId: string;
  readonly chain: Chain;
  readonly tokenContract: string | null;
  readonly trigger: (typeof SWEEP_TRIGGERS)[number];
  readonly state: StoredJobState;
  /** 1, and one more with each retry. */
  readonly run: number;
  /** The settings of its policy when it was planned, JSON. */
  readonly settings: string;
  /** The setting of the edge that keeps it from signing, JSON; null for none. */
  readonly blocked: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
  /** A reorg took a sweep of it out of the chain, and its operation has not followed yet. S22. */
  readonly takenBack: boolean;
}

export interface SweepOperationRow {
  readonly id: string;
  readonly jobId: string;
  readonly version: number;
  readonly chain: Chain;
  readonly address: string;
  readonly state: SweepOperationState;
  /** Of what is FAILED or SKIPPED. */
  readonly reason: string | null;
  readonly attempt: number;
  /** Smallest unit of the asset. */
  readonly amount: bigint;
  /** Smallest native unit, at planning. */
  readonly estimate: bigint;
  /** What the tank sends, smallest native unit; null where nothing is needed. */
  readonly funding: bigint | null;
  /** What the tank keeps for it until that has left in a block: gas with its fee, or the fee that it pays along. W9. */
  readonly promised: bigint;
  /** Fees of its transactions in blocks; null while it is open. */
  readonly paid: bigint | null;
  /** Ids of its transactions, whether they are built or not. */
  readonly fundId: string;
  readonly sweepId: string;
  /** Of gas that a price outran, where more was sent: `fundId` is the second transaction then. */
  readonly firstFundId: string | null;
  /** What the edge or the chain said, JSON. */
  readonly details: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}
