/** What the watchers store and read: cursors, blocks, facts, coverage. Each write is one statement. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { AddressRow } from '../rows/address.ts';
import type { Fact, SeenTransfer } from '../rows/inbox.ts';
import type { WithdrawalRow } from '../rows/withdrawal.ts';
import type { Chain, Environment } from '../../protocol/slugs.ts';

export interface Cursor {
  height: number;
  hash: string;
}

export interface BlockLink {
  height: number;
  hash: string;
  parentHash: string;
  parentHeight: number;
  timeMs: number | null;
}

/** `addressKey` is `addressKeyOf` of protocol/ids.ts. */
export interface WatchedAddress {
  addressKey: string;
  addressId: string;
  accountId: AccountId;
  address: string;
  purpose: AddressRow['purpose'];
}

export interface BlockRecord {
  /** Version of the token registry that it was read with; 1 where absent. */
  registry?: number;
  link: BlockLink;
  /** Null at the first block of a ledger. */
  previous: Cursor | null;
  transfers: (SeenTransfer & { accountId: AccountId; addressKey: string })[];
  /** Each of kind `withdrawal_included`. */
  withdrawals: { accountId: AccountId; fact: Extract<Fact, { withdrawalId: string }> }[];
  /** The content of the height could not be proven yet; the header advances, the height is retried for ever. */
  unresolved: string | null;
}

/** An outage may leave far more heights than anybody reads one by one. */
export const COVERAGE_HEIGHTS_MAX = 1_000;
export const COVERAGE_COUNTED_MAX = 10_000;

export interface AdoptedBehind {
  readonly accountId: AccountId;
  readonly batchId: string;
  readonly nextHeight: number;
}

export interface Coverage {
  ledger: LedgerId;
  /** End of the contiguous part that is done. */
  completeHeight: number | null;
  headHeight: number | null;
  headAtMs: number | null;
  /** When a node last reported its head, which dates all of this. Null before the first report. */
  heardAtMs: number | null;
  /** The lowest heights, `COVERAGE_HEIGHTS_MAX` at most. */
  unresolved: { height: number; reason: string; tries: number; sinceMs: number }[];
  /** All of them, counted to `COVERAGE_COUNTED_MAX`. */
  unresolvedCount: number;
}

/**
 * Since when an installation has run a chain, and the height that its ledger begins at; null until a node was heard.
 */
export interface ChainStart {
  sinceMs: number;
  height: number | null;
}

/** The first ones, at most so many of all environments are looked at; or those that have one of the keys. */
export type YoungAsk = { readonly most: number } | { readonly keys: readonly string[] };

export interface Young {
  readonly addresses: WatchedAddress[];
  /** False where as many were looked at as were asked for: there may be more. */
  readonly isAll: boolean;
}

/** Where a pass over open withdrawals goes on: the store's own, kept between two pages and nowhere else. */
export interface OpenPlace {
  readonly kind: 'place of open withdrawals';
}

/** A token that a later version of the registry brought, on one ledger. */
export interface TokenStart {
  readonly contract: string;
  /** Its first height; null where the ledger has watched it from its beginning. */
  readonly height: number | null;
}

export interface WatchStore {
  /** From where a ledger watches tokens of later versions; one that no block was read with yet: from the next one. */
  tokenStarts(ledger: LedgerId): Promise<TokenStart[]>;
  /** What a token's contract ran when nothing was said against it last; null where nobody looked. Treasury K18. */
  tokenCode(chain: Chain, contract: string): Promise<string | null>;
  noteTokenCode(chain: Chain, contract: string, code: string): Promise<void>;
  chainStart(ledger: LedgerId): Promise<ChainStart | null>;
  /** From when a chain is run; the first call counts. */
  beginChain(ledger: LedgerId, atMs: number): Promise<void>;
  /** The height that a ledger begins at; once known it only falls. Answers the one that holds. */
  noteChainStart(ledger: LedgerId, height: number): Promise<number>;
  cursor(ledger: LedgerId): Promise<Cursor | null>;
  /** Links of heights < `below`, from newest to oldest, for the reorg walk. */
  links(ledger: LedgerId, below: number, limit: number): Promise<BlockLink[]>;
  /** Height compare-and-set, facts, inbox rows: one statement. False when another watcher was first. */
  recordBlock(ledger: LedgerId, record: BlockRecord): Promise<{ recorded: boolean; accounts: AccountId[] }>;
  /**
   * Content of an unresolved height, proven later. A transfer that is on the chain under another block is `moved` here.
   */
  resolveHeight(ledger: LedgerId, record: BlockRecord): Promise<{ recorded: boolean; accounts: AccountId[] }>;
  /** A height that was done is unresolved again; nothing is written when the hash is no longer the recorded one. */
  reopenHeight(ledger: LedgerId, at: Cursor, reason: string): Promise<void>;
  /** One more failed try at a height that is unresolved already. */
  noteUnresolved(ledger: LedgerId, height: number, reason: string): Promise<void>;
  /** Fewest tries first, so that one stubborn height never starves another. `hash` is the one that was recorded. */
  unresolvedHeights(ledger: LedgerId, limit: number): Promise<{ height: number; hash: string; tries: number }[]>;
  /**
   * Transfers of a height that is done, found later because their address is younger than the block. Facts
   * that exist are left alone; nothing is written when the hash is no longer the recorded one.
   */
  recordLate(ledger: LedgerId, at: Cursor, transfers: BlockRecord['transfers']): Promise<AccountId[]>;
  /**
   * Corrects the facts of one block after endpoints agreed that it holds other movements: a seen fact that is
   * not among `transfers`, or not as it was recorded, is `orphaned`; what is there is `seen`. What matured, and what is
   * known in another block, is left alone; nothing is written when the hash is no longer the recorded one, or the
   * height is unresolved.
   */
  correctBlock(ledger: LedgerId, at: Cursor, transfers: BlockRecord['transfers']): Promise<AccountId[]>;
  /**
   * Replaces the branch above the fork point by the new one, already read up to the old head: transfers on both keep
   * their id (`moved`), absent ones become `orphaned` (not before every block is
   * proven: an unresolved one may hold them), new ones `seen`; withdrawals in blocks above it that the branch does not
   * hold become `withdrawal_orphaned`, settled ones too, before what the branch says of them; the cursor moves to the
   * end of the branch, or to the fork point where the branch is empty. The fork point need not be a recorded link: it
   * may lie below the start of the ledger or be named by a person. One statement.
   */
  recordReorg(
    ledger: LedgerId,
    forkPoint: Cursor,
    oldHead: Cursor,
    branch: BlockRecord[],
  ): Promise<{ recorded: boolean; accounts: AccountId[] }>;
  watched(environment: Environment, addressKeys: readonly string[]): Promise<WatchedAddress[]>;
  /**
   * Facts seen and not matured that reached their own threshold: height + threshold − 1 ≤ head; lowest height first.
   */
  immature(ledger: LedgerId, headHeight: number, limit: number): Promise<SeenTransfer[]>;
  /** Marks facts matured after the re-read of G19 and writes the inbox rows. */
  mature(
    ledger: LedgerId,
    facts: { txid: string; outputIndex: number; blockHash: string; confirmations: number }[],
  ): Promise<AccountId[]>;
  /** Marks facts `orphaned` that the re-read of G19 refuted in their own block, and writes the inbox rows. */
  refute(ledger: LedgerId, facts: { txid: string; outputIndex: number; blockHash: string }[]): Promise<AccountId[]>;
  /**
   * A page of the withdrawals with signed versions that may still land or be orphaned: those in `signing`, `broadcast`
   * and `confirming`, then the `confirmed` and `failed` ones whose block is at or above `sinceHeight`, by height. Where
   * a page does not hold all that are under way, accounts take turns, each with its oldest first.
   */
  openWithdrawals(
    ledger: LedgerId,
    sinceHeight: number,
    limit: number,
    after?: OpenPlace | null,
  ): Promise<{ readonly rows: WithdrawalRow[]; readonly next: OpenPlace | null }>;
  /**
   * Inbox row of a withdrawal; not written when the last one that waits of it has the same (kind, txid, block hash).
   */
  noteWithdrawalFact(accountId: AccountId, fact: Fact): Promise<void>;
  noteHead(ledger: LedgerId, headHeight: number, atMs: number): Promise<void>;
  /** A node reported its head, whether it rose or not. */
  noteHeard(ledger: LedgerId, atMs: number): Promise<void>;
  coverage(ledger: LedgerId): Promise<Coverage>;
  /** Addresses of an environment created since an instant, for the second match of the last blocks. */
  addressesSince(environment: Environment, sinceMs: number, ask: YoungAsk): Promise<Young>;
  /** Batches of adopted addresses for which blocks of a ledger are read again, from `nextHeight` on. */
  adoptedBehind(ledger: LedgerId, limit: number): Promise<AdoptedBehind[]>;
  /** Blocks from `readFrom` on were read; nothing where it was set back meanwhile: they are read again from there. */
  noteAdopted(ledger: LedgerId, at: AdoptedBehind & { readFrom: number; isDone: boolean }): Promise<void>;
}
