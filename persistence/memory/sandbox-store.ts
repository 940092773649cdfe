/** Memory twin of the sandbox's store, for tests; the watch state of a ledger goes with the ledger. */
import { isDeepStrictEqual } from 'node:util';
import type { Cursor } from '../../model/ports/watch-store.ts';
import type {
  PooledTransaction,
  SandboxBlock,
  SandboxPool,
  SandboxStore,
  SandboxTransaction,
  StuckUntil,
} from '../../model/ports/sandbox-store.ts';
import { accountOfLedger, chainOfLedger, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import type { WatchState } from './watch-state.ts';

type Pooled = { -readonly [Key in keyof PooledTransaction]: PooledTransaction[Key] };
interface Simulated {
  blocks: SandboxBlock[];
  balances: Map<string, bigint>;
  downUntilMs: number | null;
  stuck: StuckUntil | null;
  pool: Pooled[];
}
interface Timer {
  id: string;
  accountId: AccountId;
  dueAtMs: number;
  task: unknown;
}

/** A store beside a memory watch state; `former` has the txids from before ledgers had ids of their own. */
export function createMemorySandboxStore(watch: WatchState, former: ReadonlySet<string> = new Set()): SandboxStore {
  const ledgers = new Map<LedgerId, Simulated>();
  const timers = new Map<string, Timer>();
  const of = (ledger: LedgerId): Simulated => {
    const found = ledgers.get(ledger) ?? {
      blocks: [],
      balances: new Map<string, bigint>(),
      downUntilMs: null,
      stuck: null,
      pool: [],
    };
    ledgers.set(ledger, found);
    return found;
  };
  return {
    ...chainOf(of, ledgers, watch),
    ...readsOf(of, ledgers),
    ...poolOf(of, ledgers),
    ...timersOf(timers),
    isFormer: async (_ledger, txid) => former.has(txid),
    dueResets: async () => [],
    async resetStep(accountId) {
      for (const ledger of [...ledgers.keys()].filter((id) => accountOfLedger(id) === accountId))
        ledgers.delete(ledger);
      for (const ledger of [...watch.ledgers.keys()].filter((id) => accountOfLedger(id) === accountId))
        watch.ledgers.delete(ledger);
      watch.discrepancies = watch.discrepancies.filter(({ ledger }) => accountOfLedger(ledger) !== accountId);
      for (const [id, timer] of timers) if (timer.accountId === accountId) timers.delete(id);
      return false;
    },
  };
}

const headOf = ({ blocks }: Simulated): Cursor | null => {
  const last = blocks.at(-1);
  return last === undefined ? null : { height: last.height, hash: last.hash };
};

/**
 * Value to receivers (and from the sender when there is one) where it succeeded, the fee from who pays it in any case.
 */
function move({ balances }: Simulated, transactions: readonly SandboxTransaction[], direction: 1n | -1n): void {
  const add = (address: string, token: string | null, amount: bigint) => {
    const key = `${address} ${token ?? ''}`;
    const next = (balances.get(key) ?? 0n) + amount * direction;
    if (next < 0n) throw new Error(`balance of ${key} would be ${next}`);
    balances.set(key, next);
  };
  for (const { success, from, fee, feePayer = from, transfers } of direction === 1n
    ? transactions
    : transactions.toReversed()) {
    if (success) {
      for (const { to, amount, tokenContract } of transfers) {
        if (direction === 1n) add(to, tokenContract, BigInt(amount));
        if (from !== null) add(from, tokenContract, -BigInt(amount));
        if (direction === -1n) add(to, tokenContract, BigInt(amount));
      }
    }
    if (feePayer !== null) add(feePayer, null, -BigInt(fee));
  }
}

function chainOf(
  of: (ledger: LedgerId) => Simulated,
  ledgers: Map<LedgerId, Simulated>,
  watch: WatchState,
): Pick<SandboxStore, 'mine' | 'amend' | 'unmine' | 'behind' | 'setDown'> {
  return {
    async mine(ledger, expected, blocks) {
      const state = of(ledger);
      const head = headOf(state);
      if (head?.hash !== expected?.hash || head?.height !== expected?.height) return false;
      for (const block of blocks) {
        const parent = headOf(state);
        if (parent !== null && (block.parentHash !== parent.hash || block.height !== parent.height + 1))
          throw new Error('not linked');
        state.blocks.push(structuredClone(block));
        state.pool = state.pool.filter(
          ({ txid, transaction }) =>
            !block.transactions.some((mined) => mined.txid === txid || excludes(mined, transaction)),
        );
        move(state, block.transactions, 1n);
      }
      return true;
    },
    async amend(ledger, height, added) {
      const block = of(ledger).blocks.find((one) => one.height === height);
      if (block === undefined) return false;
      block.transactions.push(...structuredClone(added));
      move(of(ledger), added, 1n);
      return true;
    },
    async unmine(ledger, depth) {
      const state = of(ledger);
      const removed: SandboxBlock[] = [];
      for (let left = Math.min(depth, state.blocks.length); left > 0; left -= 1) {
        const block = state.blocks.pop()!;
        move(state, block.transactions, -1n);
        removed.push(block);
      }
      return removed;
    },
    async setDown(ledger, untilMs) {
      of(ledger).downUntilMs = untilMs;
    },
    async behind(limit, after = null) {
      const unread = [...ledgers]
        .filter(([id, state]) => {
          const head = headOf(state);
          const cursor = watch.ledgers.get(id)?.cursor;
          return head !== null && (head.hash !== cursor?.hash || head.height !== cursor.height);
        })
        .map(([id]) => id);
      const waiting = [...watch.withdrawals.values()]
        .filter(
          ({ ledger, status, versions }) =>
            accountOfLedger(ledger) !== null && ['signing', 'broadcast'].includes(status) && versions.length > 0,
        )
        .filter(
          ({ ledger, status, txid }) =>
            status !== 'broadcast' || !of(ledger).pool.some((one) => one.txid === txid && one.replacedBy === null),
        )
        .map(({ ledger }) => ledger);
      const left = [...new Set([...unread, ...waiting])].filter((id) => id > (after?.ledger ?? '')).sort(),
        found = left.slice(0, limit);
      return { ledgers: found, next: left.length > limit ? { ledger: found.at(-1)!, id: '' } : null };
    },
  };
}

function readsOf(
  of: (ledger: LedgerId) => Simulated,
  ledgers: ReadonlyMap<LedgerId, Simulated>,
): Pick<
  SandboxStore,
  'head' | 'blocks' | 'blockOf' | 'sighting' | 'balance' | 'nonce' | 'transactionsOf' | 'touched' | 'downUntil'
> {
  return {
    async head(ledger) {
      return headOf(of(ledger));
    },
    async blocks(ledger, from, limit) {
      return structuredClone(
        of(ledger)
          .blocks.filter(({ height }) => height >= from)
          .slice(0, limit),
      );
    },
    async blockOf(ledger, txid) {
      for (const { height, hash, transactions } of of(ledger).blocks) {
        const transaction = transactions.find((one) => one.txid === txid);
        if (transaction !== undefined) return structuredClone({ height, hash, transaction });
      }
      return null;
    },
    async sighting(chain, txid) {
      for (const [ledger, { blocks }] of ledgers) {
        if (chainOfLedger(ledger) !== chain) continue;
        const block = blocks.find(({ transactions }) => transactions.some((one) => one.txid === txid));
        if (block === undefined) continue;
        const { height, hash, timeMs, transactions } = block;
        return structuredClone({
          height,
          hash,
          timeMs,
          headHeight: blocks.at(-1)!.height,
          transaction: transactions.find((one) => one.txid === txid)!,
        });
      }
      return null;
    },
    async balance(ledger, address, tokenContract) {
      return of(ledger).balances.get(`${address} ${tokenContract ?? ''}`) ?? 0n;
    },
    async nonce(ledger, address) {
      const used = of(ledger)
        .blocks.flatMap(({ transactions }) => transactions)
        .filter(({ from, nonce }) => from === address && nonce !== null);
      return Math.max(-1, ...used.map(({ nonce }) => nonce!)) + 1;
    },
    async transactionsOf(ledger, address) {
      const all = of(ledger).blocks.flatMap(({ height, transactions }) =>
        transactions.map((transaction) => ({ height, transaction })),
      );
      return structuredClone(all.filter(({ transaction }) => touches(transaction, address)));
    },
    async touched(ledger, addresses) {
      const all = of(ledger).blocks.flatMap(({ transactions }) => transactions);
      return addresses.filter((address) => all.some((transaction) => touches(transaction, address)));
    },
    async downUntil(ledger) {
      return of(ledger).downUntilMs;
    },
  };
}

const touches = ({ from, transfers }: SandboxTransaction, address: string): boolean =>
  from === address || transfers.some(({ to }) => to === address);

/** One sender's transactions of which at most one can be in blocks: they share a counter value or an output. */
function excludes(one: SandboxTransaction, other: SandboxTransaction): boolean {
  if (one.from === null || one.from !== other.from) return false;
  return (
    (one.nonce !== null && one.nonce === other.nonce) ||
    (one.spends ?? []).some((output) => other.spends?.includes(output))
  );
}

const isStuck = (state: Simulated): boolean =>
  state.stuck !== null && (headOf(state)?.height ?? -1) < (state.stuck.height ?? Infinity);

function poolOf(of: (ledger: LedgerId) => Simulated, ledgers: ReadonlyMap<LedgerId, Simulated>): SandboxPool {
  const ordered = (pool: readonly Pooled[]) =>
    structuredClone(pool.toSorted((a, b) => (a.transaction.nonce ?? 0) - (b.transaction.nonce ?? 0)));
  return {
    async setStuck(ledger, until) {
      of(ledger).stuck = structuredClone(until);
    },
    async stuckUntil(ledger) {
      return structuredClone(of(ledger).stuck);
    },
    async isStuck(ledger) {
      return isStuck(of(ledger));
    },
    async pooled(ledger, txid) {
      return structuredClone(of(ledger).pool.find((one) => one.txid === txid) ?? null);
    },
    async pooledOf(ledger, from) {
      return ordered(of(ledger).pool.filter((one) => one.from === from));
    },
    async heldInPool(ledger, limit) {
      return ordered(of(ledger).pool.filter(({ replacedBy }) => replacedBy === null)).slice(0, limit);
    },
    async takePooled(ledger, expected, one, replaced) {
      const state = of(ledger),
        head = headOf(state);
      if (!isStuck(state) || head?.hash !== expected.hash || head.height !== expected.height) return false;
      const others = state.pool.filter(
        ({ txid, replacedBy }) => replacedBy === null && txid !== one.txid && !replaced.includes(txid),
      );
      if (others.some(({ transaction }) => excludes(transaction, one.transaction))) return false;
      for (const old of state.pool) if (replaced.includes(old.txid)) old.replacedBy = one.txid;
      const known = state.pool.find(({ txid }) => txid === one.txid);
      if (known === undefined) state.pool.push(structuredClone({ ...one, replacedBy: null }));
      else known.replacedBy = null;
      return true;
    },
    async dropPooled(ledger, txid) {
      const state = of(ledger);
      state.pool = state.pool.filter((one) => one.txid !== txid);
    },
    async pooledSighting(chain, txid) {
      const pools = [...ledgers].filter(([ledger]) => chainOfLedger(ledger) === chain).flatMap(([, { pool }]) => pool);
      return structuredClone(pools.find((one) => one.txid === txid) ?? null);
    },
  };
}

function timersOf(
  timers: Map<string, Timer>,
): Pick<SandboxStore, 'schedule' | 'takeDue' | 'finish' | 'task' | 'changeTask'> {
  return {
    async schedule(row) {
      timers.set(row.id, structuredClone(row));
    },
    async takeDue(nowMs, leaseMs, limit) {
      const due = [...timers.values()]
        .filter(({ dueAtMs }) => dueAtMs <= nowMs)
        .sort((a, b) => a.dueAtMs - b.dueAtMs)
        .slice(0, limit);
      for (const timer of due) timer.dueAtMs = nowMs + leaseMs;
      return structuredClone(due.map(({ id, accountId, task }) => ({ id, accountId, task })));
    },
    async task(id) {
      return structuredClone(timers.get(id)?.task ?? null);
    },
    async changeTask(id, expected, task) {
      const timer = timers.get(id);
      if (timer === undefined || !isDeepStrictEqual(timer.task, expected)) return false;
      timer.task = structuredClone(task);
      return true;
    },
    async finish(id) {
      timers.delete(id);
    },
  };
}
