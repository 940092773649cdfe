-- The bodies of publications of which nothing is delivered or replayed any more; the rows stay, for the books point at them.
create or replace function purge_publications(older_than timestamptz, most int) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with old as materialized (
    select p.account_id, p.event_id from publication p
     where p.body is not null and p.created_at < least(older_than, statement_timestamp() - interval '30 days')
       and not exists (select from delivery d where d.account_id = p.account_id and d.event_id = p.event_id)
     order by p.created_at limit most for update skip locked
  ), gone as (
    update publication p set body = null from old o where p.account_id = o.account_id and p.event_id = o.event_id returning 1
  )
  select count(*) from gone;
$$;
grant execute on function purge_publications to flock_app;
