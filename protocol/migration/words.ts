/** Words of a migration: enumerations as they go over the wire, and what an assessment asks and says. Spec §2.12. */
import type { Chain } from '../slugs.ts';

/**
 * A one phrase, standard derivation · B one phrase, unknown path · C several phrases · D individual keys · E a mixture
 * · F a custodian holds the keys.
 */
export const MIGRATION_CASES = ['A', 'B', 'C', 'D', 'E', 'F'] as const;
export type MigrationCase = (typeof MIGRATION_CASES)[number];

/** How the addresses of a chain come under the account. */
export const ROUTES_HOME = ['own_phrase', 'key_source', 'watch_only'] as const;
export type RouteHome = (typeof ROUTES_HOME)[number];

/** Why the edge signs nothing for a chain's addresses. */
export const NOT_SIGNED_REASONS = ['family_not_signed', 'list_only', 'no_key'] as const;
export type NotSignedReason = (typeof NOT_SIGNED_REASONS)[number];

export const MIGRATION_ACTIONS = [
  'split',
  'start_edge_with_phrase',
  'import_phrase',
  'detect_path',
  'import_keys',
  'register_source',
  'create_project',
  'discover',
  'upload_list',
  'validate',
  'commit',
  'observe',
  'activate',
  'ask_custodian',
  'issue_new_addresses',
  'move_funds',
] as const;
export type MigrationAction = (typeof MIGRATION_ACTIONS)[number];

export const MIGRATION_PLACES = ['edge', 'cloud', 'custodian'] as const;
export type MigrationPlace = (typeof MIGRATION_PLACES)[number];

export const MIGRATION_WARNINGS = [
  'keys_known_elsewhere',
  'not_signed',
  'list_required',
  'evm_networks',
  'unsure_taken_as_unknown',
  'tags_not_expressible',
  'range_beats_scan',
  'band_exceeded',
  'above_self_service',
  'standard_wallet_ignored',
  'count_unlikely',
  'custodian_must_act',
] as const;
export type MigrationWarning = (typeof MIGRATION_WARNINGS)[number];

/** `observe` from the first commit on: addresses are watched, nothing is announced or signed until the cutover. */
export const PROJECT_STATES = ['draft', 'observe', 'active'] as const;
export type ProjectState = (typeof PROJECT_STATES)[number];

/** `rejected`: a secret was in it, and all of it is gone. */
export const UPLOAD_STATES = ['open', 'complete', 'rejected', 'used', 'erased'] as const;
export type UploadState = (typeof UPLOAD_STATES)[number];

export const BATCH_STATES = [
  'created',
  'validating',
  'valid',
  'invalid',
  'conflict',
  'committing',
  'committed',
  'rolling_back',
  'rolled_back',
] as const;
export type BatchState = (typeof BATCH_STATES)[number];

/** Of a validation, in order. Spec §4.8. */
export const PHASES = [
  'parse',
  'schema',
  'chain_format',
  'derivation',
  'uniqueness',
  'spendability',
  'projection',
] as const;
export type Phase = (typeof PHASES)[number];
export const PHASE_STATES = ['passed', 'failed', 'not_run'] as const;
export const SEVERITIES = ['error', 'warning', 'skip'] as const;
export type Severity = (typeof SEVERITIES)[number];

/** Why an adopted address is watch-only. */
export const WATCH_ONLY_REASONS = [
  'source_purged',
  'family_not_signed',
  'no_key',
  'script_not_signed',
  'identity_retired',
] as const;

/** Of an export; any case. */
export const EXPORT_FORMATS = ['CSV', 'JSONL', 'DESCRIPTORS', 'KEY_VALUE'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
/** Why a format has no words for an address: nobody derived it, it has no extended key, and so on. */
export const INEXPRESSIBLE_REASONS = [
  'untraced',
  'single_key',
  'retired_identity',
  'chain',
  'script',
  'branch',
] as const;
/** What a format leaves out of an address. */
export const LOST_FIELDS = ['derivation_path', 'user_ref', 'tag', 'label'] as const;
export type LostField = (typeof LOST_FIELDS)[number];

/** A file of an import, bytes. */
export const UPLOAD_BYTES_MAX = 268_435_456;
export const PROJECTS_MAX = 200;

/** Addresses of one project that go without staff. Spec §7 `IMPORT_TOO_LARGE`. */
export const SELF_SERVICE_ADDRESSES_MAX = 1_000_000;

/** What a company says of its old wallet. */
export interface CaseAnswers {
  readonly mnemonics: number;
  readonly hasRawKeys: boolean;
  readonly providerHoldsKeys: boolean;
  /** Null: unsure. */
  readonly standardWallet: boolean | null;
}

export interface Assessed extends CaseAnswers {
  /** 0: not known yet. */
  readonly addressCount: number;
  readonly chains: readonly Chain[];
}

/** What adopting the addresses means for the plan. */
export interface Room {
  readonly exceeds: boolean;
  readonly projected: number;
}

export interface ChainOutlook {
  readonly chain: Chain;
  readonly route: RouteHome;
  readonly signs: boolean;
  readonly reason: NotSignedReason | null;
  /** Used addresses can be found from an extended public key. */
  readonly discovery: boolean;
  /** They cannot: a list of them is needed. */
  readonly listRequired: boolean;
}

/**
 * queued → running → completed; running ⇄ waiting while the chain cannot be read; failed where it cannot be scanned
 * here at all; cancelled by the caller.
 */
export const SCAN_STATES = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
export type ScanState = (typeof SCAN_STATES)[number];
export const SCAN_ENDS = ['gap_limit', 'max_scan'] as const;
export type ScanEnd = (typeof SCAN_ENDS)[number];
/** Of a limit above `SCAN_SELF_SERVICE_MAX`, by an administrator. */
export const SCAN_REVIEWS = ['pending', 'approved', 'declined'] as const;
export type ScanReview = (typeof SCAN_REVIEWS)[number];
/** Of a batch with addresses that another account claims, by an administrator. */
export const REVIEW_STATES = ['open', 'dropped', 'refused'] as const;
export type ReviewState = (typeof REVIEW_STATES)[number];
export const REVIEW_DECISIONS = ['drop_rows', 'refuse'] as const;
/** `each`: every extended key of the source is an account of one address. */
export const SCAN_TEMPLATES = ['account', 'each'] as const;
export type ScanTemplate = (typeof SCAN_TEMPLATES)[number];

/**
 * What a scan goes by.
 *   history       every transaction that ever touched the address, by an index or a whole ledger
 *   blocks        every transaction in a block
 *   unspent_only  outputs that nobody has spent yet
 *   state         what the ledger says of the account now: it has sent, or it holds something
 */
export const EVIDENCE = ['history', 'blocks', 'unspent_only', 'state'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What a scan cannot see, or what was found that needs a look. */
export const SCAN_WARNINGS = [
  'pending_unseen',
  'spent_unseen',
  'tokens_unseen',
  'deleted_unseen',
  'evm_networks',
  'keys_exhausted',
  'change_holds_money',
] as const;
export type ScanWarning = (typeof SCAN_WARNINGS)[number];

export const GAP_LIMIT = 20;
/** Where spent outputs are not seen: an address that was emptied looks like one that was never used. */
export const GAP_LIMIT_UNSPENT = 1_000;
/** Above it an administrator decides. Spec §8.5. */
export const SCAN_SELF_SERVICE_MAX = 10_000;
export const SCAN_MAX = 1_000_000;

/** What is wrong with a list of references by index; refused whole. */
export const MAPPING_REASONS = [
  'columns',
  'bad_index',
  'duplicate_index',
  'empty_user_ref',
  'user_ref_length',
] as const;
export type MappingReason = (typeof MAPPING_REASONS)[number];

/** What a search for a path says beside what it found. */
export const PATH_HINTS = [
  'another_account',
  'hardened_index',
  'beyond_indexes',
  'multisig',
  'ask_the_edge',
  'two_branches',
  'second_not_found',
] as const;
