-- A page of a walk over the issued indexes of a family, from `from_index` on: how many rows it has, its last index, the
-- last used one, the longest run of unused ones before a used one, and the longest were its end that of all (`run`). An
-- index is used while a deposit on one of its rows stands: what a reorg took back is in no wallet. `before` is the last
-- used one of earlier pages. Another phrase begins at each of `bounds`: to it everything below is unused. An index with
-- several rows may be cut by the end of a page, so the next one begins at the last index again, which changes nothing.
-- Runs as its caller, in its tenant.
create or replace function run_of_indexes(of_account text, of_family text, from_index bigint, before bigint,
    bounds bigint[], most int)
returns table (seen bigint, last_issued bigint, last_used bigint, longest bigint, run bigint)
language sql stable set search_path = flock, pg_temp set enable_bitmapscan = off as $$
  with page as materialized (
    select a.id, a.index from address a
     where a.account_id = of_account and a.family = of_family and a.index is not null and a.index >= from_index
     order by a.account_id, a.family, a.index, a.chain limit most
  ), used as (
    select distinct p.index from page p
     -- The address twice and no bitmaps: with no statistics the planner would read the index of the account beside
     -- that of the address, and an account has millions of deposits.
     where (select d.id from deposit d
             where d.address_id = p.id and d.address_id >= p.id and d.account_id = of_account
               and d.status <> 'reversed' limit 1) is not null
  ), step as (
    select u.index, lag(u.index, 1, before) over (order by u.index) as earlier from used u
  ), found as (
    select (select count(*) from page) as seen, (select max(p.index) from page p) as last_issued,
           coalesce((select max(u.index) from used u), before) as last_used,
           coalesce((select max(unused_between(s.earlier, s.index, bounds)) from step s), 0) as longest
  )
  select f.seen, f.last_issued, f.last_used, f.longest,
         greatest(f.longest, unused_between(f.last_used, f.last_issued + 1,
           array(select b.at from unnest(bounds) b(at) where b.at <= f.last_issued)))
    from found f
$$;
grant execute on function run_of_indexes to flock_app;
