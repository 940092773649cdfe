/**
 * What the decisions and folds of each capability see of the account: its own slice, and what is named here. One line
 * each.
 */
import type { AddressCommand, AddressState } from './address.ts';
import type { AccountCommand, AccountCore, AccountState } from './commands.ts';
import type { FactCommand } from './deposit.ts';
import type { EdgeLinkCommand, EdgeLinkState } from './edge-link.ts';
import type { KeySourceCommand, KeySourceState } from './key-source.ts';
import type { PlanCommand, PlanState } from './plan.ts';
import type { WebhookCommand, WebhookState } from './webhook.ts';
import type { WithdrawalCommand, WithdrawalState } from './withdrawal.ts';

export type EdgeLinkSees = AccountCore & EdgeLinkState & AddressState & Pick<PlanState, 'suspended'>;
export type AddressSees = AccountCore & AddressState & EdgeLinkState & PlanState;
export type KeySourceSees = AccountCore &
  KeySourceState &
  EdgeLinkState &
  PlanState &
  Pick<AddressState, 'chains' | 'activeAddresses' | 'pools'>;
export type FactSees = AccountCore & WithdrawalState & Pick<AddressState, 'pools'>;
export type WithdrawalSees = AccountCore & WithdrawalState & EdgeLinkState & PlanState & KeySourceState;
export type WebhookSees = AccountCore & WebhookState & Pick<PlanState, 'plan' | 'suspended'>;
export type PlanSees = AccountCore & PlanState & Pick<AddressState, 'activeAddresses'>;

/** What the decision on a command sees. */
export type Sees<T extends AccountCommand['type']> = T extends EdgeLinkCommand['type']
  ? EdgeLinkSees
  : T extends AddressCommand['type']
    ? AddressSees
    : T extends KeySourceCommand['type']
      ? KeySourceSees
      : T extends FactCommand['type']
        ? FactSees
        : T extends WithdrawalCommand['type']
          ? WithdrawalSees
          : T extends WebhookCommand['type']
            ? WebhookSees
            : T extends PlanCommand['type']
              ? PlanSees
              : AccountState;
