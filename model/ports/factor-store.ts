/** Second factors of people: recovery codes for a lost device, and taking a factor away. Console A21, A23. */
import type { AuditNote } from '../rows/audit.ts';

/** A letter that is written by the statement of what it is about. */
export interface Notice {
  readonly letterId: string;
  readonly nowMs: number;
}

/** `audit` is noted in the logs of all organizations of the user, by the statement of its effect. */
export interface FactorStore {
  /** Spends a recovery code by its SHA-256, with a letter that says how many are left. `locked` while the factor is. */
  spendRecoveryCode(userId: string, hash: string, notice: Notice): Promise<'spent' | 'used' | 'unknown' | 'locked'>;
  /** Puts new codes in place of all others; false where the user has no confirmed factor. */
  replaceRecoveryCodes(userId: string, hashes: readonly string[], notice: Notice, audit?: AuditNote): Promise<boolean>;
  recoveryCodesLeft(userId: string): Promise<number>;
  /** Takes the codes of the app and the recovery codes away. `required` where the user must keep a factor. */
  disableTotp(userId: string, notice: Notice, audit?: AuditNote): Promise<'done' | 'required' | 'break_glass' | 'none'>;
}

/** Codes that are made at once. */
export const RECOVERY_CODES = 10;
