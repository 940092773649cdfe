-- From when this installation has run a chain; the first call counts. I8.
create or replace function begin_chain(of_ledger text, at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_start (ledger, since) values (of_ledger, at) on conflict do nothing;
$$;
grant execute on function begin_chain to flock_app;
