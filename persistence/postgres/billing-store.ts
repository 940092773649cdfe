/** Statements over PostgreSQL; they are written with the append that closes their month. */
import type { BillingStore, Statement } from '../../model/ports/billing-store.ts';
import type { StatementLetter } from '../../model/ports/mail-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { DUE_MS, LAPSE_MS } from '../../protocol/plans.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant, oneOf } from './tenant.ts';

/** A century of them. */
const STATEMENTS_MAX = 1_200;

const HOUR_MS = 3_600_000;
/** When owners hear of a statement, hours after its issue. Console B15. */
const LETTERS: readonly { kind: StatementLetter; hours: number }[] = [
  { kind: 'statement_issued', hours: 0 },
  { kind: 'statement_due', hours: DUE_MS / HOUR_MS },
  { kind: 'statement_late', hours: DUE_MS / HOUR_MS + 7 * 24 },
  { kind: 'subscription_lapsed', hours: (DUE_MS + LAPSE_MS) / HOUR_MS },
];

const paid = (sql: Sql) => sql`coalesce((select sum(c.amount_cents) from collection c
  where c.account_id = s.account_id and c.statement_id = s.id), 0)::bigint as paid_cents`;

export function createBillingStore(sql: Sql): BillingStore {
  return {
    async statements(accountId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select *, ${paid(sql)} from statement s where account_id = t.account order by period desc limit ${STATEMENTS_MAX}`,
        )} order by v.period desc`;
      return rows.map(statementOf);
    },
    statement: (accountId, id) =>
      oneOf(
        sql,
        accountId,
        sql`select *, ${paid(sql)} from statement s where account_id = t.account and id = ${id}`,
        statementOf,
      ),
    async isCollected(accountId, id) {
      const select = sql`select id from collection where account_id = t.account and id = ${id}`;
      return (await oneOf(sql, accountId, select, ({ id: found }) => found)) !== null;
    },
    async writeLetters(nowMs) {
      const [row] = await sql<{ written: number }[]>`
        select write_statement_letters(${new Date(nowMs)}, ${sql.json(LETTERS as never)}) as written`;
      return row!.written;
    },
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
    paidCents: String(row.paidCents),
    settled: Number(row.settled),
    issuedAtMs: row.issuedAt,
  } as Statement;
}
