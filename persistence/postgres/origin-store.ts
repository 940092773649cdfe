/** Origins of adopted addresses, over PostgreSQL: each write is one statement. Migration M-K2–M-K4. */
import type { OriginStore, SourcePass } from '../../model/ports/origin-store.ts';
import type { Columns } from './row-shapes.ts';
import type { Sql } from './sql.ts';
import { asTenant } from './tenant.ts';

/** Sources of an account, at most: each has a pass. */
const PASSES_MAX = 10_000;
/** Addresses that one statement counts, however many millions an account adopted. */
const UNTRACED_PAGE = 2_000;

export function createOriginStore(sql: Sql): OriginStore {
  return {
    async beginPass(accountId, keySourceId, leaseMs) {
      const [row] = await sql<Columns[]>`
        insert into key_source_pass as p (account_id, key_source_id, state, checked, traced, worked_until, started_at)
          values (${accountId}, ${keySourceId}, 'running', 0, 0,
                  clock_timestamp() + make_interval(secs => ${leaseMs / 1_000}), clock_timestamp())
        on conflict (account_id, key_source_id) do update
          set state = 'running', checked = 0, traced = 0, worked_until = excluded.worked_until,
              started_at = excluded.started_at
          where p.state = 'done' or p.worked_until < clock_timestamp()
        returning p.*`;
      return row === undefined ? null : passOf(row);
    },
    async countUntraced(accountId, keySourceId, active, { family, after }, leaseMs) {
      // The range of one family, in the order of its index alone: no other one can come first to the page.
      const [row] = await sql<{ checked: number; looked: number; last: string | null; begin: string[] | null }[]>`
        with looked as materialized (
          select v.* from ${asTenant(
            sql,
            accountId,
            sql`
            select a.id, a.address, (select true from address_origin o
                     where o.account_id = t.account and o.address_id = a.id and o.key_source_id = any(${[...active]}::text[])
                     limit 1) as traced
              from address a
             where a.account_id = t.account and a.batch_id is not null and a.derivation_path = '[]'
               and (a.family, a.id) > (${family}, ${after}) and a.family <= ${family}
             order by a.family, a.id limit ${UNTRACED_PAGE}`,
          )}
        ), untraced as (
          select l.address from looked l where l.traced is null
        ), noted as (
          update key_source_pass p set checked = p.checked + (select count(*) from untraced),
                 worked_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1_000})
           where p.account_id = ${accountId} and p.key_source_id = ${keySourceId}
          returning p.checked
        )
        select (select n.checked::int from noted n) as checked, (select count(*)::int from looked) as looked, (select max(l.id) from looked l) as last,
               (select array_agg(distinct case when u.address like 'bc1%' then left(u.address, 4)
                         when ${family} = 'btc' then left(u.address, 1) else '' end) from untraced u) as begin`;
      const { checked, looked, last, begin } = row!;
      return { next: looked < UNTRACED_PAGE ? null : last, checked, begin: begin ?? [] };
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
