/** Origins of adopted addresses, over PostgreSQL: each write is one statement. Migration M-K2–M-K4. */
import type { OriginStore, SourcePass, Untraced } from '../../model/ports/origin-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Sources of an account, at most: each has a pass. */
const PASSES_MAX = 10_000;

export function createOriginStore(sql: Sql): OriginStore {
  return {
    async untraced(accountId, families, active) {
      const rows = await sql<Columns[]>`
        select v.* from ${asTenant(
          sql,
          accountId,
          sql`
          select a.family, count(*)::int as count, 
                 array_agg(distinct case when a.address like 'bc1%' then left(a.address, 4)
                   when a.family = 'btc' then left(a.address, 1) else '' end) as begin
            from address a
           where a.account_id = t.account and a.family = any(${[...families]}::text[]) and a.batch_id is not null
             and a.derivation_path = '[]' and not exists (
               select from address_origin o where o.account_id = a.account_id and o.address_id = a.id
                  and o.key_source_id = any(${[...active]}::text[]))
           group by a.family`,
        )}`;
      return rows.map(({ family, count, begin }) => ({ family, count, begin }) as Untraced);
    },
    async beginPass(accountId, keySourceId, checked, leaseMs) {
      const [row] = await sql<Columns[]>`
        insert into key_source_pass as p (account_id, key_source_id, state, checked, traced, worked_until, started_at)
          values (${accountId}, ${keySourceId}, 'running', ${checked}::int, 0,
                  clock_timestamp() + make_interval(secs => ${leaseMs / 1_000}), clock_timestamp())
        on conflict (account_id, key_source_id) do update
          set state = 'running', checked = excluded.checked, traced = 0, worked_until = excluded.worked_until,
              started_at = excluded.started_at
          where p.state = 'done' or p.worked_until < clock_timestamp()
        returning p.*`;
      return row === undefined ? null : passOf(row);
    },
    async recordOrigins(accountId, keySourceId, active, found, leaseMs) {
      const [row] = await sql<{ traced: number }[]>`
        with added as materialized (
          select record_origins(${accountId}, ${keySourceId}, ${[...active]}::text[],
              ${JSON.stringify(found)}::text::jsonb) as by_chain
        )
        update key_source_pass p
           set traced = least(p.checked, p.traced + coalesce(
                 (select sum(value::bigint) from added, jsonb_each_text(added.by_chain)), 0)),
               by_chain = p.by_chain || (
                 select coalesce(jsonb_object_agg(e.key, e.value::bigint
                          + coalesce((p.by_chain ->> e.key)::bigint, 0)), '{}')
                   from added, jsonb_each_text(added.by_chain) e),
               worked_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1_000})
         where p.account_id = ${accountId} and p.key_source_id = ${keySourceId}
        returning p.traced::int as traced`;
      return row!.traced;
    },
    async endPass(accountId, keySourceId) {
      const [row] = await sql<Columns[]>`
        update key_source_pass set state = 'done' where account_id = ${accountId} and key_source_id = ${keySourceId}
        returning *`;
      return passOf(row!);
    },
    async passes(accountId) {
      const rows = await sql<Columns[]>`
        select * from key_source_pass where account_id = ${accountId}
         order by account_id, key_source_id limit ${PASSES_MAX}`;
      return rows.map(passOf);
    },
  };
}

function passOf({ keySourceId, state, checked, traced, byChain }: Columns): SourcePass {
  return { keySourceId, state, checked: Number(checked), traced: Number(traced), byChain } as SourcePass;
}
