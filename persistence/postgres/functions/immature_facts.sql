-- In the order in which they became due: after an outage far more are due than one look takes, and only those are read.
create or replace function immature_facts(of_ledger text, head_height bigint, most int) returns setof jsonb
language sql stable security definer set search_path = flock, pg_temp set enable_bitmapscan = off as $$
  select transfer from fact where ledger = of_ledger and status = 'seen' and matures_at <= head_height
   order by matures_at, height, txid, output_index limit most;
$$;
grant execute on function immature_facts to flock_app;
