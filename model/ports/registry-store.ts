/** Published versions of the token registry. Treasury K7, K10. */
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
  /** The accepted review that it publishes; null where none. */
  readonly reviewId: string | null;
}

/** `moved`: this version, or a later one, was published before. `state`: the review is not accepted. */
export type Published = 'published' | 'moved' | 'state' | 'same_person';

export interface RegistryStore {
  /** The newest version above one, and below another where that is given; null where there is none. */
  newestAbove(version: number, below?: number): Promise<PublishedRegistry | null>;
  /** Null where it was not published here. */
  published(version: number): Promise<PublishedRegistry | null>;
  publish(publication: Publication, audit: readonly AuditRecord[]): Promise<Published>;
}
