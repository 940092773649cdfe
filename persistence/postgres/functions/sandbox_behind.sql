-- For nodes of an earlier release; ours ask sandbox_ledgers_behind, page by page.
-- Ledgers with work left: mined by a process that died before its tick, or with a signed withdrawal that is neither in
-- a block nor in the ledger's pool; a stuck ledger waits for its lever and delays no other. sandbox_mine marks a ledger
-- as behind, and the mark is removed here, once the watchers' cursor is at its head.
create or replace function sandbox_behind(most int) returns setof text
language sql security definer set search_path = flock, pg_temp as $$
  with marked as materialized (
    select l.ledger, l.height, l.hash, (l.height, l.hash) is distinct from (c.height, c.hash) as is_behind
      from sandbox_ledger l left join chain_cursor c using (ledger) where l.behind and l.height is not null
  ), followed as (
    update sandbox_ledger l set behind = false from marked m
     where l.ledger = m.ledger and not m.is_behind and l.behind and l.height = m.height and l.hash = m.hash
  )
  select m.ledger from marked m where m.is_behind
  union
  select w.ledger from withdrawal w
   where w.status in ('signing', 'broadcast') and w.ledger like '%@%\_sandbox' and jsonb_array_length(w.versions) > 0
     and not (w.status = 'broadcast' and exists (
           select 1 from sandbox_pool p where p.txid = w.txid and p.ledger = w.ledger and p.replaced_by is null))
  union
  -- Read again for what was adopted.
  select c.ledger from import_catch_up c where c.ledger like '%@%\_sandbox' and c.done_at is null
  order by 1 limit most;
$$;
grant execute on function sandbox_behind to flock_app;
