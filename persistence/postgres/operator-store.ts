/** Questions that go over all accounts. */
import type { DatabaseState, OperatorStore } from '../../model/ports/operator-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { ReplayKey } from '../../chains/chain.ts';
import type { Chain } from '../../protocol/slugs.ts';
import type { Sql } from './sql.ts';

export function createOperatorStore(sql: Sql): OperatorStore {
  return {
    async databaseState() {
      const [row] = await sql<(Omit<DatabaseState, 'clockMs'> & { clock: number })[]>`
        select * from database_figures()`;
      const { clock, ...figures } = row!;
      return { clockMs: clock, ...figures };
    },
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
