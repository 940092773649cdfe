/** Resets of factors over PostgreSQL: each write is one statement, with its letters and its entry in the audit log. */
import {
  RESET_LETTERS,
  resetLetterId,
  type FactorResetRow,
  type FactorResetStatus,
  type FactorResetStore,
  type ResetLetter,
} from '../../model/ports/factor-reset-store.ts';
import { endings, noting, notice } from './people-store.ts';
import { constraintOf, type Fragment, type Sql } from './sql.ts';

type Columns = Omit<FactorResetRow, 'askedAtMs' | 'dueAtMs' | 'endedAtMs' | 'status'> & {
  status: FactorResetStatus;
  askedAt: number;
  dueAt: number | null;
  endedAt: number | null;
};
const rowOf = ({ askedAt, dueAt, endedAt, ...row }: Columns): FactorResetRow => ({
  ...row,
  askedAtMs: askedAt,
  dueAtMs: dueAt,
  endedAtMs: endedAt,
});
const at = (sql: Sql, ms: number): Fragment => sql`${ms}::timestamptz`;

const lettersOf = (id: string): string[] => Array.from({ length: RESET_LETTERS }, (_, n) => resetLetterId(id, n));

const rows = (sql: Sql): Fragment => sql`
  select r.id, r.user_id, r.reason, r.status, r.asked_by, r.asked_at, r.confirmed_by, r.due_at, r.ended_at, r.cancelled_by,
         r.link_hashes, u.email, a.email as asked_by_email, c.email as confirmed_by_email
    from factor_reset r join console_user u on u.id = r.user_id join console_user a on a.id = r.asked_by
    left join console_user c on c.id = r.confirmed_by`;

/** Letters to the person of the row `changed` (id, recipient), each written for its instant. */
const letters = (sql: Sql, kind: string, written: readonly ResetLetter[]): Fragment => {
  const [ids, tokens, facts, ats] = [
    written.map(({ letter }) => letter.id),
    written.map(({ letter }) => letter.sealedToken!),
    written.map(({ letter }) => JSON.stringify(letter.facts)),
    written.map(({ atMs }) => new Date(atMs).toISOString()),
  ];
  return sql`
    insert into letter (id, kind, recipient, user_id, sealed_token, facts, created_at, next_attempt_at)
      select w.id, ${kind}, c.recipient, c.id, w.token, w.facts::jsonb, w.at_time, greatest(w.at_time, clock_timestamp())
        from changed c, unnest(${ids}::text[], ${tokens}::text[], ${facts}::text[], ${ats}::text[]::timestamptz[])
             w(id, token, facts, at_time)`;
};

export function createFactorResetStore(sql: Sql): FactorResetStore {
  return {
    async ask({ id, userId, reason, askedBy, askedAtMs }, letter, audit) {
      try {
        const { count } = await sql`
          with changed as materialized (
            select u.id, u.email as recipient from console_user u
             where u.id = ${userId} and (u.totp_confirmed or exists (select from passkey p where p.user_id = u.id))
          ), asked as (
            insert into factor_reset (id, user_id, reason, status, asked_by, asked_at, link_hashes)
              select ${id}, c.id, ${reason}, 'asked', ${askedBy}, ${at(sql, askedAtMs)}, ${[letter.linkHash]}::text[] from changed c
          ), noticed as (${letters(sql, 'factor_reset_asked', [letter])})
          select ${noting(sql, audit)} as noted from changed c`;
        return count === 1 ? 'asked' : 'none';
      } catch (error) {
        if (constraintOf(error) === 'factor_reset_open') return 'open';
        throw error;
      }
    },
    async confirm({ id, by, atMs, dueAtMs }, written, audit) {
      const { count } = await sql`
        with scheduled as materialized (
          update factor_reset r set status = 'scheduled', confirmed_by = ${by}, confirmed_at = ${at(sql, atMs)},
                 due_at = ${at(sql, dueAtMs)},
                 link_hashes = r.link_hashes || ${written.map(({ linkHash }) => linkHash)}::text[]
           where r.id = ${id} and r.status = 'asked' returning r.user_id
        ), changed as materialized (
          select u.id, u.email as recipient from console_user u join scheduled s on s.user_id = u.id
        ), noticed as (${letters(sql, 'factor_reset_soon', written)})
        select ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async cancel(id, by, atMs, audit) {
      const { count } = await sql`
        with over as materialized (
          update factor_reset r set status = 'cancelled', cancelled_by = ${by}, ended_at = ${at(sql, atMs)}
           where r.id = ${id} and r.ended_at is null returning r.user_id
        ), changed as materialized (
          select u.id, u.email as recipient from console_user u join over o on o.user_id = u.id
        ), unsent as (
          delete from letter l using changed c
           where l.id = any (${lettersOf(id)}::text[]) and l.user_id = c.id and l.sent_at is null
        ), noticed as (${notice(sql, `${id}.over`, 'factor_reset_cancelled', atMs)})
        select ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async byId(id) {
      const [row] = await sql<Columns[]>`${rows(sql)} where r.id = ${id}`;
      // Whose a reset is must not rest on the driver pairing answers with questions.
      return row === undefined || row.id !== id ? null : rowOf(row);
    },
    async list(after, limit) {
      const found = await sql<Columns[]>`
        ${rows(sql)} where ${after === null ? sql`true` : sql`r.id < ${after}`} order by r.id desc limit ${limit}::int`;
      return found.map(rowOf);
    },
    async expire(askedBeforeMs, nowMs) {
      const { count } = await sql`
        update factor_reset set status = 'expired', ended_at = ${at(sql, nowMs)}
         where status = 'asked' and asked_at < ${at(sql, askedBeforeMs)}`;
      return count;
    },
    async carryOut(nowMs, letterId, audit) {
      const [row] = await sql<{ id: string }[]>`
        with due as materialized (
          select r.id from factor_reset r where r.status = 'scheduled' and r.due_at <= least(${at(sql, nowMs)}, clock_timestamp())
           order by r.due_at limit 1 for update skip locked
        ), done as materialized (
          update factor_reset r set status = 'done', ended_at = ${at(sql, nowMs)}, ended_in = pg_current_xact_id()
            from due d where r.id = d.id returning r.id, r.user_id, r.confirmed_by
        ), changed as materialized (
          update console_user u set sealed_totp_secret = null, sealed_totp_pending = null, totp_confirmed = false,
                 totp_failures = 0, totp_locked_until = null
            from done d where u.id = d.user_id returning u.id, u.email as recipient, d.id as reset, d.confirmed_by
        ), passkeys as (delete from passkey p using changed c where p.user_id = c.id),
        codes as (delete from recovery_code r using changed c where r.user_id = c.id),
        ${endings(sql, 'reset', nowMs, { but: null, hash: null })}, noticed as (${notice(sql, letterId, 'factors_reset', nowMs)})
        select c.id, record_audit_of_user(c.id, ${JSON.stringify(audit)}::text::jsonb || jsonb_build_object(
                 'actor', jsonb_build_object('kind', 'admin', 'id', c.confirmed_by), 'target', c.reset)) as noted
          from changed c`;
      return row?.id ?? null;
    },
  };
}
