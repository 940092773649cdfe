-- displaced ──▶ orphaned, for facts that no unproven block of their own new branch can hold any more. An unresolved
-- height elsewhere does not matter. Facts of one reorganization have one span of heights: each span is looked at once,
-- however many facts wait for it.
create or replace function settle_displaced(of_ledger text) returns jsonb
language plpgsql set search_path = flock, pg_temp set enable_seqscan = off set enable_bitmapscan = off
set enable_sort = off as $$
declare
  above bigint := -2;
  until bigint := -2;
  gone jsonb;
  entries jsonb := '[]';
begin
  loop
    select coalesce(f.displaced_above, -1), coalesce(f.displaced_until, 9223372036854775807) into above, until
      from fact f
     where f.ledger = of_ledger and f.status = 'displaced'
       and (coalesce(f.displaced_above, -1), coalesce(f.displaced_until, 9223372036854775807)) > (above, until)
     order by f.ledger, coalesce(f.displaced_above, -1), coalesce(f.displaced_until, 9223372036854775807) limit 1;
    exit when not found;
    continue when exists (
      select from unresolved_height u where u.ledger = of_ledger and u.height > above and u.height <= until);
    with settled as (
      update fact f set status = 'orphaned', was = null, displaced_above = null, displaced_until = null
       where f.ledger = of_ledger and f.status = 'displaced' and coalesce(f.displaced_above, -1) = above
         and coalesce(f.displaced_until, 9223372036854775807) = until
      returning account_id, transfer, txid, output_index
    )
    select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
             'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by txid, output_index), '[]')
      into gone from settled;
    entries := entries || gone;
  end loop;
  return entries;
end $$;
