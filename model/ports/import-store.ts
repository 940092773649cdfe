/** Batches of an import with their rows as they were read. Migration M-I1–M-I16. */
import type { AccountId } from '../../protocol/ids.ts';
import type { BatchState, Phase, ReviewState, Severity } from '../../protocol/migration/words.ts';
import type { Chain, Family } from '../../protocol/slugs.ts';
import type { Heights } from '../account/migration.ts';

export interface Batch {
  readonly id: string;
  readonly accountId: AccountId;
  readonly projectId: string;
  /** What it is made of: a file, or a scan. */
  readonly uploadId: string | null;
  readonly scanId: string | null;
  /** Of rows that name none. */
  readonly chain: Chain | null;
  readonly includeChange: boolean;
  readonly state: BatchState;
  readonly dryRunId: string | null;
  readonly dryRunAtMs: number | null;
  /** Of the newest dry run; null before one. */
  readonly report: ImportReport | null;
  readonly adopting: number;
  readonly heights: Heights;
  /** Of its conflict; null while it has had none. */
  readonly review: { readonly reviewId: string; readonly state: ReviewState; readonly conflicts: number } | null;
  readonly committedAtMs: number | null;
  readonly createdAtMs: number;
}

/** What a batch is made of. */
export type BatchOf = { readonly uploadId: string } | { readonly scanId: string };

export interface PhaseReport {
  readonly state: 'passed' | 'failed' | 'not_run';
  readonly rows: number;
  readonly passed: number;
  readonly skipped: number;
  readonly warnings: number;
  readonly errors: number;
  readonly codes: Readonly<Record<string, number>>;
}

export interface ImportReport {
  readonly byPhase: Readonly<Record<Phase, PhaseReport>>;
  readonly rows: number;
  readonly adoptable: number;
  readonly skipped: number;
  readonly spendable: number;
  readonly watchOnly: number;
  readonly conflicts: number;
  readonly chains: readonly Chain[];
  /** Above own paths that are adopted: what is issued next. */
  readonly nextIndexes: Partial<Record<Family, number>>;
}

export interface StagedRow {
  readonly n: number;
  readonly line: number;
  readonly chain: Chain;
  readonly family: Family;
  readonly address: string;
  readonly addressKey: string;
  readonly derivationPath: string;
  readonly userRef: string | null;
  readonly tag: string | null;
  readonly label: string | null;
  readonly addressId: string;
}

export interface Issue {
  readonly n: number;
  readonly phase: Phase;
  readonly severity: Severity;
  readonly code: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly field: string | null;
  readonly message: string;
}

export interface BatchChange {
  readonly state: 'created' | 'validating' | 'valid' | 'invalid' | 'conflict';
  readonly dryRunId?: string;
  readonly report?: ImportReport;
  readonly adopting?: number;
  /** Only of this run, or of this attempt. */
  readonly run?: string;
  readonly attempt?: number;
}

/** An address of a project, for its list. */
export interface AdoptedRow {
  readonly id: string;
  readonly address: string;
  readonly chain: Chain;
  readonly derivationPath: string;
  readonly userRef: string | null;
  readonly tag: string | null;
  readonly label: string | null;
  readonly batchId: string;
  readonly recordedHeight: number | null;
  readonly observed: number;
  readonly historical: number;
  readonly straddling: number;
}

export interface ObservedCounts {
  readonly chain: Chain;
  readonly silence: 'historical' | 'observed';
  readonly confirmed: number;
  readonly pending: number;
  readonly reversed: number;
}

export interface CatchUp {
  readonly accountId: AccountId;
  readonly batchId: string;
  readonly chain: Chain;
  readonly nextHeight: number;
  readonly isDone: boolean;
}

export interface ImportStore {
  /**
   * False where what it is made of is not complete, or an upload serves another batch; the account has `most` batches
   * at most.
   */
  createBatch(
    batch: Pick<Batch, 'id' | 'accountId' | 'projectId' | 'chain' | 'includeChange' | 'createdAtMs'> & BatchOf,
    most: number,
  ): Promise<boolean>;
  batch(accountId: AccountId, id: string): Promise<Batch | null>;
  batchesOf(accountId: AccountId, projectId: string): Promise<Batch[]>;
  /**
   * A batch is checked anew, in a run. 'waits': the live account has `most` conflicts since a moment, other checks that
   * are under way among them, and one is not decided on, or not ended; 'not': the batch is in no state for it.
   */
  beginCheck(
    accountId: AccountId,
    id: string,
    run: string,
    limit: { readonly sinceMs: number; readonly most: number },
  ): Promise<'begun' | 'waits' | 'not'>;
  moveBatch(accountId: AccountId, id: string, from: readonly BatchState[], change: BatchChange): Promise<boolean>;
  /**
   * The file is read anew in its run: rows and issues of before go, and an earlier attempt writes none any more. The
   * number of the attempt; null where the run is over.
   */
  beginAttempt(accountId: AccountId, id: string, run: string): Promise<number | null>;
  /** Also a sign of life, with nothing to write. False where another attempt began, or the run is over. */
  stage(
    accountId: AccountId,
    id: string,
    attempt: number,
    read: { readonly rows: readonly StagedRow[]; readonly issues: readonly Issue[] },
  ): Promise<boolean>;
  issues(accountId: AccountId, id: string, after: number, limit: number): Promise<Issue[]>;
  /** Looks for repetitions and claims among `most` rows behind one; the last of them, null at the end. */
  checkClaims(
    accountId: AccountId,
    id: string,
    after: number,
    most: number,
  ): Promise<{ lastN: number | null; codes: Readonly<Record<string, number>> }>;
  /** Adds what was passed over to the issues, `most` rows of it. */
  reportSkips(accountId: AccountId, id: string, attempt: number, most: number): Promise<void>;
  /** Rows that are adopted, by chain and what their path begins with. */
  staged(accountId: AccountId, id: string): Promise<{ chain: Chain; origin: string; rows: number }[]>;
  fill(accountId: AccountId, id: string, most: number): Promise<'filling' | 'filled' | 'conflict' | 'gone'>;
  release(accountId: AccountId, id: string, most: number): Promise<number>;
  /** Forgets rows of batches whose dry run was before, at least 90 days ago; how many went. */
  forgetStaged(olderThanMs: number): Promise<number>;
  /** Work that somebody began and left. */
  claimImports(
    most: number,
  ): Promise<{ accountId: AccountId; id: string; state: BatchState; dryRunId: string | null }[]>;
  /** Silent deposits of open batches, reversed ones too. */
  observed(accountId: AccountId, projectId: string): Promise<ObservedCounts[]>;
  /** How far the blocks above the recorded heights were read again, of open batches. */
  catchUps(accountId: AccountId, projectId: string): Promise<CatchUp[]>;
  /** Addresses of a project behind one, by their batches, and in each by their ids. */
  adopted(
    accountId: AccountId,
    projectId: string,
    after: Pick<AdoptedRow, 'batchId' | 'id'> | null,
    limit: number,
  ): Promise<AdoptedRow[]>;
  /** The first row of a batch that was read, or the one of an address; null where there is none. */
  stagedRow(
    accountId: AccountId,
    batchId: string,
    address: string | null,
  ): Promise<Pick<StagedRow, 'address' | 'addressKey'> | null>;
  /** Of a sandbox: addresses that somebody else claims, as it seems. */
  simulateClaim(accountId: AccountId, addressKey: string): Promise<void>;
  dropClaims(accountId: AccountId): Promise<void>;
  /** The first addresses of a project in order of adoption, or those of some texts. */
  firstAdopted(
    accountId: AccountId,
    projectId: string,
    which: number | readonly string[],
  ): Promise<Pick<AdoptedRow, 'address' | 'chain' | 'batchId'>[]>;
}
