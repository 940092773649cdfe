/** The wipe of an account: scheduled, taken back, begun, done. Console A48, A49. */
import type { StoredWrite } from '../rows/stored.ts';

/**
 *   none ──▶ scheduled ──its time has come──▶ closing ──nothing is under way──▶ running ──all is deleted──▶ none
 *                 └────────── cancelled ──────────┘
 *
 * From `closing` on the account is as a suspended one; with `running` it has forgotten its edge, and rows are deleted.
 */
export interface Wipe {
  readonly id: string;
  readonly status: 'scheduled' | 'closing' | 'running';
  readonly forMs: number;
}

export interface WipeState {
  /** Null where none is scheduled. */
  wipe: Wipe | null;
}

export type WipeCommand =
  | { type: 'schedule_wipe'; id: string; byUser: string }
  | { type: 'cancel_wipe' }
  /** Its time has come. */
  | { type: 'close_for_wipe' }
  /** Nothing is under way: forgets the edge and whatever hangs on it. */
  | { type: 'wipe_account' }
  /** All rows are deleted. */
  | { type: 'end_wipe' };

export type WipeEvent =
  | { type: 'wipe_scheduled'; id: string; forMs: number; byUser: string }
  | { type: 'wipe_cancelled'; id: string }
  | { type: 'wipe_begun'; id: string }
  | { type: 'account_wiped'; id: string; atMs: number }
  | { type: 'wipe_ended'; id: string };

export interface WipeReplies {
  schedule_wipe: { id: string; forMs: number };
  cancel_wipe: { id: string };
  close_for_wipe: { id: string };
  wipe_account: { id: string };
  end_wipe: { id: string };
}

/** `userId`: the user that asked, in the row that is scheduled. */
export interface WipeRowWrite {
  readonly id: string;
  readonly status: Wipe['status'] | 'cancelled' | 'done';
  readonly userId: string | null;
  readonly scheduledForMs: number;
  readonly atMs: number;
}

/** Refused as `wipe_waits` while imports are validated, committed or rolled back, or a sweep is under way. */
export type WipeWrite = StoredWrite<'wipes', WipeRowWrite>;

export const WIPE_INITIAL: WipeState = { wipe: null };
