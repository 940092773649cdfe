/** What happened to one transaction, over PostgreSQL: each part by an index of its own. Console C17. */
import type {
  TimelineStore,
  PublishedStep,
  TransactionEntry,
  TransactionEvent,
} from '../../model/ports/timeline-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

type Delivery = PublishedStep['deliveries'][number];

export function createTimelineStore(sql: Sql): TimelineStore {
  return {
    async events(accountId, id, limit) {
      const rows = await sql<Columns[]>`select * from events_of_transaction(${accountId}, ${id}, ${limit})`;
      return rows.map(
        ({ version, type, txid, height, reason, recordedAt }) =>
          ({
            version: Number(version),
            type,
            txid,
            height: height === null ? null : Number(height),
            reason,
            atMs: recordedAt,
          }) as TransactionEvent,
      );
    },
    async entries(accountId, id, limit) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select e.incarnation, e.kind, e.event_id, e.recorded_at from ledger_entry e
               where e.deposit_id = ${id} and e.account_id = t.account limit ${limit}`,
        )} order by v.recorded_at, v.incarnation, v.kind`;
      return rows.map(
        ({ incarnation, kind, eventId, recordedAt }) =>
          ({ incarnation, kind, eventId, atMs: recordedAt }) as TransactionEntry,
      );
    },
    async published(accountId, eventIds, limit) {
      if (eventIds.length === 0) return [];
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`select p.event_id, p.event, p.created_at, p.seq, coalesce((
                select jsonb_agg(jsonb_build_object('id', d.id, 'webhookId', d.webhook_id, 'status', d.status, 'attempts', d.attempts,
                         'createdAtMs', floor(extract(epoch from d.created_at) * 1000)) order by d.id desc)
                  from (select x.* from delivery x where x.event_id = p.event_id and x.account_id = t.account
                         order by x.id desc limit ${limit}) d), '[]') as deliveries
               from publication p where p.account_id = t.account and p.event_id = any (${[...eventIds]}::text[])`,
        )} order by v.created_at, v.seq`;
      return rows.map(
        ({ eventId, event, createdAt, deliveries }) =>
          ({ id: eventId, event, createdAtMs: createdAt, deliveries: deliveries as Delivery[] }) as PublishedStep,
      );
    },
  };
}
