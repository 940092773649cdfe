-- Scans that ended before and of which no batch was made, oldest first, a bounded number of rows a call: the oldest is
-- no scan any more that a batch or more indexes are made of, then its rows go, then the scan itself. What was found is
-- public and is found again. Returns how many rows were changed.
create or replace function forget_scans(older_than timestamptz, most int) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with old as materialized (
    select s.account_id, s.id, s.state = 'completed' as is_whole from scan s
     where s.ended_at < least(older_than, statement_timestamp() - interval '90 days')
       and not exists (select from import_batch b where b.account_id = s.account_id and b.scan_id = s.id)
     order by s.ended_at limit 1 for update skip locked
  ), hidden as (
    update scan s set state = 'cancelled', stopped_by = null from old o
     where s.account_id = o.account_id and s.id = o.id and o.is_whole
    returning 1
  ), seen as materialized (
    select r.ctid as place from old o join scan_row r on r.account_id = o.account_id and r.scan_id = o.id
     where not o.is_whole limit most
  ), erased as (
    delete from scan_row r using seen where r.ctid = seen.place returning 1
  ), ended as (
    delete from scan s using old o
     where s.account_id = o.account_id and s.id = o.id and not o.is_whole and (select count(*) from seen) < most
    returning 1
  )
  select (select count(*) from hidden) + (select count(*) from erased) + (select count(*) from ended);
$$;
grant execute on function forget_scans to flock_app;
