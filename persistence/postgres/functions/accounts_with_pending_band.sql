-- Accounts whose smaller band begins. Spec §3.8: "Downgrade: at period end".
create or replace function accounts_with_pending_band(now_at timestamptz, after text, wanted int)
returns table (account_id text)
language sql stable security definer set search_path = flock, pg_temp as $$
  select a.account_id from account a
   where a.account_id > after and a.pending_band_at is not null
     and a.pending_band_at <= floor(extract(epoch from now_at) * 1000)
   order by a.account_id limit wanted;
$$;
grant execute on function accounts_with_pending_band to flock_app;
