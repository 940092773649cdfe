/** What the leader edge is asked to sign of a transfer, and what its answer means. Treasury E5. */
import type { OperateFrame } from '../../protocol/frames.ts';
import type { BridgeTransferRow } from '../../model/rows/bridge.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { frameOf } from '../sweep/signing.ts';

export type BridgeRole = 'approve' | 'burn' | 'mint';

/** The frame without the epoch, which the room of the edge adds. */
export function bridgeFrameOf(
  transfer: BridgeTransferRow,
  built: WithdrawalRow,
  role: BridgeRole,
): Omit<OperateFrame, 'leaseEpoch'> {
  const { id, fromChain, toChain, recipient, recipientPath, maxFee, attested, attestation } = transfer,
    isMint = role === 'mint';
  return {
    ...frameOf({ id }, built, role, null),
    bridge: {
      otherChain: isMint ? fromChain : toChain,
      recipient,
      recipientPath,
      maxFee: String(maxFee ?? 0n),
      message: isMint ? attested : null,
      attestation: isMint ? attestation : null,
    },
  };
}

/** Why the edge signs nothing, as the transfer keeps it. */
export interface Blocked {
  readonly reason: string;
  readonly setting: string | null;
  readonly cap: string | null;
  readonly spent: string | null;
  readonly required: string | null;
}

type Said = { readonly code?: string | undefined; readonly details?: Readonly<Record<string, unknown>> | undefined };

const textOf = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));

export function blockedOf({ code = 'INTERNAL_ERROR', details = {} }: Said): Blocked {
  const { reason, setting, cap, spent, amount } = details,
    named = String(setting);
  const short = named.startsWith('EDGE_BRIDGE_CAP_')
    ? 'edge_bridge_cap'
    : named.startsWith('EDGE_SPEND_CAP_')
      ? 'edge_spend_cap'
      : 'edge_refused';
  return {
    reason: code === 'AMOUNT_CAP_EXCEEDED' ? short : (textOf(reason) ?? code),
    setting: textOf(setting),
    cap: textOf(cap),
    spent: textOf(spent),
    required: textOf(amount),
  };
}
