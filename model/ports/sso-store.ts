/** Single sign-on of organizations: connections, domains, identities, and sign-ins under way. Console A35–A41. */
import type { AuditNote, AuditRecord } from '../rows/audit.ts';

/** Domains of one organization, verified or not. */
export const DOMAINS_MAX = 50;
/** A verified domain is looked at again after this long, and is none after so many looks without its record. */
export const DOMAIN_WEEK_MS = 7 * 86_400_000;
export const MISSED_MAX = 3;

/** How long a sign-in, or the proof of an account that it is linked with, may take. */
export const FLOW_MS = 600_000;

/** What is kept of a SAML provider beside its issuer. */
export interface SamlSettings {
  readonly ssoUrl: string;
  /** Base64 of DER. */
  readonly certificates: readonly string[];
}

/** How a provider speaks. */
export type SsoKind = 'oidc' | 'saml';

export interface SsoConnectionRow {
  readonly id: string;
  /** Present for SAML; OpenID Connect without. */
  readonly saml: SamlSettings | null;
  readonly organizationId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly sealedSecret: string | null;
  /** What a person becomes who comes for the first time. */
  readonly jitRole: 'viewer' | 'editor';
  readonly createdAtMs: number;
  /** When issuer, client or secret last changed. */
  readonly changedAtMs: number;
  /** Since when members of the domains get in by it alone; null where they need not. */
  readonly enforcedAtMs: number | null;
  /** Owners who get in without it where it is enforced, by id. */
  readonly breakGlass: readonly string[];
}

/** A connection as it is written. */
export type NewSsoConnection = Omit<SsoConnectionRow, 'changedAtMs' | 'enforcedAtMs' | 'breakGlass'>;

/**
 * Why single sign-on is not enforced: no `domain` is verified; who asks did not `sign_in` by the connection in the last
 * 24 h, since it changed; of those named for an emergency (`break_glass`) one is no owner with password and factor.
 */
export type Enforced = 'done' | 'unknown' | 'domain' | 'sign_in' | 'break_glass';
/** How long ago who enforces it may have come by it. Console A41. */
export const PROVEN_MS = 86_400_000;

export interface SsoDomainRow {
  readonly id: string;
  readonly organizationId: string;
  /** Lowercase, as A-label. */
  readonly domain: string;
  readonly token: string;
  readonly verifiedAtMs: number | null;
  /** When its record was gone for MISSED_MAX weeks; null for one that is verified, or never was. */
  readonly lapsedAtMs: number | null;
  readonly createdAtMs: number;
}

/** Who somebody is at the provider. */
export interface SsoIdentity {
  readonly connectionId: string;
  readonly issuer: string;
  readonly subject: string;
}

/** A sign-in under way; hashes are SHA-256, 64 hex digits. */
export interface SsoFlow {
  readonly hash: string;
  /** Of the browser's cookie. */
  readonly browser: string;
  readonly connectionId: string;
  readonly sealed: string;
  readonly expiresAtMs: number;
  /** The answer of a SAML provider that waits for the browser, base64; absent before it came. */
  readonly response?: string | null;
}

/** `audit` is written by the statement of its effect. */
export interface SsoStore {
  connectionOf(organizationId: string): Promise<SsoConnectionRow | null>;
  connection(id: string): Promise<SsoConnectionRow | null>;
  /**
   * In place of the organization's; identities of another issuer are forgotten. With another issuer or client it is
   * enforced no more. Answers the id that stays.
   */
  putConnection(
    row: NewSsoConnection & { /** Of SAML: when the last certificate ends. */ readonly certificateEndsAtMs?: number },
    nowMs: number,
    audit?: AuditRecord,
  ): Promise<string>;
  /** To all owners, 30 days before the last certificate of a SAML provider ends, once; answers how many it wrote. */
  writeCertificateLetters(nowMs: number): Promise<number>;
  removeConnection(organizationId: string, id: string, audit?: AuditRecord): Promise<boolean>;
  /** Members of the domains get in by the connection alone, but for those of `breakGlass`: they and no others. */
  enforce(
    organizationId: string,
    id: string,
    by: { readonly userId: string; readonly breakGlass: readonly string[] },
    nowMs: number,
    audit?: AuditRecord,
  ): Promise<Enforced>;
  /**
   * Whether a person who never came by the provider has to: only the domain of their email says so, and with one of
   * another domain, as `domain` would be, they would be guests.
   */
  keepsEmail(userId: string, domain: string): Promise<boolean>;
  /** How many organizations let their members in by a provider of a kind alone, counted to `most`. */
  countEnforced(kind: SsoKind, most: number): Promise<number>;
  /** They need not any more; false where there is no such connection. */
  relax(organizationId: string, id: string, audit?: AuditRecord): Promise<boolean>;
  domains(organizationId: string): Promise<SsoDomainRow[]>;
  /** `known` where the organization has it, `limit` where it has DOMAINS_MAX. */
  addDomain(row: Omit<SsoDomainRow, 'lapsedAtMs'>, audit?: AuditRecord): Promise<'done' | 'known' | 'limit'>;
  /** `taken` where another organization has verified it. */
  verifyDomain(organizationId: string, id: string, nowMs: number, audit?: AuditRecord): Promise<'done' | 'taken'>;
  removeDomain(organizationId: string, id: string, audit?: AuditRecord): Promise<boolean>;
  /** Verified domains that were not looked at for a week, the longest first. */
  domainsDue(nowMs: number): Promise<Pick<SsoDomainRow, 'id' | 'domain' | 'token'>[]>;
  /**
   * What a look at a verified domain found: null where nobody answered, and it is looked at again in a day. The third
   * week without the record ends the verification, and all owners are mailed; answers whether it did.
   */
  noteLook(id: string, found: boolean | null, nowMs: number): Promise<boolean>;
  /** The connection by which people of a domain sign in: also of one whose record is gone, unless another has it. */
  connectionToAsk(domain: string): Promise<SsoConnectionRow | null>;
  /** The connection of whose organization a domain is; null for one that is not verified. */
  connectionOfDomain(domain: string): Promise<SsoConnectionRow | null>;
  openFlow(flow: SsoFlow): Promise<void>;
  /** Takes a flow, whatever becomes of it; null where the browser has none. */
  takeFlow(hash: string, browser: string, nowMs: number): Promise<SsoFlow | null>;
  /** Keeps the answer of a provider with the flow that it is for, once; false where there is none that waits. */
  bring(hash: string, response: string, nowMs: number): Promise<boolean>;
  /** False for one that was spent. */
  spendAssertion(connectionId: string, hash: string, expiresAtMs: number): Promise<boolean>;
  /** Flows and spent assertions whose time is over. */
  purgeFlows(nowMs: number): Promise<number>;
  userOf(identity: SsoIdentity): Promise<string | null>;
  /** A new user and member; `known` where somebody has the email by now, `limit` where the organization is full. */
  join(
    identity: SsoIdentity,
    user: { readonly id: string; readonly email: string; readonly passwordHash: string },
    membership: { readonly organizationId: string; readonly role: 'viewer' | 'editor' },
    nowMs: number,
    audit: AuditRecord,
  ): Promise<'done' | 'known' | 'limit'>;
  /** An identity of a user who is there, who becomes a member where they are none. */
  link(
    identity: SsoIdentity,
    userId: string,
    membership: { readonly organizationId: string; readonly role: 'viewer' | 'editor' },
    nowMs: number,
    audit: AuditNote,
  ): Promise<'done' | 'known' | 'limit'>;
}
