create or replace function release_deliveries(ids text[]) returns void
language sql security definer set search_path = flock, pg_temp as $$
  update delivery set claimed_until = null where id = any (ids) and status in ('pending', 'failed');
$$;
grant execute on function release_deliveries to flock_app;
