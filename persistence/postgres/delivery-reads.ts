/** Deliveries with their attempts, as customers list them. */
import { newId } from '../../protocol/node/ids.ts';
import { DELIVERY_STATUSES, EVENTS } from '../../protocol/slugs.ts';
import type { DeliveryView, ReadStore } from '../../model/ports/read-store.ts';
import type { Lists } from './list-pool.ts';
import { listPage, pairsOf, type Source } from './list.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { oneOf } from './tenant.ts';

function viewOf(row: Columns): DeliveryView {
  return {
    id: row.id,
    eventId: row.eventId,
    event: row.event,
    webhookId: row.webhookId,
    url: row.url,
    replay: row.replay,
    status: row.status,
    heldReason: row.heldReason,
    eventAtMs: row.eventAt,
    nextAttemptAtMs: row.nextAttemptAt,
    createdAtMs: row.createdAt,
    attempts: row.tries,
  } as DeliveryView;
}

const columns = (sql: Sql) => sql`
  d.id, d.event_id, d.event, d.webhook_id, w.url, d.replay, d.status,
  case when d.status = 'held' then case w.status when 'enabled' then coalesce(d.held_reason, case when d.held_for is not null then 'project_in_observe' end) else 'endpoint_' || w.status end end as held_reason,
  d.next_attempt_at, d.created_at, p.created_at as event_at,
  coalesce((select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'statusCode', a.status_code, 'durationMs', a.duration_ms,
              'error', a.error, 'atMs', floor(extract(epoch from a.attempted_at) * 1000)) order by a.attempt)
              from attempt a where a.delivery_id = d.id), '[]') as tries`;

const joined = (sql: Sql) => sql`
  join publication p on p.account_id = d.account_id and p.event_id = d.event_id
  join webhook w on w.account_id = d.account_id and w.id = d.webhook_id`;

/** An id is made with its row, or a moment before: a range of instants is a range of ids with room on both sides. */
const ID_SLACK_MS = 3_600_000;

const firstIdOf = (atMs: number): string => newId('dlv', Math.max(0, atMs), new Uint8Array(10));

type Filter = Parameters<ReadStore['deliveries']>[1];

function sourceOf(sql: Sql, { webhookId, status, event, eventId, fromMs, toMs }: Filter): Source {
  const bounds = sql`
    ${
      fromMs === undefined
        ? sql``
        : sql`
      and x.created_at >= ${fromMs}::timestamptz and x.id >= ${firstIdOf(fromMs - ID_SLACK_MS)}`
    }
    ${
      toMs === undefined
        ? sql``
        : sql`
      and x.created_at < ${toMs}::timestamptz and x.id < ${firstIdOf(toMs + ID_SLACK_MS)}`
    }`;
  const from = sql`from delivery x where x.account_id = t.account ${bounds}`;
  // The deliveries of one event are few: fenced off, so that no order of the list is read through for them.
  if (eventId !== undefined) {
    const ofEvent = sql`from (select d.* from delivery d where d.event_id = ${eventId} and d.account_id = t.account offset 0) x where true ${bounds}`;
    return { pairs: [['', '']], range: () => ofEvent };
  }
  if (webhookId === undefined && status === undefined && event === undefined)
    return { pairs: [['', '']], range: () => from };
  const own = webhookId === undefined ? sql`` : sql`and x.webhook_id = ${webhookId}`;
  return {
    pairs: pairsOf(status ?? DELIVERY_STATUSES, event ?? EVENTS),
    range: (state, name) => sql`${from} ${own} and x.status = ${state} and x.event = ${name}`,
  };
}

/** The part of `ReadStore` about deliveries; lists over a pool of their own. */
export function deliveryReads(sql: Sql, lists: Lists): Pick<ReadStore, 'deliveries' | 'delivery'> {
  return {
    async deliveries(accountId, filter, page) {
      return listPage(
        lists,
        accountId,
        {
          list: 'deliveries',
          order: 'id',
          sources: [sourceOf(lists.sql, filter)],
          shape: viewOf,
          kept: Object.values(filter).every((value) => value === undefined) ? ['delivery'] : null,
          rows: (keys) => lists.sql`
          with k as materialized (${keys})
          select ${columns(lists.sql)}, null::timestamptz as key_time, k.id as key_id
            from k join delivery d on d.id = k.id and d.account_id = t.account ${joined(lists.sql)}`,
        },
        page,
      );
    },
    async delivery(accountId, id) {
      return oneOf(
        sql,
        accountId,
        sql`
        select ${columns(sql)} from delivery d ${joined(sql)} where d.account_id = t.account and d.id = ${id}`,
        viewOf,
      );
    },
  };
}
