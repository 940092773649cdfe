-- When by this database's clock at the latest: a caller whose clock is ahead does not make later heads look old.
create or replace function note_head(of_ledger text, head_height bigint, seen_at timestamptz) returns void
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_head (ledger, height, at) values (of_ledger, head_height, least(seen_at, clock_timestamp()))
  on conflict (ledger) do update set height = excluded.height, at = excluded.at where chain_head.at <= excluded.at;
$$;
grant execute on function note_head to flock_app;
