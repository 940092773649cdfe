/** Support sessions over PostgreSQL: each write is one statement, with its letters and its entry in the audit log. */
import type { SupportSessionRow, SupportStore } from '../../model/ports/support-store.ts';
import { recordingOf } from './audit-log-store.ts';
import type { Fragment, Sql } from './sql.ts';

const LISTED_MAX = 50;

type Columns = Omit<SupportSessionRow, 'createdAtMs' | 'endsAtMs' | 'endedAtMs'> & {
  createdAt: number;
  endsAt: number;
  endedAt: number | null;
};
const rowOf = <T extends Columns>({ createdAt, endsAt, endedAt, ...row }: T) => ({
  ...row,
  createdAtMs: createdAt,
  endsAtMs: endsAt,
  endedAtMs: endedAt,
});

const columns = (sql: Sql): Fragment =>
  sql`s.id, s.organization_id, s.environment, s.admin_id, s.reason, s.created_at, s.ends_at, s.ended_at`;

export function createSupportStore(sql: Sql): SupportStore {
  return { ...ofOwners(sql), ...ofStaff(sql) };
}

function ofOwners(sql: Sql): Pick<SupportStore, 'accessUntil' | 'allowAccess' | 'end' | 'list'> {
  return {
    async accessUntil(organizationId) {
      const [row] = await sql<{ organizationId: string; until: number }[]>`
        select organization_id, until from support_access where organization_id = ${organizationId}`;
      return row === undefined || row.organizationId !== organizationId ? null : row.until;
    },
    async allowAccess(organizationId, untilMs, nowMs, audit) {
      const change =
        untilMs === null
          ? sql`delete from support_access a where a.organization_id = ${organizationId} returning 1`
          : sql`insert into support_access as a (organization_id, until) values (${organizationId}, ${untilMs}::timestamptz)
                on conflict (organization_id) do update set until = excluded.until returning 1`;
      await sql`
        with changed as materialized (${change}), over as (
          update support_session s set ended_at = ${nowMs}::timestamptz
           where ${untilMs === null} and s.organization_id = ${organizationId} and s.ended_at is null
             and s.ends_at > ${nowMs}::timestamptz
        )
        select ${recordingOf(sql, audit)} from (select count(*) from changed) c`;
    },
    async end(organizationId, id, nowMs, audit) {
      const { count } = await sql`
        with over as materialized (
          update support_session s set ended_at = ${nowMs}::timestamptz
           where s.id = ${id} and s.organization_id = ${organizationId} and s.ended_at is null
             and s.ends_at > ${nowMs}::timestamptz
          returning s.id
        )
        select ${recordingOf(sql, audit)} from over`;
      return count === 1;
    },
    async list(organizationId) {
      const rows = await sql<(Columns & { adminEmail: string })[]>`
        select ${columns(sql)}, u.email as admin_email from support_session s join console_user u on u.id = s.admin_id
         where s.organization_id = ${organizationId}
         order by s.created_at desc, s.id desc limit ${LISTED_MAX}`;
      return rows.map(rowOf);
    },
  };
}

function ofStaff(sql: Sql): Pick<SupportStore, 'begin' | 'standing'> {
  return {
    async begin(row, facts, audit) {
      const { id, organizationId, environment, adminId, loginId, reason, createdAtMs, endsAtMs } = row;
      const { count } = await sql`
        with allowed as materialized (
          select a.organization_id from support_access a
           where a.organization_id = ${organizationId} and a.until > greatest(${createdAtMs}::timestamptz, clock_timestamp()) for update
        ), begun as materialized (
          insert into support_session (id, organization_id, environment, admin_id, login_id, reason, created_at, ends_at)
            select ${id}, a.organization_id, ${environment}, ${adminId}, ${loginId}, ${reason}, ${createdAtMs}::timestamptz,
                   ${endsAtMs}::timestamptz from allowed a
          returning organization_id
        ), letters as (
          insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
            select ${id} || '.' || m.user_id, 'support_session', u.email, m.user_id, b.organization_id,
                   ${JSON.stringify(facts)}::text::jsonb, ${createdAtMs}::timestamptz, clock_timestamp()
              from begun b join membership m on m.organization_id = b.organization_id and m.role = 'owner'
              join console_user u on u.id = m.user_id
        )
        select ${recordingOf(sql, audit)} from begun`;
      return count === 1;
    },
    async standing(id, nowMs) {
      const [row] = await sql<Columns[]>`
        select ${columns(sql)} from support_session s
          join support_access a on a.organization_id = s.organization_id
            and a.until > greatest(${nowMs}::timestamptz, clock_timestamp())
          join console_user u on u.id = s.admin_id and u.platform_role = 'admin'
         where s.id = ${id} and s.ended_at is null and s.ends_at > greatest(${nowMs}::timestamptz, clock_timestamp())
           and (s.login_id is null
                or exists (select from login l where l.id = s.login_id and l.ended_at is null
                              and l.ends_at > ${nowMs}::timestamptz))`;
      // Who somebody is must not rest on the driver pairing answers with questions.
      return row === undefined || row.id !== id ? null : rowOf(row);
    },
  };
}
