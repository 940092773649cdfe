/** Memory twin of the watchers' store, for tests: the contract suite holds it to the PostgreSQL one. */
import {
  COVERAGE_COUNTED_MAX,
  COVERAGE_HEIGHTS_MAX,
  type BlockRecord,
  type Coverage,
  type Cursor,
  type OpenPlace,
  type WatchStore,
  type WatchedAddress,
} from '../../model/ports/watch-store.ts';
import type { Fact, InboxRow } from '../../model/rows/inbox.ts';
import type { WithdrawalRow } from '../../model/rows/withdrawal.ts';
import { accountOfLedger, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import { movesForward } from './withdrawal-moves.ts';
import type { Environment } from '../../protocol/slugs.ts';
import {
  creditKeyOf,
  depositFact,
  emptyWatchState,
  ledgerState,
  post,
  settleDisplaced,
  takeTransfers,
  widenDisplaced,
  type FactEntry,
  type LedgerState,
  type WatchState,
} from './watch-state.ts';

const MAY_LAND: ReadonlySet<WithdrawalRow['status']> = new Set(['signing', 'broadcast', 'confirming']);
const TURNS_PER_PAGE = 40;

interface Given extends OpenPlace {
  readonly given: ReadonlySet<string>;
}

export interface MemoryWatchStore extends WatchStore {
  readonly state: WatchState;
  addAddress(row: WatchedAddress, environment: Environment, createdAtMs: number, adopted?: boolean): void;
  saveWithdrawal(row: WithdrawalRow): void;
  inbox(accountId: AccountId): InboxRow[];
  takeInbox(ids: readonly string[]): void;
  facts(ledger: LedgerId): FactEntry[];
}

/** A store in memory; `nowMs` dates unresolved heights. */
export function createMemoryWatchStore(nowMs: () => number, state: WatchState = emptyWatchState()): MemoryWatchStore {
  return {
    state,
    tokenStarts: async () => [], // twins read with the first registry
    ...tokenCodes(),
    ...beginnings(state, nowMs),
    ...records(state, nowMs),
    ...reads(state),
    ...maturity(state),
    addAddress: (row, environment, createdAtMs, adopted = false) =>
      void state.addresses.push({ row, environment, createdAtMs, adopted }),
    saveWithdrawal: (row) => {
      const before = state.withdrawals.get(row.id);
      if (before !== undefined && !movesForward(before, row)) throw new Error('refused: withdrawal_moves_forward');
      state.withdrawals.set(row.id, structuredClone(row));
    },
    inbox: (accountId) => structuredClone(state.inbox.filter((row) => row.accountId === accountId)),
    takeInbox: (ids) => {
      state.inbox = state.inbox.filter(({ id }) => !ids.includes(id));
    },
    facts: (ledger) => structuredClone([...ledgerState(state, ledger).facts.values()]),
  };
}

const sameCursor = (a: Cursor | null, b: Cursor | null): boolean => a?.height === b?.height && a?.hash === b?.hash;

function takeBlock(ledger: LedgerState, record: BlockRecord, nowMs: number): { accountId: AccountId; fact: Fact }[] {
  const { link, transfers, withdrawals, unresolved } = record;
  ledger.links.set(link.height, { ...link });
  if (unresolved !== null)
    ledger.unresolved.set(link.height, { hash: link.hash, reason: unresolved, tries: 1, sinceMs: nowMs });
  ledger.cursor = { height: link.height, hash: link.hash };
  return [...takeTransfers(ledger, transfers), ...withdrawals];
}

function tokenCodes(): Pick<WatchStore, 'tokenCode' | 'noteTokenCode'> {
  const codes = new Map<string, string>();
  return {
    tokenCode: async (chain, contract) => codes.get(`${chain} ${contract}`) ?? null,
    noteTokenCode: async (chain, contract, code) => void codes.set(`${chain} ${contract}`, code),
  };
}

function beginnings(
  state: WatchState,
  nowMs: () => number,
): Pick<WatchStore, 'chainStart' | 'beginChain' | 'noteChainStart'> {
  return {
    async chainStart(id) {
      return structuredClone(ledgerState(state, id).start);
    },
    async beginChain(id, atMs) {
      ledgerState(state, id).start ??= { sinceMs: atMs, height: null };
    },
    async noteChainStart(id, height) {
      const ledger = ledgerState(state, id),
        { sinceMs, height: known } = ledger.start ?? { sinceMs: nowMs(), height: null };
      ledger.start = { sinceMs, height: Math.min(known ?? height, height) };
      return Math.min(known ?? height, height);
    },
  };
}

/** `check_fork`. */
function checkFork({ links }: LedgerState, { height, hash }: Cursor, branch: readonly BlockRecord[]): void {
  const first = branch[0]?.link.height ?? -1,
    lowest = Math.min(...links.keys());
  if (links.get(height)?.hash === hash || (height < lowest && first >= lowest)) return;
  throw new Error(`block ${hash} was not recorded: no branch begins there`);
}

/** `note_head`. */
function canBeHead(id: LedgerId, { head, cursor, links }: LedgerState, height: number, atMs: number): boolean {
  if (height > Number.MAX_SAFE_INTEGER) return false;
  if (head === null || accountOfLedger(id) !== null || height <= head.height + 1_000) return true;
  const minedAtMs = cursor === null ? null : (links.get(cursor.height)?.timeMs ?? null);
  const sinceMs = Math.min(head.atMs, minedAtMs ?? head.atMs);
  return height <= Math.max(head.height, cursor?.height ?? 0) + 1_000 + Math.floor(((atMs - sinceMs) * 25) / 1_000);
}

function records(
  state: WatchState,
  nowMs: () => number,
): Pick<
  WatchStore,
  | 'recordBlock'
  | 'resolveHeight'
  | 'recordLate'
  | 'correctBlock'
  | 'recordReorg'
  | 'reopenHeight'
  | 'noteUnresolved'
  | 'noteHead'
  | 'noteHeard'
> {
  const refused = { recorded: false, accounts: [] };
  return {
    async recordBlock(id, record) {
      const ledger = ledgerState(state, id);
      if (!sameCursor(ledger.cursor, record.previous)) return refused;
      return { recorded: true, accounts: post(state, takeBlock(ledger, record, nowMs())) };
    },
    async resolveHeight(id, record) {
      const ledger = ledgerState(state, id);
      if (ledger.unresolved.get(record.link.height)?.hash !== record.link.hash) return refused;
      ledger.unresolved.delete(record.link.height);
      const entries = [...takeTransfers(ledger, record.transfers), ...record.withdrawals];
      return { recorded: true, accounts: post(state, [...entries, ...settleDisplaced(ledger)]) };
    },
    async recordLate(id, at, transfers) {
      const ledger = ledgerState(state, id);
      if (ledger.links.get(at.height)?.hash !== at.hash) return [];
      return post(
        state,
        takeTransfers(
          ledger,
          transfers.filter((transfer) => !ledger.facts.has(creditKeyOf(transfer))),
        ),
      );
    },
    async correctBlock(id, at, transfers) {
      const ledger = ledgerState(state, id);
      if (ledger.links.get(at.height)?.hash !== at.hash || ledger.unresolved.has(at.height)) return [];
      const seenHere = (entry: FactEntry | undefined) =>
        entry?.status === 'seen' && entry.transfer.height === at.height && entry.transfer.blockHash === at.hash;
      const there = new Set(transfers.map(creditKeyOf));
      const absent = [...ledger.facts.values()].filter(
        (entry) => seenHere(entry) && !there.has(creditKeyOf(entry.transfer)),
      );
      for (const entry of absent) entry.status = 'orphaned';
      const free = transfers.filter((transfer) => {
        const known = ledger.facts.get(creditKeyOf(transfer));
        return known === undefined || known.status === 'orphaned' || seenHere(known);
      });
      return post(state, [
        ...takeTransfers(ledger, free),
        ...absent.map(({ transfer }) => depositFact('orphaned', transfer)),
      ]);
    },
    async recordReorg(id, forkPoint, oldHead, branch) {
      const ledger = ledgerState(state, id);
      if (!sameCursor(ledger.cursor, oldHead)) return refused;
      checkFork(ledger, forkPoint, branch);
      const above = (height: number) => height > forkPoint.height;
      for (const height of [...ledger.links.keys()].filter(above)) ledger.links.delete(height);
      for (const height of [...ledger.unresolved.keys()].filter(above)) ledger.unresolved.delete(height);
      for (const entry of ledger.facts.values()) {
        if (!above(entry.transfer.height) || (entry.status !== 'seen' && entry.status !== 'matured')) continue;
        entry.was = entry.status;
        Object.assign(entry, { status: 'displaced', window: null });
      }
      ledger.cursor = { ...forkPoint };
      const entries = branch.flatMap((record) => takeBlock(ledger, { ...record, withdrawals: [] }, nowMs()));
      widenDisplaced(ledger, forkPoint.height, ledger.cursor.height);
      const reported = branch.flatMap(({ withdrawals }) => withdrawals);
      // A confirmed one only moved where the same version succeeded.
      const isThere = ({ id: withdrawalId, status, txid }: WithdrawalRow): boolean =>
        reported.some(
          ({ fact }) =>
            fact.withdrawalId === withdrawalId && (status !== 'confirmed' || (fact.success && fact.txid === txid)),
        );
      const absent = [...state.withdrawals.values()]
        .filter(
          (row) =>
            row.ledger === id &&
            ['confirming', 'confirmed', 'failed'].includes(row.status) &&
            row.height !== null &&
            above(row.height) &&
            !isThere(row),
        )
        .map((row) => ({
          accountId: row.accountId,
          fact: {
            kind: 'withdrawal_orphaned' as const,
            withdrawalId: row.id,
            txid: row.txid!,
            height: row.height!,
            blockHash: row.blockHash!,
            success: false,
            reason: 'reorg',
            fee: null,
          },
        }));
      return {
        recorded: true,
        accounts: post(state, [...entries, ...settleDisplaced(ledger), ...absent, ...reported]),
      };
    },
    async reopenHeight(id, at, reason) {
      const ledger = ledgerState(state, id);
      if (ledger.links.get(at.height)?.hash !== at.hash || ledger.unresolved.has(at.height)) return;
      ledger.unresolved.set(at.height, { hash: at.hash, reason, tries: 1, sinceMs: nowMs() });
    },
    async noteUnresolved(id, height, reason) {
      const entry = ledgerState(state, id).unresolved.get(height);
      if (entry !== undefined) Object.assign(entry, { reason, tries: entry.tries + 1 });
    },
    async noteHead(id, height, atMs) {
      const ledger = ledgerState(state, id);
      if (!canBeHead(id, ledger, height, atMs)) return;
      ledger.head = { height, atMs, heardAtMs: Math.max(ledger.head?.heardAtMs ?? 0, atMs) };
    },
    async noteHeard(id, atMs) {
      const { head } = ledgerState(state, id);
      if (head !== null) head.heardAtMs = Math.max(head.heardAtMs, atMs);
    },
  };
}

function reads(
  state: WatchState,
): Pick<
  WatchStore,
  'cursor' | 'links' | 'unresolvedHeights' | 'watched' | 'addressesSince' | 'adoptedBehind' | 'noteAdopted' | 'coverage'
> {
  return {
    async cursor(id) {
      return structuredClone(ledgerState(state, id).cursor);
    },
    async links(id, below, limit) {
      const links = [...ledgerState(state, id).links.values()].filter(({ height }) => height < below);
      return structuredClone(links.sort((a, b) => b.height - a.height).slice(0, limit));
    },
    async unresolvedHeights(id, limit) {
      return [...ledgerState(state, id).unresolved]
        .map(([height, { hash, tries }]) => ({ height, hash, tries }))
        .sort((a, b) => a.tries - b.tries || a.height - b.height)
        .slice(0, limit);
    },
    async watched(environment, addressKeys) {
      const keys = new Set(addressKeys);
      return state.addresses
        .filter((entry) => entry.environment === environment && keys.has(entry.row.addressKey))
        .map(({ row }) => ({ ...row }));
    },
    // This twin has no imports.
    adoptedBehind: async () => [],
    noteAdopted: async () => undefined,
    async addressesSince(environment, sinceMs, ask) {
      const young = state.addresses
        .filter(({ createdAtMs, adopted }) => createdAtMs >= sinceMs && !adopted)
        .toSorted((a, b) => a.createdAtMs - b.createdAtMs);
      const looked =
        'most' in ask ? young.slice(0, ask.most) : young.filter(({ row }) => ask.keys.includes(row.addressKey));
      return {
        addresses: looked.filter((entry) => entry.environment === environment).map(({ row }) => ({ ...row })),
        isAll: !('most' in ask && looked.length === ask.most),
      };
    },
    async coverage(id): Promise<Coverage> {
      const { cursor, head, unresolved } = ledgerState(state, id);
      const rows = [...unresolved]
        .map(([height, { reason, tries, sinceMs }]) => ({ height, reason, tries, sinceMs }))
        .sort((a, b) => a.height - b.height);
      const completeHeight = cursor === null ? null : Math.min(cursor.height, ...rows.map(({ height }) => height - 1));
      return {
        ledger: id,
        completeHeight,
        headHeight: head?.height ?? null,
        headAtMs: head?.atMs ?? null,
        heardAtMs: head?.heardAtMs ?? null,
        unresolved: rows.slice(0, COVERAGE_HEIGHTS_MAX),
        unresolvedCount: Math.min(rows.length, COVERAGE_COUNTED_MAX),
      };
    },
  };
}

function maturity(
  state: WatchState,
): Pick<WatchStore, 'immature' | 'mature' | 'refute' | 'openWithdrawals' | 'noteWithdrawalFact'> {
  const seenIn = (id: LedgerId, fact: { txid: string; outputIndex: number; blockHash: string }) => {
    const entry = ledgerState(state, id).facts.get(creditKeyOf(fact));
    return entry?.status === 'seen' && entry.transfer.blockHash === fact.blockHash ? entry : null;
  };
  /** I7, as mature_facts has it: below a head that was noted or recorded. */
  const isDeepEnough = (
    id: LedgerId,
    { height, threshold }: { height: number; threshold: number },
    confirmations: number,
  ) => {
    const { cursor, head } = ledgerState(state, id);
    return (
      confirmations >= threshold && height + confirmations - 1 <= Math.max(cursor?.height ?? -1, head?.height ?? -1)
    );
  };
  return {
    async immature(id, headHeight, limit) {
      return [...ledgerState(state, id).facts.values()]
        .filter(({ status, transfer }) => status === 'seen' && transfer.height + transfer.threshold - 1 <= headHeight)
        .map(({ transfer: { accountId: _account, addressKey: _key, ...deposit } }) => structuredClone(deposit))
        .sort((a, b) => a.height - b.height)
        .slice(0, limit);
    },
    async mature(id, facts) {
      return post(
        state,
        facts.flatMap((fact) => {
          const entry = seenIn(id, fact);
          if (entry === null || !isDeepEnough(id, entry.transfer, fact.confirmations)) return [];
          entry.status = 'matured';
          entry.transfer = { ...entry.transfer, confirmations: fact.confirmations };
          return [depositFact('matured', entry.transfer)];
        }),
      );
    },
    async refute(id, facts) {
      return post(
        state,
        facts.flatMap((fact) => {
          const entry = seenIn(id, fact);
          if (entry === null) return [];
          entry.status = 'orphaned';
          return [depositFact('orphaned', entry.transfer)];
        }),
      );
    },
    async openWithdrawals(id, sinceHeight, limit, after = null) {
      const given = new Set((after as Given | null)?.given ?? []);
      const rows = [...state.withdrawals.values()].filter(
        (row) => row.ledger === id && row.versions.length > 0 && !given.has(row.id),
      );
      const open = rows.filter(({ status }) => MAY_LAND.has(status)).sort((a, b) => a.createdAtMs - b.createdAtMs);
      const settled = rows
        .filter(({ status, height }) => ['confirmed', 'failed'].includes(status) && (height ?? -1) >= sinceHeight)
        .sort((a, b) => a.height! - b.height!);
      const refused = rows.filter(
        ({ status, height, versions }) =>
          status === 'failed' && height === null && versions.some(({ watched }) => watched === true),
      );
      const each = Math.max(1, Math.ceil(limit / TURNS_PER_PAGE));
      // Where all that are left do not fit, accounts take turns.
      const round = new Map<string, number>(),
        turns = new Map(
          open.map(({ id: of, accountId }) => {
            const taken = round.get(accountId) ?? 0;
            round.set(accountId, taken + 1);
            return [of, Math.floor(taken / each)];
          }),
        );
      const inTurn = open.length <= limit ? open : open.sort((a, b) => turns.get(a.id)! - turns.get(b.id)!);
      const page = [...inTurn, ...settled, ...refused].slice(0, limit);
      for (const row of page) given.add(row.id);
      const next: Given = { kind: 'place of open withdrawals', given };
      return { rows: structuredClone(page), next: page.length < limit ? null : next };
    },
    async noteWithdrawalFact(accountId, fact) {
      post(state, [{ accountId, fact }]);
    },
  };
}
