-- Takes the job of this period, by the database's clock, for one node and so many seconds: null where its work is done,
-- where another node has it, or where it waits after a failure. `attempts` counts from one since it was last done.
create or replace function claim_job(job text, by_node text, every_seconds int, claim_seconds int)
returns table (period_at timestamptz, tried int)
language plpgsql security definer set search_path = flock, pg_temp as $$
declare
  now_at constant timestamptz := clock_timestamp();
  begun constant timestamptz := to_timestamp(floor(extract(epoch from now_at) / every_seconds) * every_seconds);
begin
  if not exists (select from background_job b where b.name = job) then
    insert into background_job (name) values (job) on conflict do nothing;
  end if;
  return query
    with free as materialized (
      select b.name from background_job b
       where b.name = job and b.period < begun and b.claimed_until <= now_at for update skip locked
    )
    update background_job b set node = by_node, claimed_until = now_at + make_interval(secs => claim_seconds),
        attempts = b.attempts + 1
      from free f where b.name = f.name
    returning begun, b.attempts;
end $$;
grant execute on function claim_job to flock_app;
