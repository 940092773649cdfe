/** The outbox of mail. It is written by the publication's own statement: `mail_owners`. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { DueLetter, DueMail, MailStore } from '../../model/ports/mail-store.ts';
import type { DeliveryStoreOptions } from './delivery-store.ts';
import { deleteOlder } from './pages.ts';
import type { Sql } from './sql.ts';

/** A gauge that is this high says enough. */
const UNSENT_COUNTED_MAX = 10_000;

export function createMailStore(
  sql: Sql,
  { callersClock = false }: Pick<DeliveryStoreOptions, 'callersClock'> = {},
): MailStore {
  const now = (nowMs: number) => (callersClock ? sql`${nowMs}::timestamptz` : sql`clock_timestamp()`);
  return {
    async claimDue(limit, nowMs, claimMs) {
      const rows = await sql<DueMail[]>`
        select * from claim_mail(${now(nowMs)}, ${now(nowMs)} + ${claimMs}::int * interval '1 millisecond', ${limit})`;
      return rows.map((row) => ({ ...row }));
    },
    async record({ eventId, userId }, { atMs, againAtMs, error }) {
      failpoint('record_mail.before');
      await sql`select record_mail(${eventId}, ${userId}, ${atMs}::timestamptz, ${againAtMs}::timestamptz, ${error})`;
    },
    async claimLetters(limit, nowMs, claimMs) {
      const rows = await sql<DueLetter[]>`
        with due as materialized (
          select l.id from letter l
           where l.sent_at is null and l.next_attempt_at <= ${now(nowMs)}
             and (l.claimed_until is null or l.claimed_until <= ${now(nowMs)})
           order by l.next_attempt_at, l.id limit ${limit} for update skip locked
        )
        update letter l set claimed_until = ${now(nowMs)} + ${claimMs}::int * interval '1 millisecond'
          from due d where l.id = d.id
        returning l.id, l.kind, l.recipient, l.sealed_token, l.facts, l.attempts`;
      return rows.map((row) => ({ ...row }));
    },
    async recordLetter(id, { atMs, againAtMs, error }) {
      await sql`
        update letter set attempts = attempts + 1, claimed_until = null, last_error = ${error},
               next_attempt_at = ${againAtMs}::timestamptz,
               sent_at = case when ${againAtMs}::timestamptz is null then ${atMs}::timestamptz end,
               sealed_token = case when ${againAtMs}::timestamptz is not null then sealed_token end
         where id = ${id} and sent_at is null`;
    },
    async unsent() {
      const [row] = await sql<{ count: number }[]>`
        select count(*) as count from (
          (select from mail where sent_at is null limit ${UNSENT_COUNTED_MAX}) union all
          (select from (select created_at from letter where sent_at is null limit ${UNSENT_COUNTED_MAX}) l
            where l.created_at <= clock_timestamp())) m`; // those of the days to come are not late
      return row!.count;
    },
    async purgeSent(olderThanMs) {
      const [mails, letters, tokens, invitations] = [
        await deleteOlder(sql, sql`mail`, sql`sent_at`, olderThanMs),
        await deleteOlder(sql, sql`letter`, sql`sent_at`, olderThanMs),
        await deleteOlder(sql, sql`mail_token`, sql`expires_at`, olderThanMs),
        await deleteOlder(sql, sql`invitation`, sql`expires_at`, olderThanMs),
      ];
      return mails + letters + tokens + invitations;
    },
  };
}
