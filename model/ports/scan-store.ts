/** Scans for used addresses below the keys of a source. Migration M-D1–M-D10. */
import type { AccountId } from '../../protocol/ids.ts';
import type { AuditNote } from '../rows/audit.ts';
import type { Evidence, ScanEnd, ScanReview, ScanState } from '../../protocol/migration/words.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { ScriptType } from '../../chains/btc/derive.ts';
import type { Token } from '../../chains/chain.ts';

/** Indexes that are read in turn: below a branch of one extended key, or of a key for each index. */
export interface Lane {
  /** Extended public keys with their paths. One: indexes are below it. Several: index i is `0/0` of the i-th. */
  readonly keys: readonly { readonly xpub: string; readonly path: string }[];
  readonly branch: 0 | 1;
  /** Of btc. */
  readonly script: ScriptType | null;
  /** The first index that was not read. */
  readonly next: number;
  /** Unused indexes in a row before `next`. */
  readonly gap: number;
  readonly lastUsed: number | null;
  /** Of those that a used index ended. */
  readonly largestGap: number;
  readonly done: ScanEnd | null;
}

export interface Scan {
  readonly id: string;
  readonly accountId: AccountId;
  readonly projectId: string;
  readonly keySourceId: string;
  readonly chain: Chain;
  readonly state: ScanState;
  /** Null: by what is seen, `GAP_LIMIT` or `GAP_LIMIT_UNSPENT`. */
  readonly gapLimit: number | null;
  readonly maxScan: number;
  /** Above what goes without staff; null where it was not asked for. */
  readonly requestedMaxScan: number | null;
  readonly review: ScanReview | null;
  /** Whose balances count as use. */
  readonly tokens: readonly Token[];
  readonly lanes: readonly Lane[];
  /** The highest index that has a reference; null without any. */
  readonly mappedTo: number | null;
  readonly found: number;
  readonly evidence: Evidence | null;
  readonly headHeight: number | null;
  readonly stoppedBy: ScanEnd | null;
  /** Indexes of the window that could not be read. */
  readonly unread: number;
  /** Failures in a row. */
  readonly tries: number;
  /** Why it waits or failed, in words without a URL. */
  readonly reason: string | null;
  readonly version: number;
  readonly createdAtMs: number;
  readonly endedAtMs: number | null;
}

export type NewScan = Pick<
  Scan,
  | 'id'
  | 'accountId'
  | 'projectId'
  | 'keySourceId'
  | 'chain'
  | 'gapLimit'
  | 'maxScan'
  | 'requestedMaxScan'
  | 'review'
  | 'tokens'
  | 'lanes'
  | 'mappedTo'
  | 'createdAtMs'
> & { readonly mapping: readonly Mapped[] };

export interface Mapped {
  readonly index: number;
  readonly userRef: string;
}

/** One index of a lane, used or not. */
export interface ScanRow {
  readonly lane: number;
  readonly index: number;
  readonly address: string;
  readonly used: boolean;
}
export interface FoundRow extends ScanRow {
  readonly userRef: string | null;
}
/** After which row a list goes on. */
export type ScanPlace = Pick<ScanRow, 'lane' | 'index'>;

/** What a window, or a failure to read one, makes of a scan. */
export interface ScanChange {
  readonly state: ScanState;
  readonly lanes?: readonly Lane[];
  /** More used addresses. */
  readonly found?: number;
  readonly evidence?: Evidence;
  readonly headHeight?: number;
  readonly stoppedBy?: ScanEnd | null;
  readonly unread: number;
  readonly tries: number;
  readonly reason: string | null;
  /** Until the next window. */
  readonly pauseMs: number;
  /** For how long the endpoints of the chain are left alone by every scan; 0 where absent. */
  readonly paceMs?: number;
}

export interface ScanStore {
  /** 'running': one of this source, chain and project is under way; 'many': the account has `most`, 4 at most. */
  begin(scan: NewScan, most: number): Promise<'begun' | 'running' | 'many'>;
  scan(accountId: AccountId, id: string): Promise<Scan | null>;
  /** Ends one that is under way; false where there was none. */
  cancel(accountId: AccountId, id: string): Promise<boolean>;
  /** Rows up to the last index of each lane that is used or has a reference, by lane and index. */
  rows(accountId: AccountId, id: string, after: ScanPlace | null, limit: number): Promise<FoundRow[]>;
  /**
   * Scans that are due and that nobody is at work on, for a minute; the one that had its turn longest ago first. None
   * of an account of which one is worked on.
   */
  claimScans(most: number): Promise<Scan[]>;
  /** Nobody else is at work on a claimed scan for another minute; nothing where it is another's by now. */
  hold(scan: Pick<Scan, 'accountId' | 'id' | 'version'>): Promise<void>;
  /** The change of a claimed scan with its rows, in one statement; false where it is another's by now, or ended. */
  advance(
    scan: Pick<Scan, 'accountId' | 'id' | 'version' | 'chain'>,
    change: ScanChange,
    rows: readonly ScanRow[],
  ): Promise<boolean>;
  /** Scans behind one whose limit waits for an administrator, oldest first: under way, or stopped at the lower one. */
  underReview(after: string, limit: number): Promise<Scan[]>;
  /**
   * Decides on a limit. What stopped at the old one goes on from there. 'none_waits': it was decided on, the scan ended
   * by itself, or another one of its keys runs.
   */
  review(id: string, review: 'approved' | 'declined', audit?: AuditNote): Promise<Scan | 'none_waits' | 'unknown'>;
  /** Forgets scans that ended before, unless a batch was made of them; how many rows went. At least 90 days. */
  forget(olderThanMs: number): Promise<number>;
}
