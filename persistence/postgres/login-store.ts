/** Logins and their refresh tokens, over PostgreSQL: each write is one statement. */
import {
  LOGIN_IDLE_MS,
  LOGIN_WHOLE_MS,
  LOGINS_MAX,
  type LoginRow,
  type LoginStore,
  type StandingOfToken,
  type Turned,
} from '../../model/ports/login-store.ts';
import type { AuditNote } from '../../model/rows/audit.ts';
import { deleteOlder } from './pages.ts';
import type { Fragment, Sql } from './sql.ts';

/**
 * Two windows of one browser may come with the same cookie: the later one is refused, and is no theft for this long.
 */
const REUSE_GRACE_MS = 10_000;

/** The row that a turn found, with the outcome it has. */
interface Known {
  outcome: Turned['outcome'];
  userId: string;
  loginId: string;
  organizationId: string | null;
  authAt: number;
  endsAt: number;
}

/**
 * The store of logins. Each statement locks a token before its login: of two at the same time the later one waits.
 */
export function createLoginStore(sql: Sql): LoginStore {
  return { ...beginnings(sql), ...ends(sql), ...looks(sql) };
}

/** Call that notes something of the user of a row; nothing without a note. */
const noting = (sql: Sql, userId: Fragment, audit: AuditNote | undefined): Fragment =>
  audit === undefined ? sql`null::void` : sql`record_audit_of_user(${userId}, ${JSON.stringify(audit)}::text::jsonb)`;

/** The kind of provider that a member gets in by alone; null for who need not, asked where it is enforced. */
export const ssoRequired = (sql: Sql, userId: Fragment, organizationId: Fragment): Fragment => sql`
  (select case when sso_required(${userId}, ${organizationId}) then e.kind end from sso_connection e
    where e.organization_id = ${organizationId} and e.enforced_at is not null)`;

/** `least(idle, whole)` from now on, for a login that began at `created`. */
const endsAt = (sql: Sql, nowMs: number, created: Fragment): Fragment =>
  sql`least(${nowMs + LOGIN_IDLE_MS}::timestamptz, ${created} + ${LOGIN_WHOLE_MS}::bigint * interval '1 millisecond')`;

function beginnings(sql: Sql): Pick<LoginStore, 'begin' | 'turn' | 'choose'> {
  return {
    async begin(
      { id, userId, method, connectionId = null, client, ip, createdAtMs, endsAtMs },
      { family, hash },
      organizationId,
      audit,
    ) {
      await sql`
        with surplus as materialized (
          select l.id from login l where l.user_id = ${userId} and l.ended_at is null
           order by l.seen_at desc offset ${LOGINS_MAX - 1}
        ), forgotten as materialized (
          delete from refresh_token t using surplus s where t.login_id = s.id returning t.family
        ), replaced as (
          update login l set ended_at = ${createdAtMs}::timestamptz, ends_at = ${createdAtMs}::timestamptz, why = 'replaced'
            from surplus s where l.id = s.id and l.ended_at is null and (select count(*) from forgotten) >= 0
        ), begun as (
          insert into login (id, user_id, method, connection_id, client, ip, created_at, seen_at, ends_at)
            values (${id}, ${userId}, ${method}, ${connectionId}, ${client}, ${ip}, ${createdAtMs}::timestamptz,
                    ${createdAtMs}::timestamptz, ${endsAtMs}::timestamptz)
        ), kept as materialized (
          insert into refresh_token (family, hash, user_id, organization_id, expires_at, login_id)
            values (${family}, ${hash}, ${userId}, ${organizationId}, ${endsAtMs}::timestamptz, ${id})
          returning user_id
        ), noticed as (
          insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
            select 'break_glass|' || ${id} || '|' || m.user_id, 'break_glass', u.email, m.user_id, o.id,
                   jsonb_build_object('organization', o.name, 'by', w.email, 'ip', ${ip}::text, 'client', ${client}::text),
                   ${createdAtMs}::timestamptz, clock_timestamp()
              from membership b
              join sso_connection c on c.organization_id = b.organization_id and c.enforced_at is not null
              join organization o on o.id = c.organization_id
              join console_user w on w.id = b.user_id
              join membership m on m.organization_id = o.id and m.role = 'owner'
              join console_user u on u.id = m.user_id
             where b.user_id = ${userId} and b.break_glass and ${method !== 'sso'}
        )
        select ${noting(sql, sql`user_id`, audit)} from kept`;
    },
    async turn({ family, hash }, { hash: next, loginId, client, ip }, nowMs, ofReuse) {
      const [row] = await sql<Known[]>`
        with known as materialized (
          select k.family, k.user_id, k.organization_id, coalesce(k.login_id, ${loginId}) as login_id,
                 coalesce(l.created_at, ${nowMs}::timestamptz) as auth_at, k.login_id is null as is_new,
                 ${endsAt(sql, nowMs, sql`coalesce(l.created_at, ${nowMs}::timestamptz)`)} as ends_at,
                 case when k.hash = ${hash}
                        then case when k.expires_at > ${nowMs}::timestamptz and l.ended_at is null then 'turned' else 'unknown' end
                      when k.previous = ${hash} and k.turned_at > ${nowMs - REUSE_GRACE_MS}::timestamptz then 'late'
                      else 'reused' end as outcome
            from refresh_token k left join login l on l.id = k.login_id where k.family = ${family} for update of k
        ), adopted as (
          insert into login (id, user_id, method, client, ip, created_at, seen_at, ends_at)
            select k.login_id, k.user_id, 'password', ${client}, ${ip}, k.auth_at, k.auth_at, k.ends_at
              from known k where k.outcome = 'turned' and k.is_new
        ), seen as (
          update login l set seen_at = ${nowMs}::timestamptz, ends_at = k.ends_at, client = ${client}, ip = ${ip}
            from known k where l.id = k.login_id and k.outcome = 'turned' and l.ended_at is null
        ), over as (
          update login l set ended_at = ${nowMs}::timestamptz, ends_at = ${nowMs}::timestamptz, why = 'reused'
            from known k where l.id = k.login_id and k.outcome = 'reused' and l.ended_at is null
        ), turned as (
          update refresh_token t set previous = t.hash, turned_at = ${nowMs}::timestamptz, hash = ${next},
                 expires_at = k.ends_at, login_id = k.login_id
            from known k where t.family = k.family and k.outcome = 'turned'
        ), gone as (
          delete from refresh_token t using known k where t.family = k.family and k.outcome = 'reused'
        )
        select outcome, user_id, login_id, organization_id, auth_at, ends_at,
               case when outcome = 'reused' then ${noting(sql, sql`user_id`, ofReuse)} end as noted
          from known`;
      if (row === undefined) return { outcome: 'unknown' };
      const { outcome, userId, organizationId, authAt: authAtMs, endsAt: endsAtMs } = row;
      if (outcome === 'reused') return { outcome, userId };
      if (outcome !== 'turned') return { outcome };
      return { outcome, loginId: row.loginId, userId, organizationId, authAtMs, endsAtMs };
    },
    async choose(loginId, organizationId) {
      await sql`update refresh_token set organization_id = ${organizationId} where login_id = ${loginId}`;
    },
  };
}

function ends(sql: Sql): Pick<LoginStore, 'endFamily' | 'end' | 'purge'> {
  return {
    async endFamily(family, why, nowMs, audit) {
      const [row] = await sql<{ userId: string }[]>`
        with gone as materialized (delete from refresh_token where family = ${family} returning login_id, user_id), over as (
          update login l set ended_at = ${nowMs}::timestamptz, ends_at = ${nowMs}::timestamptz, why = ${why}
            from gone g where l.id = g.login_id and l.ended_at is null
        )
        select user_id, ${noting(sql, sql`user_id`, audit)} as noted from gone`;
      return row?.userId ?? null;
    },
    async end(userId, which, why, nowMs, audit) {
      const one = 'id' in which ? sql`l.id = ${which.id}` : sql`l.id is distinct from ${which.but}`;
      const [row] = await sql<{ ended: number }[]>`
        with gone as materialized (
          delete from refresh_token t
           where t.login_id = any (array(select l.id from login l where l.user_id = ${userId} and l.ended_at is null and ${one}))
          returning t.family
        ), over as materialized (
          update login l set ended_at = ${nowMs}::timestamptz, ends_at = ${nowMs}::timestamptz, why = ${why}
           where l.user_id = ${userId} and l.ended_at is null and l.ends_at > ${nowMs}::timestamptz and ${one}
             and (select count(*) from gone) >= 0
          returning l.id
        ), counted as materialized (select count(*) as ended from over)
        select ended, case when ended > 0 then ${noting(sql, sql`${userId}`, audit)} end as noted from counted`;
      return row!.ended;
    },
    async purge(endedBeforeMs, nowMs) {
      const tokens = await deleteOlder(sql, sql`refresh_token`, sql`expires_at`, nowMs + 1);
      return tokens + (await deleteOlder(sql, sql`login`, sql`ends_at`, endedBeforeMs));
    },
  };
}

function looks(sql: Sql): Pick<LoginStore, 'open' | 'standing'> {
  return {
    async open(userId, nowMs) {
      const rows = await sql<
        (Pick<LoginRow, 'id' | 'userId' | 'method' | 'client' | 'ip'> & {
          createdAt: number;
          seenAt: number;
          endsAt: number;
        })[]
      >`select id, user_id, method, client, ip, created_at, seen_at, ends_at from login
         where user_id = ${userId} and ended_at is null and ends_at > ${nowMs}::timestamptz
         order by seen_at desc, id desc limit ${LOGINS_MAX}`;
      return rows.map(({ createdAt, seenAt, endsAt: until, ...row }) => ({
        ...row,
        createdAtMs: createdAt,
        seenAtMs: seenAt,
        endsAtMs: until,
      }));
    },
    async standing(userId, loginId, organizationId, nowMs) {
      const [row] = await sql<(StandingOfToken & { userId: string })[]>`
        select u.id as user_id,
               case when l.method is distinct from 'sso' or m.organization_id = c.organization_id then m.role end as role,
               case when c.organization_id is distinct from m.organization_id
                    then ${ssoRequired(sql, sql`u.id`, sql`m.organization_id`)} end as sso_required,
               coalesce(u.platform_role = 'admin', false) and l.method is distinct from 'sso' as platform_admin,
               u.suspended_at is null and (${loginId}::text is null
                 or (l.ended_at is null and l.ends_at > ${nowMs}::timestamptz and l.id is not null
                     and (l.method <> 'sso' or c.organization_id is not null))) as open,
               c.organization_id as only_organization_id
          from console_user u
          left join login l on l.id = ${loginId} and l.user_id = u.id
          left join membership m on m.user_id = u.id and m.organization_id = ${organizationId}
          left join lateral (
            select s.organization_id from sso_identity i join sso_connection s on s.id = i.connection_id
             where i.user_id = u.id and i.connection_id = l.connection_id limit 1) c on l.method = 'sso'
         where u.id = ${userId}`;
      // Who somebody is must not rest on the driver pairing answers with questions.
      if (row === undefined || row.userId !== userId) return null;
      const { open, role, platformAdmin, onlyOrganizationId, ssoRequired: provider } = row;
      return { open, role: provider === null ? role : null, platformAdmin, onlyOrganizationId, ssoRequired: provider };
    },
  };
}
