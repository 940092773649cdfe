-- I8: the cursor moves from a block to its child, or with a whole branch by record_reorg.
create or replace function cursor_follows_parent() returns trigger
language plpgsql security definer set search_path = flock, pg_temp as $$
begin
  if new.ledger <> old.ledger or (current_setting('flock.reorg', true) is distinct from new.ledger and not exists (
       select 1 from block_link l where l.ledger = new.ledger and l.height = new.height and l.hash = new.hash
          and not l.orphaned and l.parent_hash = old.hash and l.parent_height = old.height)) then
    raise exception 'the cursor of % cannot move from % to %', old.ledger, old.height, new.height
      using errcode = 'check_violation', constraint = 'cursor_follows_parent', table = 'chain_cursor';
  end if;
  return new;
end $$;
