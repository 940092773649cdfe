-- Withdrawals of a ledger that failed because every node refused them, and of which nothing proves that they cannot
-- land: the next `most` behind a place.
create or replace function refused_in_sight(of_ledger text, after_account text, after_id text, most int)
returns setof withdrawal language sql stable security definer set search_path = flock, pg_temp
set enable_sort = off set enable_bitmapscan = off set enable_seqscan = off as $$
  select w.* from withdrawal w
   where w.ledger = of_ledger and w.status = 'failed' and w.height is null
     and w.versions @> '[{"watched": true}]' and (w.account_id, w.id) > (after_account, after_id)
   order by w.account_id, w.id limit most;
$$;
grant execute on function refused_in_sight to flock_app;
