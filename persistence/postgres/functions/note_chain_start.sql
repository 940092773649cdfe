-- The height that a ledger begins at; once it is known it only falls. Returns the one that holds.
create or replace function note_chain_start(of_ledger text, at_height bigint) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  insert into chain_start as s (ledger, since, height) values (of_ledger, clock_timestamp(), at_height)
  on conflict (ledger) do update set height = least(s.height, excluded.height)
  returning s.height;
$$;
grant execute on function note_chain_start to flock_app;
