-- A first answer that names something dead is not given again; one that took its place meanwhile stays.
create or replace function forget_idempotent(of_account text, of_method text, of_path text, of_key text, dead_id text)
returns void
language sql security definer set search_path = flock, pg_temp as $$
  delete from idempotency i
   where i.account_id = of_account and i.method = of_method and i.path = of_path and i.key = of_key
     and i.body ->> 'id' = dead_id;
$$;
grant execute on function forget_idempotent to flock_app;
