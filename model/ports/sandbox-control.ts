/** What an application simulates in a sandbox. */
import type { AccountId } from '../../protocol/ids.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { PooledTransaction, SandboxSighting } from './sandbox-store.ts';
import type { Refusal } from '../../protocol/errors.ts';

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
    },
  ): Promise<{ txid: string; outputIndex: number; height: number } | Refusal>;
  simulateConfirmation(
    accountId: AccountId,
    ask: { chain: Chain; txid: string; confirmations: number },
  ): Promise<{ confirmations: number } | Refusal>;
  /** Keeps broadcasts in the ledger's pool, or mines all that is there; `mined` are the txids. */
  simulateStuck(
    accountId: AccountId,
    ask: { chain: Chain; stuck: boolean },
  ): Promise<{ stuck: boolean; mined: string[] } | Refusal>;
  /** One block more, as time makes them: what is in the pool of a ledger that is not stuck is in blocks already. */
  advance(accountId: AccountId, chain: Chain): Promise<null | Refusal>;
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
  reset(accountId: AccountId): Promise<void>;
}
