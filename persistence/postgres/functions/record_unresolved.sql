-- A height whose content is not proven: its header advances, its content is tried until resolve_height.
create or replace function record_unresolved(of_ledger text, link jsonb, why text) returns void
language sql set search_path = flock, pg_temp as $$
  insert into unresolved_height (ledger, height, hash, reason)
    values (of_ledger, (link ->> 'height')::bigint, link ->> 'hash', why)
  on conflict (ledger, height) do update
    set hash = excluded.hash, reason = excluded.reason, tries = unresolved_height.tries + 1;
$$;
