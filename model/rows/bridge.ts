/** Transfers of bridge policies: what is burnt on one chain and minted on another. Treasury H5. */
import type { BRIDGE_STATES, Chain } from '../../protocol/slugs.ts';

export type BridgeTransferState = (typeof BRIDGE_STATES)[number];

export interface BridgeTransferRow {
  readonly id: string;
  /** Grows by one with each write; another one refuses the append. */
  readonly version: number;
  readonly policyId: string;
  readonly fromChain: Chain;
  readonly toChain: Chain;
  /** Of the chain that it is burnt on. */
  readonly tokenContract: string;
  /** The derived treasury that burns. */
  readonly source: string;
  readonly recipient: string;
  /** Null of an external treasury. */
  readonly recipientPath: string | null;
  /** Smallest unit. */
  readonly amount: bigint;
  /** What the burn lets the bridge keep; null before it is read. */
  readonly maxFee: bigint | null;
  readonly state: BridgeTransferState;
  /** Of what is FAILED. */
  readonly reason: string | null;
  /** After the burn: why it does not go on, and since when; null where it does. */
  readonly stalledReason: string | null;
  readonly stalledAtMs: number | null;
  /** What the edge said when it signed nothing, JSON. */
  readonly blocked: string | null;
  /** Ids of its transactions, whether they are built or not. */
  readonly approveId: string;
  readonly burnId: string;
  readonly mintId: string;
  /** The burn's own message, 0x hex; null before it is in a block for good. */
  readonly message: string | null;
  /** As it is attested, with the attestation. */
  readonly attested: string | null;
  readonly attestation: string | null;
  /** Height of the other chain before which nobody can have minted it. */
  readonly mintFrom: number | null;
  /** Since when an attestation is waited for. */
  readonly attestingAtMs: number | null;
  /** When it is looked at next. */
  readonly lookAtMs: number;
  /** What arrived, smallest unit. */
  readonly received: bigint | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly endedAtMs: number | null;
}
