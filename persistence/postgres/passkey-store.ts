/** Passkeys of people and their challenges, over PostgreSQL: each write is one statement. */
import type { ChallengeFor, PasskeyRow, PasskeyStore } from '../../model/ports/passkey-store.ts';
import { unlessLast } from './factor-store.ts';
import { noting, notice } from './people-store.ts';
import { constraintOf, type Sql } from './sql.ts';

type Stored = Omit<PasskeyRow, 'createdAtMs' | 'lastUsedAtMs'> & { createdAt: number; lastUsedAt: number | null };

const rowOf = ({ createdAt, lastUsedAt, ...row }: Stored): PasskeyRow => ({
  ...row,
  createdAtMs: createdAt,
  lastUsedAtMs: lastUsedAt,
});

export function createPasskeyStore(sql: Sql): PasskeyStore {
  return { ...challenges(sql), ...keys(sql) };
}

function challenges(sql: Sql): Pick<PasskeyStore, 'openChallenge' | 'spendChallenge' | 'purgeChallenges'> {
  return {
    async openChallenge(hash, { purpose, userId, loginId, boundTo }: ChallengeFor, expiresAtMs) {
      await sql`
        insert into passkey_challenge (hash, purpose, user_id, login_id, bound_to, expires_at)
          values (${hash}, ${purpose}, ${userId}, ${loginId}, ${boundTo}, ${expiresAtMs}::timestamptz)`;
    },
    async spendChallenge(hash, { purpose, userId, loginId, boundTo }, nowMs) {
      const [row] = await sql<{ fits: boolean }[]>`
        delete from passkey_challenge where hash = ${hash}
        returning purpose = ${purpose} and user_id is not distinct from ${userId} and login_id is not distinct from ${loginId}
              and bound_to is not distinct from ${boundTo} and expires_at > ${nowMs}::timestamptz as fits`;
      return row?.fits === true;
    },
    async purgeChallenges(nowMs) {
      const { count } = await sql`
        delete from passkey_challenge where hash in (
          select c.hash from passkey_challenge c where c.expires_at <= ${nowMs}::timestamptz order by c.expires_at limit 10000)`;
      return count;
    },
  };
}

function keys(sql: Sql): Pick<PasskeyStore, 'passkeys' | 'byCredential' | 'add' | 'noteUse' | 'remove'> {
  const columns = sql`id, user_id, credential, public_key, counter, name, created_at, last_used_at`;
  return {
    async passkeys(userId) {
      const rows = await sql<Stored[]>`
        select ${columns} from passkey where user_id = ${userId} order by created_at, id limit 20`;
      return rows.map(rowOf);
    },
    async byCredential(credential) {
      const [row] = await sql<Stored[]>`select ${columns} from passkey where credential = ${credential}`;
      // Who somebody is must not rest on the driver pairing answers with questions.
      return row === undefined || row.credential !== credential ? null : rowOf(row);
    },
    async add({ id, userId, credential, publicKey, counter, name, createdAtMs }, { letterId, nowMs }, audit) {
      try {
        await sql`
          with added as materialized (
            insert into passkey (id, user_id, credential, public_key, counter, name, created_at)
              values (${id}, ${userId}, ${credential}, ${publicKey}, ${counter}, ${name}, ${createdAtMs}::timestamptz)
            returning user_id
          ), changed as materialized (
            select u.id, u.email as recipient from console_user u join added a on a.user_id = u.id
          ), noticed as (${notice(sql, letterId, 'passkey_added', nowMs)})
          select c.id, ${noting(sql, audit)} as noted from changed c`;
        return 'done';
      } catch (error) {
        if (constraintOf(error) === 'passkey_limit') return 'limit';
        if (constraintOf(error) === 'passkey_credential_once') return 'known';
        throw error;
      }
    },
    async noteUse(id, counter, nowMs, ofStandingCounter) {
      await sql`
        with before as materialized (
          select p.id, p.user_id, p.counter from passkey p where p.id = ${id} for update
        ), used as materialized (
          update passkey p set counter = greatest(p.counter, ${counter}), last_used_at = ${nowMs}::timestamptz
            from before b where p.id = b.id
          returning b.user_id as id, b.counter
        )
        select case when c.counter > 0 and c.counter >= ${counter} then ${noting(sql, ofStandingCounter)} end as noted
          from used c`;
    },
    async remove(userId, id, { letterId, nowMs }, audit) {
      const removing = sql<{ outcome: 'done' | 'required' | 'none' }[]>`
        with who as materialized (
          select u.id, u.email, u.totp_confirmed as totp from console_user u where u.id = ${userId} for update
        ), gone as materialized (
          delete from passkey p using who w
           where p.id = ${id} and p.user_id = w.id
             and (w.totp or not must_keep_factor(w.id)
                  or exists (select from passkey o where o.user_id = w.id and o.id <> p.id))
          returning p.user_id
        ), changed as materialized (
          select w.id, w.email as recipient from who w join gone g on g.user_id = w.id
        ), noticed as (${notice(sql, letterId, 'passkey_removed', nowMs)})
        select case when exists (select from gone) then 'done'
                    when exists (select from passkey p where p.id = ${id} and p.user_id = ${userId}) then 'required'
                    else 'none' end as outcome,
               (select (${noting(sql, audit)})::text from changed c) as noted
          from who w`;
      return unlessLast(removing);
    },
  };
}
