/** Every enumeration that goes over a wire, as an array and its type. Spec §2.2: lowercase slugs. */

export const CHAINS = ['btc', 'eth', 'bsc', 'polygon', 'avax', 'base', 'tron', 'sol', 'xrp', 'xlm'] as const;
export type Chain = (typeof CHAINS)[number];

export const EVM_CHAINS = ['eth', 'bsc', 'polygon', 'avax', 'base'] as const satisfies readonly Chain[];

/** Chains of one family share code, keys and addresses; a family is never shown on the wire. */
export const FAMILIES = ['btc', 'evm', 'tron', 'sol', 'xrp', 'xlm'] as const;
export type Family = (typeof FAMILIES)[number];
/** What a transaction of a treasury operation does: gas from the tank to an address, or an address's money home. */
export const OPERATION_ROLES = ['fund', 'sweep', 'approve', 'burn', 'mint'] as const;
export type OperationRole = (typeof OPERATION_ROLES)[number];

/** What fires a cycle of a sweep policy. Spec §2.10, decisions 8: the names are upper case. */
export const TRIGGER_MODES = ['THRESHOLD', 'SCHEDULE', 'THRESHOLD_AND_SCHEDULE', 'MANUAL'] as const;
/** Who pays the fee of a sweep. */
export const GAS_FUNDING_MODES = ['FUNDING_WALLET', 'SELF', 'FEE_PAYER'] as const;
/** What fired a cycle. */
export const SWEEP_TRIGGERS = ['manual', 'schedule', 'threshold'] as const;
/** Decisions 3. */
export const SWEEP_JOB_STATES = [
  'PLANNED',
  'FUNDING',
  'SIGNING',
  'BROADCAST',
  'COMPLETED',
  'PARTIAL',
  'FAILED',
] as const;
export const SWEEP_OPERATION_STATES = [
  'PLANNED',
  'FUNDING',
  'SIGNING',
  'BROADCAST',
  'CONFIRMED',
  'FAILED',
  'SKIPPED',
] as const;
/** Where a transfer of a bridge is. Treasury H5. */
export const BRIDGE_STATES = [
  'PLANNED',
  'APPROVING',
  'BURNING',
  'ATTESTING',
  'MINTING',
  'COMPLETED',
  'FAILED',
] as const;
/** How a sweep on TRON has its energy. */
export const SWEEP_ENERGIES = ['BURN', 'DELEGATE'] as const;

/** Spec §1.6: the five EVM networks share one derivation path and one address per customer. */
export const FAMILY_OF: Readonly<Record<Chain, Family>> = {
  btc: 'btc',
  eth: 'evm',
  bsc: 'evm',
  polygon: 'evm',
  avax: 'evm',
  base: 'evm',
  tron: 'tron',
  sol: 'sol',
  xrp: 'xrp',
  xlm: 'xlm',
};

/** Ed25519 chains: no extended public key exists, addresses come from a pool that the edge derived. */
export const POOLED_CHAINS = ['sol', 'xlm'] as const satisfies readonly Chain[];
export type PooledChain = (typeof POOLED_CHAINS)[number];

export const ENVIRONMENTS = ['live', 'sandbox'] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Spec §3.1. */
export const READINESS = ['not_ready', 'ready', 'quarantined', 'pool_low'] as const;
export type Readiness = (typeof READINESS)[number];

/**
 * How a node of a chain is found. `down`, `wrong_network`: needs an operator. `behind`, `stuck`, `unreadable`, `ahead`
 * (claims a head that cannot be): it answers, and blocks do not wait for its word. `unknown`: not asked yet.
 */
export const ENDPOINT_STATES = [
  'up',
  'down',
  'wrong_network',
  'behind',
  'stuck',
  'unreadable',
  'ahead',
  'unknown',
] as const;
export type EndpointState = (typeof ENDPOINT_STATES)[number];

/**
 * How a chain is, by its nodes. `degraded`: at least one does what it must and another does not. `unavailable`,
 * `wrong_network` (all nodes are of another one): nothing is asked. `unknown`: no node was asked yet.
 */
export const CHAIN_STATUSES = ['ok', 'degraded', 'unavailable', 'wrong_network', 'unknown'] as const;
export type ChainStatus = (typeof CHAIN_STATUSES)[number];

/** Spec §3.2. */
export const LIVENESS = ['live', 'stale', 'down', 'never_connected'] as const;
export type Liveness = (typeof LIVENESS)[number];

export const EDGE_ROLES = ['leader', 'follower'] as const;
export type EdgeRole = (typeof EDGE_ROLES)[number];

/** Spec §2.6. */
export const TOKEN_REQUEST_STATES = ['under_review', 'accepted', 'published', 'declined'] as const;
export type TokenRequestState = (typeof TOKEN_REQUEST_STATES)[number];

export const ORG_ROLES = ['owner', 'editor', 'viewer'] as const;
export type OrgRole = (typeof ORG_ROLES)[number];

export const TIERS = ['free', 'premium', 'ultimate'] as const;
export type Tier = (typeof TIERS)[number];

export const BANDS = ['launch', 'growth', 'scale', 'enterprise', 'custom'] as const;
export type Band = (typeof BANDS)[number];

export const ADDRESS_STATUSES = ['active', 'archived'] as const;
export type AddressStatus = (typeof ADDRESS_STATUSES)[number];

export const DEPOSIT_STATUSES = ['detected', 'confirmed', 'reversed'] as const;
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

export const WITHDRAWAL_STATUSES = [
  'built',
  'signing',
  'broadcast',
  'confirming',
  'confirmed',
  'failed',
  'replaced',
  'expired',
] as const;
export type WithdrawalStatus = (typeof WITHDRAWAL_STATUSES)[number];

/** A caller's own, or the treasury's: of a sweep or a bridge transfer. */
export const WITHDRAWAL_KINDS = ['withdrawal', 'sweep'] as const;
export type WithdrawalKind = (typeof WITHDRAWAL_KINDS)[number];

export const DIRECTIONS = ['in', 'out'] as const;
export type Direction = (typeof DIRECTIONS)[number];

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'dead_lettered', 'held'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why a delivery is held: its endpoint is switched off, is deleted, or its secret does not open under SECRET_KEY. */
export const HELD_REASONS = [
  'endpoint_disabled',
  'endpoint_deleted',
  'secret_unreadable',
  'project_in_observe',
] as const;
export type HeldReason = (typeof HELD_REASONS)[number];

/** Spec §6 and decisions 4. The order is the order of the catalogue in the documents. */
export const EVENTS = [
  'deposit_detected',
  'deposit_confirmed',
  'deposit_reversed',
  'address_activated',
  'withdrawal_broadcast',
  'withdrawal_confirmed',
  'withdrawal_failed',
  'edge_offline',
  'edge_online',
  'identity_rotation_detected',
  'pool_low',
  'funding_wallet_low',
  'payment_detected',
  'payment_confirmed',
  'payment_underpaid',
  'payment_late',
  'payment_reversed',
  'payment_unmatched',
  'payment_link_created',
  'payment_link_closed',
  'sweep_completed',
  'sweep_paused',
  'bridge_completed',
  'bridge_stalled',
] as const;
export type EventName = (typeof EVENTS)[number];

/** Chains that a payment link may ask for. Spec §2.11. */
export const CHECKOUT_CHAINS = ['btc', 'eth', 'bsc', 'polygon', 'avax', 'base', 'tron'] as const;
export type CheckoutChain = (typeof CHECKOUT_CHAINS)[number];
export const LINK_MODES = ['fixed', 'donation'] as const;
export type LinkMode = (typeof LINK_MODES)[number];
export const ADDRESS_MODES = ['per_payer', 'shared'] as const;
export type AddressMode = (typeof ADDRESS_MODES)[number];
export const LINK_STATUSES = ['active', 'paused', 'closed'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];
export const CLOSED_REASONS = ['paid', 'threshold', 'date', 'manual'] as const;
export type ClosedReason = (typeof CLOSED_REASONS)[number];
export const PAYMENT_STATUSES = ['awaiting_payment', 'detected', 'underpaid', 'confirmed', 'late', 'expired'] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];
export const INVOICE_STATUSES = ['paid', 'reversed'] as const;
export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];
export const UNMATCHED_REASONS = ['surplus', 'wrong_asset', 'wrong_network'] as const;
export type UnmatchedReason = (typeof UNMATCHED_REASONS)[number];

/** What is to be known of a treasury wallet before money goes there. Treasury W3. */
export const WALLET_WARNINGS = ['contract_elsewhere'] as const;
export type WalletWarning = (typeof WALLET_WARNINGS)[number];

/** What a token's contract can do to its holders. */
export const HAZARDS = [
  'upgradeable',
  'fee_on_transfer',
  'rebasing',
  'blocklist',
  'pausable',
  'seizable',
  'hook',
  'non_transferable',
  'default_frozen',
  'confidential_only',
  'auth_required',
] as const;
