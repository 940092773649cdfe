/** Passkeys of people, and the challenges that they answer. Console A22, A24. */
import type { AuditNote } from '../rows/audit.ts';
import type { Notice } from './factor-store.ts';

/** Passkeys of one user. Console A24. */
export const PASSKEYS_MAX = 20;
/** How long a challenge may be answered. */
export const CHALLENGE_MS = 300_000;

export interface PasskeyRow {
  readonly id: string;
  readonly userId: string;
  /** The id that the authenticator gave it, base64url. */
  readonly credential: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly name: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
}

/** What a challenge was made for. An answer to one of another purpose, user, login or request is none. */
export interface ChallengeFor {
  readonly purpose: 'sign_in' | 'add' | 'step_up' | 'proof';
  readonly userId: string | null;
  readonly loginId: string | null;
  /** Hash of operation, path and body of a proof. */
  readonly boundTo: string | null;
}

/** `audit` is noted in the logs of all organizations of the user, by the statement of its effect. */
export interface PasskeyStore {
  /** `hash`: SHA-256 of the challenge, 64 hex digits. */
  openChallenge(hash: string, of: ChallengeFor, expiresAtMs: number): Promise<void>;
  /** Ends a challenge, whatever becomes of its answer; false where there is none for this. */
  spendChallenge(hash: string, of: ChallengeFor, nowMs: number): Promise<boolean>;
  purgeChallenges(nowMs: number): Promise<number>;
  passkeys(userId: string): Promise<PasskeyRow[]>;
  byCredential(credential: string): Promise<PasskeyRow | null>;
  /** With a letter. `limit` where the user has PASSKEYS_MAX, `known` where the credential is somebody's. */
  add(row: PasskeyRow, notice: Notice, audit?: AuditNote): Promise<'done' | 'limit' | 'known'>;
  /** Notes a use; the entry is written where the counter did not rise, which is no refusal. */
  noteUse(id: string, counter: number, nowMs: number, ofStandingCounter: AuditNote): Promise<void>;
  /** With a letter. `required` where the user must keep a factor and has no other, `none` for an unknown one. */
  remove(
    userId: string,
    id: string,
    notice: Notice,
    audit?: AuditNote,
  ): Promise<'done' | 'required' | 'break_glass' | 'none'>;
}
