/** What is read of sweeps: candidates, jobs and their operations. Writes go with the account's appends. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Page, PageAsk } from '../../protocol/page.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { SweepPlace } from '../account/sweep.ts';
import type { SweepJobRow, SweepOperationRow } from '../rows/sweep.ts';

/** An asset on a chain; null is the native coin. */
export interface SweptAsset {
  readonly chain: Chain;
  readonly token: string | null;
}

/** A customer's address with what its deposits left there. */
export interface SweepCandidate {
  readonly address: string;
  readonly path: string;
  readonly userRef: string | null;
  /** Credits less what left again, smallest unit. */
  readonly credited: bigint;
  /** The open operation of the address on the chain; null for none. */
  readonly openOperationId: string | null;
  /** Of a migration project that still observes: another wallet may move what is there. */
  readonly isObserved: boolean;
  /** A withdrawal of it is on its way, or was built within ten minutes. Treasury S21. */
  readonly isPaying: boolean;
}

/** What the ledger alone says of all addresses of an asset, before the chain is asked. */
export interface SweepSum {
  readonly decision: 'take' | 'observe_mode' | 'sweep_in_flight' | 'dust';
  readonly count: number;
  readonly amount: bigint;
}

export interface SweepStore {
  /** Addresses with at least `floor`, largest first: behind one of them, or from the `from`th on. */
  candidates(
    accountId: AccountId,
    of: SweptAsset,
    floor: bigint,
    from: number | SweepPlace,
    most: number,
  ): Promise<SweepCandidate[]>;
  /** Of the `most` largest that hold something, by what becomes of them below `dustFloor` and above. */
  sums(accountId: AccountId, of: SweptAsset, dustFloor: bigint, most: number): Promise<SweepSum[]>;
  job(accountId: AccountId, id: string): Promise<SweepJobRow | null>;
  /** Newest first. */
  jobs(accountId: AccountId, filter: { policyId?: string }, page: PageAsk): Promise<Page<SweepJobRow>>;
  /** All of a job: at most OPERATIONS_MAX. */
  operations(accountId: AccountId, jobId: string): Promise<SweepOperationRow[]>;
  /** The open operation of an address; null for none. */
  openOperation(accountId: AccountId, chain: Chain, address: string): Promise<SweepOperationRow | null>;
  /** What the tank keeps for open operations of a chain, smallest native unit. Treasury W9. */
  promised(accountId: AccountId, chain: Chain): Promise<bigint>;
  /** Whether a withdrawal of an address is on its way, or was built within ten minutes. Treasury S21. */
  isPaying(accountId: AccountId, chain: Chain, address: string): Promise<boolean>;
  /** Jobs of all accounts that have not ended, behind one of them. */
  openJobs(behind: OpenJob | null, most: number): Promise<OpenJob[]>;
  /** Policies of all accounts that fire at `atMs`, behind one of them; a threshold once it is `debounceMs` old. */
  duePolicies(atMs: number, debounceMs: number, behind: DuePolicy | null, most: number): Promise<DuePolicy[]>;
}

/** A policy that fires now. */
export interface DuePolicy {
  readonly accountId: AccountId;
  readonly id: string;
  /** Firings by threshold so far, which a plan that begins now has seen. */
  readonly fired: number;
  /** Since when, in the store's own text. */
  readonly due: string;
}

export interface OpenJob {
  readonly accountId: AccountId;
  readonly id: string;
  readonly chain: Chain;
}
