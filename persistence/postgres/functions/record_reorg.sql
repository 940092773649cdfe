-- Replaces the branch above a fork point by a new one, which was read up to the old head first (decisions 5).
--   block    followed ──▶ orphaned; those of the new branch are followed, or unresolved
--   fact     seen | matured ──▶ displaced ──in the new branch──▶ where it was      displaced ──absent──▶ orphaned
-- While a block of the new branch is unproven, none of the facts that it replaced is known to be absent: they stay
-- displaced until settle_displaced. Returns null when the cursor is no longer at `old_head`, or blocks are read with a
-- later version of the token registry than these were, else the accounts touched.
create or replace function record_reorg(of_ledger text, fork jsonb, old_head jsonb, branch jsonb) returns text[]
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  fork_height bigint := (fork ->> 'height')::bigint;
  block jsonb;
  newest jsonb := fork;
  entries jsonb := '[]';
  withdrawals jsonb := '[]';
  -- Of an empty branch: nothing is read with it.
  of_registry int := (select min(coalesce((b ->> 'registry')::int, 1)) from jsonb_array_elements(branch) b);
  former chain_cursor;
begin
  select * into former from chain_cursor where ledger = of_ledger and height = (old_head ->> 'height')::bigint
     and hash = old_head ->> 'hash' and coalesce(coalesce(registry, 1) <= of_registry, true) for update;
  if not found then return null; end if;
  perform check_fork(of_ledger, fork, old_head, branch);
  update block_link set orphaned = true where ledger = of_ledger and height > fork_height and not orphaned;
  delete from unresolved_height where ledger = of_ledger and height > fork_height;
  update fact set was = status, status = 'displaced'
   where ledger = of_ledger and height > fork_height and status in ('seen', 'matured');
  for block in select value from jsonb_array_elements(branch) with ordinality b(value, n) order by n loop
    perform check_link(of_ledger, block -> 'link', newest);
    newest := block -> 'link';
    perform record_link(of_ledger, newest);
    if block ->> 'unresolved' is not null then
      perform record_unresolved(of_ledger, newest, block ->> 'unresolved');
    end if;
    perform check_withdrawal_facts(of_ledger, block -> 'withdrawals');
    entries := entries || record_transfers(of_ledger, keep_keys(of_ledger, block -> 'transfers'));
    withdrawals := withdrawals || (block -> 'withdrawals');
  end loop;
  perform set_config('flock.reorg', of_ledger, true);
  update chain_cursor set height = (newest ->> 'height')::bigint, hash = newest ->> 'hash',
         registry = coalesce(of_registry, registry) where ledger = of_ledger;
  perform note_registry(of_ledger, former.registry, of_registry, fork_height + 1);
  perform set_config('flock.reorg', '', true);
  -- A fact that still waits for an earlier branch waits for what of it is left and for this one.
  update fact set displaced_above = least(displaced_above, fork_height),
                  displaced_until = greatest(displaced_until, (newest ->> 'height')::bigint)
   where ledger = of_ledger and status = 'displaced' and coalesce(displaced_until > fork_height, true);
  entries := entries || settle_displaced(of_ledger);
  return post_facts(entries || absent_withdrawals(of_ledger, fork_height, withdrawals) || withdrawals);
end $$;
grant execute on function record_reorg to flock_app;
