/** What an application simulates in a sandbox. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { PooledTransaction, SandboxSighting } from './sandbox-store.ts';
import type { Refusal } from '../../protocol/errors.ts';

/** How a simulated endpoint takes an attempt: what it answers, or how late. */
export type EndpointFailure = { readonly status: number } | { readonly delayMs: number };

export interface SandboxControl {
  simulateDeposit(
    accountId: AccountId,
    ask: {
      chain: Chain;
      address: string;
      amount: string;
      tokenContract: string | null;
      autoConfirm: boolean;
      confirmAfterSeconds: number | null;
      /** How far the account's time is ahead of the real one; it is not where absent. */
      aheadMs?: number;
    },
  ): Promise<{ txid: string; outputIndex: number; height: number } | Refusal>;
  simulateConfirmation(
    accountId: AccountId,
    ask: { chain: Chain; txid: string; confirmations: number },
  ): Promise<{ confirmations: number } | Refusal>;
  /** Keeps broadcasts in the ledger's pool, or mines all that is there; `mined` are the txids. */
  simulateStuck(
    accountId: AccountId,
    ask: { chain: Chain; stuck: boolean; blocks?: number; untilRepriced?: boolean },
  ): Promise<{ stuck: boolean; mined: string[] } | Refusal>;
  /** Mines another transaction of the sender in the place of one in the pool. Refuses: NOT_FOUND, CONFLICT. */
  simulateReplaced(
    accountId: AccountId,
    ask: { chain: Chain; txid: string },
  ): Promise<{ txid: string; height: number } | Refusal>;
  /** No edge of the account is let in until then; 0 seconds: from now on they are again. */
  simulateEdgeOffline(accountId: AccountId, seconds: number): Promise<{ untilMs: number }>;
  /** Until when no edge of the account is let in; null while they are. */
  edgeOfflineUntilMs(accountId: AccountId): Promise<number | null>;
  /** The next attempts at an endpoint end so; 0 attempts: none any more. */
  simulateEndpointFailure(
    accountId: AccountId,
    ask: { webhookId: string; attempts: number; status?: number; delaySeconds?: number },
  ): Promise<{ webhookId: string; attempts: number }>;
  /**
   * Of these attempts those that a simulated failure ends, by delivery id, each counted once however often it is asked
   * for.
   */
  takeEndpointFailures(
    attempts: readonly { readonly webhookId: string; readonly deliveryId: string; readonly attempt: number }[],
  ): Promise<ReadonlyMap<string, EndpointFailure>>;
  /** One block more, as time makes them: what is in the pool of a ledger that is not stuck is in blocks already. */
  advance(accountId: AccountId, chain: Chain): Promise<null | Refusal>;
  /** Does what a timer of the account is for, before its time. False where there is none. */
  runTimer(accountId: AccountId, id: string): Promise<boolean>;
  simulateReorg(accountId: AccountId, ask: { chain: Chain; depth: number }): Promise<{ depth: number } | Refusal>;
  simulateChainDown(
    accountId: AccountId,
    ask: { chain: Chain; seconds: number },
  ): Promise<{ untilMs: number } | Refusal>;
  /** A simulated transaction of any account, with the confirmations at which a deposit of its chain is credited. */
  sighting(chain: Chain, txid: string): Promise<(SandboxSighting & { readonly threshold: number }) | null>;
  /** A transaction of any account that waits in the pool of a simulated ledger. */
  pooledSighting(chain: Chain, txid: string): Promise<PooledTransaction | null>;
  /**
   * Payments to addresses of one chain: some in the block at `height`, which an old wallet had before it came, and some
   * in a new block that is mined to the threshold. Refuses: IMPORT_NOT_READY where that block is gone.
   */
  simulateActivity(
    accountId: AccountId,
    ask: { chain: Chain; addresses: readonly string[]; height: number; historical: number; live: number },
  ): Promise<{ txids: string[] } | Refusal>;
  /** Reads simulated ledgers to their heads, and again for what was adopted. */
  readAgain(accountId: AccountId, chains: readonly Chain[]): Promise<void>;
  /**
   * Deletes what a marked account (`begin_reset`) issued, saw, sent and delivered, for some seconds at most. False
   * where more is left.
   */
  reset(accountId: AccountId): Promise<boolean>;
}
