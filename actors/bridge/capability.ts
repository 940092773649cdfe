/** Bridge policies of an account, and their transfers. */
import type { AccountState } from '../../model/account/capabilities.ts';
import type { BridgeCommand, BridgeState } from '../../model/account/bridge.ts';
import type { Capability } from '../account/decision.ts';
import { bridgeFolds } from './evolve.ts';
import { createPolicy, deletePolicy, replacePolicy } from './policy.ts';
import { acceptTransfer, moveTransfer, retryTransfer } from './transfer.ts';

export const bridge: Capability<BridgeCommand, AccountState, BridgeState> = {
  owns: ['bridgePolicies'],
  decide: {
    create_bridge_policy: createPolicy,
    replace_bridge_policy: replacePolicy,
    delete_bridge_policy: deletePolicy,
    accept_bridge_transfer: acceptTransfer,
    move_bridge_transfer: moveTransfer,
    retry_bridge_transfer: retryTransfer,
  },
  folds: bridgeFolds,
};
