/**
 * A watcher at work in a test: memory store, hand-turned clock, and a model account that takes what its inbox holds.
 */
import type { Catalogue, ChainClient, ChainModule, Network } from '../../chains/chain.ts';
import type { Log, Metrics, WatchSettings, WatcherParts } from '../../chain-watchers/ports.ts';
import { createWatcher, type Watcher } from '../../chain-watchers/watcher.ts';
import type { AccountCommand } from '../../model/account/capabilities.ts';
import { createMemoryAuditStore } from '../../persistence/memory/audit-store.ts';
import { createMemoryWatchStore, type MemoryWatchStore } from '../../persistence/memory/watch-store.ts';
import type { AuditStore } from '../../model/ports/audit-store.ts';
import type { WatchStore, WatchedAddress } from '../../model/ports/watch-store.ts';
import { accountIdOf, accountOfLedger, type AccountId, type LedgerId } from '../../protocol/ids.ts';
import { addressKeyOf } from '../../protocol/node/ids.ts';
import { simulatedModule, simulatedNetwork } from './simulated-chain.ts';

export const ACCOUNT = accountIdOf('org_sim', 'live');

export const watchSettings: WatchSettings = {
  start: 'head',
  blocksPerTick: 64,
  readAhead: 4,
  secondReadMs: 0,
  contentTries: 3,
  silentMs: 30_000,
  rematchMs: 60_000,
  asksAtEachTick: false,
};

/** Keeps what was logged and measured. */
export class Recorder implements Metrics, Log {
  readonly gauges = new Map<string, number>();
  readonly counters = new Map<string, number>();
  readonly lines: { level: 'info' | 'warn' | 'error'; fields: object; message: string }[] = [];
  set(name: string, _labels: object, value: number): void {
    this.gauges.set(name, value);
  }
  add(name: string, _labels: object, by = 1): void {
    this.counters.set(name, (this.counters.get(name) ?? 0) + by);
  }
  observeBlock(): void {
    this.add('blocks observed', {});
  }
  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }
  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }
  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }
}

export interface Watching {
  readonly store: MemoryWatchStore;
  readonly audit: AuditStore;
  readonly recorder: Recorder;
  readonly parts: WatcherParts;
  /** The watcher that is alive; `restart` replaces it as a killed process would. */
  watcher: Watcher;
  restart(): void;
  nowMs: number;
  /** By how much the wall clock was set meanwhile, either way. */
  wallStepMs: number;
  wakes: AccountId[];
  asked: { accountId: AccountId; command: AccountCommand }[];
  /** Issues an address `@name` to an account. */
  issue(name: string, accountId?: AccountId, purpose?: WatchedAddress['purpose']): WatchedAddress;
}

export interface WatchingOptions {
  client: ChainClient;
  catalogue?: Catalogue;
  witnesses?: readonly ChainClient[];
  ledger?: LedgerId;
  network?: Network;
  module?: ChainModule;
  settings?: Partial<WatchSettings>;
  /** Stands between the watcher and the store: what a fault test breaks. */
  wrap?: (store: WatchStore) => WatchStore;
  reconcilePerBlock?: number;
  onWake?: (accountId: AccountId) => Promise<void>;
}

/** A watcher over a client, ready to tick. */
export function watching(options: WatchingOptions): Watching {
  const ledger = options.ledger ?? 'eth';
  const network = options.network ?? simulatedNetwork;
  const self: Watching = {
    nowMs: 1_700_000_000_000,
    wallStepMs: 0,
    wakes: [],
    asked: [],
    restart() {
      self.watcher = createWatcher(self.parts);
    },
    issue(
      name: string,
      accountId: AccountId = accountOfLedger(ledger) ?? ACCOUNT,
      purpose: WatchedAddress['purpose'] = 'deposit',
    ) {
      const environment = accountOfLedger(ledger) === null ? 'live' : 'sandbox';
      const row: WatchedAddress = {
        addressKey: addressKeyOf(
          environment,
          network.family,
          name.startsWith('@') ? Buffer.from(name) : Buffer.from(name.slice(2), 'hex'),
        ),
        addressId: `adr_${name}`,
        accountId,
        address: name,
        purpose,
      };
      self.store.addAddress(row, environment, self.nowMs + self.wallStepMs);
      return row;
    },
  } as unknown as Watching;
  const recorder = new Recorder();
  const store = createMemoryWatchStore(() => self.nowMs + self.wallStepMs);
  const audit = createMemoryAuditStore(store.state);
  const parts: WatcherParts = {
    ledger,
    network,
    module: options.module ?? (simulatedModule as ChainModule),
    client: options.client,
    witnesses: options.witnesses ?? [],
    catalogue: options.catalogue ?? new Map(),
    store: options.wrap?.(store) ?? store,
    audit,
    reconcilePerBlock: options.reconcilePerBlock ?? null,
    accounts: {
      async wake(accountId) {
        self.wakes.push(accountId);
        await options.onWake?.(accountId);
      },
      async ask(accountId, command) {
        if (command.type === 'begin_submit') {
          // As the account decides it: the mark is durable before the answer.
          const { known: row, txid } = command;
          const versions = row.versions.map((version) =>
            version.txid === txid ? { ...version, doubtful: true as const } : version,
          );
          const sole = row.versions.every((version) => version.txid !== txid || version.doubtful !== true);
          store.saveWithdrawal({ ...row, versions, updatedAtMs: row.updatedAtMs + 1 });
          return { ok: true, reply: { row: { ...row, versions, updatedAtMs: row.updatedAtMs + 1 }, sole } } as never;
        }
        self.asked.push({ accountId, command });
        return { ok: 'duplicate' };
      },
    },
    settings: { ...watchSettings, ...options.settings },
    nowMs: () => self.nowMs + self.wallStepMs,
    elapsedMs: () => self.nowMs,
    log: recorder,
    metrics: recorder,
  };
  return Object.assign(self, { store, audit, recorder, parts, watcher: createWatcher(parts) });
}
