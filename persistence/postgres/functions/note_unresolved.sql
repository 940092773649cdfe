-- One more try of a height whose content is not proven yet, and why it failed. The height stays unresolved.
create or replace function note_unresolved(of_ledger text, at_height bigint, why text) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update unresolved_height set tries = tries + 1, reason = why where ledger = of_ledger and height = at_height;
$$;
grant execute on function note_unresolved to flock_app;
