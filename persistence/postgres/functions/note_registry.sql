-- Notes from which height a ledger is read with a version of the token registry, where an earlier one was in use
-- before. K12.
create or replace function note_registry(of_ledger text, former int, of_version int, from_height bigint) returns void
language sql set search_path = flock, pg_temp as $$
  insert into registry_start (ledger, version, height)
    select of_ledger, of_version, from_height where of_version > coalesce(former, 1)
  on conflict do nothing;
$$;
