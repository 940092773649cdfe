-- Spec §6: "Replay is possible for 7 days; older events must be reconciled against the chain". Removes deliveries that
-- nothing will be tried of any more, with their attempts, oldest first. What is still to be tried, or waits for its
-- project, stays however old it is, and so does every publication. Returns how many were removed.
create or replace function purge_deliveries(older_than timestamptz, most int) returns bigint
language sql security definer set search_path = flock, pg_temp as $$
  with old as materialized (
    select d.id from delivery d
     where d.id < 'dlv_' || id_prefix_of(least(older_than, statement_timestamp() - interval '7 days'))
       and d.status in ('delivered', 'dead_lettered', 'held') and d.held_for is null
     order by d.id limit most for update skip locked
  ), tried as (
    delete from attempt a using old o where a.delivery_id = o.id
  ), gone as (
    delete from delivery d using old o where d.id = o.id returning 1
  )
  select count(*) from gone;
$$;
grant execute on function purge_deliveries to flock_app;
