/** What people do about themselves by letter: sign-up, password, email. Console A4–A10. */
import type { AuditNote } from '../rows/audit.ts';

/** `email`: a new mailbox is proven. `undo`: the one before takes its place again. */
export type TokenKind = 'verify' | 'reset' | 'email' | 'undo';
export type TokenEnd = 'used' | 'replaced' | 'revoked';

/** A token as it is stored: SHA-256 of it, 64 hex digits. */
export interface NewToken {
  readonly hash: string;
  readonly kind: TokenKind;
  /** The newest of a kind and subject replaces the others. */
  readonly subject: string;
  /** Lowercase. */
  readonly email: string;
  readonly userId: string | null;
  readonly expiresAtMs: number;
}

export interface TokenRow extends NewToken {
  readonly why: TokenEnd | null;
}

export type LetterKind =
  | 'verify'
  | 'known'
  | 'reset'
  | 'password_changed'
  | 'email'
  | 'email_taken'
  | 'email_changed'
  | 'email_restored'
  | 'invitation'
  /** Staff reads an account. Console A45. */
  | 'support_session'
  | 'key_ends'
  /** A part of the plan is nearly or wholly used up. Console B16. */
  | 'quota_warning'
  /** The wipe of an account: scheduled, a day before, taken back, done. Console A48. */
  | 'wipe_scheduled'
  | 'wipe_soon'
  | 'wipe_cancelled'
  | 'wipe_done'
  /** An owner got in without the provider where it is enforced. Console A41. */
  | 'break_glass'
  /** A verified domain has its record no more. Console A36. */
  | 'domain_lapsed'
  /** The last certificate of a SAML provider ends in 30 days. Console A39. */
  | 'sso_certificate'
  /** The factors of somebody who lost all of theirs: asked for, in so many hours, taken back, done. Console A25. */
  | 'factor_reset_asked'
  | 'factor_reset_soon'
  | 'factor_reset_cancelled'
  | 'factors_reset'
  | 'factor_added'
  | 'factor_removed'
  | 'factor_locked'
  | 'recovery_codes_made'
  | 'recovery_code_used'
  | 'passkey_added'
  | 'passkey_removed';

/** Letters beside those to people: to a payer, about an invoice. payments I5. */
export type PayerLetterKind = 'invoice';

/** A letter as it is written; `sealedToken` is the secret of its link. */
export interface NewLetter {
  readonly id: string;
  readonly kind: LetterKind;
  readonly recipient: string;
  readonly userId: string | null;
  readonly organizationId?: string;
  readonly sealedToken: string | null;
  readonly facts: Readonly<Record<string, string>>;
}

/** `audit` is noted in the logs of all organizations of the user, by the statement of its effect. */
export interface PeopleStore {
  write(letter: NewLetter, nowMs: number): Promise<void>;
  /** Ends all logins and open tokens of a user, who signs in no more, or lets them in again; false for nobody. */
  suspend(userId: string, suspended: boolean, nowMs: number, audit?: AuditNote): Promise<boolean>;
  /** To all owners, 7 days and a day before a key that is used ends, once each; answers how many were written. */
  writeKeyLetters(nowMs: number): Promise<number>;
  /** A token in place of the open one of its kind and subject, with its letter: one statement. */
  open(token: NewToken, letter: NewLetter | null, nowMs: number): Promise<void>;
  token(hash: string): Promise<TokenRow | null>;
  /** Spends a token of kind `verify`: a user with the mailbox that it proves. Null where it is spent, or one has it. */
  register(hash: string, user: { id: string; passwordHash: string }, nowMs: number): Promise<string | null>;
  /**
   * Spends a token of kind `reset`: the password, the end of all logins and of all other tokens but those that take an
   * email back, and the notice to the user. Null where it is spent.
   */
  reset(
    hash: string,
    passwordHash: string,
    letterId: string,
    nowMs: number,
    audit: AuditNote,
  ): Promise<{ readonly userId: string } | null>;
  /** The same by somebody signed in, whose own login stays; false where the password is another one by now. */
  changePassword(
    user: { readonly id: string; readonly from: string; readonly to: string; readonly loginId: string | null },
    letterId: string,
    nowMs: number,
    audit?: AuditNote,
  ): Promise<boolean>;
  /** The same password under newer parameters; nothing where it is another one by now. */
  rehash(userId: string, from: string, to: string): Promise<void>;
  /**
   * Spends a token of kind `email`: the user's email, and a letter to the one before with `undo`. Null where it is
   * spent, `taken` where somebody has the email by now.
   */
  changeEmail(
    hash: string,
    undo: { readonly hash: string; readonly expiresAtMs: number; readonly letterId: string; readonly sealed: string },
    nowMs: number,
    audit: AuditNote,
  ): Promise<{ readonly userId: string } | 'taken' | null>;
  /** Spends a token of kind `undo`: the email of before, and the end of all logins and of tokens that are open. */
  restoreEmail(
    hash: string,
    letterId: string,
    nowMs: number,
    audit: AuditNote,
  ): Promise<{ readonly userId: string } | 'taken' | null>;
}
