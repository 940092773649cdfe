/** Tokens of links, letters, passwords and emails of people, over PostgreSQL: each write is one statement. */
import type { NewLetter, NewToken, PeopleStore, TokenKind, TokenRow } from '../../model/ports/people-store.ts';
import type { LoginEnd } from '../../model/ports/login-store.ts';
import type { AuditNote } from '../../model/rows/audit.ts';
import { constraintOf, type Fragment, type Sql } from './sql.ts';

const at = (sql: Sql, ms: number): Fragment => sql`${ms}::timestamptz`;

/** Rows of `letter` out of a FROM clause; values are columns of it, or parameters. */
const letters = (
  sql: Sql,
  { id, kind, recipient, userId, organizationId, sealedToken, facts }: Record<keyof NewLetter, Fragment>,
  nowMs: number,
  from: Fragment,
): Fragment => sql`
  insert into letter (id, kind, recipient, user_id, organization_id, sealed_token, facts, created_at, next_attempt_at)
    select ${id}, ${kind}, ${recipient}, ${userId}, ${organizationId}, ${sealedToken}, ${facts},
           ${at(sql, nowMs)}, clock_timestamp() ${from}`;

/** A letter whose values are known. */
export const letterRow = (sql: Sql, letter: NewLetter, nowMs: number, from: Fragment = sql``): Fragment =>
  letters(
    sql,
    {
      id: sql`${letter.id}`,
      kind: sql`${letter.kind}`,
      recipient: sql`${letter.recipient}`,
      userId: sql`${letter.userId}`,
      organizationId: sql`${letter.organizationId ?? null}`,
      sealedToken: sql`${letter.sealedToken}`,
      facts: sql`${JSON.stringify(letter.facts)}::text::jsonb`,
    },
    nowMs,
    from,
  );

/** A notice to the user of a row of `changed` (id, recipient). */
export const notice = (sql: Sql, id: string, kind: string, nowMs: number, facts = sql`'{}'::jsonb`): Fragment =>
  letters(
    sql,
    {
      id: sql`${id}`,
      kind: sql`${kind}`,
      recipient: sql`c.recipient`,
      userId: sql`c.id`,
      organizationId: sql`null`,
      sealedToken: sql`null`,
      facts,
    },
    nowMs,
    sql`from changed c`,
  );

/** Spends an open token of a kind: the rows `spent`. */
const spending = (sql: Sql, hash: string, kind: TokenKind, nowMs: number): Fragment => sql`
  spent as materialized (
    update mail_token t set ended_at = ${at(sql, nowMs)}, why = 'used'
     where t.hash = ${hash} and t.kind = ${kind} and t.ended_at is null and t.expires_at > ${at(sql, nowMs)}
    returning t.hash, t.user_id, t.email
  )`;

/** Ends the other tokens and the logins of the users in `changed`; a token that takes an email back stays. */
export const endings = (
  sql: Sql,
  why: LoginEnd,
  nowMs: number,
  { but, hash }: { but: string | null; hash: string | null },
): Fragment => sql`
  revoked as (
    update mail_token t set ended_at = ${at(sql, nowMs)}, why = 'revoked' from changed c
     where t.user_id = c.id and t.ended_at is null and t.kind <> 'undo' and t.hash is distinct from ${hash}
  ), gone as materialized (
    delete from refresh_token r using login l, changed c
     where r.login_id = l.id and l.user_id = c.id and l.ended_at is null and l.id is distinct from ${but}
    returning r.family
  ), over as (
    update login l set ended_at = ${at(sql, nowMs)}, ends_at = ${at(sql, nowMs)}, why = ${why} from changed c
     where l.user_id = c.id and l.ended_at is null and l.ends_at > ${at(sql, nowMs)} and l.id is distinct from ${but}
       and (select count(*) from gone) >= 0
  )`;

/** The entry of the users in `changed`. */
export const noting = (sql: Sql, audit: AuditNote | undefined): Fragment =>
  audit === undefined ? sql`null::void` : sql`record_audit_of_user(c.id, ${JSON.stringify(audit)}::text::jsonb)`;

export function createPeopleStore(sql: Sql): PeopleStore {
  return { ...tokens(sql), ...passwords(sql), ...emails(sql) };
}

function tokens(sql: Sql): Pick<PeopleStore, 'write' | 'writeKeyLetters' | 'open' | 'token' | 'register'> {
  return {
    async write(letter, nowMs) {
      await sql`${letterRow(sql, letter, nowMs)}`;
    },
    async writeKeyLetters(nowMs) {
      const { count } = await sql`
        insert into letter (id, kind, recipient, user_id, organization_id, facts, created_at, next_attempt_at)
          select 'key_ends|' || k.id || '|' || s.days || '|' || u.id, 'key_ends', u.email, u.id, k.organization_id,
                 jsonb_build_object('label', k.label, 'prefix', k.masked_prefix, 'environment', k.environment,
                   'organization', o.name, 'endsAt', to_char(k.expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')),
                 ${at(sql, nowMs)}, clock_timestamp()
            from (values (1, 0), (7, 1)) s(days, above)
            join api_key k on k.expires_at > ${at(sql, nowMs)} + make_interval(days => s.above)
                          and k.expires_at <= ${at(sql, nowMs)} + make_interval(days => s.days)
            join organization o on o.id = k.organization_id
            join membership m on m.organization_id = k.organization_id and m.role = 'owner'
            join console_user u on u.id = m.user_id
           where k.revoked_at is null and k.expires_at is not null and k.last_used_at is not null
          on conflict (id) do nothing`;
      return count;
    },
    async open(token, letter, nowMs) {
      const { hash, kind, subject, email, userId, expiresAtMs } = token;
      try {
        await sql`
          with replaced as materialized (
            update mail_token t set ended_at = ${at(sql, nowMs)}, why = 'replaced'
             where t.kind = ${kind} and t.subject = ${subject} and t.ended_at is null
            returning t.hash
          ), opened as materialized (
            insert into mail_token (hash, kind, subject, email, user_id, created_at, expires_at)
              select ${hash}, ${kind}, ${subject}, ${email}, ${userId}, ${at(sql, nowMs)}, ${at(sql, expiresAtMs)}
               where (select count(*) from replaced) >= 0
            returning hash
          )
          ${letter === null ? sql`select hash from opened` : letterRow(sql, letter, nowMs, sql`from opened`)}`;
      } catch (error) {
        // Another request of this moment has just opened one, and its letter is on its way.
        if (constraintOf(error) !== 'mail_token_newest') throw error;
      }
    },
    async token(hash) {
      const [row] = await sql<(Omit<NewToken, 'expiresAtMs'> & { expiresAt: number; why: TokenRow['why'] })[]>`
        select hash, kind, subject, email, user_id, expires_at, why from mail_token where hash = ${hash}`;
      // Whose a token is must not rest on the driver pairing answers with questions.
      if (row === undefined || row.hash !== hash) return null;
      const { expiresAt, ...rest } = row;
      return { ...rest, expiresAtMs: expiresAt };
    },
    async register(hash, { id, passwordHash }, nowMs) {
      const [row] = await sql<{ email: string }[]>`
        with ${spending(sql, hash, 'verify', nowMs)}
        insert into console_user (id, email, password_hash) select ${id}, s.email, ${passwordHash} from spent s
        on conflict (email) do nothing returning email`;
      return row?.email ?? null;
    },
  };
}

function passwords(sql: Sql): Pick<PeopleStore, 'reset' | 'changePassword' | 'rehash' | 'suspend'> {
  return {
    async suspend(userId, suspended, nowMs, audit) {
      const since = suspended ? at(sql, nowMs) : sql`null`;
      const { count } = suspended
        ? await sql`
            with changed as materialized (
              update console_user u set suspended_at = coalesce(u.suspended_at, ${since}) where u.id = ${userId}
              returning u.id, u.email as recipient
            ), ${endings(sql, 'ended', nowMs, { but: null, hash: null })}
            select c.id, ${noting(sql, audit)} as noted from changed c`
        : await sql`
            with changed as materialized (
              update console_user u set suspended_at = null where u.id = ${userId} returning u.id
            )
            select c.id, ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async reset(hash, passwordHash, letterId, nowMs, audit) {
      const [row] = await sql<{ userId: string }[]>`
        with ${spending(sql, hash, 'reset', nowMs)}, changed as materialized (
          update console_user u set password_hash = ${passwordHash} from spent s where u.id = s.user_id
          returning u.id, u.email as recipient
        ), ${endings(sql, 'reset', nowMs, { but: null, hash })}, noticed as (${notice(sql, letterId, 'password_changed', nowMs)})
        select c.id as user_id, ${noting(sql, audit)} as noted from changed c`;
      return row === undefined ? null : { userId: row.userId };
    },
    async changePassword({ id, from, to, loginId }, letterId, nowMs, audit) {
      const { count } = await sql`
        with changed as materialized (
          update console_user u set password_hash = ${to} where u.id = ${id} and u.password_hash = ${from}
          returning u.id, u.email as recipient
        ), ${endings(sql, 'password', nowMs, { but: loginId, hash: null })}, noticed as (${notice(sql, letterId, 'password_changed', nowMs)})
        select c.id, ${noting(sql, audit)} as noted from changed c`;
      return count === 1;
    },
    async rehash(userId, from, to) {
      await sql`update console_user set password_hash = ${to} where id = ${userId} and password_hash = ${from}`;
    },
  };
}

function emails(sql: Sql): Pick<PeopleStore, 'changeEmail' | 'restoreEmail'> {
  const outcomeOf = async (statement: Promise<readonly { userId: string }[]>) => {
    try {
      const [row] = await statement;
      return row === undefined ? null : { userId: row.userId };
    } catch (error) {
      if (constraintOf(error) === 'console_user_email_once') return 'taken' as const;
      throw error;
    }
  };
  /** The user of `spent` with their new email: `changed` has whom a letter goes to. */
  const changing = (recipient: Fragment): Fragment => sql`
    before as materialized (
      select u.id, u.email, s.email as next from spent s join console_user u on u.id = s.user_id for update of u
    ), changed as materialized (
      update console_user u set email = b.next from before b where u.id = b.id
      returning u.id, b.email as former, ${recipient} as recipient
    )`;
  return {
    changeEmail: (hash, undo, nowMs, audit) =>
      outcomeOf(sql<{ userId: string }[]>`
        with ${spending(sql, hash, 'email', nowMs)}, ${changing(sql`b.email`)}, undo as (
          insert into mail_token (hash, kind, subject, email, user_id, created_at, expires_at)
            select ${undo.hash}, 'undo', ${undo.hash}, c.former, c.id, ${at(sql, nowMs)}, ${at(sql, undo.expiresAtMs)}
              from changed c
        ), noticed as (
          insert into letter (id, kind, recipient, user_id, sealed_token, facts, created_at, next_attempt_at)
            select ${undo.letterId}, 'email_changed', c.recipient, c.id, ${undo.sealed},
                   jsonb_build_object('email', s.email), ${at(sql, nowMs)}, clock_timestamp() from changed c, spent s
        )
        select c.id as user_id, ${noting(sql, audit)} as noted from changed c`),
    restoreEmail: (hash, letterId, nowMs, audit) =>
      outcomeOf(sql<{ userId: string }[]>`
        with ${spending(sql, hash, 'undo', nowMs)}, ${changing(sql`u.email`)},
             ${endings(sql, 'email', nowMs, { but: null, hash })}, noticed as (${notice(sql, letterId, 'email_restored', nowMs)})
        select c.id as user_id, ${noting(sql, audit)} as noted from changed c`),
  };
}
