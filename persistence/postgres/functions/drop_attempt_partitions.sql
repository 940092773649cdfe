-- Partitions of months that ended before, once they are empty. Looked at under the lock that dropping takes, so that no
-- attempt comes between; where somebody writes attempts just now it is the next run's.
create or replace function drop_attempt_partitions(older_than timestamptz) returns int
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  name text; used boolean; dropped int := 0;
begin
  perform set_config('lock_timeout', '1s', true);
  for name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'attempt'::regclass and c.relname ~ '^attempt_[0-9]{6}$'
       and right(c.relname, 6) < to_char(older_than at time zone 'UTC', 'YYYYMM')
     order by 1
  loop
    begin
      execute format('select exists (select from %I)', name) into used;
      if not used then
        lock table only attempt in access exclusive mode;
        execute format('lock table %I in access exclusive mode', name);
        execute format('select exists (select from %I)', name) into used;
      end if;
      if not used then
        execute format('drop table %I', name);
        dropped := dropped + 1;
      end if;
    exception when lock_not_available or deadlock_detected then
      null;
    end;
  end loop;
  return dropped;
end $$;
grant execute on function drop_attempt_partitions to flock_app;
