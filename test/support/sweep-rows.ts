/** Rows of sweeps, with what a test does not care about filled in. */
import type { SweepJobRow, SweepOperationRow } from '../../model/rows/sweep.ts';
import { newId, newUuid } from '../../protocol/node/ids.ts';

export function sweepJobRow(more: Partial<SweepJobRow> = {}): SweepJobRow {
  const nowMs = Date.now();
  return {
    id: newId('swj', nowMs),
    version: 1,
    policyId: newUuid(nowMs),
    chain: 'eth',
    tokenContract: null,
    trigger: 'manual',
    state: 'PLANNED',
    run: 1,
    settings: '{}',
    blocked: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    endedAtMs: null,
    takenBack: false,
    ...more,
  };
}

export function sweepOperationRow(jobId: string, more: Partial<SweepOperationRow> = {}): SweepOperationRow {
  const nowMs = Date.now();
  return {
    id: newId('swo', nowMs),
    jobId,
    version: 1,
    chain: 'eth',
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    state: 'PLANNED',
    reason: null,
    attempt: 1,
    amount: 10n,
    estimate: 1n,
    funding: null,
    promised: 0n,
    paid: null,
    fundId: newId('txn', nowMs),
    sweepId: newId('txn', nowMs),
    firstFundId: null,
    details: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...more,
  };
}
