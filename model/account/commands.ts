/**
 * The account as its capabilities compose it: state, commands, events and replies, one line each in the lists below.
 * Commands are the only way to change an account; they are imperative, plain and serialisable; time and ids come in
 * with them, so that `decide` is pure. Events are facts of the stream: past tense, never changed once written, upcast
 * on read when their shape grows.
 */
import type { AccountId } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';
import type { IdempotencyRow } from '../rows/idempotency.ts';
import type { AddressCommand, AddressEvent, AddressReplies, AddressState } from './address.ts';
import type { DepositEvent, FactCommand, FactReplies } from './deposit.ts';
import type { EdgeLinkCommand, EdgeLinkEvent, EdgeLinkReplies, EdgeLinkState } from './edge-link.ts';
import type { KeySourceCommand, KeySourceEvent, KeySourceReplies, KeySourceState } from './key-source.ts';
import type { PlanCommand, PlanEvent, PlanReplies, PlanState } from './plan.ts';
import type { WebhookCommand, WebhookEvent, WebhookReplies, WebhookState } from './webhook.ts';
import type { WithdrawalCommand, WithdrawalEvent, WithdrawalReplies, WithdrawalState } from './withdrawal.ts';

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
 * What an actor knows of its account. All but what is on its way is the snapshot; that is read from rows when it is
 * loaded.
 */
export interface AccountState
  extends AccountCore, EdgeLinkState, KeySourceState, AddressState, WithdrawalState, WebhookState, PlanState {}

/** What is stored with every append: its size does not grow with use. */
export type AccountSnapshot = Omit<AccountState, keyof WithdrawalState>;

/** Stored in the same append as the effect; `body` is filled by the shell from the reply. I23. */
export interface IdempotencyClaim extends Omit<IdempotencyRow, 'status' | 'body'> {
  successStatus: number;
}

export type AccountCommand = (
  | { type: 'inspect' }
  | { type: 'reset_sandbox' }
  | EdgeLinkCommand
  | KeySourceCommand
  | AddressCommand
  | FactCommand
  | WithdrawalCommand
  | WebhookCommand
  | PlanCommand
) & { idempotency?: IdempotencyClaim };

export type AccountEvent =
  | { type: 'sandbox_reset' }
  | EdgeLinkEvent
  | KeySourceEvent
  | AddressEvent
  | DepositEvent
  | WithdrawalEvent
  | WebhookEvent
  | PlanEvent;

/** What a command is answered with when it is accepted; keyed by command type. */
export interface AccountReplies
  extends
    EdgeLinkReplies,
    KeySourceReplies,
    AddressReplies,
    FactReplies,
    WithdrawalReplies,
    WebhookReplies,
    PlanReplies {
  inspect: AccountState;
  reset_sandbox: { reset: true };
}
