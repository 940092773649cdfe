/**
 * The account as its capabilities compose it: state, commands, events, replies, rows, first state and what each sees.
 * Commands are the only way to change an account; they are imperative, plain and serialisable; time and ids come in
 * with them, so that `decide` is pure. Events are facts of the stream: past tense, never changed once written, upcast
 * on read when their shape grows.
 */
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { AuditNote, AuditWrite } from '../rows/audit.ts';
import type { IdempotencyRow } from '../rows/idempotency.ts';
import { ADDRESS_INITIAL } from './address.ts';
import type { AddressCommand, AddressEvent, AddressReplies, AddressState, AddressWrite } from './address.ts';
import type { DepositEvent, FactCommand, FactReplies, FactWrite } from './deposit.ts';
import { EDGE_LINK_INITIAL } from './edge-link.ts';
import type { EdgeLinkCommand, EdgeLinkEvent, EdgeLinkReplies, EdgeLinkState, EdgeLinkWrite } from './edge-link.ts';
import { SANDBOX_INITIAL } from './sandbox.ts';
import type { SandboxCommand, SandboxEvent, SandboxReplies, SandboxState, SandboxWrite } from './sandbox.ts';
import { BILLING_INITIAL } from './billing.ts';
import type { BillingCommand, BillingEvent, BillingReplies, BillingState, BillingWrite } from './billing.ts';
import { KEY_SOURCE_INITIAL } from './key-source.ts';
import type { KeySourceCommand, KeySourceEvent, KeySourceReplies, KeySourceState } from './key-source.ts';
import { PAYMENT_INITIAL } from './payment.ts';
import type { PaymentCommand, PaymentEvent, PaymentReplies, PaymentState, PaymentWrite } from './payment.ts';
import { MIGRATION_INITIAL } from './migration.ts';
import type {
  MigrationCommand,
  MigrationEvent,
  MigrationReplies,
  MigrationState,
  MigrationWrite,
} from './migration.ts';
import { PLAN_INITIAL } from './plan.ts';
import type { PlanCommand, PlanEvent, PlanReplies, PlanState, PlanWrite } from './plan.ts';
import { HOME_INITIAL } from './treasury.ts';
import type { HomeCommand, HomeEvent, HomeReplies, HomeState, HomeWrite, TreasuryState } from './treasury.ts';
import { SWEEP_INITIAL } from './sweep.ts';
import type { SweepCommand, SweepEvent, SweepReplies, SweepState, SweepWrite } from './sweep.ts';
import { WEBHOOK_INITIAL } from './webhook.ts';
import type { WebhookCommand, WebhookEvent, WebhookReplies, WebhookState, WebhookWrite } from './webhook.ts';
import { WIPE_INITIAL } from './wipe.ts';
import type { WipeCommand, WipeEvent, WipeReplies, WipeState, WipeWrite } from './wipe.ts';
import { OUTGOING_INITIAL } from './outgoing.ts';
import type { OutgoingCommand, OutgoingEvent, OutgoingReplies, OutgoingState, OutgoingWrite } from './outgoing.ts';

/** Whose account it is. */
export interface AccountCore {
  /** The shape of what is stored, `model/account/snapshot.ts`. */
  format: number;
  /** Events folded so far: the version in the ids of the events that are no deposit's. Decisions 1. */
  version: number;
  accountId: AccountId;
  organizationId: string;
  environment: Environment;
}

/**
 * An actor's state of its account: the snapshot, and the entities still in progress, which are read from rows when it
 * is loaded.
 */
export interface AccountState
  extends
    AccountCore,
    SandboxState,
    EdgeLinkState,
    KeySourceState,
    AddressState,
    OutgoingState,
    WebhookState,
    HomeState,
    SweepState,
    PlanState,
    BillingState,
    PaymentState,
    MigrationState,
    WipeState {}

/** What is stored with every append: its size does not grow with use. */
export type AccountSnapshot = Omit<AccountState, keyof OutgoingState>;

/** Stored in the same append as the effect; `body` is filled by the shell from the reply. I23. */
export interface IdempotencyClaim extends Omit<IdempotencyRow, 'status' | 'body'> {
  successStatus: number;
}

export type AccountCommand = (
  | { type: 'inspect' }
  | SandboxCommand
  | EdgeLinkCommand
  | KeySourceCommand
  | AddressCommand
  | FactCommand
  | OutgoingCommand
  | WebhookCommand
  | HomeCommand
  | SweepCommand
  | PlanCommand
  | BillingCommand
  | PaymentCommand
  | MigrationCommand
  | WipeCommand
) & { idempotency?: IdempotencyClaim; audit?: AuditNote };

export type AccountEvent =
  | SandboxEvent
  | EdgeLinkEvent
  | KeySourceEvent
  | AddressEvent
  | DepositEvent
  | OutgoingEvent
  | WebhookEvent
  | HomeEvent
  | SweepEvent
  | PlanEvent
  | BillingEvent
  | PaymentEvent
  | MigrationEvent
  | WipeEvent;

/** What a command is answered with when it is accepted; keyed by command type. */
export interface AccountReplies
  extends
    SandboxReplies,
    EdgeLinkReplies,
    KeySourceReplies,
    AddressReplies,
    FactReplies,
    OutgoingReplies,
    WebhookReplies,
    HomeReplies,
    SweepReplies,
    PlanReplies,
    BillingReplies,
    PaymentReplies,
    MigrationReplies,
    WipeReplies {
  inspect: AccountState;
}

/** Rows that are no capability's. */
export type AccountWrite = { table: 'idempotency'; row: IdempotencyRow } | AuditWrite;

/**
 * What the statement of an append writes beside its events; one tagged list so that a new projection is one more tag.
 * Of several rows with one id in one append the last one counts.
 */
export type RowWrite =
  | AccountWrite
  | SandboxWrite
  | EdgeLinkWrite
  | AddressWrite
  | FactWrite
  | OutgoingWrite
  | WebhookWrite
  | BillingWrite
  | PaymentWrite
  | SweepWrite
  | HomeWrite
  | MigrationWrite
  | PlanWrite
  | WipeWrite;

/** The slices as an account begins with them, and as one that is older than a capability gets them. */
export const SNAPSHOT_INITIAL = {
  ...SANDBOX_INITIAL,
  ...EDGE_LINK_INITIAL,
  ...KEY_SOURCE_INITIAL,
  ...ADDRESS_INITIAL,
  ...WEBHOOK_INITIAL,
  ...HOME_INITIAL,
  ...SWEEP_INITIAL,
  ...PLAN_INITIAL,
  ...BILLING_INITIAL,
  ...PAYMENT_INITIAL,
  ...MIGRATION_INITIAL,
  ...WIPE_INITIAL,
} satisfies Omit<AccountSnapshot, keyof AccountCore | 'plan'>;

/** The same, with what is no part of the snapshot. */
export const STATE_INITIAL = { ...SNAPSHOT_INITIAL, ...OUTGOING_INITIAL };

// What the decisions and folds of each capability see of the account: its own slice, and what is named here.

/** Whether writes are taken: for every decision that asks `suspended`. */
type Standing = Pick<PlanState, 'suspended' | 'resetting'> & WipeState;
export type Clocked = AccountCore & SandboxState;
export type SandboxSees = Clocked & Pick<PlanState, 'resetting'>;
export type EdgeLinkSees = Clocked & EdgeLinkState & AddressState & Standing;
export type AddressSees = Clocked & AddressState & EdgeLinkState & PlanState & Standing & Pick<BillingState, 'owed'>;
export type KeySourceSees = AccountCore &
  KeySourceState &
  EdgeLinkState &
  PlanState &
  Standing &
  Pick<BillingState, 'owed'> &
  Pick<AddressState, 'chains' | 'activeAddresses' | 'pools' | 'peak'>;
export type FactSees = Clocked &
  OutgoingState &
  Pick<AddressState, 'pools' | 'peak' | 'activeAddresses'> &
  Pick<BillingState, 'openPeriod'> &
  Pick<EdgeLinkState, 'retired'> &
  Pick<PaymentState, 'invoices' | 'paymentSettings'> &
  Pick<MigrationState, 'cutovers'>;
export type OutgoingSees = Clocked &
  OutgoingState &
  EdgeLinkState &
  PlanState &
  Standing &
  KeySourceState &
  BillingState;
export type WebhookSees = AccountCore & WebhookState & Pick<PlanState, 'plan'> & Standing;
export type TreasurySees = AccountCore & TreasuryState & EdgeLinkState & Standing & Pick<AddressState, 'pools'>;
export type SweepSees = AccountCore & SweepState & TreasuryState & Standing;
/** What lends an address sees of the account what issues one does. */
export type PaymentSees = AddressSees & PaymentState;
/** Plan and billing decide together: a change of plan is charged in the same decision. */
export type PlanSees = AccountCore &
  PlanState &
  Standing &
  BillingState &
  Pick<AddressState, 'activeAddresses' | 'chains'> &
  Pick<WebhookState, 'webhooks'>;
export type WipeSees = AccountCore & WipeState & EdgeLinkState & PlanState & Pick<OutgoingState, 'withdrawals'>;
/** A commit may buy a larger band in the same decision. */
export type MigrationSees = PlanSees & MigrationState & Pick<AddressState, 'peak'>;

/** What the decisions on the commands of each capability see. */
interface Views {
  sandbox: { of: SandboxCommand; see: SandboxSees };
  edgeLink: { of: EdgeLinkCommand; see: EdgeLinkSees };
  address: { of: AddressCommand; see: AddressSees };
  keySource: { of: KeySourceCommand; see: KeySourceSees };
  facts: { of: FactCommand; see: FactSees };
  outgoing: { of: OutgoingCommand; see: OutgoingSees };
  webhook: { of: WebhookCommand; see: WebhookSees };
  plan: { of: PlanCommand | BillingCommand; see: PlanSees };
  payment: { of: PaymentCommand; see: PaymentSees };
  migration: { of: MigrationCommand; see: MigrationSees };
  wipe: { of: WipeCommand; see: WipeSees };
}

/** What the decision on a command sees; all of the account where no line says so. */
export type Sees<T extends AccountCommand['type']> = T extends Views[keyof Views]['of']['type']
  ? { [K in keyof Views]: T extends Views[K]['of']['type'] ? Views[K]['see'] : never }[keyof Views]
  : AccountState;
