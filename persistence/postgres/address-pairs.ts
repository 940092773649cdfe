/** Reads of the rows that one EVM address has on several networks. Spec §1.6. */
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

export function addressPairs(sql: Sql): Pick<ReadStore, 'unpairedIndexes' | 'isAlone'> {
  return {
    async unpairedIndexes(asked) {
      const rows = await sql<{ index: number | null }[]>`
        select index from unpaired_indexes(
          ${asked.map(({ accountId }) => accountId as string)}::text[], ${asked.map(({ userRef }) => userRef)}::text[],
          ${asked.map(({ tag }) => tag ?? '')}::text[], ${asked.map(({ chain }) => chain as string)}::text[]) order by n`;
      return rows.map(({ index }) => index);
    },
    async isAlone(accountId, { id, family, index }) {
      if (index === null) return true;
      const other = await oneOf(
        sql,
        accountId,
        sql`
        select id from address where account_id = t.account and family = ${family} and index = ${String(index)}::text::bigint
           and id <> ${id} and status = 'active' limit 1`,
        (row) => row['id'],
      );
      return other === null;
    },
  };
}
