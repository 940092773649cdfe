/** Which treasuries of an account a bridge joins, within which limits, and what is on its way. Treasury H2–H5. */
import type { Chain } from '../../protocol/slugs.ts';
import type { BridgeTransferRow, BridgeTransferState } from '../rows/bridge.ts';
import type { StoredWrite } from '../rows/stored.ts';

/** What its owner sets. Amounts are digits of the smallest unit. */
export interface BridgeSettings {
  readonly fromChain: Chain;
  readonly toChain: Chain;
  /** Contract of the chain that it is burnt on. */
  readonly token: string;
  readonly sourceWalletId: string;
  readonly destinationWalletId: string;
  readonly maxSingleTransfer: string;
  readonly maxInFlightValue: string;
  readonly maxInFlightCount: number;
  readonly enabled: boolean;
}

export interface BridgePolicy extends BridgeSettings {
  readonly id: string;
  /** Grows by one with each change of settings. */
  readonly version: number;
  /** Transfers that are accepted and neither minted for good nor proven never burnt, and their sum. Treasury H4. */
  readonly inFlightCount: number;
  readonly inFlightValue: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface BridgeState {
  /** One for a way of a token at most, oldest first: bounded by the catalogue. */
  bridgePolicies: BridgePolicy[];
}

/** What an arrow writes beside the state. */
export type BridgeFields = Partial<
  Pick<
    BridgeTransferRow,
    | 'reason'
    | 'stalledReason'
    | 'blocked'
    | 'maxFee'
    | 'mintId'
    | 'message'
    | 'attested'
    | 'attestation'
    | 'mintFrom'
    | 'attestingAtMs'
    | 'lookAtMs'
    | 'received'
  >
>;

/** From where a transfer goes by a build, and to where. */
export interface BridgeArrow {
  readonly known: BridgeTransferRow;
  readonly to: 'APPROVING' | 'BURNING' | 'MINTING';
  readonly fields: BridgeFields;
}

export type BridgeCommand =
  | { type: 'create_bridge_policy'; id: string; settings: BridgeSettings }
  | { type: 'replace_bridge_policy'; id: string; settings: BridgeSettings; version: number | null }
  | { type: 'delete_bridge_policy'; id: string }
  | {
      type: 'accept_bridge_transfer';
      policyId: string;
      ids: Pick<BridgeTransferRow, 'id' | 'approveId' | 'burnId' | 'mintId'>;
      amount: bigint;
      /** What the treasury has, smallest unit. */
      available: bigint;
    }
  | { type: 'move_bridge_transfer'; known: BridgeTransferRow; to: BridgeTransferState; fields: BridgeFields }
  /** It is looked at now. */
  | { type: 'retry_bridge_transfer'; known: BridgeTransferRow };

export type BridgeEvent =
  /** Settings, or what is on its way: the whole policy as it is now. */
  | { type: 'bridge_policy_set'; policy: BridgePolicy }
  | { type: 'bridge_policy_deleted'; id: string }
  | { type: 'bridge_transfer_moved'; id: string; state: BridgeTransferState; reason: string | null };

/** Rows that it writes. */
export type BridgeWrite = StoredWrite<'bridge_transfers', BridgeTransferRow>;

export interface BridgeReplies {
  create_bridge_policy: BridgePolicy;
  replace_bridge_policy: BridgePolicy;
  delete_bridge_policy: BridgePolicy;
  accept_bridge_transfer: BridgeTransferRow;
  move_bridge_transfer: BridgeTransferRow;
  retry_bridge_transfer: BridgeTransferRow;
}

export const BRIDGE_INITIAL: BridgeState = { bridgePolicies: [] };
