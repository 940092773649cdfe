/** Published versions of the token registry. Treasury K7, K10. */
import type { RegistryChange } from '../../chains/registry-change.ts';
import type { RegistrySignature } from '../../chains/registry-signature.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { AuditRecord } from '../rows/audit.ts';

export interface PublishedRegistry {
  readonly version: number;
  /** What was signed: JSON with keys in order and no spaces. */
  readonly content: string;
  readonly signatures: readonly RegistrySignature[];
}

export interface Publication extends PublishedRegistry {
  /** SHA-256 of the content, 64 hex digits. */
  readonly hash: string;
  /** Contracts that it brings. */
  readonly tokens: readonly { readonly chain: Chain; readonly contract: string }[];
  /** Null where an operator's command publishes it. */
  readonly by: string | null;
  /** The accepted review, or the proposal, that it publishes; null where none. */
  readonly of: { readonly reviewId: string } | { readonly proposalId: string } | null;
}

/** A change to the registry as an administrator proposes it. */
export interface Proposal {
  readonly id: string;
  readonly change: RegistryChange;
  /** The version in force then. */
  readonly against: number;
  readonly proposedBy: string;
}

export interface KeptProposal extends Proposal {
  readonly state: 'proposed' | 'published' | 'withdrawn';
  readonly version: number | null;
  readonly publishedBy: string | null;
  readonly withdrawnBy: string | null;
  /** Why it was taken back. */
  readonly reason: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/**
 * `moved`: this version, or a later one, was published before. `state`: the review is not accepted, or the proposal not
 * open.
 */
export type Published = 'published' | 'moved' | 'state' | 'same_person';

export interface RegistryStore {
  /** The newest version above one, and below another where that is given; null where there is none. */
  newestAbove(version: number, below?: number): Promise<PublishedRegistry | null>;
  /** Null where it was not published here. */
  published(version: number): Promise<PublishedRegistry | null>;
  publish(publication: Publication, audit: readonly AuditRecord[]): Promise<Published>;
  propose(proposal: Proposal, audit: readonly AuditRecord[]): Promise<void>;
  proposal(id: string): Promise<KeptProposal | null>;
  /** Newest first, behind an id. */
  proposals(after: string | null, limit: number): Promise<readonly KeptProposal[]>;
  /** False where it is not open. */
  withdraw(id: string, as: { by: string; reason: string }, audit: readonly AuditRecord[]): Promise<boolean>;
}
