/** Resets of the factors of people who lost all of theirs. Console A25. */
import type { AuditNote } from '../rows/audit.ts';
import type { NewLetter } from './people-store.ts';

/** `asked` until another administrator confirms it, `scheduled` until its 72 hours are over. */
export const FACTOR_RESET_STATUSES = ['asked', 'scheduled', 'done', 'cancelled', 'expired'] as const;
export type FactorResetStatus = (typeof FACTOR_RESET_STATUSES)[number];

/** Letters of a reset that have a link: when it is asked for, when it is confirmed, and a day and two days later. */
export const RESET_LETTERS = 4;
export const resetLetterId = (resetId: string, n: number): string => `${resetId}.${n}`;

export interface FactorResetRow {
  readonly id: string;
  readonly userId: string;
  /** Whose factors they are, who asked, who confirmed: what they sign in with now. */
  readonly email: string;
  readonly askedByEmail: string;
  readonly confirmedByEmail: string | null;
  readonly reason: string;
  readonly status: FactorResetStatus;
  readonly askedBy: string;
  readonly askedAtMs: number;
  readonly confirmedBy: string | null;
  readonly dueAtMs: number | null;
  readonly endedAtMs: number | null;
  /** Id of a user: the person themselves, or an administrator. */
  readonly cancelledBy: string | null;
  /** SHA-256 of the tokens that take it back, hex. */
  readonly linkHashes: readonly string[];
}

/** A letter with a link that takes the reset back, sent from an instant on. */
export interface ResetLetter {
  readonly letter: Pick<NewLetter, 'id' | 'sealedToken' | 'facts'>;
  readonly linkHash: string;
  readonly atMs: number;
}

/** `audit` is noted in the logs of all organizations of the person, by the statement of its effect. */
export interface FactorResetStore {
  /** `open` where one of this person's is not over, `none` where they have no factor. */
  ask(
    reset: Pick<FactorResetRow, 'id' | 'userId' | 'reason' | 'askedBy' | 'askedAtMs'>,
    letter: ResetLetter,
    audit?: AuditNote,
  ): Promise<'asked' | 'open' | 'none'>;
  /** With a letter for each day; false where it is not `asked` any more. */
  confirm(
    reset: { readonly id: string; readonly by: string; readonly atMs: number; readonly dueAtMs: number },
    letters: readonly ResetLetter[],
    audit?: AuditNote,
  ): Promise<boolean>;
  /** With the letters that were still to come; false where it is over. */
  cancel(id: string, by: string, atMs: number, audit?: AuditNote): Promise<boolean>;
  byId(id: string): Promise<FactorResetRow | null>;
  /** Newest first, behind an id. */
  list(after: string | null, limit: number): Promise<FactorResetRow[]>;
  /** Ends those that nobody confirmed since an instant. */
  expire(askedBeforeMs: number, nowMs: number): Promise<number>;
  /**
   * Carries out the one that is due longest: authenticator, recovery codes and passkeys are gone, all logins and open
   * links end, the person gets a letter. Answers whose they were; null where none is due.
   */
  carryOut(nowMs: number, letterId: string, audit: AuditNote): Promise<string | null>;
}
