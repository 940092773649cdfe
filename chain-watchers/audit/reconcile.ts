/**
 * Internal native transfers where a chain's endpoints offer no traces: balances of watched addresses against the
 * recorded facts, a bounded number per block. Growth that stays unexplained is `unattributed`, with its evidence. V7,
 * G24.
 *
 * In order: addresses whose growth is to be seen a second time, addresses touched by recent blocks, and a rotation
 * through all of them. `svc_reconcile_pass_seconds` shows how old the oldest look is.
 */
import type { ChainClient } from '../../chains/chain.ts';
import type { Cursor } from '../../model/ports/watch-store.ts';
import type { LedgerBalance } from '../../model/ports/audit-store.ts';
import { chainFailure } from '../../chains/failure.ts';
import { Counting } from './counting.ts';
import { recordUnattributed } from './discrepancy.ts';
import type { WatcherParts } from '../ports.ts';
import { createRepeatProofs, type RepeatProofs } from '../maturity/repeat-proof.ts';

export interface ReconcileParts extends WatcherParts {
  /** The client's exact read; the job exists only where there is one. */
  readonly balancesAt: NonNullable<ChainClient['fetchBalancesAt']>;
  /** Balances that one block may cost. */
  readonly addressesPerBlock: number;
}

/** Balances that one round asks for, however many blocks passed. */
const ADDRESSES_PER_ROUND_MAX = 256;
/** How long the client's word is taken that its blocks carry internal transfers. */
const SEES_INTERNAL_MS = 60_000;
/** Rows that one asked address may have: one per asset. */
const ASSETS_PER_ADDRESS = 16;
/** Unproven heights whose two balances are compared for one finding; beyond it the growth waits. */
const UNPROVEN_COMPARED_MAX = 32;
/** Touched addresses that wait; beyond it the rotation finds them. */
const TOUCHED_MAX = 10_000;

export interface Reconciler {
  /** Addresses that recent blocks touched: looked at before the rotation. */
  touched(addressKeys: Iterable<string>): void;
  /** One round at the newest recorded block. Answers how many balances were compared. */
  round(): Promise<number>;
}

/** A reconciler of one ledger. */
export function createReconciler(parts: ReconcileParts): Reconciler {
  const repeats = createRepeatProofs(parts.network.threshold);
  const touched = new Set<string>(),
    counting = new Counting();
  let afterKey: string | null = null;
  let passBeganAtMs = parts.elapsedMs();
  let lastHeight: number | null = null;
  let sees = { internal: false, atMs: Number.NEGATIVE_INFINITY };

  const seesInternal = async (): Promise<boolean> => {
    if (parts.elapsedMs() - sees.atMs >= SEES_INTERNAL_MS) {
      sees = { internal: (await parts.client.seesInternal?.()) ?? false, atMs: parts.elapsedMs() };
    }
    return sees.internal;
  };
  const note = (addressKeys: Iterable<string>): void => {
    for (const key of addressKeys) if (touched.size < TOUCHED_MAX) touched.add(key);
  };
  const rotation = async (height: number, limit: number): Promise<LedgerBalance[]> => {
    const { balances, uncounted, next } = await parts.audit.ledgerBalances(parts.ledger, { afterKey }, height, limit);
    if (next === null) {
      const seconds = Math.floor((parts.elapsedMs() - passBeganAtMs) / 1_000);
      parts.metrics.set('svc_reconcile_pass_seconds', { chain: parts.network.slug }, seconds);
      passBeganAtMs = parts.elapsedMs();
    }
    afterKey = next;
    counting.add(uncounted);
    return balances;
  };

  return {
    touched: note,
    async round() {
      if (await seesInternal()) {
        touched.clear();
        return 0;
      }
      const at = await recordedTo(parts);
      if (at === null || at.height === lastHeight) return 0;
      const blocks = Math.max(1, at.height - (lastHeight ?? at.height - 1));
      const budget = Math.min(ADDRESSES_PER_ROUND_MAX, parts.addressesPerBlock * blocks);
      const asked = [...new Set([...repeats.due(at.height, budget), ...touched])].slice(0, budget);
      const { balances, uncounted } =
        asked.length === 0
          ? { balances: [], uncounted: [] }
          : await parts.audit.ledgerBalances(
              parts.ledger,
              { addressKeys: asked },
              at.height,
              budget * ASSETS_PER_ADDRESS,
            );
      const rows = [...balances];
      if (asked.length < budget) rows.push(...(await rotation(at.height, budget - asked.length)));
      const compared = await compare(parts, repeats, at, rows);
      for (const key of asked) touched.delete(key);
      counting.add(uncounted);
      const counted = await counting.step(parts, at.height);
      if (counted !== null) note([counted]);
      lastHeight = at.height;
      parts.metrics.set('svc_reconcile_waiting', { chain: parts.network.slug }, touched.size + repeats.waiting);
      return compared;
    },
  };
}

/**
 * The newest recorded block, and the heights at or below it whose content is not proven: what they paid is in no fact.
 */
export interface Recorded extends Cursor {
  readonly unproven: readonly number[];
}

/** How far the facts of a ledger go; null before its first block. */
export async function recordedTo({ store, ledger }: Pick<WatcherParts, 'store' | 'ledger'>): Promise<Recorded | null> {
  const cursor = await store.cursor(ledger);
  if (cursor === null) return null;
  const { unresolved } = await store.coverage(ledger);
  return { ...cursor, unproven: unresolved.map(({ height }) => height).filter((height) => height <= cursor.height) };
}

/**
 * Whether growth of an address may have come from an unproven block, so that it is no finding yet. The native balance
 * before and after such a block settles it; where that cannot be read, and for tokens, the growth waits. Less than
 * expected is never explained by a block that nobody could read.
 */
export async function mayBeUnproven(
  { store, ledger, client }: Pick<WatcherParts, 'store' | 'ledger' | 'client'>,
  row: LedgerBalance,
  { unproven }: Recorded,
): Promise<boolean> {
  const balancesAt = row.tokenContract === null ? client.fetchBalancesAt?.bind(client) : undefined;
  if (unproven.length === 0) return false;
  if (balancesAt === undefined || unproven.length > UNPROVEN_COMPARED_MAX) return true;
  for (const height of unproven) {
    const [at, before] = await store.links(ledger, height + 1, 2);
    if (at?.height !== height || before === undefined) return true;
    try {
      const [[after], [earlier]] = await Promise.all([
        balancesAt([row.address], at),
        balancesAt([row.address], before),
      ]);
      if (after !== earlier) return true;
    } catch (error) {
      if (chainFailure(error) === null) throw error;
      return true;
    }
  }
  return false;
}

/** What the recorded facts say an address holds. */
export function expectedOf(row: LedgerBalance): bigint {
  return row.received - row.sent + row.unattributed;
}

async function compare(
  parts: ReconcileParts,
  repeats: RepeatProofs,
  at: Recorded,
  rows: readonly LedgerBalance[],
): Promise<number> {
  const wanted = rows.filter((row) => row.tokenContract === null && row.purpose === 'deposit');
  const natives = [...new Map(wanted.map((row) => [row.addressKey, row])).values()];
  if (natives.length === 0) return 0;
  const found = await parts.balancesAt(
    natives.map(({ address }) => address),
    at,
  );
  for (const [index, row] of natives.entries()) {
    const expected = expectedOf(row);
    const growth = found[index]! - expected;
    // Less than expected is no internal deposit; the audit names it.
    if (!repeats.note(row.addressKey, growth > 0n ? growth : 0n, at.height) || (await mayBeUnproven(parts, row, at)))
      continue;
    await recordUnattributed(parts, row, {
      tokenContract: null,
      amount: growth,
      expected,
      found: found[index]!,
      height: at.height,
      evidence: {
        source: 'reconciliation without traces',
        blockHash: at.hash,
        found: found[index]!.toString(),
        expected: expected.toString(),
      },
    });
  }
  return natives.length;
}
