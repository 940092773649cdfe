/** Rows of bridges, with what a test does not care about filled in. */
import type { BridgeTransferRow } from '../../model/rows/bridge.ts';
import { newId, newUuid } from '../../protocol/node/ids.ts';

export function bridgeTransferRow(more: Partial<BridgeTransferRow> = {}): BridgeTransferRow {
  const nowMs = Date.now();
  return {
    id: newId('brt', nowMs),
    version: 1,
    policyId: newUuid(nowMs),
    fromChain: 'eth',
    toChain: 'base',
    tokenContract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    source: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
    recipient: '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0',
    recipientPath: "m/44'/60'/0'/1/1",
    amount: 1_000n,
    maxFee: null,
    state: 'PLANNED',
    reason: null,
    stalledReason: null,
    stalledAtMs: null,
    blocked: null,
    approveId: newId('txn', nowMs),
    burnId: newId('txn', nowMs),
    mintId: newId('txn', nowMs),
    message: null,
    attested: null,
    attestation: null,
    mintFrom: null,
    attestingAtMs: null,
    lookAtMs: nowMs,
    received: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    endedAtMs: null,
    ...more,
  };
}
