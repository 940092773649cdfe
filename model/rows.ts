/**
 * Rows of the projections as TypeScript sees them: camelCase here, snake_case in SQL, amounts as bigint here and
 * numeric(78,0) there, instants as epoch milliseconds here and timestamptz there. No I/O in this file.
 */
import type { AccountId, LedgerId } from '../protocol/ids.ts';
import type {
  AddressStatus, Chain, DeliveryStatus, DepositStatus, EventName, Family, PooledChain, WithdrawalStatus,
} from '../protocol/slugs.ts';
import type { Unsigned } from '../chains/chain.ts';

export interface AddressRow {
  id: string;
  accountId: AccountId;
  /** The chain it was asked for. An EVM address receives on all five and has a row for each that it was asked for (spec §1.6). */
  chain: Chain;
  family: Family;
  address: string;
  /** First 16 bytes of SHA-256(environment ‖ family ‖ decoded bytes), as a uuid. Unique over all accounts. Design 3. */
  addressKey: string;
  derivationPath: string;
  /** `deposit` addresses are issued to customers; the others are the account's own (G20). */
  purpose: 'deposit' | 'gas_tank' | 'treasury';
  /** Index below the account path, null where the path is not M/0/i. Used once per (account, family, purpose). */
  index: number | null;
  userRef: string | null;
  tag: string | null;
  label: string | null;
  status: AddressStatus;
  createdAtMs: number;
}

/** One deposit per (ledger, txid, output index). Orphaned deposits are marked `reversed`, never deleted. */
export interface DepositRow {
  id: string;
  accountId: AccountId;
  ledger: LedgerId;
  chain: Chain;
  txid: string;
  outputIndex: number;
  addressId: string;
  address: string;
  amount: bigint;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  /** Destination tag or memo of the chain, recorded only. */
  chainTag: string | null;
  status: DepositStatus;
  /** Rises by one when a reversed deposit comes back. Decisions 5. */
  incarnation: number;
  /** Whether its events are told: its address was active when one of them arose. */
  announced: boolean;
  height: number;
  blockHash: string;
  threshold: number;
  createdAtMs: number;
  updatedAtMs: number;
}

/** Append-only money facts of an account: `credit` at confirmation, `reversal` exactly its negative. */
export interface LedgerEntryRow {
  depositId: string;
  accountId: AccountId;
  incarnation: number;
  kind: 'detected' | 'credit' | 'reversal';
  amount: bigint;
  /** The publication that tells of it. Null where none does: an archived address, a deposit that was detected again. */
  eventId: string | null;
}

/**
 * Signed bytes. `doubtful` from before their first submit: a node may have them. No refusal ends them then, only proof
 * (G27), save the answer to that first submit while no other was begun. `taken` once a node answered that it has them; absent in
 * rows that are older than it.
 */
export interface SignedVersion { txid: string; signedPayload: string; payload: string; doubtful?: true; taken?: boolean }

export interface WithdrawalRow {
  id: string;
  accountId: AccountId;
  ledger: LedgerId;
  chain: Chain;
  from: string;
  to: string;
  amount: bigint;
  decimals: number;
  tokenContract: string | null;
  tokenSymbol: string;
  userRef: string | null;
  tag: string | null;
  status: WithdrawalStatus;
  unsigned: Unsigned;
  /** Signed bytes are durable before the first submit (G25). All versions that may still land, newest last. */
  versions: SignedVersion[];
  txid: string | null;
  height: number | null;
  blockHash: string | null;
  fee: bigint | null;
  failure: { code: string; reason: string } | null;
  createdAtMs: number;
  updatedAtMs: number;
}

/** The highest counter value that a sender's transactions have used, and the block of ours that holds it. */
export interface UsedValue { value: string; height: number }

export interface WebhookRow {
  id: string;
  accountId: AccountId;
  url: string;
  events: EventName[];
  /** AES-256-GCM envelope of `whsec_…`; with two entries while a secret is being rotated. */
  sealedSecrets: string[];
  secretPreview: string;
  status: 'enabled' | 'disabled' | 'deleted';
  createdAtMs: number;
  updatedAtMs: number;
}

/** A recorded event that must reach its subscribers. Completed when every delivery row of it exists. */
export interface PublicationRow {
  eventId: string;
  accountId: AccountId;
  event: EventName;
  /** The exact bytes that are signed and sent, serialised once. */
  body: string;
  /** Partition of order: per (order key, endpoint) first attempts leave in publication order. The address, or ''. */
  orderKey: string;
  /** `identity_rotation_detected` goes to every endpoint whatever its subscription. */
  toAll: boolean;
  createdAtMs: number;
}

/** One row per (event, endpoint, replay number). Decisions 4. */
export interface DeliveryRow {
  id: string;
  eventId: string;
  webhookId: string;
  replay: number;
  status: DeliveryStatus;
  attempts: number;
  nextAttemptAtMs: number | null;
}

export interface AttemptRow {
  deliveryId: string;
  attempt: number;
  /** Null when no answer came (timeout, refused connection). */
  statusCode: number | null;
  durationMs: number;
  error: string | null;
  atMs: number;
}

export interface AccountKeyRow {
  family: Family;
  xpub: string;
  accountPath: string;
  /** First 16 hex digits of SHA-256 of the xpub. */
  fingerprint: string;
  status: 'active' | 'held' | 'retired';
}

export interface PoolAddressRow { chain: PooledChain; index: number; address: string; path: string; addressKey: string }

export interface IdempotencyRow {
  key: string;
  method: string;
  path: string;
  /** SHA-256 hex of the raw body. */
  bodyHash: string;
  status: number;
  /** `data` of a success, or the failure's `error`. */
  body: unknown;
}

/** What a watcher tells an account about one transfer or transaction; read again from the inbox until it is taken. */
export type Fact =
  | { kind: 'seen' | 'matured' | 'orphaned' | 'moved'; deposit: SeenTransfer }
  | { kind: 'withdrawal_included' | 'withdrawal_matured' | 'withdrawal_orphaned' | 'withdrawal_dead';
      withdrawalId: string; txid: string; height: number; blockHash: string; success: boolean;
      reason: string | null; fee: string | null };

export interface SeenTransfer {
  ledger: LedgerId; chain: Chain; txid: string; outputIndex: number; addressId: string; address: string;
  amount: string; decimals: number; tokenContract: string | null; tokenSymbol: string; chainTag: string | null;
  from: string[]; activates: boolean; threshold: number; height: number; blockHash: string;
  /** Confirmations when the fact was recorded: 1 for `seen`, the threshold or more for `matured`. */
  confirmations: number;
}

export interface InboxRow { id: string; accountId: AccountId; fact: Fact }

/**
 * What the actor's statement writes beside its events; one tagged list so that a new projection is one more tag. Of
 * several rows with one id in one append the last one stands.
 */
export type RowWrite =
  // Inserted; a gas tank or treasury that the account has already stays. ADDRESS_CONFLICT when another account has it (I9).
  // `paired`: a further network of an EVM address that the account has; `pairsFrom`: first index of the present identity.
  // Refused as `address_pairs` when its pair changed meanwhile (spec 1.6).
  | { table: 'address'; row: AddressRow; paired?: boolean; pairsFrom?: number }
  // Refused as CONFLICT when the address has that status already: the actor keeps no list of addresses.
  // `alone`: no other active row has the address; refused as `address_pairs` when that changed meanwhile.
  | { table: 'address_status'; id: string; status: AddressStatus; alone?: boolean }
  // The pinned identity; refused as CROSS_ENVIRONMENT_IDENTITY when the organization's other account pins the same one (I20).
  | { table: 'identity'; publicKey: string }
  | { table: 'pool_address'; row: PoolAddressRow } // insert, or replace one that was not issued
  | { table: 'account_key'; row: AccountKeyRow }
  | { table: 'deposit'; row: DepositRow } // insert or update by id
  | { table: 'ledger_entry'; row: LedgerEntryRow }
  | { table: 'withdrawal'; row: WithdrawalRow } // insert or update by id
  // A build that nobody signed: it ended, or gave the counter that was bound for it back.
  | { table: 'withdrawal_status'; id: string; status: 'expired' | 'built'; updatedAtMs: number }
  | { table: 'webhook'; row: WebhookRow } // insert or update by id
  | { table: 'publication'; row: PublicationRow }
  | { table: 'replay'; deliveryId: string; newDeliveryId: string; nowMs: number }
  // Every id must still be there, else the entry is stale: no fact is decided twice.
  | { table: 'inbox_taken'; ids: string[] }
  | { table: 'idempotency'; row: IdempotencyRow }
  | { table: 'billable'; withdrawalId: string; kind: 'withdrawal' | 'sweep'; period: string }
  | { table: 'address_peak'; day: string; active: number }
  // Deposit addresses, transactions, deliveries, inbox and facts of the account; its own addresses and pools stay.
  | { table: 'sandbox_reset' };
