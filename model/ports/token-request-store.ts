/** Requests for tokens that the catalogue lacks, their reviews, and contracts on simulated ledgers. Treasury Q. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain, TokenRequestState } from '../../protocol/slugs.ts';
import type { AuditRecord } from '../rows/audit.ts';

/** What a chain says of a contract. */
export interface ReadFacts {
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly hazards: readonly string[];
  /** Solana: the program of the mint. */
  readonly tokenProgram?: 'token' | 'token-2022';
  /** Stellar: the contract of the asset. */
  readonly sac?: string;
}

/** The review of a contract that accounts asked for. */
export interface TokenReview {
  readonly id: string;
  /** Whose simulated ledger it is on; null for a contract of the chain itself. */
  readonly accountId: AccountId | null;
  readonly chain: Chain;
  readonly contract: string;
  readonly state: TokenRequestState;
  readonly facts: ReadFacts | null;
  readonly readAtMs: number | null;
  /** Why the chain could not be read at the last try. */
  readonly trouble: string | null;
  /** Why it was declined. */
  readonly outcome: string | null;
  readonly acceptedBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A request of one account. */
export interface TokenRequest {
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly createdAtMs: number;
  readonly review: TokenReview;
}

export interface ReviewAsked extends TokenReview {
  /** Accounts that asked, each once. Q3. */
  readonly requestedBy: number;
  /** What the first of them said of it. */
  readonly claims: readonly { readonly symbol: string; readonly decimals: number }[];
}

/** A review whose contract is to be read, and an account that asked for it. */
export interface UnreadReview extends TokenReview {
  readonly askedBy: AccountId;
}

export type Asked =
  { readonly outcome: 'made' | 'known'; readonly request: TokenRequest } | { readonly outcome: 'limit' };

export interface SandboxToken {
  readonly chain: Chain;
  readonly contract: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly hazards: readonly string[];
}

export interface TokenRequestStore {
  /** Q2, Q3: once for each account and contract; a second time answers the first request, whatever it claims. */
  ask(
    accountId: AccountId,
    ask: {
      readonly id: string;
      readonly ledger: AccountId | null;
      readonly chain: Chain;
      readonly contract: string;
      readonly symbol: string;
      readonly decimals: number;
      /** Version of the registry that has it; null where none does. */
      readonly listedVersion: number | null;
      /** Requests of the account that wait for a decision, and all of them. */
      readonly openMax: number;
      readonly allMax: number;
    },
  ): Promise<Asked>;
  /** Requests of an account, newest first; `ask` bounds how many there are. */
  ofAccount(accountId: AccountId): Promise<TokenRequest[]>;
  /** Reviews in a state (any where null), by id, behind one. */
  reviews(state: TokenRequestState | null, after: string, limit: number): Promise<ReviewAsked[]>;
  /** The review of a request or review. */
  review(id: string): Promise<ReviewAsked | null>;
  /** Accounts that asked for it. */
  askedBy(reviewId: string): Promise<AccountId[]>;
  /**
   * Reviews whose contract nobody has read, each for one caller: it is due again after `againMs` unless it was read
   * until then.
   */
  takeUnread(againMs: number, limit: number): Promise<UnreadReview[]>;
  /** What the chain said. Where nobody claims these decimals it is declined, with an outcome. */
  recordFacts(id: string, facts: ReadFacts, otherwise: string): Promise<void>;
  /** The chain has no such contract: declined. */
  recordAbsent(id: string, outcome: string): Promise<void>;
  /** Why the chain could not be read. */
  recordTrouble(id: string, trouble: string): Promise<void>;
  /** False when it is in another state, or was not read. */
  accept(id: string, by: string, hazardsKnown: readonly string[], audit: readonly AuditRecord[]): Promise<boolean>;
  /** False when it is in another state. */
  decline(id: string, by: string, reason: string, audit: readonly AuditRecord[]): Promise<boolean>;
  /** Makes, or changes, a contract on an account's simulated ledger. False where that many are there already. */
  saveSandboxToken(accountId: AccountId, token: SandboxToken, most: number): Promise<boolean>;
  sandboxToken(accountId: AccountId, chain: Chain, contract: string): Promise<SandboxToken | null>;
}
