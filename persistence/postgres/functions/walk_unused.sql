-- One bounded step of the walk over issued indexes (payments S18), of the first account behind `after` that has any:
-- a page of each family that was not counted since `begun`. Answers the account, and whether pages of it are left; no
-- row with no account left. A family that somebody else walks meanwhile is left to him.
create or replace function walk_unused(after text, most int, begun timestamptz)
returns table (account_id text, is_left boolean)
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  of_account text;
  kind text;
  walk unused_run;
  page record;
  bounds bigint[];
begin
  of_account := (select n.account_id from account n
    where n.account_id > after
      and (select a.id from address a where a.account_id = n.account_id and a.index is not null limit 1) is not null
    order by n.account_id limit 1);
  if of_account is null then return; end if;
  insert into unused_run as r (account_id, family)
    select of_account, f.family from unnest('{btc,evm,tron,sol,xrp,xlm}'::text[]) f(family)
     where (select a.id from address a where a.account_id = of_account and a.family = f.family and a.index is not null
             limit 1) is not null
  on conflict on constraint unused_run_once do nothing;
  account_id := of_account;
  is_left := false;
  for walk in
    select r.* from unused_run r
     where r.account_id = of_account and (r.counted_at is null or r.counted_at < begun)
     order by r.family for update skip locked
  loop
    bounds := array(
      select (i -> 'next' ->> walk.family)::bigint
        from account n cross join jsonb_array_elements(n.state -> 'retired') i
       where n.account_id = of_account and i -> 'next' ? walk.family);
    select * into page
      from run_of_indexes(of_account, walk.family, walk.next_index, walk.last_used, bounds, most);
    walk.longest := greatest(walk.longest, page.longest);
    if page.seen = most then
      update unused_run r set next_index = page.last_issued, last_used = page.last_used, longest = walk.longest
       where r.account_id = of_account and r.family = walk.family;
      is_left := true;
    else
      update unused_run r set next_index = 0, last_used = -1, longest = 0, counted_at = now(),
             run = greatest(walk.longest, page.run)
       where r.account_id = of_account and r.family = walk.family;
    end if;
  end loop;
  return next;
end $$;
grant execute on function walk_unused to flock_app;
