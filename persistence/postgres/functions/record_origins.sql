-- Addresses that a source's keys lead to (`found`: [{key, path}]) as origins of the account's adopted addresses that
-- have none of an active source, and how many of each chain these were. What is told twice appends nothing: `active`
-- names the sources whose origins count (migration M-K3, M-K8).
create or replace function record_origins(of_account text, of_source text, active text[], found jsonb) returns jsonb
language sql security definer set search_path = flock, pg_temp as $$
  with traced as materialized (
    select a.id, a.chain, f.path
      from jsonb_to_recordset(found) f(key uuid, path text)
      cross join lateral (
        select g.address_id from address_registry g
         where g.address_key = f.key and g.account_id = of_account offset 0) g
      cross join lateral (
        select o.id, o.chain from address o
         where o.account_id = of_account and o.id = g.address_id and o.batch_id is not null
           and o.derivation_path = '[]' offset 0) a
     where not exists (select from address_origin n where n.account_id = of_account and n.address_id = a.id
              and n.key_source_id = any (active))
  ), once as (
    select distinct on (t.id) t.id, t.chain, t.path from traced t order by t.id, t.path
  ), added as (
    insert into address_origin (account_id, address_id, nth, key_source_id, path)
      select of_account, o.id,
             1 + coalesce((select max(n.nth) from address_origin n
                            where n.account_id = of_account and n.address_id = o.id), 0), of_source, o.path
        from once o
    on conflict (account_id, address_id, nth) do nothing -- another pass was first
    returning address_id
  )
  select coalesce(jsonb_object_agg(c.chain, c.count), '{}') from (
    select o.chain, count(*) as count from added n join once o on o.id = n.address_id group by o.chain) c;
$$;
grant execute on function record_origins to flock_app;
