/** What a build is decided on: everything that had to be asked, JSON-safe. Amounts are decimal texts of whole units. */
import type { BuildInputs } from '../chain.ts';

/** The account that pays, in the open ledger: its own payments that wait there are counted. R21. */
export interface SenderState {
  readonly balanceDrops: string;
  /** The next sequence that the ledger takes. Never assumed: a new account begins at the index of its ledger (R23). */
  readonly sequence: number;
  readonly ownerCount: number;
  /** Sequences that were set aside as tickets and are unused. R21. */
  readonly tickets: readonly number[];
}

export interface DestinationState {
  readonly balanceDrops: string;
  readonly requiresTag: boolean;
  readonly refusesXrp: boolean;
  /** False where the account takes payments only from those whom it has authorised, and the sender is none of them. */
  readonly takesDeposits: boolean;
}

/** A trust line from its holder's side; amounts in units of 10^-15. */
export interface LineState {
  readonly balance: string;
  readonly limit: string;
  /** The issuer froze it: it pays only to the issuer. */
  readonly frozen: boolean;
  /** The issuer froze it so that it cannot be paid either. */
  readonly deepFrozen: boolean;
  /** The issuer lets it hold the token, where the issuer asks for that. */
  readonly authorized: boolean;
  /** The issuer lets nothing ripple through it. */
  readonly noRippleAtIssuer: boolean;
}

export interface IssuerState {
  /** Billionths of what arrives that have to be sent; 1000000000 keeps nothing. R28. */
  readonly transferRate: string;
  readonly requiresAuthorization: boolean;
  readonly globallyFrozen: boolean;
}

export interface TokenState {
  /** Null where the ledger has no such account. */
  readonly issuer: IssuerState | null;
  readonly senderLine: LineState | null;
  readonly destinationLine: LineState | null;
}

export interface XrpInputs extends BuildInputs {
  readonly baseFeeDrops: string;
  /** What a transaction pays to be in the open ledger at once. R20. */
  readonly openLedgerFeeDrops: string;
  readonly reserveBaseDrops: string;
  readonly reserveIncrementDrops: string;
  /** Null: the ledger has no such account. */
  readonly sender: SenderState | null;
  readonly destination: DestinationState | null;
  /** Null for a native intent. */
  readonly token: TokenState | null;
}
