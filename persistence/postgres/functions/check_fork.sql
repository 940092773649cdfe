-- A branch begins at a block that was recorded and stands, or below the first one of a ledger none of whose links is purged yet.
create or replace function check_fork(of_ledger text, fork jsonb, old_head jsonb) returns void language plpgsql as $$
declare
  fork_height bigint := (fork ->> 'height')::bigint;
  lowest bigint;
begin
  if exists (select from block_link where ledger = of_ledger and height = fork_height and hash = fork ->> 'hash' and not orphaned) then
    return;
  end if;
  lowest := (select height from block_link where ledger = of_ledger and not orphaned order by height limit 1);
  if fork_height < lowest and (old_head ->> 'height')::bigint - lowest < links_kept() then return; end if;
  raise exception 'block % of % was not recorded: no branch begins there', fork ->> 'hash', of_ledger
    using errcode = 'check_violation', constraint = 'fork_was_recorded', table = 'block_link';
end $$;
