/** Statements over PostgreSQL; they are written with the append that closes their month. */
import type { Billed, BillingStore, Payer, Statement, StatementRef } from '../../model/ports/billing-store.ts';
import type { StatementLetter } from '../../model/ports/mail-store.ts';
import { organizationOf, type AccountId } from '../../protocol/ids.ts';
import { DUE_MS, LAPSE_MS } from '../../protocol/plans.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { createLists, SHARED_SLOTS, type Lists } from './list-pool.ts';
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

const whole = (sql: Sql) => sql`select s.*, coalesce((select sum(c.amount_cents) from collection c
    where c.account_id = s.account_id and c.statement_id = s.id), 0)::bigint as paid_cents,
  r.status as request_status, r.provider, r.reference, r.page, r.round,
  coalesce((select sum(c.amount_cents) from collection c where c.account_id = s.account_id
    and c.statement_id = s.id and c.by_user = r.provider and c.reason = r.reference), 0)::bigint as taken_cents
  from statement s left join collection_request r on r.account_id = s.account_id and r.statement_id = s.id`;

export function createBillingStore(sql: Sql, lists: Lists = createLists(sql, { slots: SHARED_SLOTS })): BillingStore {
  return {
    async statements(accountId) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`${whole(sql)} where s.account_id = t.account order by period desc limit ${STATEMENTS_MAX}`,
        )} order by v.period desc`;
      return rows.map(statementOf);
    },
    statement: (accountId, id) =>
      oneOf(sql, accountId, sql`${whole(sql)} where s.account_id = t.account and s.id = ${id}`, statementOf),
    async billedOf(accountId, period, after, limit) {
      const [id = '', nth = '0'] = (after ?? '').split('.');
      const read = lists.sql<(Omit<Billed, 'createdAtMs' | 'key'> & { nth: number; createdAt: number })[]>`
        select v.withdrawal_id, v.nth, v.counted, v.chain, v.created_at from ${asTenant(
          lists.sql,
          accountId,
          lists.sql`select b.withdrawal_id, b.nth, b.counted, w.chain, w.created_at from (
                (select withdrawal_id, 0 as nth, 1 as counted from billable
                  where account_id = t.account and period = ${period} and withdrawal_id > ${id}
                  order by withdrawal_id limit ${limit})
                union all
                (select withdrawal_id, nth, change from billable_change
                  where account_id = t.account and period = ${period}
                    and (withdrawal_id, nth) > (${id}, ${nth}::int)
                  order by withdrawal_id, nth limit ${limit})) b
              cross join lateral (
                select o.chain, o.created_at from withdrawal o
                 where o.account_id = t.account and o.id = b.withdrawal_id offset 0) w
              order by b.withdrawal_id, b.nth limit ${limit}`,
        )} order by v.withdrawal_id, v.nth`;
      const rows = await lists.run(accountId, async () => read);
      return rows.map(({ createdAt, nth: n, ...row }) => ({
        ...row,
        key: `${row.withdrawalId}.${n}`,
        createdAtMs: createdAt,
      }));
    },
    async isCollected(accountId, id) {
      const select = sql`select id from collection where account_id = t.account and id = ${id}`;
      return (await oneOf(sql, accountId, select, ({ id: found }) => found)) !== null;
    },
    async writeLetters(nowMs) {
      const [row] = await sql<{ written: number }[]>`
        select write_statement_letters(${new Date(nowMs)}, ${sql.json(LETTERS as never)}) as written`;
      return row!.written;
    },
    async requestsDue(nowMs, limit) {
      const rows = await sql<StatementRef[]>`select * from collection_requests_due(${new Date(nowMs)}, ${limit})`;
      return [...rows];
    },
    async ringRequest(provider, reference, nowMs) {
      const [row] = await sql<StatementRef[]>`
        select * from ring_collection_request(${provider}, ${reference}, ${new Date(nowMs)})`;
      return row ?? null;
    },
    async writeRequest({ accountId, statementId }, roundBefore, now, nextMs, beganMs) {
      const what = beganMs === undefined ? now : { ...now, began: new Date(beganMs).toISOString() };
      const [row] = await sql<{ written: boolean }[]>`
        select write_collection_request(${accountId}, ${statementId}, ${roundBefore}, ${sql.json({ ...what })},
                                        ${new Date(nextMs)}) as written`;
      return row!.written;
    },
    async payer(accountId, provider) {
      const [row] = await sql<Payer[]>`
        select o.name, u.email, (select p.reference from provider_payer p
                                  where p.account_id = ${accountId} and p.provider = ${provider}) as reference
          from organization o
          join membership m on m.organization_id = o.id and m.role = 'owner'
          join console_user u on u.id = m.user_id
         where o.id = ${organizationOf(accountId)} order by u.id limit 1`;
      return row ?? null;
    },
    async keepPayer(accountId, provider, reference) {
      await sql`insert into provider_payer (account_id, provider, reference)
        values (${accountId}, ${provider}, ${reference}) on conflict do nothing`;
      const [row] = await sql<{ reference: string }[]>`
        select reference from provider_payer where account_id = ${accountId} and provider = ${provider}`;
      return row!.reference;
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
    request:
      row.requestStatus === null
        ? null
        : {
            status: row.requestStatus,
            provider: row.provider,
            reference: row.reference,
            page: row.page,
            round: row.round,
            takenCents: String(row.takenCents),
          },
  } as Statement;
}
