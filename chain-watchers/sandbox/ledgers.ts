/**
 * The simulated ledgers that are in use: a client and a watcher for each, made when it is first asked for. A ledger is
 * ticked when it mined; its ticks never overlap.
 */
import type { ChainModule, Network } from '../../chains/chain.ts';
import { sandboxOf } from '../../chains/sandbox-networks.ts';
import type { Accounts } from '../../model/ports/accounts.ts';
import type { ChainBinding } from '../../model/ports/chain-access.ts';
import type { AuditStore } from '../../model/ports/audit-store.ts';
import type { SandboxStore } from '../../model/ports/sandbox-store.ts';
import type { WatchStore } from '../../model/ports/watch-store.ts';
import { chainOfLedger, ledgerOf, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import { FAMILY_OF, type Chain } from '../../protocol/slugs.ts';
import { chainFailure } from '../../chains/failure.ts';
import { tokenStartsOf } from '../follow/token-starts.ts';
import type { Tokens } from '../../chains/tokens.ts';
import type { Log, Metrics, WatchSettings } from '../ports.ts';
import { createWatcher, type Watcher } from '../watcher.ts';
import { createSandboxClient } from './client.ts';
import { simulatedFamilyOf } from './families.ts';
import type { LedgerParts } from './ledger.ts';

export interface SandboxDeps {
  readonly sandbox: SandboxStore;
  readonly watch: WatchStore;
  readonly audit: AuditStore;
  readonly accounts: Pick<Accounts, 'wake' | 'ask'>;
  /** The facts of the real network; a ledger has its own form of it. */
  networkOf(chain: Chain): Network;
  /** True when the chain's module can be loaded. */
  isEnabled(chain: Chain): boolean;
  loadModule(chain: Chain): Promise<ChainModule>;
  readonly tokens: Tokens;
  nowMs(): number;
  /** A clock that never steps; the process's own where absent. */
  elapsedMs?(): number;
  readonly log: Log;
}

/** Ledgers in memory; the one that was used longest ago goes first. Each is small and made again in a moment. */
const LEDGERS_MAX = 5_000;
/** A tick that still has more to read, or that woke an account, is followed by at most this many. */
const TICKS_PER_MINING = 64;
/**
 * Of these, those that look what an account made of its facts: included, then matured; one more for a version that
 * lost.
 */
const TICKS_AFTER_FACTS = 3;

/** A simulated ledger agrees with itself at once, and its blocks are never missing. */
const SETTINGS: WatchSettings = {
  start: 0,
  blocksPerTick: 256,
  readAhead: 8,
  secondReadMs: 0,
  contentTries: 3,
  silentMs: 30_000,
  rematchMs: 60_000,
  asksAtEachTick: true,
};

/** Figures are a node's own chains'; a sandbox ledger has none. */
const NO_METRICS: Metrics = { set: () => undefined, add: () => undefined, observeBlock: () => undefined };

export interface SandboxLedger {
  readonly parts: LedgerParts;
  readonly binding: ChainBinding;
  readonly watcher: Watcher;
  /** How often an account was woken to take facts of this ledger. */
  wakes(): number;
}

export interface SandboxLedgers {
  isEnabled(chain: Chain): boolean;
  open(accountId: AccountId, chain: Chain): Promise<SandboxLedger>;
  /** Reads all that was mined and waits until the account has taken the facts. An outage is left to the next tick. */
  tick(ledger: SandboxLedger): Promise<void>;
  /** When the simulated outage of a ledger ends, milliseconds; null while there is none. */
  downUntilMs(accountId: AccountId, chain: Chain): Promise<number | null>;
  /** Forgets the ledgers of an account after their last tick. */
  close(accountId: AccountId): Promise<void>;
}

/** The ledgers of a node. */
export function createSandboxLedgers(deps: SandboxDeps): SandboxLedgers {
  const open = new Map<LedgerId, Promise<SandboxLedger>>();

  // An account that took a fact may have changed what the next tick looks at: a withdrawal that is in a block now is
  // deep enough for the newest block, and here no later block comes by itself to have it looked at again.
  const tick = async ({ watcher, parts, wakes }: SandboxLedger): Promise<void> => {
    let again = 0;
    for (let ticks = 0; ticks < TICKS_PER_MINING; ticks += 1) {
      const before = wakes();
      const report = await watcher.tick();
      await watcher.settled();
      if (report.more) continue;
      if (wakes() === before || again === TICKS_AFTER_FACTS) return;
      again += 1;
    }
    deps.log.warn({ ledger: parts.ledger }, 'a simulated ledger did not come to rest');
  };

  const make = async (accountId: AccountId, chain: Chain): Promise<SandboxLedger> => {
    const family = await simulatedFamilyOf(FAMILY_OF[chain])!();
    const module = await deps.loadModule(chain);
    const realNetwork = deps.networkOf(chain),
      network = sandboxOf(realNetwork);
    const parts: LedgerParts = {
      ledger: ledgerOf(chain, accountId),
      network,
      realNetwork,
      family,
      store: deps.sandbox,
      nowMs: deps.nowMs,
    };
    const onMined = () => {
      tick(made).catch((error: unknown) => {
        const reason = reasonOf(error);
        deps.log.error({ ledger: parts.ledger, reason }, 'a tick after a broadcast failed; the sweep repeats it');
      });
    };
    const client = createSandboxClient({ ...parts, onMined });
    let woken = 0;
    const accounts: SandboxDeps['accounts'] = {
      wake: (id) => {
        woken += 1;
        return deps.accounts.wake(id);
      },
      ask: (id, command) => deps.accounts.ask(id, command),
    };
    const watcher = createWatcher({
      ledger: parts.ledger,
      network,
      module,
      client,
      witnesses: [],
      get catalogue() {
        return deps.tokens.catalogueOf(chain);
      },
      get registry() {
        return deps.tokens.current.version;
      },
      tokenStarts: tokenStartsOf(deps.watch, parts.ledger, () => deps.tokens.current.version),
      store: deps.watch,
      audit: deps.audit,
      reconcilePerBlock: null,
      accounts,
      settings: SETTINGS,
      nowMs: deps.nowMs,
      elapsedMs: deps.elapsedMs ?? (() => performance.now()),
      log: deps.log,
      metrics: NO_METRICS,
    });
    const binding = {
      module,
      network,
      client,
      get catalogue() {
        return deps.tokens.catalogueOf(chain);
      },
    };
    const made: SandboxLedger = { parts, watcher, binding, wakes: () => woken };
    return made;
  };

  return {
    isEnabled: (chain) => simulatedFamilyOf(FAMILY_OF[chain]) !== null && deps.isEnabled(chain),
    open(accountId, chain) {
      const id = ledgerOf(chain, accountId);
      const known = open.get(id);
      const ledger = known ?? make(accountId, chain);
      open.delete(id);
      open.set(id, ledger);
      if (known === undefined) ledger.catch(() => open.delete(id));
      const oldest = open.size > LEDGERS_MAX ? open.keys().next().value : undefined;
      if (oldest !== undefined) open.delete(oldest);
      return ledger;
    },
    tick,
    async downUntilMs(accountId, chain) {
      const untilMs = await deps.sandbox.downUntil(ledgerOf(chain, accountId));
      return untilMs !== null && deps.nowMs() < untilMs ? untilMs : null;
    },
    async close(accountId) {
      const own = [...open.keys()].filter((id) => id === ledgerOf(chainOfLedger(id), accountId));
      for (const id of own) {
        const ledger = open.get(id);
        open.delete(id);
        const closed = await ledger?.catch(() => undefined);
        await closed?.watcher.idle();
      }
    },
  };
}

/** What went wrong, for a log line. */
export function reasonOf(error: unknown): string {
  return chainFailure(error) ?? (error instanceof Error ? error.message : String(error));
}
