/**
 * Job 4: credited totals against on-chain balances, in the background, address by address and asset by asset. A
 * difference that is found twice gets a name: a row, a figure and a log line. Decisions 5.
 */
import { chainFailure } from '../../chains/failure.ts';
import { Counting } from './counting.ts';
import { recordShortfall, recordUnattributed } from './discrepancy.ts';
import type { WatcherParts } from '../ports.ts';
import { expectedOf, mayBeUnproven, recordedTo, type Recorded } from './reconcile.ts';
import { createRepeatProofs, type RepeatProofs } from '../maturity/repeat-proof.ts';
import type { LedgerBalance } from '../../model/ports/audit-store.ts';

export interface AuditRound {
  readonly compared: number;
  /** Assets whose balance could not be read; never taken for a zero. */
  readonly unread: number;
  /** The rotation came round. */
  readonly passDone: boolean;
}

export interface Audit {
  /** Compares the next `limit` balances. */
  round(limit: number): Promise<AuditRound>;
}

/** An audit of one ledger. */
export function createAudit(parts: WatcherParts): Audit {
  const repeats = createRepeatProofs(parts.network.threshold);
  const counting = new Counting();
  let afterKey: string | null = null;
  let passBeganAtMs = parts.elapsedMs();
  return {
    async round(limit) {
      const at = await recordedTo(parts);
      if (at === null) return { compared: 0, unread: 0, passDone: false };
      await recount(parts);
      const second = [...new Set(repeats.due(at.height, limit).map((key) => key.split(' ')[0]!))];
      const due =
        second.length === 0
          ? []
          : (await parts.audit.ledgerBalances(parts.ledger, { addressKeys: second }, at.height, limit)).balances;
      const counted = await countOne(parts, counting, at, limit);
      const { balances, uncounted, next } = await parts.audit.ledgerBalances(
        parts.ledger,
        { afterKey },
        at.height,
        limit,
      );
      counting.add(uncounted);
      let unread = 0;
      const rows = [...due, ...counted, ...balances].filter(({ purpose }) => purpose === 'deposit');
      for (const row of rows) if (!(await compare(parts, repeats, row, at))) unread += 1;
      const passDone = next === null;
      afterKey = next;
      // A walk that left some out has not looked at all of them.
      if (passDone && counting.size === 0) {
        const seconds = Math.floor((parts.elapsedMs() - passBeganAtMs) / 1_000);
        parts.metrics.set('svc_audit_pass_seconds', { chain: parts.network.slug }, seconds);
        passBeganAtMs = parts.elapsedMs();
      }
      return { compared: rows.length - unread, unread, passDone };
    },
  };
}

/** A part of the address whose turn it is; its balances once it is counted, while the walk goes on beside. */
async function countOne(
  parts: WatcherParts,
  counting: Counting,
  { height }: Recorded,
  limit: number,
): Promise<LedgerBalance[]> {
  const key = await counting.step(parts, height);
  if (key === null) return [];
  const { balances, uncounted } = await parts.audit.ledgerBalances(parts.ledger, { addressKeys: [key] }, height, limit);
  counting.add(uncounted);
  return balances;
}

/** What is kept in place of rows is held against them. What was wrong is right by then; who changed it is not known. */
async function recount({ audit, ledger, log }: WatcherParts): Promise<void> {
  const wrong = await audit.recount(ledger);
  if (wrong !== null) log.error({ ledger, ...wrong }, 'sums that were kept of an address are not those of its rows');
}

/** False when the chain did not report the balance. */
async function compare(parts: WatcherParts, repeats: RepeatProofs, row: LedgerBalance, at: Recorded): Promise<boolean> {
  const token = row.tokenContract === null ? null : parts.catalogue.get(row.tokenContract);
  if (token === undefined) return true; // It left the catalogue: neither seen nor credited any more (G23).
  let found: bigint;
  try {
    found = (await parts.client.fetchBalance(row.address, token)).amount;
  } catch (error) {
    if (chainFailure(error) === null) throw error;
    return false;
  }
  const expected = expectedOf(row);
  const difference = found - expected,
    { height } = at;
  if (!repeats.note(`${row.addressKey} ${row.tokenContract ?? ''}`, difference, height)) return true;
  if (difference > 0n && (await mayBeUnproven(parts, row, at))) return true;
  const finding = {
    tokenContract: row.tokenContract,
    expected,
    found,
    height,
    amount: difference > 0n ? difference : -difference,
    evidence: {
      source: 'audit',
      received: row.received.toString(),
      sent: row.sent.toString(),
      unattributed: row.unattributed.toString(),
    },
  };
  await (difference > 0n ? recordUnattributed(parts, row, finding) : recordShortfall(parts, row, finding));
  return true;
}
