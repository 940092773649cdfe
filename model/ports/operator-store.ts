/** Questions that go over all accounts: of operators, and of what is done by the clock. */
import type { UnsignedBuild } from '../account/outgoing.ts';
import type { AccountId } from '../../protocol/ids.ts';

export interface DeadBuild extends UnsignedBuild {
  readonly accountId: AccountId;
}

/** How the server of the database is. Null: it has no such thing, or the role may not see it. */
export interface DatabaseState {
  /** Its clock, epoch milliseconds. */
  readonly clockMs: number;
  /** Whether the last segment of its log could not be archived. */
  readonly archiveFailing: boolean | null;
  /** Of the slowest standby. */
  readonly replicaLagSeconds: number | null;
  /** Of the transaction numbers, the part that is used before the server stops to write; in [0, 1]. */
  readonly numbersUsed: number;
  /** Since the last base copy that is whole began. */
  readonly backupAgeSeconds: number | null;
}

export interface OperatorStore {
  databaseState(): Promise<DatabaseState>;
  /** Counter values below the next one that nothing holds, by chain. */
  counterGaps(): Promise<Record<string, number>>;
  /** Accounts with active addresses, by id, after one. For the daily snapshot. */
  accountsWithAddresses(after: string, limit: number): Promise<AccountId[]>;
  /** Accounts whose smaller band has begun and is not in force yet, by id, after one. */
  accountsWithPendingBand(nowMs: number, after: string, limit: number): Promise<AccountId[]>;
  /** Builds that nobody signed and that did not change until an instant, oldest first, behind one of them. */
  deadBuilds(untilMs: number, behind: DeadBuild | null, limit: number): Promise<DeadBuild[]>;
}
