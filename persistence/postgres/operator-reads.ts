/** Questions of operators that go over all accounts. */
import type { Sql } from './sql.ts';

export interface OperatorReads {
  /** Counter values below the next one that nothing holds, by chain. */
  counterGaps(): Promise<Record<string, number>>;
}

export function createOperatorReads(sql: Sql): OperatorReads {
  return {
    async counterGaps() {
      const rows = await sql<{ chain: string; gaps: number }[]>`select * from counter_gaps()`;
      return Object.fromEntries(rows.map(({ chain, gaps }) => [chain, gaps]));
    },
  };
}
