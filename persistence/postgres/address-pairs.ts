/** Reads of the rows that one EVM address has on several networks. Spec §1.6. */
import type { ReadStore } from '../../model/ports/read-store.ts';
import type { Sql } from './sql.ts';
import { asTenant, oneOf } from './tenant.ts';

const NO_END = '9223372036854775807';

export function addressPairs(sql: Sql): Pick<ReadStore, 'unpairedIndexes' | 'isAlone'> {
  return {
    async unpairedIndexes(accountId, asked) {
      const rows = await sql<{ index: number | null }[]>`
        select v.index from ${asTenant(sql, accountId, sql`
          select u.n, unpaired_index(t.account, u.user_ref, u.tag, u.chain, present.base, ${NO_END}::text::bigint) as index
            from unnest(${asked.map(({ userRef }) => userRef)}::text[], ${asked.map(({ tag }) => tag ?? '')}::text[],
                        ${asked.map(({ chain }) => chain as string)}::text[]) with ordinality u(user_ref, tag, chain, n)
           cross join (
             select coalesce((select max((r.value -> 'next' ->> 'evm')::bigint)
               from account a cross join jsonb_array_elements(a.state -> 'retired') r(value) where a.account_id = t.account), 0) as base offset 0) present`)}
         order by v.n`;
      return rows.map(({ index }) => index);
    },
    async isAlone(accountId, { id, family, index }) {
      if (index === null) return true;
      const other = await oneOf(sql, accountId, sql`
        select id from address where account_id = t.account and family = ${family} and index = ${String(index)}::text::bigint
           and id <> ${id} and status = 'active' limit 1`, (row) => row['id']);
      return other === null;
    },
  };
}
