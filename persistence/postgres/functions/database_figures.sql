-- How the server is: its clock, the archive of its log, standbys, how near transaction numbers are to their end, the
-- last base copy. Null: there is no archive, no standby that this role may see (pg_monitor), no copy. Ecosystem X49.
create or replace function database_figures() returns table (
  clock timestamptz, archive_failing boolean, replica_lag_seconds float8, numbers_used float8, backup_age_seconds float8
)
language sql stable security definer set search_path = flock, pg_temp as $$
  select clock_timestamp(),
      case when current_setting('archive_mode') <> 'off' then (
        select coalesce(a.last_failed_time > coalesce(a.last_archived_time, '-infinity'), false)
          from pg_stat_archiver a) end,
      (select extract(epoch from max(r.replay_lag))::float8 from pg_stat_replication r),
      (select age(d.datfrozenxid)::float8 / 2147483648 from pg_database d where d.datname = current_database()),
      (select extract(epoch from clock_timestamp() - b.taken_at)::float8 from backup_taken b);
$$;
grant execute on function database_figures to flock_app;
