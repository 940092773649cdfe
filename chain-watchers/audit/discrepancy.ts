/** Differences between the chain and the recorded facts: a row, a figure and a log line, never a credit. G24. */
import { createHash } from 'node:crypto';
import type { DiscrepancyRow } from '../../model/ports/audit-store.ts';
import type { WatchedAddress } from '../../model/ports/watch-store.ts';
import { base32 } from '../../protocol/node/ids.ts';
import type { WatcherParts } from '../ports.ts';

export type DiscrepancyParts = Pick<WatcherParts, 'ledger' | 'network' | 'audit' | 'log' | 'metrics' | 'nowMs'>;
export type Finding = Pick<DiscrepancyRow, 'tokenContract' | 'amount' | 'expected' | 'found' | 'height' | 'evidence'>;

/** Records growth that no transfer explains. */
export function recordUnattributed(parts: DiscrepancyParts, address: WatchedAddress, finding: Finding): Promise<void> {
  return record(parts, address, 'unattributed', finding);
}

/** Records that the chain holds less than the facts say. */
export function recordShortfall(parts: DiscrepancyParts, address: WatchedAddress, finding: Finding): Promise<void> {
  return record(parts, address, 'shortfall', finding);
}

async function record(
  parts: DiscrepancyParts,
  watched: WatchedAddress,
  kind: DiscrepancyRow['kind'],
  finding: Finding,
): Promise<void> {
  const { accountId, addressId, address } = watched;
  // The same finding has the same id, so that one that is found again after a crash is not a second one.
  const fact = [parts.ledger, addressId, finding.tokenContract ?? '', kind, finding.height].join('\u001f');
  const id = `dsc_${base32(createHash('sha256').update(fact).digest().subarray(0, 16))}`;
  const row = { id, ledger: parts.ledger, accountId, addressId, address, kind, atMs: parts.nowMs(), ...finding };
  if (!(await parts.audit.recordDiscrepancy(row))) return;
  parts.metrics.add('svc_discrepancies_total', { chain: parts.network.slug, kind });
  parts.log.warn(
    {
      ledger: parts.ledger,
      accountId,
      addressId,
      kind,
      tokenContract: finding.tokenContract,
      amount: finding.amount.toString(),
      height: finding.height,
    },
    'balance and recorded facts differ',
  );
}
