/**
 * What the other rooms ask of the store, by consumer. `persistence/postgres` implements all of it, each write as ONE
 * statement; `persistence/memory` has a twin of what the pure tests need. Reads never go through an actor.
 */
import type { AccountEvent, AccountState, Plan } from './account/commands.ts';
import type { EntityStore } from '../actors/kernel/protocol.ts';
import type { Page, PageAsk } from '../protocol/page.ts';
export type { PageAsk } from '../protocol/page.ts';
import type { AccountId, LedgerId } from '../protocol/ids.ts';
import type { InstructionRecord, KeySetRecord, LocalKeyRecord } from '../protocol/frames.ts';
import type { EventEnvelope } from '../protocol/schema/events.ts';
import type {
  AddressStatus, Chain, DeliveryStatus, Direction, Environment, EventName, HeldReason, Liveness, OrgRole,
} from '../protocol/slugs.ts';
import type {
  AddressRow, AttemptRow, DeliveryRow, DepositRow, Fact, IdempotencyRow, InboxRow, RowWrite, SeenTransfer, SignedVersion, UsedValue,
  WebhookRow, WithdrawalRow,
} from './rows.ts';
import type { SandboxPool } from './sandbox-pool.ts';

// ── Accounts (actor) ─────────────────────────────────────────────────────────────────────────────────────────────

export type AccountStore = EntityStore<AccountState, AccountEvent, RowWrite>;

export interface Ownership {
  /** Takes shards for a node: mints a new epoch for each in one statement. Answers shard → epoch. */
  claimShards(node: string, shards: readonly number[]): Promise<Map<number, number>>;
  /** Takes every shard that nobody has served for the lease. Answers shard → epoch. */
  claimVacantShards(node: string, leaseSeconds: number): Promise<Map<number, number>>;
  /** The node's heartbeat, and a write that needs the database's disk. Answers shards that are the node's, and nobody's. */
  renewNode(node: string, leaseSeconds: number): Promise<{ owned: number; vacant: number }>;
  /** The node stops: what it owned is vacant at once. */
  leaveNode(node: string): Promise<void>;
}

// ── Watchers ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Cursor { height: number; hash: string }
export interface BlockLink { height: number; hash: string; parentHash: string; parentHeight: number; timeMs: number | null }

/** `addressKey` is `addressKeyOf` of protocol/ids.ts. */
export interface WatchedAddress { addressKey: string; addressId: string; accountId: AccountId; address: string; purpose: AddressRow['purpose'] }

export interface BlockRecord {
  link: BlockLink;
  /** Null at the first block of a ledger. */
  previous: Cursor | null;
  transfers: (SeenTransfer & { accountId: AccountId; addressKey: string })[];
  /** Each of kind `withdrawal_included`. */
  withdrawals: { accountId: AccountId; fact: Extract<Fact, { withdrawalId: string }> }[];
  /** The content of the height could not be proven yet; the header advances, the height is retried for ever. */
  unresolved: string | null;
}

export interface Coverage {
  ledger: LedgerId;
  /** End of the contiguous part that is done. */
  completeHeight: number | null;
  headHeight: number | null;
  headAtMs: number | null;
  /** When a node last told its head: how old all of this is. Null before a first one. */
  heardAtMs: number | null;
  unresolved: { height: number; reason: string; tries: number; sinceMs: number }[];
}

/** Since when an installation has run a chain, and the height that its ledger begins at; null until a node was heard. */
export interface ChainStart { sinceMs: number; height: number | null }

export interface WatchStore {
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
  /** Content of an unresolved height, proven later. A transfer that is on the chain under another block is `moved` here. */
  resolveHeight(ledger: LedgerId, record: BlockRecord): Promise<{ recorded: boolean; accounts: AccountId[] }>;
  /** A height that was done is unresolved again; nothing is written when the hash is no longer the recorded one. */
  reopenHeight(ledger: LedgerId, at: Cursor, reason: string): Promise<void>;
  /** One more failed try at a height that is unresolved already. */
  noteUnresolved(ledger: LedgerId, height: number, reason: string): Promise<void>;
  /** Fewest tries first, so that one stubborn height never starves another. `hash` is the one that was recorded. */
  unresolvedHeights(ledger: LedgerId, limit: number): Promise<{ height: number; hash: string; tries: number }[]>;
  /**
   * Transfers of a height that is done, found later because their address is younger than the block (design 5). Facts
   * that exist are left alone; nothing is written when the hash is no longer the recorded one.
   */
  recordLate(ledger: LedgerId, at: Cursor, transfers: BlockRecord['transfers']): Promise<AccountId[]>;
  /**
   * Sets the facts of one block right, after endpoints agreed that another movement stands in it: a seen one that is not among
   * `transfers`, or not as it was recorded, is `orphaned`; what is there is `seen`. What matured, and what is known in another
   * block, is left alone; nothing is written when the hash is no longer the recorded one, or the height is unresolved.
   */
  retellBlock(ledger: LedgerId, at: Cursor, transfers: BlockRecord['transfers']): Promise<AccountId[]>;
  /**
   * Replaces the branch above the fork point by the new one, already read up to the old head: transfers on both keep
   * their id (`moved`), absent ones become `orphaned` (not before every block is
   * proven: an unresolved one may hold them), new ones `seen`; the cursor moves to the end of the branch, or to
   * the fork point where the branch is empty. The fork point need not be a recorded link: it may lie below the start of
   * the ledger or be named by a person. One statement.
   */
  recordReorg(ledger: LedgerId, forkPoint: Cursor, oldHead: Cursor, branch: BlockRecord[]): Promise<{ recorded: boolean; accounts: AccountId[] }>;
  watched(environment: Environment, addressKeys: readonly string[]): Promise<WatchedAddress[]>;
  /** Facts seen and not matured that reached their own threshold: height + threshold − 1 ≤ head; lowest height first. */
  immature(ledger: LedgerId, headHeight: number, limit: number): Promise<SeenTransfer[]>;
  /** Marks facts matured after the re-read of G19 and writes the inbox rows. */
  mature(ledger: LedgerId, facts: { txid: string; outputIndex: number; blockHash: string; confirmations: number }[]): Promise<AccountId[]>;
  /** Marks facts `orphaned` that the re-read of G19 refuted in their own block, and writes the inbox rows. */
  refute(ledger: LedgerId, facts: { txid: string; outputIndex: number; blockHash: string }[]): Promise<AccountId[]>;
  /**
   * Withdrawals with signed versions that may still land or be orphaned, oldest first: those in `signing`, `broadcast`
   * and `confirming`, and the `confirmed` and `failed` ones whose block is at or above `sinceHeight`.
   */
  openWithdrawals(ledger: LedgerId, sinceHeight: number, limit: number): Promise<WithdrawalRow[]>;
  /** Inbox row of a withdrawal; not written when the last one that waits of it has the same (kind, txid, block hash). */
  noteWithdrawalFact(accountId: AccountId, fact: Fact): Promise<void>;
  noteHead(ledger: LedgerId, headHeight: number, atMs: number): Promise<void>;
  /** A node told its head, risen or not. */
  noteHeard(ledger: LedgerId, atMs: number): Promise<void>;
  coverage(ledger: LedgerId): Promise<Coverage>;
  /** Addresses of an environment created after an instant, for the second match of the last blocks (design 5). */
  addressesSince(environment: Environment, sinceMs: number): Promise<WatchedAddress[]>;
}

/** What the recorded facts say an address holds of one asset: `received − sent + unattributed`. */
export interface LedgerBalance extends WatchedAddress {
  tokenContract: string | null;
  /** Transfers on the chain (seen or matured), smallest unit. */
  received: bigint;
  /** Included withdrawals of the address, with their fees where the asset is the native coin. */
  sent: bigint;
  /** Growth that was recorded as `unattributed` before. G24. */
  unattributed: bigint;
}

/** A difference between the chain and the recorded facts: evidence for an operator, never a credit. G24, decisions 5. */
export interface DiscrepancyRow {
  id: string;
  ledger: LedgerId;
  accountId: AccountId;
  addressId: string;
  address: string;
  tokenContract: string | null;
  /** `unattributed`: the chain holds more than the facts explain; `shortfall`: less. */
  kind: 'unattributed' | 'shortfall';
  /** |chain − facts|, smallest unit, positive. */
  amount: bigint;
  expected: bigint;
  found: bigint;
  /** Every block up to here was recorded when the balance was read. */
  height: number;
  /** JSON-safe: heights, txids and reads that led to it. */
  evidence: Readonly<Record<string, unknown>>;
  atMs: number;
}

/** V7, G24 and the background audit. */
export interface AuditStore {
  /**
   * Balances by the facts at or below a height, native always and each token that moved, by (addressKey, token). `limit`
   * counts addresses. `next` is the key to go on behind, null at the end of a walk: a step may come back with fewer or none.
   */
  ledgerBalances(ledger: LedgerId, ask: { afterKey: string | null } | { addressKeys: readonly string[] }, throughHeight: number, limit: number): Promise<{ balances: LedgerBalance[]; next: string | null }>;
  /** One row per (ledger, address, asset, height, kind); a `shortfall` that is open already is updated. True when new. */
  recordDiscrepancy(row: DiscrepancyRow): Promise<boolean>;
  discrepancies(ledger: LedgerId, limit: number): Promise<DiscrepancyRow[]>;
}

/** A fact that its account could not take: kept in its place, tried again by itself, holding up its own subject only. */
export interface FactSetAside {
  id: string; accountId: AccountId; subject: string; fact: unknown;
  /** Why the last of `tries` failed. */
  trouble: string; tries: number;
  /** Later facts of the same subject, which wait behind it. */
  behind: number;
  recordedAtMs: number; retryAtMs: number;
}

export interface InboxStore {
  /**
   * Facts waiting for an account, oldest first, without those that were set aside until their next try and those behind
   * one of the same subject that was; with the rows that a decision about them needs: deposits of the same
   * credit keys, withdrawals named by the facts, the addresses paid, and the account's own addresses (G20).
   */
  inboxOf(accountId: AccountId, limit: number): Promise<{ inbox: InboxRow[]; deposits: DepositRow[]; withdrawals: WithdrawalRow[]; addresses: AddressRow[] }>;
  /** Accounts with facts older than an instant that `inboxOf` would answer: lost pushes are found here. */
  /** At most `limit` accounts with facts that nobody decided and that are older than an instant; the next call goes on behind them. */
  accountsWithInbox(olderThanMs: number, limit: number): Promise<AccountId[]>;
  /** Sets a fact aside: the first pause, doubled with each try up to the longest. Answers its tries, null when it was taken. */
  setAside(accountId: AccountId, id: string, trouble: string, pause: { firstMs: number; longestMs: number }): Promise<number | null>;
  /** Over all accounts, by id, after one. */
  factsSetAside(afterId: string, limit: number): Promise<FactSetAside[]>;
  countSetAside(): Promise<number>;
  /** Makes facts due that were set aside: one, all of an account, or all. Answers the accounts to wake. */
  retryFacts(which: { accountId: AccountId | null; id: string | null }): Promise<AccountId[]>;
}

// ── Publisher ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface DueDelivery {
  delivery: DeliveryRow;
  accountId: AccountId;
  url: string;
  sealedSecrets: string[];
  body: string;
  orderKey: string;
}

/** A delivery that may still leave, and its endpoint as it stands. */
export interface StandingDelivery { id: string; webhookId: string; url: string; sealedSecrets: string[] }

export interface DeliveryStore {
  /**
   * Claims due deliveries of accounts that have a leader here, in publication order, for `claimMs`; SKIP LOCKED.
   * Endpoints in `busyWebhooks` are left alone, so that a slow one keeps no other waiting.
   */
  claimDue(accountIds: readonly AccountId[], limit: number, nowMs: number, claimMs: number, busyWebhooks: readonly string[]): Promise<DueDelivery[]>;
  /** Those of an account's claimed deliveries that may leave: their endpoint is enabled now, and no sandbox reset forgot them. */
  standing(accountId: AccountId, deliveries: readonly Pick<StandingDelivery, 'id' | 'webhookId'>[]): Promise<StandingDelivery[]>;
  /**
   * Attempts with what follows from each (next rung, delivered, dead letter, endpoint disabled by 410): one statement.
   * An edge reports them: what it says of a delivery of another account than its own is left out. `postedTo` is the URL
   * where it is known: a 410 of one that the endpoint has no more disables nothing.
   */
  recordAttempts(attempts: (AttemptRow & { accountId: AccountId; postedTo?: string; next: { status: DeliveryStatus; nextAttemptAtMs: number | null; disableEndpoint: boolean } })[]): Promise<void>;
  /**
   * Holds claimed deliveries whose secrets do not open under any key of this node, visibly and until the secrets change or
   * are sealed again; those whose endpoint has other secrets by now are given back. Answers the ids that are held.
   */
  holdUnreadable(claimed: readonly { deliveryId: string; sealedSecrets: readonly string[] }[]): Promise<string[]>;
  /** Gives claims back that were never attempted (stream closed). */
  releaseClaims(deliveryIds: readonly string[]): Promise<void>;
  /** Gives back every claim on accounts of shards that this node just took: whoever made them is gone. Answers how many. */
  releaseAbandoned(shards: readonly number[]): Promise<number>;
  /** `svc_event_publication_incomplete`: a query, not a counter. I14. */
  incompletePublications(): Promise<number>;
  /** Removes deliveries that are done or held and older than an instant, with their attempts; answers how many. Spec §6. */
  purge(olderThanMs: number): Promise<number>;
}

/** What is done beside the publisher, a page at a time. */
export interface DeliveryUpkeep {
  /** Removes the bodies of publications that are older than an instant and of which nothing is delivered any more; answers how many. */
  purgeBodies(olderThanMs: number): Promise<number>;
  /**
   * A page of deliveries whose endpoint was disabled or deleted, or got another secret: held, or due. Answers how many, null when
   * no endpoint has any left.
   */
  workBacklog(): Promise<number | null>;
}

// ── Mail ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Mail to one person about one event; written with the event, for every owner of the organization. Spec §5.7. */
export interface DueMail {
  eventId: string; userId: string; accountId: AccountId; organization: string; kind: EventName; recipient: string;
  /** The event's own envelope. */
  body: EventEnvelope;
  /** Tries so far. */
  attempts: number;
}

export interface MailStore {
  /** Claims due mail for `claimMs`, oldest first; SKIP LOCKED. */
  claimDue(limit: number, nowMs: number, claimMs: number): Promise<DueMail[]>;
  /** Sent, or tried again at `againAtMs`. What was sent stays sent. */
  record(mail: Pick<DueMail, 'eventId' | 'userId'>, tried: { atMs: number; againAtMs: number | null; error: string | null }): Promise<void>;
  /** Mail that is not sent yet. */
  unsent(): Promise<number>;
  /** Forgets mail that was sent before an instant. */
  purgeSent(olderThanMs: number): Promise<number>;
}

// ── Edge ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface SessionRow {
  id: string; accountId: AccountId; role: 'leader' | 'follower'; edgeVersion: string; liveness: Liveness; leaseEpoch: number;
  outboxMode: string; outboxDepth: number; outboxPoisoned: boolean; podHint: string | null;
  lastHeartbeatAtMs: number; startedAtMs: number; endedAtMs: number | null;
}

/** `quota`: the account has as many large records as it may leave with the cloud. */
export interface InstructionNotKept { readonly transactionId: string; readonly reason: 'unknown' | 'quota' }

export interface EdgeStore {
  saveSessions(rows: readonly SessionRow[]): Promise<void>;
  sessions(accountId: AccountId): Promise<SessionRow[]>;
  /** Sessions that had not ended, of all accounts: what a node that starts must hear from again or report offline. */
  openSessions(): Promise<SessionRow[]>;
  reapSessions(endedBeforeMs: number): Promise<number>;
  /** True the first time; kept for `NONCE_KEEP_SECONDS`. Atomic. */
  claimNonce(keyId: string, nonce: string, expiresAtMs: number): Promise<boolean>;
  purgeNonces(nowMs: number): Promise<number>;
  /** Keeps new records and the first revocation of each; answers the ids of new ones for which the account has no room left. */
  saveLocalKeys(accountId: AccountId, records: readonly LocalKeyRecord[]): Promise<readonly string[]>;
  localKeys(accountId: AccountId): Promise<LocalKeyRecord[]>;
  /** Keeps the newest set of each replica that no other one contains. `known`: nothing new; `no_room`: of too many replicas that know nothing of each other. */
  saveKeySet(accountId: AccountId, set: KeySetRecord): Promise<'kept' | 'known' | 'no_room'>;
  keySets(accountId: AccountId): Promise<KeySetRecord[]>;
  /** Keeps the newest record of each transaction that the account built; answers those that it does not keep. */
  saveInstructions(accountId: AccountId, records: readonly InstructionRecord[]): Promise<readonly InstructionNotKept[]>;
  instruction(accountId: AccountId, transactionId: string): Promise<InstructionRecord | null>;
  /** Forgets records that nobody touched since; how many. */
  reapInstructions(askedBeforeMs: number): Promise<number>;
}

// ── Gateway ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ApiKeyRow { id: string; accountId: AccountId; organizationId: string; environment: Environment; label: string; hash: string; maskedPrefix: string; createdAtMs: number; revokedAtMs: number | null }
export interface UserRow { id: string; email: string; passwordHash: string; sealedTotpSecret: string | null; totpConfirmed: boolean; platformRole: 'admin' | null }
export interface MembershipRow { userId: string; organizationId: string; role: OrgRole }
export interface OrganizationRow { id: string; name: string; createdAtMs: number }

/** Whose an Idempotency-Key is: an account's, or that of a user who works without one. */
export type KeyOwner = AccountId | `user:${string}`;
/** The first answer to a key, for the statement that makes what it tells of. */
export type FirstAnswer = IdempotencyRow & { readonly owner: KeyOwner };

/**
 * `late`: turned a moment ago by a request that came beside this one; nothing changes. `reused`: turned before; the
 * family is over.
 */
export type Turned = { readonly outcome: 'turned' | 'reused'; readonly userId: string; readonly organizationId: string } | { readonly outcome: 'late' | 'unknown' };

export interface IdentityStore {
  apiKeyByHash(hash: string): Promise<ApiKeyRow | null>;
  /** With its answer, in one statement; false, and nothing is written, when the answer's key was used before. */
  insertApiKey(row: ApiKeyRow, answer?: FirstAnswer): Promise<boolean>;
  revokeApiKey(organizationId: string, id: string, atMs: number): Promise<boolean>;
  apiKeys(organizationId: string): Promise<ApiKeyRow[]>;
  userByEmail(email: string): Promise<(UserRow & { memberships: MembershipRow[] }) | null>;
  userById(id: string): Promise<(UserRow & { memberships: MembershipRow[] }) | null>;
  insertUser(row: UserRow): Promise<void>;
  setTotp(userId: string, sealedSecret: string, confirmed: boolean): Promise<void>;
  /** Spends a TOTP step once (I22); false for one that was spent, and while the factor is locked. */
  spendTotpStep(userId: string, step: number, nowMs: number): Promise<boolean>;
  /** Counts a wrong code: five of them lock the factor for 15 minutes. */
  noteTotpFailure(userId: string, nowMs: number): Promise<{ lockedUntilMs: number | null }>;
  totpLockedUntil(userId: string): Promise<number | null>;
  /** A new session: the family of its refresh tokens, and the first of them. */
  saveRefreshToken(row: { family: string; hash: string; userId: string; organizationId: string; expiresAtMs: number }): Promise<void>;
  /** Puts the next token of a family in place of the newest one; one that was turned before ends the family. Atomic. */
  turnRefreshToken(
    token: { family: string; hash: string }, next: { hash: string; expiresAtMs: number }, nowMs: number,
  ): Promise<Turned>;
  endSession(family: string): Promise<void>;
  /** Removes tokens whose time is over; answers how many. */
  purgeRefreshTokens(nowMs: number): Promise<number>;
  /**
   * Organization, its two accounts with their plans, the first owner's membership and the answer: one statement. False,
   * and nothing is written, when the answer's key was used before.
   */
  createOrganization(row: OrganizationRow, ownerUserId: string, plan: Plan, answer?: FirstAnswer): Promise<boolean>;
  organization(id: string): Promise<OrganizationRow | null>;
  /** Makes a user a member, or gives a member another role. */
  insertMembership(row: MembershipRow): Promise<void>;
  members(organizationId: string): Promise<{ userId: string; email: string; role: OrgRole; totpConfirmed: boolean }[]>;
  signingKeys(): Promise<{ kid: string; sealedPrivateJwk: string; publicJwk: object; createdAtMs: number }[]>;
  insertSigningKey(row: { kid: string; sealedPrivateJwk: string; publicJwk: object; createdAtMs: number }): Promise<void>;
}

export interface TransactionView {
  id: string; direction: Direction; chain: Chain; status: string; txid: string | null; outputIndex: number | null;
  address: string; counterparty: string | null; amount: bigint; decimals: number; tokenContract: string | null; tokenSymbol: string;
  userRef: string | null; tag: string | null; chainTag: string | null; height: number | null; blockHash: string | null; confirmations: number; threshold: number;
  incarnation: number | null; fee: bigint | null; failure: { code: string; reason: string } | null;
  /** Signed versions, oldest first; none of a deposit. */
  versions: Pick<SignedVersion, 'txid' | 'doubtful' | 'taken'>[];
  createdAtMs: number; updatedAtMs: number;
}

export interface DeliveryView {
  id: string; eventId: string; event: string; webhookId: string; url: string; replay: number; status: DeliveryStatus;
  /** Why it is held; null unless it is. */
  heldReason: HeldReason | null;
  /** When the event happened: a replay is a younger delivery of the same one. */
  eventAtMs: number;
  nextAttemptAtMs: number | null; createdAtMs: number; attempts: { attempt: number; statusCode: number | null; durationMs: number; error: string | null; atMs: number }[];
}

/** Who asks for an address, and on which EVM network. */
export interface PairAsk { readonly chain: Chain; readonly userRef: string; readonly tag: string | null }

export interface ReadStore {
  idempotent(owner: KeyOwner, method: string, path: string, key: string): Promise<IdempotencyRow | null>;
  saveIdempotent(owner: KeyOwner, row: IdempotencyRow): Promise<void>;
  /** Forgets a stored answer that tells of something dead; nothing when another answer is there by now. */
  forgetIdempotent(owner: KeyOwner, row: Pick<IdempotencyRow, 'method' | 'path' | 'key'>, deadId: string): Promise<void>;
  purgeIdempotent(olderThanMs: number): Promise<number>;
  addresses(accountId: AccountId, filter: { chain?: Chain; userRef?: string; tag?: string; status?: AddressStatus }, page: PageAsk): Promise<Page<AddressRow>>;
  address(accountId: AccountId, id: string): Promise<AddressRow | null>;
  /** Identities that were rotated away, as of the account's last append: what an address's path depends on. */
  retiredIdentities(accountId: AccountId): Promise<Pick<AccountState, 'retired'>>;
  addressByText(accountId: AccountId, chain: Chain, address: string): Promise<AddressRow | null>;
  /**
   * Of each (userRef, tag) the index that its next address on an EVM network takes, where it is one that another network
   * has already; null for a new one. Spec §1.6.
   */
  unpairedIndexes(accountId: AccountId, asked: readonly PairAsk[]): Promise<(number | null)[]>;
  /** Whether a row is the only active one of its address. */
  isAlone(accountId: AccountId, row: AddressRow): Promise<boolean>;
  /** Of some addresses of a family those that the account has, as text. */
  addressesAmong(accountId: AccountId, chain: Chain, addresses: readonly string[]): Promise<string[]>;
  ownAddresses(accountId: AccountId, purpose: AddressRow['purpose']): Promise<AddressRow[]>;
  /** Pool addresses that are not issued, lowest index first. */
  unissuedPool(accountId: AccountId, chain: Chain, limit: number): Promise<{ index: number; address: string; path: string }[]>;
  /** Highest daily snapshot of active addresses of a month (`2026-08`); null before the first. Spec §8.1. */
  addressPeak(accountId: AccountId, period: string): Promise<number | null>;
  transactions(accountId: AccountId, filter: { chain?: Chain; userRef?: string; tag?: string; status?: string; direction?: Direction }, page: PageAsk): Promise<Page<TransactionView>>;
  transaction(accountId: AccountId, id: string): Promise<TransactionView | null>;
  withdrawal(accountId: AccountId, id: string): Promise<WithdrawalRow | null>;
  /** The highest counter value that withdrawals of a sender used in blocks of a ledger; null where there is none. */
  usedValue(accountId: AccountId, ledger: LedgerId, from: string): Promise<UsedValue | null>;
  webhooks(accountId: AccountId): Promise<WebhookRow[]>;
  webhook(accountId: AccountId, id: string): Promise<WebhookRow | null>;
  /** Newest first. `event` is a name; `fromMs`/`toMs` bound the creation of the delivery, `[from, to)`. */
  deliveries(accountId: AccountId, filter: { webhookId?: string; status?: DeliveryStatus; event?: string; eventId?: string; fromMs?: number; toMs?: number }, page: PageAsk): Promise<Page<DeliveryView>>;
  delivery(accountId: AccountId, id: string): Promise<DeliveryView | null>;
}

/** Requests of one account within a minute. In memory of a node, or in Redis for all of them. */
export interface RateLimiter {
  /** Counts one request. `resetSeconds` is the time until the window ends. */
  take(key: string, limit: number, nowMs: number): Promise<{
    allowed: boolean; remaining: number; resetSeconds: number;
  }>;
}

// ── Sandbox ledger ───────────────────────────────────────────────────────────────────────────────────────────────

export interface SandboxBlock { ledger: LedgerId; height: number; hash: string; parentHash: string; timeMs: number; transactions: SandboxTransaction[] }
export interface SandboxTransaction {
  txid: string; success: boolean; reason: string | null; fee: string; from: string | null; nonce: number | null;
  /** `activates`: the payment made the ledger account that it pays. */
  transfers: { outputIndex: number; to: string; amount: string; tokenContract: string | null; activates?: true }[];
  /** The transaction's own bytes, hex, where the ledger consists of outputs that are spent (btc). */
  raw?: string;
  /** The asset that its sender has opted in to (xrp, xlm). */
  opens?: string;
  /** The outputs that it spends, `txid:vout` (btc): no other transaction of the ledger can spend one of them. */
  spends?: string[];
  /** What each of these is worth, smallest unit. */
  spentAmounts?: string[];
}

export interface SandboxSighting {
  readonly height: number; readonly hash: string; readonly timeMs: number; readonly headHeight: number;
  readonly transaction: SandboxTransaction;
}

export interface SandboxStore extends SandboxPool {
  head(ledger: LedgerId): Promise<{ height: number; hash: string } | null>;
  blocks(ledger: LedgerId, from: number, limit: number): Promise<SandboxBlock[]>;
  blockOf(ledger: LedgerId, txid: string): Promise<{ height: number; hash: string; transaction: SandboxTransaction } | null>;
  /** A transaction of whichever account's ledger of a chain, with its block and the ledger's head; null where none has it. */
  sighting(chain: Chain, txid: string): Promise<SandboxSighting | null>;
  /** Appends blocks above `expected`; false when the ledger moved meanwhile. Balances move with their transactions. */
  mine(ledger: LedgerId, expected: { height: number; hash: string } | null, blocks: readonly SandboxBlock[]): Promise<boolean>;
  /** Removes the newest blocks (simulate-reorg). */
  unmine(ledger: LedgerId, depth: number): Promise<SandboxBlock[]>;
  balance(ledger: LedgerId, address: string, tokenContract: string | null): Promise<bigint>;
  nonce(ledger: LedgerId, address: string): Promise<number>;
  /** Transactions that an address received or sent, oldest first: the outputs of a ledger that consists of them. */
  transactionsOf(ledger: LedgerId, address: string): Promise<{ height: number; transaction: SandboxTransaction }[]>;
  /** Durable timers: confirm later. */
  schedule(row: { id: string; accountId: AccountId; dueAtMs: number; task: unknown }): Promise<void>;
  /** Leases due timers: they come back after `leaseMs` unless they are finished. SKIP LOCKED. */
  takeDue(nowMs: number, leaseMs: number, limit: number): Promise<{ id: string; accountId: AccountId; task: unknown }[]>;
  finish(id: string): Promise<void>;
  /** Whether a withdrawal was signed under this txid before simulated ledgers had ids of their own. */
  isFormer(ledger: LedgerId, txid: string): Promise<boolean>;
  /** simulate-chain-down: until when the ledger answers nobody. */
  setDown(ledger: LedgerId, untilMs: number): Promise<void>;
  downUntil(ledger: LedgerId): Promise<number | null>;
  /**
   * Ledgers with work left: their head is not their watch cursor (mined by a process that died before its tick), or a
   * signed withdrawal of theirs (`signing`, `broadcast`) is in no block.
   */
  behind(limit: number): Promise<LedgerId[]>;
  /** Removes the simulated ledgers of an account with their watch state (cursor, links, facts) and timers. */
  reset(accountId: AccountId): Promise<void>;
}
