-- Partitions of this month and the next ones. Run at start and daily; it never fails because one is there.
create or replace function ensure_attempt_partitions(from_instant timestamptz, months int) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  month timestamptz; name text; made int := 0;
begin
  for step in 0..least(months, 36) loop
    month := date_trunc('month', from_instant, 'UTC') + make_interval(months => step);
    name := 'attempt_' || to_char(month at time zone 'UTC', 'YYYYMM');
    if to_regclass('flock.' || name) is null then
      begin
        execute format('create table %I partition of attempt for values from (%L) to (%L)', name,
          'dlv_' || id_prefix_of(month), 'dlv_' || id_prefix_of(month + interval '1 month'));
        made := made + 1;
      exception when check_violation or duplicate_table then
        null; -- rows of that month wait in the default partition already, or another node made it
      end;
    end if;
  end loop;
  return made;
end $$;
grant execute on function ensure_attempt_partitions to flock_app;
-- A new database has its first months with the function; where they are there, this makes none.
select ensure_attempt_partitions(now(), 3);
