-- Ledgers with work left: mined by a process that died before its tick, or with a signed withdrawal that is neither in
-- a block nor in the ledger's pool; a stuck ledger waits for its lever. sandbox_mine marks a ledger as behind, and the
-- mark is removed here, once the watchers' cursor is at its head. A page: of each kind the next `most` after a place
-- are looked at, so that ledgers which stay behind (down, or stuck) delay no other. A last row without a ledger has the
-- place to go on after; without it nothing is left behind this page.
create or replace function sandbox_ledgers_behind(most int, after_ledger text, after_id text)
returns table (ledger text, next_ledger text, next_id text)
language sql security definer set search_path = flock, pg_temp as $$
  with marked as materialized (
    select l.ledger, l.height, l.hash, l.height is not null and (l.height, l.hash) is distinct from (c.height, c.hash)
        as is_behind
      from (select s.ledger, s.height, s.hash from sandbox_ledger s
             where s.behind and s.ledger > after_ledger order by s.ledger limit most) l
      left join chain_cursor c using (ledger)
  ), followed as (
    update sandbox_ledger l set behind = false from marked m
     where l.ledger = m.ledger and not m.is_behind and l.behind and l.height = m.height and l.hash = m.hash
  ), waiting as materialized (
    select w.ledger, w.id, w.status, w.txid, jsonb_array_length(w.versions) > 0 as is_signed from withdrawal w
     where w.status in ('signing', 'broadcast') and w.ledger like '%@%\_sandbox'
       and (w.ledger, w.id) > (after_ledger, after_id)
     order by w.ledger, w.id limit most
  ), adopted as materialized ( -- read again for what was adopted
    select c.ledger from import_catch_up c
     where c.ledger like '%@%\_sandbox' and c.done_at is null and c.ledger > after_ledger order by c.ledger limit most
  ), ends as ( -- where each kind that has more was left
    select max(m.ledger) as ledger, '' as id from marked m having count(*) = most
    union all
    (select w.ledger, w.id from waiting w where (select count(*) from waiting) = most
      order by w.ledger desc, w.id desc limit 1)
    union all
    select max(a.ledger), '' from adopted a having count(*) = most
  )
  select found.ledger, null::text, null::text from (
    select m.ledger from marked m where m.is_behind
    union
    select w.ledger from waiting w
     where w.is_signed and not (w.status = 'broadcast' and exists (
             select 1 from sandbox_pool p where p.txid = w.txid and p.ledger = w.ledger and p.replaced_by is null))
    union
    select a.ledger from adopted a) found
  union all
  (select null, e.ledger, e.id from ends e order by e.ledger, e.id limit 1);
$$;
grant execute on function sandbox_ledgers_behind to flock_app;
