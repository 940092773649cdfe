/** The outbox of mail. It is written by the publication's own statement: `mail_owners`. */
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { DueMail, MailStore } from '../../model/ports/mail-store.ts';
import type { DeliveryStoreOptions } from './delivery-store.ts';
import { deleteOlder } from './pages.ts';
import type { Sql } from './sql.ts';

/** A gauge that is this high says enough. */
const UNSENT_COUNTED_MAX = 10_000;

export function createMailStore(sql: Sql, { callersClock = false }: DeliveryStoreOptions = {}): MailStore {
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
    async unsent() {
      const [row] = await sql<{ count: number }[]>`
        select count(*) as count from (select from mail where sent_at is null limit ${UNSENT_COUNTED_MAX}) m`;
      return row!.count;
    },
    async purgeSent(olderThanMs) {
      return deleteOlder(sql, sql`mail`, sql`sent_at`, olderThanMs);
    },
  };
}
