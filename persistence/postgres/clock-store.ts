/** Clocks of sandbox accounts, over PostgreSQL. */
import type { ClockStore, DueItem } from '../../model/ports/clock-store.ts';
import type { AccountId } from '../../protocol/ids.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Sql } from './sql.ts';

export function createClockStore(sql: Sql): ClockStore {
  return {
    async due(accountId, untilMs, limit) {
      const rows = await sql<{ at: number; what: DueItem['what']; id: string; work: string }[]>`
        select * from due_in_sandbox(${accountId}, ${untilMs}::timestamptz, ${limit})`;
      return rows.map(({ at, ...rest }) => ({ atMs: at, ...rest }));
    },
    async isDelivering(accountId, untilMs) {
      const [row] = await sql<{ delivering: boolean }[]>`
        select is_delivering(${accountId}, ${untilMs}::timestamptz) as delivering`;
      return row!.delivering;
    },
    async expirePayment(accountId, paymentId, nowMs) {
      failpoint('expire_payment.before');
      const [row] = await sql<{ done: boolean }[]>`
        select expire_payment(${accountId}, ${paymentId}, ${nowMs}::timestamptz) as done`;
      failpoint('expire_payment.after');
      return row!.done;
    },
    async claim(limit) {
      const rows = await sql<{ accountId: AccountId }[]>`select * from claim_sandbox_clocks(${limit})`;
      return rows.map(({ accountId }) => accountId);
    },
  };
}
