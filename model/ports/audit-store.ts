/** Balances of the chain against those of the ledger. */
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { WatchedAddress } from './watch-store.ts';

/** What the recorded facts say an address holds of one asset: `received − sent + unattributed`. */
export interface LedgerBalance extends WatchedAddress {
  tokenContract: string | null;
  /** Transfers on the chain (seen or matured), smallest unit. */
  received: bigint;
  /** Included withdrawals of the address, with their fees where the asset is the native coin. */
  sent: bigint;
  /** Growth that was recorded as `unattributed` before. G24. */
  unattributed: bigint;
}

/**
 * A difference between the chain and the recorded facts: evidence for an operator, never a credit. G24, decisions 5.
 */
export interface DiscrepancyRow {
  id: string;
  ledger: LedgerId;
  accountId: AccountId;
  addressId: string;
  address: string;
  tokenContract: string | null;
  /** `unattributed`: the chain holds more than the facts explain; `shortfall`: less. */
  kind: 'unattributed' | 'shortfall';
  /** |chain − facts|, smallest unit, positive. */
  amount: bigint;
  expected: bigint;
  found: bigint;
  /** Every block up to here was recorded when the balance was read. */
  height: number;
  /** JSON-safe: heights, txids and reads that led to it. */
  evidence: Readonly<Record<string, unknown>>;
  atMs: number;
}

/** Sums that were kept of an address and are not those of its rows: JSON by token contract, '' for the native coin. */
export interface WrongTotal {
  readonly side: 'received' | 'sent' | 'unattributed';
  /** The address's key, itself or its id, by the side. */
  readonly subject: string;
  readonly counted: string;
  readonly byRows: string;
}

/** An address that moved more than is read at once, and of which sides it is not counted: `audit_total`. */
export interface Uncounted {
  readonly addressKey: string;
  readonly sides: readonly { readonly side: WrongTotal['side']; readonly subject: string }[];
}

/** V7, G24 and the background audit. */
export interface AuditStore {
  /**
   * Balances by the facts at or below a height, native always and each token that moved, by (addressKey, token).
   * `limit` counts addresses. `next` is the key to go on behind, null at the end of a walk: a step may come back with
   * fewer or none.
   *
   * An address that moved more than is read at once is left out, and named, until it is counted. A walk goes on behind
   * it.
   */
  ledgerBalances(
    ledger: LedgerId,
    ask: { afterKey: string | null } | { addressKeys: readonly string[] },
    throughHeight: number,
    limit: number,
  ): Promise<{ balances: LedgerBalance[]; uncounted: Uncounted[]; next: string | null }>;
  /** Counts a bounded part of each side of it further. True once all of them are counted up to the height. */
  count(ledger: LedgerId, uncounted: Uncounted, throughHeight: number): Promise<boolean>;
  /**
   * Counts a bounded part of what was counted of such addresses once more, the longest ago first, for ever. Answers a
   * total that was not what its rows say, which is put right by that.
   */
  recount(ledger: LedgerId): Promise<WrongTotal | null>;
  /**
   * One row per (ledger, address, asset, height, kind); a `shortfall` that is open already is updated. True when new.
   */
  recordDiscrepancy(row: DiscrepancyRow): Promise<boolean>;
  discrepancies(ledger: LedgerId, limit: number): Promise<DiscrepancyRow[]>;
}
