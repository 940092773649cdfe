/**
 * What a watcher is made of and asks of the rest. A live worker (polling) and a sandbox ledger (ticked when it mined)
 * give the same parts.
 */
import type { Catalogue, ChainClient, ChainModule, Network } from '../chains/chain.ts';
import type { KnownHead } from '../chains/possible-height.ts';
import type { Accounts } from '../model/ports/accounts.ts';
import type { AuditStore } from '../model/ports/audit-store.ts';
import type { WatchStore } from '../model/ports/watch-store.ts';
import type { AccountId, LedgerId } from '../protocol/ids.ts';
import type { CloudMetrics } from '../protocol/metrics/cloud.ts';
import type { Meter } from '../protocol/node/meter.ts';
import type { Chain } from '../protocol/slugs.ts';

/** The part of a pino logger that is used here. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Where figures go; `supervision/` binds it to Prometheus. */
export interface Metrics extends Pick<Meter<CloudMetrics>, 'set' | 'add'> {
  /** Time from a block read to its facts stored. */
  observeBlock(chain: Chain, seconds: number): void;
}

export interface WatchSettings {
  /** Where a ledger that has no cursor begins; `head` is the head at its first start. */
  readonly start: number | 'head';
  /** Limit of blocks that one tick reads, so that the other jobs of a chain that is behind get their turn. G12. */
  readonly blocksPerTick: number;
  /** Blocks that are read at once while catching up. */
  readonly readAhead: number;
  /** A second look through the only endpoint counts as a second read after this time. G10: one block time. */
  readonly secondReadMs: number;
  /** Failed reads of a height's content before its header advances without it. V24 asks for at least 3. */
  readonly contentTries: number;
  /** A lower head on another branch that persists for this long is a rollback. G11, C1-12. */
  readonly silentMs: number;
  /** How far back, in time, blocks are matched again with addresses created since. */
  readonly rematchMs: number;
  /**
   * Every tick checks a withdrawal that is in no block, not only when its pause is over. For a ledger that answers at
   * once and on which no later block comes by itself.
   */
  readonly asksAtEachTick: boolean;
}

export interface WatcherParts {
  readonly ledger: LedgerId;
  readonly network: Network;
  readonly module: ChainModule;
  readonly client: ChainClient;
  /** One client per endpoint, for second opinions (G10). Empty where the client has one source only. */
  readonly witnesses: readonly ChainClient[];
  readonly catalogue: Catalogue;
  /** Version of the token registry that the catalogue is of; 1 where absent. */
  readonly registry?: number;
  /** Heights from which tokens of later versions are watched; any height where one is not in it. Treasury K12. */
  tokenStarts?(): Promise<ReadonlyMap<string, number>>;
  readonly store: WatchStore;
  /** Where growth that no payer explains is kept (G24). */
  readonly audit: AuditStore;
  /** Set where no endpoint offers traces: balances that one block may cost. V7. */
  readonly reconcilePerBlock: number | null;
  readonly accounts: Pick<Accounts, 'wake' | 'ask'>;
  /** Called when an answer may come from another network: the identity is then checked ahead of schedule (G14). */
  doubtNetwork?(): void;
  /** Called with the head that is believed, by `elapsedMs`: reads of single endpoints are measured by it. */
  knowHead?(known: KnownHead): void;
  readonly settings: WatchSettings;
  /** The wall clock: what is recorded with a time. It may be set, in either direction. */
  nowMs(): number;
  /** A monotonic clock: every span of time that a watcher measures or waits. */
  elapsedMs(): number;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Wakes accounts after a commit. Where a wake is lost, the sweep of the inbox finds the facts. */
export interface AccountWaker {
  wake(accounts: readonly AccountId[]): void;
  /** Resolves when every account that was woken has answered. */
  settled(): Promise<void>;
}
