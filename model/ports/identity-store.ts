/** People, organizations and their keys; answers kept for repeated requests. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment, OrgRole } from '../../protocol/slugs.ts';
import type { AuditNote, AuditRecord } from '../rows/audit.ts';
import type { IdempotencyRow } from '../rows/idempotency.ts';
import type { Plan } from '../account/plan.ts';
import type { Notice } from './factor-store.ts';
import type { SsoKind } from './sso-store.ts';

export interface ApiKeyRow {
  id: string;
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
  label: string;
  hash: string;
  maskedPrefix: string;
  createdAtMs: number;
  revokedAtMs: number | null;
  /** The user who minted it; absent for an operator's, and for keys of before. */
  createdBy?: string;
  /** `editor` where absent. */
  role?: KeyRole;
  /** When it stops being good; absent for never. */
  expiresAtMs?: number;
  /** Right to the minute; absent for never. */
  lastUsedAtMs?: number;
}

/** A key never exceeds editor. Console A3. */
export type KeyRole = 'editor' | 'viewer';
/** Keys of one account that are neither revoked nor expired. Console A32. */
export const LIVE_KEYS_MAX = 50;
/** Organizations that a person creates. Console A26. */
export const ORGANIZATIONS_MAX = 10;

export interface UserRow {
  id: string;
  email: string;
  passwordHash: string;
  sealedTotpSecret: string | null;
  totpConfirmed: boolean;
  /** Being enrolled: it takes the place of the confirmed one with its first code. */
  pendingTotpSecret?: string | null;
  platformRole: 'admin' | null;
}

/** A user as the store knows them. */
export interface KnownUser extends UserRow {
  memberships: KnownMembership[];
  /** How many they have. */
  passkeys: number;
  /** Administrators let them in no more: signing in is answered as with a wrong password. Console A46. */
  isSuspended: boolean;
}

export interface MembershipRow {
  userId: string;
  organizationId: string;
  role: OrgRole;
}

export interface KnownMembership extends MembershipRow {
  /** The kind of the organization's provider where they get in by that alone; null where they need not. Console A41. */
  ssoRequired: SsoKind | null;
}

export interface OrganizationRow {
  id: string;
  name: string;
  createdAtMs: number;
}

/** Whose an Idempotency-Key is: an account's, or that of a user who works without one. */
export type KeyOwner = AccountId | `user:${string}`;

/** The first answer to a key, written by the statement that creates what the answer describes. */
export type FirstAnswer = IdempotencyRow & { readonly owner: KeyOwner };

/** `audit` is written by the statement of its effect, or neither is. */
export interface IdentityStore {
  apiKeyByHash(hash: string): Promise<ApiKeyRow | null>;
  /**
   * With its answer, in one statement; false, and nothing is written, when the answer's key was used before; `limit`
   * where the account has LIVE_KEYS_MAX.
   */
  insertApiKey(row: ApiKeyRow, answer?: FirstAnswer, audit?: AuditRecord): Promise<boolean | 'limit'>;
  /** Notes that a key was used, once a minute at most. */
  noteKeyUse(id: string, nowMs: number): Promise<void>;
  revokeApiKey(organizationId: string, id: string, atMs: number, audit?: AuditRecord): Promise<boolean>;
  /** Those that work, and the newest 200 that are revoked or expired; newest first. */
  apiKeys(organizationId: string): Promise<ApiKeyRow[]>;
  userByEmail(email: string): Promise<KnownUser | null>;
  userById(id: string): Promise<KnownUser | null>;
  insertUser(row: UserRow): Promise<void>;
  /** Puts a secret beside the confirmed one, in place of an earlier one that was not confirmed. */
  enrolTotp(userId: string, sealedSecret: string, audit?: AuditNote): Promise<void>;
  /** The secret is the factor from now on; false where another one is being enrolled by now. */
  confirmTotp(userId: string, sealedSecret: string, notice: Notice, audit?: AuditNote): Promise<boolean>;
  /** Spends a TOTP step once (I22); false for one that was spent, and while the factor is locked. */
  spendTotpStep(userId: string, step: number, nowMs: number): Promise<boolean>;
  /** Counts a wrong code: five of them lock the factor for 15 minutes, with a letter. None is counted during a lock. */
  noteTotpFailure(userId: string, notice: Notice, audit?: AuditNote): Promise<{ lockedUntilMs: number | null }>;
  totpLockedUntil(userId: string): Promise<number | null>;
  /**
   * Organization, its two accounts with their plans, the first owner's membership and the answer: one statement. False,
   * and nothing is written, when the answer's key was used before; `limit` where who creates it by themselves has
   * created ORGANIZATIONS_MAX.
   */
  createOrganization(
    row: OrganizationRow & { readonly createdBy?: string },
    ownerUserId: string,
    plan: Plan,
    answer?: FirstAnswer,
    audit?: AuditRecord,
  ): Promise<boolean | 'limit'>;
  organization(id: string): Promise<OrganizationRow | null>;
  /** Makes a user a member, or gives a member another role. */
  insertMembership(row: MembershipRow): Promise<void>;
  members(organizationId: string): Promise<{ userId: string; email: string; role: OrgRole; totpConfirmed: boolean }[]>;
  signingKeys(): Promise<{ kid: string; sealedPrivateJwk: string; publicJwk: object; createdAtMs: number }[]>;
  insertSigningKey(row: {
    kid: string;
    sealedPrivateJwk: string;
    publicJwk: object;
    createdAtMs: number;
  }): Promise<void>;
}
