-- done ──▶ unresolved, because something in the height is not proven after all; its facts stay as they are.
create or replace function reopen_height(of_ledger text, at_height bigint, at_hash text, why text) returns void
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  -- The cursor's row orders this against record_reorg and resolve_height of the same ledger.
  perform 1 from chain_cursor where ledger = of_ledger for update;
  insert into unresolved_height (ledger, height, hash, reason)
    select l.ledger, l.height, l.hash, why from block_link l
     where l.ledger = of_ledger and l.height = at_height and l.hash = at_hash and not l.orphaned
  on conflict do nothing;
end $$;
grant execute on function reopen_height to flock_app;
