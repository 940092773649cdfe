-- The name of this database among all: the first caller's.
create or replace function cluster_id(fresh text) returns text
language sql security definer set search_path = flock, pg_temp as $$
  insert into cluster (id) values (fresh) on conflict do nothing;
  select id from cluster;
$$;
grant execute on function cluster_id to flock_app;
