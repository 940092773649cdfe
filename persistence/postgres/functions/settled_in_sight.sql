-- Withdrawals of a ledger that are confirmed or failed in a block at or above a height, where a branch may still take
-- it: the next `most` behind a place, by height.
create or replace function settled_in_sight(of_ledger text, since_height bigint, after_height bigint,
                                            after_account text, after_id text, most int)
returns setof withdrawal language sql stable security definer set search_path = flock, pg_temp
set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off as $$
  select w.* from withdrawal w
   where w.ledger = of_ledger and w.status in ('confirmed', 'failed')
     and w.height >= greatest(since_height, after_height)
     and (w.height, w.account_id, w.id) > (after_height, after_account, after_id) and jsonb_array_length(w.versions) > 0
   order by w.height, w.account_id, w.id limit most;
$$;
grant execute on function settled_in_sight to flock_app;
