/** What the memory twins of the watchers' stores hold in common, and how facts move in it. */
import type { BlockLink, BlockRecord, ChainStart, Cursor, WatchedAddress } from '../../model/ports/watch-store.ts';
import type { DiscrepancyRow } from '../../model/ports/audit-store.ts';
import type { Fact, InboxRow, SeenTransfer } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import type { AccountId, LedgerId } from '../../protocol/ids.ts';
import type { Environment } from '../../protocol/slugs.ts';

export type KeyedFact = BlockRecord['transfers'][number];
/** `displaced`: in a replaced block, and the new branch has a block that is not proven yet. */
export type FactStatus = 'seen' | 'matured' | 'orphaned' | 'displaced';
export interface FactEntry {
  transfer: KeyedFact;
  status: FactStatus;
  was: 'seen' | 'matured' | null;
  /** While displaced: unresolved heights in (above, until] may still hold it. */
  window?: { above: number; until: number } | null;
}

export interface LedgerState {
  start: ChainStart | null;
  cursor: Cursor | null;
  head: { height: number; atMs: number; heardAtMs: number } | null;
  links: Map<number, BlockLink>;
  unresolved: Map<number, { hash: string; reason: string; tries: number; sinceMs: number }>;
  facts: Map<string, FactEntry>;
}

export interface WatchState {
  ledgers: Map<LedgerId, LedgerState>;
  addresses: { row: WatchedAddress; environment: Environment; createdAtMs: number; adopted: boolean }[];
  withdrawals: Map<string, WithdrawalRow>;
  inbox: InboxRow[];
  discrepancies: DiscrepancyRow[];
  nextInboxId: number;
}

export function emptyWatchState(): WatchState {
  return { ledgers: new Map(), addresses: [], withdrawals: new Map(), inbox: [], discrepancies: [], nextInboxId: 1 };
}

export function ledgerState(state: WatchState, ledger: LedgerId): LedgerState {
  let found = state.ledgers.get(ledger);
  if (found === undefined) {
    found = { start: null, cursor: null, head: null, links: new Map(), unresolved: new Map(), facts: new Map() };
    state.ledgers.set(ledger, found);
  }
  return found;
}

export const creditKeyOf = (transfer: Pick<SeenTransfer, 'txid' | 'outputIndex'>): string =>
  `${transfer.txid}:${transfer.outputIndex}`;

/** The transfer or withdrawal that a fact is about. */
const subjectOf = (fact: Fact): string =>
  'deposit' in fact ? `${fact.deposit.ledger} ${creditKeyOf(fact.deposit)}` : fact.withdrawalId;

/** Which word it says: one that is the last one waiting is not said again, but seen, orphaned, seen are three. */
function factKey(fact: Fact): string {
  return 'deposit' in fact ? `${fact.kind} ${fact.deposit.blockHash}` : `${fact.kind} ${fact.txid} ${fact.blockHash}`;
}

/** Puts facts into inboxes in order; answers the accounts touched. */
export function post(state: WatchState, entries: readonly { accountId: AccountId; fact: Fact }[]): AccountId[] {
  for (const { accountId, fact } of entries) {
    const last = state.inbox.findLast((row) => row.accountId === accountId && subjectOf(row.fact) === subjectOf(fact));
    if (last !== undefined && factKey(last.fact) === factKey(fact)) continue;
    state.inbox.push({ id: String(state.nextInboxId++), accountId, fact: structuredClone(fact) });
  }
  return [...new Set(entries.map(({ accountId }) => accountId))];
}

export type DepositFact = Extract<Fact, { deposit: unknown }>;

export function depositFact(kind: DepositFact['kind'], transfer: KeyedFact): { accountId: AccountId; fact: Fact } {
  const { accountId, addressKey: _key, ...deposit } = transfer;
  return { accountId, fact: { kind, deposit } };
}

const sameMovement = (a: KeyedFact, b: KeyedFact): boolean =>
  a.accountId === b.accountId &&
  a.addressId === b.addressId &&
  a.amount === b.amount &&
  a.tokenContract === b.tokenContract;

/**
 * New or orphaned before → seen; known in another block → moved; known in this block → nothing; another movement under
 * the key of a live fact → that one orphaned, this one seen.
 */
export function takeTransfers(
  ledger: LedgerState,
  transfers: readonly KeyedFact[],
): { accountId: AccountId; fact: Fact }[] {
  return transfers.flatMap((transfer) => {
    const known = ledger.facts.get(creditKeyOf(transfer));
    if (known !== undefined && known.status !== 'orphaned' && !sameMovement(known.transfer, transfer)) {
      ledger.facts.set(creditKeyOf(transfer), { transfer: { ...transfer }, status: 'seen', was: null });
      return [depositFact('orphaned', known.transfer), depositFact('seen', transfer)];
    }
    const sameBlock = known?.transfer.blockHash === transfer.blockHash && known.transfer.height === transfer.height;
    const status =
      known === undefined || known.status === 'orphaned'
        ? 'seen'
        : known.status === 'displaced'
          ? known.was!
          : known.status;
    ledger.facts.set(creditKeyOf(transfer), {
      transfer: sameBlock ? known!.transfer : { ...transfer },
      status,
      was: null,
    });
    if (known === undefined || known.status === 'orphaned') return [depositFact('seen', transfer)];
    return sameBlock ? [] : [depositFact('moved', transfer)];
  });
}

/** Displaced facts that no unproven block of their own new branch can hold any more are gone from the chain. */
export function settleDisplaced(ledger: LedgerState): { accountId: AccountId; fact: Fact }[] {
  const heights = [...ledger.unresolved.keys()];
  return [...ledger.facts.values()]
    .filter((entry) => entry.status === 'displaced')
    .flatMap((entry) => {
      const { above, until } = entry.window!;
      if (heights.some((height) => height > above && height <= until)) return [];
      Object.assign(entry, { status: 'orphaned', was: null, window: null });
      return [depositFact('orphaned', entry.transfer)];
    });
}

/** A fact that still waits for an earlier branch waits for what of it is left and for the new one, (fork, newest]. */
export function widenDisplaced(ledger: LedgerState, fork: number, newest: number): void {
  for (const entry of ledger.facts.values()) {
    const { window } = entry;
    if (entry.status !== 'displaced' || (window != null && window.until <= fork)) continue;
    entry.window = { above: Math.min(window?.above ?? fork, fork), until: Math.max(window?.until ?? newest, newest) };
  }
}
