/** Second factors of people, over PostgreSQL: each write is one statement. */
import type { FactorStore, Notice } from '../../model/ports/factor-store.ts';
import type { AuditNote } from '../../model/rows/audit.ts';
import { noting, notice } from './people-store.ts';
import { constraintOf, type Fragment, type Sql } from './sql.ts';

export function createFactorStore(sql: Sql): FactorStore {
  const writing = ({ letterId, nowMs }: Notice, kind: string, facts?: Fragment): Fragment =>
    notice(sql, letterId, kind, nowMs, facts);
  return {
    async spendRecoveryCode(userId, hash, letter) {
      const [row] = await sql<{ outcome: 'spent' | 'used' | 'unknown' | 'locked' }[]>`
        with who as materialized (
          select u.id, u.email, coalesce(u.totp_locked_until > ${letter.nowMs}::timestamptz, false) as locked
            from console_user u where u.id = ${userId} for update
        ), spent as materialized (
          update recovery_code r set used_at = ${letter.nowMs}::timestamptz from who w
           where r.user_id = w.id and r.hash = ${hash} and r.used_at is null and not w.locked
          returning r.user_id
        ), changed as materialized (
          update console_user u set totp_failures = 0 from spent s, who w where u.id = s.user_id and w.id = u.id
          returning u.id, w.email as recipient,
                    (select count(*) - 1 from recovery_code l where l.user_id = u.id and l.used_at is null) as left
        ), noticed as (${writing(letter, 'recovery_code_used', sql`jsonb_build_object('left', c.left::text)`)})
        select case when (select locked from who) then 'locked'
                    when exists (select from spent) then 'spent'
                    when exists (select from recovery_code r where r.user_id = ${userId} and r.hash = ${hash}) then 'used'
                    else 'unknown' end as outcome`;
      return row!.outcome;
    },
    async replaceRecoveryCodes(userId, hashes, letter, audit) {
      const { count } = await sql`
        with changed as materialized (
          select u.id, u.email as recipient from console_user u where u.id = ${userId}
             and (u.totp_confirmed or exists (select from passkey p where p.user_id = u.id)) for update
        ), gone as materialized (
          delete from recovery_code r using changed c where r.user_id = c.id returning r.hash
        ), made as (
          insert into recovery_code (user_id, hash) select c.id, h from changed c, unnest(${[...hashes]}::text[]) h
           where (select count(*) from gone) >= 0
        ), noticed as (${writing(letter, 'recovery_codes_made')})
        select c.id, ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async recoveryCodesLeft(userId) {
      const [row] = await sql<{ left: number }[]>`
        select count(*)::int as left from recovery_code where user_id = ${userId} and used_at is null`;
      return row!.left;
    },
    async disableTotp(userId, letter, audit) {
      const disabling = sql<{ outcome: 'done' | 'required' | 'none' }[]>`
        with who as materialized (
          select u.id, u.email, u.totp_confirmed as confirmed, exists (select from passkey p where p.user_id = u.id) as other,
                 must_keep_factor(u.id) as required
            from console_user u where u.id = ${userId} for update
        ), changed as materialized (
          update console_user u set sealed_totp_secret = null, sealed_totp_pending = null, totp_confirmed = false
            from who w where u.id = w.id and w.confirmed and (w.other or not w.required)
          returning u.id, w.email as recipient, w.other
        ), gone as (
          delete from recovery_code r using changed c where r.user_id = c.id and not c.other
        ), noticed as (${writing(letter, 'factor_removed')})
        select case when exists (select from changed) then 'done' when w.confirmed then 'required' else 'none' end as outcome,
               (select ${noted(sql, audit)} from changed c) as noted
          from who w`;
      return unlessLast(disabling);
    },
  };
}

/** What became of a factor that was to be taken away; `required` also where another request took the other one. */
export async function unlessLast<T extends string>(
  statement: Promise<readonly { readonly outcome: T }[]>,
): Promise<T | 'required' | 'break_glass' | 'none'> {
  try {
    return (await statement)[0]?.outcome ?? 'none';
  } catch (error) {
    if (constraintOf(error) === 'factor_kept') return 'required';
    if (constraintOf(error) === 'break_glass_kept') return 'break_glass';
    throw error;
  }
}

/** The entry as text, so that it may be a value. */
const noted = (sql: Sql, audit: AuditNote | undefined): Fragment => sql`(${noting(sql, audit)})::text`;
