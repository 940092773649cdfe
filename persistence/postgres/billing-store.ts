/** Statements over PostgreSQL; they are written with the append that closes their month. */
import type { BillingStore, Statement } from '../../model/ports/billing-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant, oneOf } from './tenant.ts';

/** A century of them. */
const STATEMENTS_MAX = 1_200;

export function createBillingStore(sql: Sql): BillingStore {
  return {
    async statements(accountId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select * from statement where account_id = t.account order by period desc limit ${STATEMENTS_MAX}`,
        )} order by v.period desc`;
      return rows.map(statementOf);
    },
    statement: (accountId, id) =>
      oneOf(sql, accountId, sql`select * from statement where account_id = t.account and id = ${id}`, statementOf),
    async accountsWithOpenPeriod(thisMonth, after, limit) {
      const rows = await sql<{ accountId: AccountId }[]>`
        select * from accounts_with_open_period(${thisMonth}, ${after}, ${limit})`;
      return rows.map(({ accountId }) => accountId);
    },
  };
}

function statementOf(row: Columns): Statement {
  return {
    id: row.id,
    number: row.number,
    period: row.period,
    lines: row.lines,
    totalCents: String(row.totalCents),
    settled: Number(row.settled),
    issuedAtMs: row.issuedAt,
  } as Statement;
}
