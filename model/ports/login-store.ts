/** Logins: signed-in browsers, and the refresh tokens that keep them. Console A11–A16. */
import type { AuditNote } from '../rows/audit.ts';
import type { OrgRole } from '../../protocol/slugs.ts';
import type { SsoKind } from './sso-store.ts';

/** By what a login began. */
export type LoginMethod = 'password' | 'password_totp' | 'password_recovery_code' | 'passkey' | 'sso';
/** Why a login ended before its time. */
export type LoginEnd = 'logout' | 'ended' | 'reused' | 'reset' | 'password' | 'email' | 'replaced';

/** What a browser shows of itself. */
export interface BrowserFacts {
  readonly client: string;
  readonly ip: string;
}

export interface LoginRow extends BrowserFacts {
  readonly id: string;
  readonly userId: string;
  readonly method: LoginMethod;
  /** The connection that it began by; absent for a login by another method. */
  readonly connectionId?: string;
  readonly createdAtMs: number;
  readonly seenAtMs: number;
  /** When it ends unless it is used again. */
  readonly endsAtMs: number;
}

/** A refresh token as it is stored: the name of its family, and the hash of the whole. */
export interface StoredToken {
  readonly family: string;
  readonly hash: string;
}

/**
 * `late`: turned a moment ago by a request that came beside this one; nothing changes. `reused`: turned before; the
 * login is over.
 */
export type Turned =
  | {
      readonly outcome: 'turned';
      readonly loginId: string;
      readonly userId: string;
      readonly organizationId: string | null;
      /** When the user proved who they are. */
      readonly authAtMs: number;
      readonly endsAtMs: number;
    }
  | { readonly outcome: 'reused'; readonly userId: string }
  | { readonly outcome: 'late' | 'unknown' };

/** What a token's claims are worth now. */
export interface StandingOfToken {
  /**
   * The login is open; true for a token of an earlier release, which names none. One by a connection of single sign-on
   * is open while that one knows the person.
   */
  readonly open: boolean;
  /** Role in the organization that the token names; null for no member, and where the login is not for it. */
  readonly role: OrgRole | null;
  /** False for a login by a connection of single sign-on: no customer's provider lets staff in. */
  readonly platformAdmin: boolean;
  /** The organization whose connection the login began by; null for one that is for all of the person's. */
  readonly onlyOrganizationId: string | null;
  /** The kind of provider by which alone the token's organization lets this person in, who came by another way. */
  readonly ssoRequired: SsoKind | null;
}

/**
 * `audit` is noted in the logs of all organizations of the user, by the statement of its effect; without
 * an actor it is the user. */
export interface LoginStore {
  /** A login with its first refresh token. Of more than LOGINS_MAX open ones of a user the least recently used end. */
  begin(
    login: Omit<LoginRow, 'seenAtMs'>,
    token: StoredToken,
    organizationId: string | null,
    audit?: AuditNote,
  ): Promise<void>;
  /** Puts the next token of a family in place of the newest one; one that was turned before ends the login. Atomic. */
  turn(
    token: StoredToken,
    next: { hash: string; loginId: string } & BrowserFacts,
    nowMs: number,
    ofReuse?: AuditNote,
  ): Promise<Turned>;
  /** The organization that a login goes on with when its token is turned. */
  choose(loginId: string, organizationId: string): Promise<void>;
  /** Open logins of a user, most recently used first. */
  open(userId: string, nowMs: number): Promise<LoginRow[]>;
  /** Ends the login of a refresh token; answers whose it was, null where there is none. */
  endFamily(family: string, why: LoginEnd, nowMs: number, audit?: AuditNote): Promise<string | null>;
  /** Ends one open login of a user, or all `but` one; answers how many. */
  end(
    userId: string,
    which: { readonly id: string } | { readonly but: string | null },
    why: LoginEnd,
    nowMs: number,
    audit?: AuditNote,
  ): Promise<number>;
  /** Null for a user that there is none of. */
  standing(
    userId: string,
    loginId: string | null,
    organizationId: string | null,
    nowMs: number,
  ): Promise<StandingOfToken | null>;
  /** Forgets logins, with address and client, that ended before an instant, and tokens whose time is over. */
  purge(endedBeforeMs: number, nowMs: number): Promise<number>;
}

/** A login that is not used for this long ends. Console A11. */
export const LOGIN_IDLE_MS = 14 * 86_400_000;
/** A login ends after this long, however often it is used. Console A11. */
export const LOGIN_WHOLE_MS = 30 * 86_400_000;
/** Open logins of one user. Choice: far above what people have, and a list that stays short. */
export const LOGINS_MAX = 100;
