-- A branch begins at a block that was recorded and is not orphaned. Below the first block of a ledger it begins only
-- while no link is purged, and with a block at that height or above: without one no block of the ledger would be left,
-- and the chain would stop (G17).
create or replace function check_fork(of_ledger text, fork jsonb, old_head jsonb, branch jsonb) returns void
language plpgsql as $$
declare
  fork_height bigint := (fork ->> 'height')::bigint;
  lowest bigint;
begin
  if exists (select from block_link where ledger = of_ledger and height = fork_height and hash = fork ->> 'hash'
      and not orphaned) then
    return;
  end if;
  lowest := (select height from block_link where ledger = of_ledger and not orphaned order by height limit 1);
  if fork_height < lowest and (branch -> 0 -> 'link' ->> 'height')::bigint >= lowest
     and (old_head ->> 'height')::bigint - lowest < links_kept() then return; end if;
  raise exception 'block % of % was not recorded: no branch begins there', fork ->> 'hash', of_ledger
    using errcode = 'check_violation', constraint = 'fork_was_recorded', table = 'block_link';
end $$;
