/** What the clock does to payments and links. payments S6, 3.2. */
import type { AttestedFamily } from '../../protocol/attestation.ts';
import type { AccountId } from '../../protocol/ids.ts';

/** A link that the clock looks at. */
export interface DueLink {
  readonly accountId: AccountId;
  readonly id: string;
  /** When it came due, in the database's words. */
  readonly at: string;
}

/** A statement of an edge about the address of an index, verified. payments E4. */
export interface AttestationRow {
  readonly index: number;
  readonly address: string;
  /** base64url. */
  readonly signature: string;
}

/** What statements of one call have in common. */
export interface AttestationBatch {
  readonly family: AttestedFamily;
  /** Of the identity that signed; 64 hex digits. */
  readonly publicKey: string;
  readonly issuedAtMs: number;
  readonly validUntilMs: number;
  readonly rows: readonly AttestationRow[];
}

/** A page of a link or an account. With `trouble` nothing of it was written. */
export interface EndedPage {
  readonly subject: string;
  readonly expired: number;
  readonly trouble: string | null;
}

export interface PaymentStore {
  /** Payments without money whose time is over, oldest first; answers how many there were. */
  expire(nowMs: number, limit: number): Promise<number>;
  /** Links whose date has come, behind one of them, oldest first. */
  due(nowMs: number, behind: DueLink | null, limit: number): Promise<DueLink[]>;
  /** Closed links whose addresses were reported long enough, behind one of them, oldest first. payments M11. */
  monitored(nowMs: number, behind: DueLink | null, limit: number): Promise<DueLink[]>;
  /**
   * Releases a link's addresses: those that never received rest. False while one that received is not archived.
   */
  release(accountId: AccountId, linkId: string, nowMs: number): Promise<boolean>;
  /** Shared links that wait for an address of the present identity, behind one of them, oldest first. payments S17. */
  retired(behind: DueLink | null, limit: number): Promise<DueLink[]>;
  /** Erases who opened payments that expired before then without money; answers how many. payments S23. */
  erase(beforeMs: number, limit: number): Promise<number>;
  /**
   * Expires payments without money of one link that was closed, or of one account whose identity is retired, but of
   * none that is passed over: of which, how many, and why not. Null with none left. payments P11, S17.
   */
  expireEnded(limit: number, passed: readonly string[]): Promise<EndedPage | null>;
  /** Forgets rows of addresses that rested when their identity was retired; answers how many. payments S17. */
  forgetResting(limit: number): Promise<number>;
  /**
   * Walks a page of each family of the first account behind one that has issued indexes and was not counted since an
   * instant; null with no account left. payments S18.
   */
  walkUnused(after: string, limit: number, begunMs: number): Promise<{ accountId: AccountId; isLeft: boolean } | null>;
  /** Keeps statements in place of earlier ones, and forgets some that ended. payments E5. */
  keepAttestations(accountId: AccountId, batch: AttestationBatch): Promise<void>;
}
