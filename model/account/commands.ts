/**
 * Messages of the account actor: the only way to change an account. Commands are imperative, plain and serialisable;
 * time and ids come in with them, so that `decide` is pure.
 */
import type { BuildInputs, BroadcastResult, FeeEstimate, Intent, ReplayKey, Signed } from '../../chains/chain.ts';
import type { AddressRow } from '../rows/address.ts';
import type { DepositRow } from '../rows/deposit.ts';
import type { IdempotencyRow } from '../rows/idempotency.ts';
import type { InboxRow } from '../rows/inbox.ts';
import type { UsedValue, WithdrawalRow } from '../rows/withdrawal.ts';
import type { WebhookRow } from '../rows/webhook.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type {
  AddressStatus, Band, Chain, EdgeRole, Environment, EventName, Family, Liveness, PooledChain, Readiness, Tier,
} from '../../protocol/slugs.ts';

// ── State ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Plan {
  tier: Tier;
  band: Band;
  subscription: 'active' | 'lapsed';
  paymentsActive: boolean;
}

/** A smaller band that was asked for and begins with the next period. Spec §3.8. */
export interface PendingBand { band: Band; atMs: number }

export interface AccountKey { xpub: string; accountPath: string; fingerprint: string }
/**
 * Addresses of a pooled chain live in `pool_address`; here is only how far they reach: indexes [next, size) are unissued,
 * `capacity` of them are a full pool. After a rotation `capacity` is zero until the new edge has pushed, and
 * `base` is where its addresses begin: those below are of an identity that was rotated away. Absent: 0.
 */
/** A public key of a source: extended at a path, or single. */
export interface SourceKey { family: Family; path: string | null; xpub: string | null; publicKey: string | null }
export type PushedSourceKey = { chain: Chain; path: string; xpub: string } | { chain: Chain; publicKey: string };
/** A phrase or key from elsewhere that the edge registered. Spec §2.12. */
export interface KeySource {
  id: string;
  fingerprint: string;
  label: string;
  kind: 'phrase' | 'key';
  keystore: 'file' | 'pkcs11';
  chains: Chain[];
  keys: SourceKey[];
  /** Count of its addresses; they themselves are rows. */
  addresses: number;
  registeredAtMs: number;
  purgedAtMs: number | null;
}
export interface Pool { base?: number; size: number; next: number; capacity: number; gasTank: string; gasTankPath: string; lowAnnounced: boolean }
export interface Enrolment { publicKey: string; keys: Partial<Record<Family, AccountKey>> }
/**
 * What a withdrawal holds until it is out of the way: `built` (nothing signed), `signed` (may land at any time) or
 * `included` (in a block that may still be orphaned).
 */
export interface InFlight { id: string; stage: 'built' | 'signed' | 'included' }
/**
 * Replay protection of one (chain, address). Values are decimal text, so that a Stellar sequence (64 bits) fits; on btc
 * they are the outpoints `txid:vout` that are spoken for. Empty entries are dropped: the chain's own count is then the
 * truth. V39.
 */
export interface Counter { next: string | null; free: string[]; inFlight: Record<string, InFlight> }

/** An identity that an approved rotation replaced. Spec §5.7. */
export interface RetiredIdentity {
  readonly fingerprint: string;
  readonly atMs: number;
  /** First deposit index by family that was not of this identity. */
  readonly next: Partial<Record<Family, number>>;
}

/** What an actor knows of its account. All but what is on its way is the snapshot; that is read from rows when it is loaded. */
export interface AccountState {
  /** Events folded so far: the version in the ids of the events that are no deposit's. Decisions 1. */
  version: number;
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
  plan: Plan;
  /** Undefined in snapshots that are older than it. */
  pendingBand?: PendingBand | null;
  suspended: boolean;
  enrolment: Enrolment | null;
  rotation: { id: string; publicKey: string; keys: Partial<Record<Family, AccountKey>>; detectedAtMs: number } | null;
  pools: Partial<Record<PooledChain, Pool>>;
  /** Next unused deposit index by family. */
  indexes: Partial<Record<Family, number>>;
  /** Chains that addresses were asked for: tier Free allows two. */
  chains: Chain[];
  activeAddresses: number;
  peak: { day: string; active: number };
  settled: { period: string; count: number };
  /** Ids of the webhooks that are not deleted. */
  webhooks: string[];
  /** Marks of the secrets of webhooks whose secrets changed, so that a decision on older ones is refused. */
  webhookSeals: Record<string, string>;
  lease: { epoch: number; holder: string | null };
  /** `stale` is presence and kept by the edge-stream room; here are only transitions that are announced. */
  edge: { liveness: Exclude<Liveness, 'stale'> };
  counters: Record<string, Counter>;
  /** By id. Undefined in snapshots that are older than it. */
  keySources?: Record<string, KeySource>;
  /** Oldest first. Undefined in snapshots that are older than it. */
  retired?: RetiredIdentity[];
  /** Withdrawals that may still change: id → `updatedAtMs` of the newest row, so that a decision on an older row is refused. */
  withdrawals: Record<string, number>;
  /** Confirmed withdrawals that a deep reorg took out of the chain: they are not billed again. */
  reopened: string[];
}

/** What is stored with every append: its size does not grow with use. */
export type AccountSnapshot = Omit<AccountState, 'counters' | 'withdrawals' | 'reopened'>;

/** A build that nobody signed, as the store has it. */
export interface UnsignedBuild { id: string; chain: Chain; from: string; replayKey: ReplayKey; updatedAtMs: number }

// ── Commands ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Stored in the same append as the effect; `body` is filled by the shell from the reply. I23. */
export interface IdempotencyClaim extends Omit<IdempotencyRow, 'status' | 'body'> { successStatus: number }

export interface PushedKey { family: Family; xpub: string; accountPath: string }
export interface PushedPool {
  chain: PooledChain;
  addresses: { index: number; address: string; path: string }[];
  gasTank: { address: string; path: string };
}

export type AccountCommand = (
  | { type: 'inspect' }
  // Edge
  | { type: 'enrol'; publicKey: string; keys: PushedKey[]; pools: PushedPool[]; rotationId: string; addressIds: string[] }
  | { type: 'resume'; publicKey: string }
  | { type: 'resync'; publicKey: string }
  | { type: 'push_pool'; publicKey: string; pool: PushedPool; addressIds: string[] }
  | { type: 'decide_rotation'; rotationId: string; decision: 'approve' | 'reject'; byUser: string; addressIds: string[] }
  /** `liveSessions`: those whose own claim may still hold, by the presence that the edge-stream room keeps. */
  | { type: 'claim_lease'; sessionId: string; liveSessions: string[] }
  | { type: 'release_lease'; sessionId: string }
  | { type: 'note_liveness'; liveness: Liveness }
  /** `known`: of the pushed addresses those that the account has already. `addressIds`: one for each pushed address. */
  | { type: 'register_key_source'; publicKey: string; id: string; fingerprint: string; label: string; kind: KeySource['kind'];
      keystore: KeySource['keystore']; chains: Chain[]; keys: PushedSourceKey[];
      addresses: { chain: Chain; index: number; path: string | null; address: string }[]; known: string[]; addressIds: string[] }
  | { type: 'purge_key_source'; publicKey: string; id: string }
  // Addresses
  | { type: 'create_address'; id: string; chain: Chain; userRef: string; tag: string | null; label: string | null;
      /** EVM: the lowest index of this (userRef, tag) without a row on the chain, as the store sees it; null for a new one. */
      paired: number | null;
      /** Pooled chains: the next unissued pool addresses as the store sees them; the actor takes the one that is next. */
      unissued: { index: number; address: string; path: string }[] }
  /** `alone`: no other active row has the address, as the store sees it. */
  | { type: 'set_address_status'; known: AddressRow; status: AddressStatus; alone: boolean }
  | { type: 'note_peak'; day: string }
  // Chain
  | { type: 'apply_facts'; inbox: InboxRow[]; deposits: DepositRow[]; withdrawals: WithdrawalRow[]; addresses: AddressRow[];
      depositIds: string[] }
  // Withdrawals
  | { type: 'build_withdrawal'; id: string; intent: Intent; inputs: BuildInputs; from: AddressRow; tokenSymbol: string;
      decimals: number;
      /** Of the sender's withdrawals that are in a block, as the store has them. */
      used?: UsedValue | null }
  | { type: 'reprice_withdrawal'; known: WithdrawalRow; inputs: BuildInputs }
  /** Before a signature: the counter value that is next. `gaveUp`: builds that the edge bound before and will not sign now. */
  | { type: 'bind_withdrawal'; known: WithdrawalRow; inputs: BuildInputs; used?: UsedValue | null; gaveUp: readonly string[] }
  | { type: 'abandon_withdrawal'; known: WithdrawalRow }
  /** Those that did not change for BUILD_TTL, of this account. */
  | { type: 'expire_builds'; builds: UnsignedBuild[] }
  | { type: 'submit_signed'; known: WithdrawalRow; signed: Signed; sessionId: string; leaseEpoch: number }
  /** Before each submit: from here on a node may have the bytes. */
  | { type: 'begin_submit'; known: WithdrawalRow; txid: string }
  /** `sole`: the answer to the only submit of this version that was ever begun, as `begin_submit` said. */
  | { type: 'note_broadcast'; known: WithdrawalRow; txid: string; result: BroadcastResult; sole?: true }
  // Webhooks
  | { type: 'create_webhook'; row: WebhookRow }
  /** `known` is the row that `row` was made of. */
  | { type: 'replace_webhook'; row: WebhookRow; known: WebhookRow }
  | { type: 'delete_webhook'; known: WebhookRow }
  | { type: 'replay_delivery'; deliveryId: string; newDeliveryId: string; eventAtMs: number }
  // Plan and sandbox
  | { type: 'change_plan'; plan: Partial<Plan> }
  /** Puts a smaller band into force whose period has begun. */
  | { type: 'settle_band' }
  | { type: 'suspend'; suspended: boolean; byUser: string; reason?: string }
  | { type: 'reset_sandbox' }
) & { idempotency?: IdempotencyClaim };

/** Values of one counter that a withdrawal holds. */
export interface Hold { key: string; values: string[] }

// ── Events ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Facts of the stream: past tense, never changed once written, upcast on read when their shape grows. */
export type AccountEvent =
  | { type: 'edge_enrolled'; enrolment: Enrolment }
  | { type: 'keys_added'; keys: Partial<Record<Family, AccountKey>> }
  | { type: 'pool_pushed'; chain: PooledChain; size: number; gasTank: string; gasTankPath: string }
  | { type: 'pool_low_announced'; chain: PooledChain }
  | { type: 'rotation_detected'; id: string; publicKey: string; keys: Partial<Record<Family, AccountKey>>; atMs: number }
  // Events that are older than `atMs` have none.
  | { type: 'rotation_approved'; id: string; byUser: string; atMs?: number }
  | { type: 'rotation_rejected'; id: string; byUser: string }
  | { type: 'lease_granted'; sessionId: string; epoch: number }
  | { type: 'lease_released'; sessionId: string; epoch: number }
  | { type: 'edge_liveness_changed'; liveness: Liveness }
  /** `paired`: on a further network, so that it counts no more than before. */
  | { type: 'address_issued'; id: string; family: Family; chain: Chain; index: number; paired?: true }
  /** `counts` false: another network of the address is active. */
  | { type: 'address_status_changed'; id: string; status: AddressStatus; counts?: false }
  | { type: 'peak_noted'; day: string; active: number }
  | { type: 'deposit_detected' | 'deposit_confirmed' | 'deposit_reversed' | 'deposit_moved'; id: string; incarnation: number;
      amount: string; height: number; blockHash: string }
  | { type: 'withdrawal_built'; id: string; atMs: number; hold: (Hold & { next: string | null; free: string[] }) | null }
  | { type: 'withdrawal_repriced'; id: string; atMs: number; hold: Hold | null }
  | { type: 'withdrawal_bound'; id: string; atMs: number; hold: Hold & { next: string | null; free: string[] } }
  /** Another one has its value now. */
  | { type: 'withdrawal_unbound'; id: string; atMs: number; hold: Hold }
  /** The node refused one of several versions for good; the others may still land. */
  | { type: 'withdrawal_version_dropped'; id: string; atMs: number; txid: string }
  | { type: 'withdrawal_signed'; id: string; atMs: number; txid: string; hold: Hold | null }
  | { type: 'withdrawal_broadcast'; id: string; atMs: number; txid: string }
  /** A submit was begun: a node may have the bytes. */
  | { type: 'withdrawal_doubted'; id: string; atMs: number; txid: string }
  | { type: 'withdrawal_included'; id: string; atMs: number; txid: string; height: number; hold: Hold | null }
  | { type: 'withdrawal_orphaned'; id: string; atMs: number; txid: string; hold: Hold | null; wasConfirmed: boolean }
  /** `period` is the billing month, null when it was billed before. */
  | { type: 'withdrawal_confirmed'; id: string; txid: string; hold: Hold | null; period: string | null }
  | { type: 'withdrawal_failed'; id: string; reason: string; hold: (Hold & { reusable: boolean }) | null }
  | { type: 'withdrawal_expired'; id: string; hold: Hold | null }
  /** Nobody signed them for BUILD_TTL. */
  | { type: 'builds_expired'; builds: { id: string; hold: Hold | null }[] }
  | { type: 'webhook_created' | 'webhook_deleted'; id: string }
  /** `seal` marks the new secrets; null where they stayed. */
  | { type: 'webhook_replaced'; id: string; seal: string | null }
  /** `added` addresses are new; `chains` are theirs. */
  | { type: 'key_source_registered'; source: KeySource; added: number; chains: Chain[] }
  | { type: 'key_source_purged'; id: string; atMs: number }
  | { type: 'delivery_replayed'; deliveryId: string }
  | { type: 'plan_changed'; plan: Plan }
  | { type: 'band_change_scheduled'; band: Band; atMs: number }
  | { type: 'band_change_ended'; reason: 'in_force' | 'withdrawn' | 'too_many_addresses' }
  // Events that are older than `byUser` have none.
  | { type: 'suspension_changed'; suspended: boolean; byUser?: string; reason?: string }
  | { type: 'sandbox_reset' };

// ── Replies ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ReadinessView { chain: Chain; state: Readiness; reason: string | null; xpub: string | null; poolLevelPercent: number | null }

/** What a command is answered with when it is accepted; keyed by command type. */
export interface AccountReplies {
  inspect: AccountState;
  enrol: { outcome: 'enrolled' | 'keys_added' | 'rotation_pending'; readiness: ReadinessView[] };
  resume: { readiness: ReadinessView[] };
  resync: { readiness: ReadinessView[] };
  push_pool: { size: number; unused: number };
  decide_rotation: { readiness: ReadinessView[] };
  claim_lease: { epoch: number; role: EdgeRole };
  release_lease: { epoch: number };
  note_liveness: { liveness: Liveness };
  register_key_source: { source: KeySource; added: number; skipped: number };
  purge_key_source: KeySource;
  create_address: AddressRow;
  set_address_status: AddressRow;
  note_peak: { day: string; active: number };
  /** `deferred` facts wait in the inbox: a row that they need changed after it was read. */
  apply_facts: { applied: number; deferred: number; events: EventName[] };
  build_withdrawal: WithdrawalRow & { feeEstimate: FeeEstimate };
  reprice_withdrawal: WithdrawalRow;
  bind_withdrawal: WithdrawalRow;
  abandon_withdrawal: WithdrawalRow;
  expire_builds: { expired: number };
  submit_signed: WithdrawalRow;
  begin_submit: { row: WithdrawalRow; sole: boolean };
  note_broadcast: WithdrawalRow;
  create_webhook: WebhookRow;
  replace_webhook: WebhookRow;
  delete_webhook: WebhookRow;
  replay_delivery: { deliveryId: string };
  change_plan: Plan & { pendingBand: PendingBand | null };
  settle_band: Plan & { pendingBand: PendingBand | null };
  suspend: { suspended: boolean };
  reset_sandbox: { reset: true };
}

