-- displaced ──▶ orphaned, for facts that no unproven block of their own new branch can hold any more. An unresolved
-- height elsewhere does not matter.
create or replace function settle_displaced(of_ledger text) returns jsonb
language plpgsql set search_path = flock, pg_temp as $$
declare
  entries jsonb;
begin
  with gone as (
    update fact f set status = 'orphaned', was = null, displaced_above = null, displaced_until = null
     where f.ledger = of_ledger and f.status = 'displaced' and not exists (
       select 1 from unresolved_height u where u.ledger = of_ledger
          and coalesce(u.height > f.displaced_above and u.height <= f.displaced_until, true))
    returning account_id, transfer, txid, output_index
  )
  select coalesce(jsonb_agg(jsonb_build_object('accountId', account_id,
           'fact', jsonb_build_object('kind', 'orphaned', 'deposit', transfer)) order by txid, output_index), '[]')
    into entries from gone;
  return entries;
end $$;
