/** Deliveries with their attempts, as customers list them. */
import type { DeliveryView, ReadStore } from '../ports.ts';
import type { Columns } from './row-shapes.ts';
import type { Fragment, Sql } from './sql.ts';
import { oneOf, pageRows } from './tenant.ts';

function viewOf(row: Columns): DeliveryView {
  return {
    id: row.id, eventId: row.eventId, event: row.event, webhookId: row.webhookId, url: row.url, replay: row.replay, status: row.status,
    heldReason: row.heldReason, eventAtMs: row.eventAt, nextAttemptAtMs: row.nextAttemptAt, createdAtMs: row.createdAt, attempts: row.tries,
  } as DeliveryView;
}

const matching = (sql: Sql, where: Fragment) => sql`
  select d.id, d.event_id, p.event, d.webhook_id, w.url, d.replay, d.status,
         case when d.status = 'held' then case w.status when 'enabled' then d.held_reason else 'endpoint_' || w.status end end as held_reason,
         d.next_attempt_at, d.created_at, p.created_at as event_at,
         coalesce((select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'statusCode', a.status_code, 'durationMs', a.duration_ms,
                     'error', a.error, 'atMs', floor(extract(epoch from a.attempted_at) * 1000)) order by a.attempt)
                     from attempt a where a.delivery_id = d.id), '[]') as tries
    from delivery d
    join publication p on p.account_id = d.account_id and p.event_id = d.event_id
    join webhook w on w.account_id = d.account_id and w.id = d.webhook_id
   where d.account_id = t.account ${where}`;

/** The part of `ReadStore` about deliveries. */
export function deliveryReads(sql: Sql): Pick<ReadStore, 'deliveries' | 'delivery'> {
  return {
    async deliveries(accountId, { webhookId, status, event, eventId, fromMs, toMs }, page) {
      const where = sql`
        ${webhookId === undefined ? sql`` : sql`and d.webhook_id = ${webhookId}`} ${status === undefined ? sql`` : sql`and d.status = ${status}`}
        ${event === undefined ? sql`` : sql`and p.event = ${event}`} ${eventId === undefined ? sql`` : sql`and d.event_id = ${eventId}`}
        ${fromMs === undefined ? sql`` : sql`and d.created_at >= ${fromMs}::timestamptz`}
        ${toMs === undefined ? sql`` : sql`and d.created_at < ${toMs}::timestamptz`}`;
      return pageRows(sql, accountId, { matching: matching(sql, where), order: sql`id desc` }, page, viewOf);
    },
    async delivery(accountId, id) {
      return oneOf(sql, accountId, matching(sql, sql`and d.id = ${id}`), viewOf);
    },
  };
}
