/** Questions of operators that go over all accounts. */
import type { UnsignedBuild } from '../../model/account/outgoing.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { ReplayKey } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { Sql } from './sql.ts';

export interface DeadBuild extends UnsignedBuild {
  readonly accountId: AccountId;
}

export interface OperatorReads {
  /** Counter values below the next one that nothing holds, by chain. */
  counterGaps(): Promise<Record<string, number>>;
  /** Accounts with active addresses, by id, after one. For the daily snapshot. */
  accountsWithAddresses(after: string, limit: number): Promise<AccountId[]>;
  /** Accounts whose smaller band has begun and is not in force yet, by id, after one. */
  accountsWithPendingBand(nowMs: number, after: string, limit: number): Promise<AccountId[]>;
  /** Builds that nobody signed and that did not change until an instant, oldest first, behind one of them. */
  deadBuilds(untilMs: number, behind: DeadBuild | null, limit: number): Promise<DeadBuild[]>;
}

export function createOperatorReads(sql: Sql): OperatorReads {
  return {
    async counterGaps() {
      const rows = await sql<{ chain: string; gaps: number }[]>`select * from counter_gaps()`;
      return Object.fromEntries(rows.map(({ chain, gaps }) => [chain, gaps]));
    },
    async accountsWithAddresses(after, limit) {
      const rows = await sql<{ accountId: AccountId }[]>`select * from accounts_with_addresses(${after}, ${limit})`;
      return rows.map(({ accountId }) => accountId);
    },
    async accountsWithPendingBand(nowMs, after, limit) {
      const rows = await sql<{ accountId: AccountId }[]>`
        select * from accounts_with_pending_band(${nowMs}::timestamptz, ${after}, ${limit})`;
      return rows.map(({ accountId }) => accountId);
    },
    async deadBuilds(untilMs, behind, limit) {
      const rows = await sql<
        {
          accountId: AccountId;
          id: string;
          chain: Chain;
          fromAddress: string;
          replayKey: ReplayKey;
          updatedAt: number;
        }[]
      >`
        select * from dead_builds(${untilMs}::timestamptz, ${behind?.updatedAtMs ?? 0}::timestamptz, ${behind?.accountId ?? ''}, ${behind?.id ?? ''}, ${limit})`;
      return rows.map(({ fromAddress, updatedAt, ...row }) => ({ ...row, from: fromAddress, updatedAtMs: updatedAt }));
    },
  };
}
