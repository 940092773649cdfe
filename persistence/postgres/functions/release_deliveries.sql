-- Gives claims back without an attempt, whoever's they are by now: for a node of an earlier release (release_claimed).
create or replace function release_deliveries(ids text[]) returns void
language sql security definer set search_path = flock, pg_temp as $$
  with mine as materialized (
    select d.id from delivery d where d.id = any (ids) and d.status in ('pending', 'failed') order by d.id for update
  )
  update delivery d set claimed_until = null from mine m where d.id = m.id;
$$;
grant execute on function release_deliveries to flock_app;
