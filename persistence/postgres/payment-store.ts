/** Payments and links by the clock, over PostgreSQL. */
import type { PaymentStore } from '../../model/ports/payment-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Sql } from './sql.ts';

export function createPaymentStore(sql: Sql): PaymentStore {
  return {
    async expire(nowMs, limit) {
      failpoint('expire_payments.before');
      const [row] = await sql<{ expired: number }[]>`
        select expire_payments(${nowMs}::timestamptz, ${limit}) as expired`;
      failpoint('expire_payments.after');
      return row!.expired;
    },
    async due(nowMs, limit) {
      const rows = await sql<{ accountId: AccountId; id: string }[]>`
        select account_id, id from links_due(${nowMs}::timestamptz, ${limit})`;
      return rows.map(({ accountId, id }) => ({ accountId, id }));
    },
    async monitored(nowMs, limit) {
      const rows = await sql<{ accountId: AccountId; id: string }[]>`
        select account_id, id from links_monitored(${nowMs}::timestamptz, ${limit})`;
      return rows.map(({ accountId, id }) => ({ accountId, id }));
    },
    async retired(limit) {
      const rows = await sql<{ accountId: AccountId; id: string }[]>`
        select account_id, id from links_retired(${limit})`;
      return rows.map(({ accountId, id }) => ({ accountId, id }));
    },
    async erase(beforeMs, limit) {
      failpoint('erase_payers.before');
      const [row] = await sql<{ erased: number }[]>`
        select erase_payers(${beforeMs}::timestamptz, ${limit}) as erased`;
      failpoint('erase_payers.after');
      return row!.erased;
    },
    async release(accountId, linkId, nowMs) {
      failpoint('release_link.before');
      const [row] = await sql<{ done: boolean }[]>`
        select release_link(${accountId}, ${linkId}, ${nowMs}::timestamptz) as done`;
      failpoint('release_link.after');
      return row!.done;
    },
  };
}
