/** Wipes over PostgreSQL; their rows are written with the append that decides (append_wipes). */
import type { WipeRow, WipeStore } from '../../model/ports/wipe-store.ts';
import { failpoint } from '../../protocol/node/failpoint.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

export function createWipeStore(sql: Sql): WipeStore {
  return {
    newest: (accountId) =>
      oneOf(sql, accountId, sql`select * from wipe where account_id = t.account order by id desc limit 1`, wipeOf),
    async due(nowMs, after, limit) {
      const rows = await sql<Columns[]>`
        select * from due_wipes(${nowMs}::timestamptz, ${after}, ${limit})`;
      return rows.map(({ accountId, status, scheduledFor }) => ({ accountId, status, forMs: scheduledFor })) as never;
    },
    async step(accountId, rows) {
      const [row] = await sql<{ more: boolean | null }[]>`select wipe_step(${accountId}, ${rows}) as more`;
      failpoint('wipe.stepped');
      return row!.more;
    },
    async writeLetters(nowMs) {
      const [row] = await sql<{ written: number }[]>`
        select write_wipe_letters(${nowMs}::timestamptz) as written`;
      return row!.written;
    },
  };
}

function wipeOf(row: Columns): WipeRow {
  const sums = Object.entries(row.holdings as Record<string, string>);
  return {
    id: row.id,
    accountId: row.accountId,
    status: row.status,
    userId: row.userId,
    askedAtMs: row.askedAt,
    forMs: row.scheduledFor,
    beganAtMs: row.beganAt,
    endedAtMs: row.endedAt,
    step: row.status === 'running' ? row.step : null,
    addresses: Number(row.addresses),
    holdings: row.counted
      ? sums
          .filter(([, amount]) => amount !== '0')
          .sort()
          .map(([name, amount]) => {
            const [chain, token] = name.split(' ');
            return { chain, token: token === '' ? null : token, amount };
          })
      : null,
  } as WipeRow;
}
