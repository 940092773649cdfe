/** Single sign-on of organizations: connections, domains, identities, and sign-ins under way. Console A35–A38. */
import type { AuditNote, AuditRecord } from '../rows/audit.ts';

/** Domains of one organization, verified or not. */
export const DOMAINS_MAX = 50;
/** How long a sign-in, or the proof of an account that it is linked with, may take. */
export const FLOW_MS = 600_000;

export interface SsoConnectionRow {
  readonly id: string;
  readonly organizationId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly sealedSecret: string | null;
  /** What a person becomes who comes for the first time. */
  readonly jitRole: 'viewer' | 'editor';
  readonly createdAtMs: number;
}

export interface SsoDomainRow {
  readonly id: string;
  readonly organizationId: string;
  /** Lowercase, as A-label. */
  readonly domain: string;
  readonly token: string;
  readonly verifiedAtMs: number | null;
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
}

/** `audit` is written by the statement of its effect. */
export interface SsoStore {
  connectionOf(organizationId: string): Promise<SsoConnectionRow | null>;
  connection(id: string): Promise<SsoConnectionRow | null>;
  /** In place of the organization's; identities of another issuer are forgotten. Answers the id that stays. */
  putConnection(row: SsoConnectionRow, audit?: AuditRecord): Promise<string>;
  removeConnection(organizationId: string, id: string, audit?: AuditRecord): Promise<boolean>;
  domains(organizationId: string): Promise<SsoDomainRow[]>;
  /** `known` where the organization has it, `limit` where it has DOMAINS_MAX. */
  addDomain(row: SsoDomainRow, audit?: AuditRecord): Promise<'done' | 'known' | 'limit'>;
  /** `taken` where another organization has verified it. */
  verifyDomain(organizationId: string, id: string, nowMs: number, audit?: AuditRecord): Promise<'done' | 'taken'>;
  removeDomain(organizationId: string, id: string, audit?: AuditRecord): Promise<boolean>;
  /** The connection of whose organization a domain is; null for one that is not verified. */
  connectionOfDomain(domain: string): Promise<SsoConnectionRow | null>;
  openFlow(flow: SsoFlow): Promise<void>;
  /** Takes a flow, whatever becomes of it; null where the browser has none. */
  takeFlow(hash: string, browser: string, nowMs: number): Promise<SsoFlow | null>;
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
